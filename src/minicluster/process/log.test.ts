import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { LogReading } from '../kubelet/container-machine.ts'
import { createLineCutter, formatLine, LOG, type LogLine, OLD_LOG, parseLine, timeText } from './log-line.ts'
import { readLog } from './log-reader.ts'
import { openLog } from './shim/log-file.ts'
import { realClock } from './testing.ts'

const text = (line: LogLine): string => Buffer.from(line.text).toString('latin1') + (line.isPartial ? '' : '\n')

describe('lines of a log', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.boolean(), fc.constantFrom('stdout' as const, 'stderr' as const), (bytes, isPartial, stream) => {
        const body = Buffer.from(bytes.filter((byte) => byte !== 10))
        const line: LogLine = { time: timeText(Date.UTC(2026, 0, 2, 3, 4, 5, 678), 9), stream, isPartial, text: body }
        assert.deepEqual(parseLine(formatLine(line).subarray(0, -1)), line)
      }),
    )
    assert.equal(timeText(Date.UTC(2026, 0, 2, 3, 4, 5, 678), 9), '2026-01-02T03:04:05.678000009Z')
    for (const wrong of ['', 'x', '2026-01-02T03:04:05Z stdout', '2026-01-02T03:04:05Z stdin F a'])
      assert.equal(parseLine(Buffer.from(wrong)), undefined)
  })

  it('are the same, however the output was cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 20 }).map((one) => one.replaceAll('é', '\n'))),
        fc.integer({ min: 1, max: 7 }),
        (parts, max) => {
          const whole = parts.join('\n')
          const read = (chunks: readonly string[]): [string, boolean][] => {
            const lines: [string, boolean][] = []
            const cutter = createLineCutter(max)
            const emit = (line: Buffer, isPartial: boolean): unknown => lines.push([line.toString('utf8'), isPartial])
            for (const chunk of chunks) cutter.cut(Buffer.from(chunk), emit)
            cutter.flush(emit)
            return lines
          }
          const inOne = read([whole])
          assert.deepEqual(read([...whole]), inOne)
          assert.equal(inOne.map(([line, isPartial]) => line + (isPartial ? '' : '\n')).join(''), whole)
        },
      ),
    )
  })
})

describe('reading a log', () => {
  let directory = ''
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'sluice-log-'))
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  const AT = Date.UTC(2026, 0, 1)
  const aLine = (i: number, body: string, stream: 'stdout' | 'stderr' = 'stdout'): LogLine => ({
    time: timeText(AT + i * 1000, i),
    stream,
    isPartial: false,
    text: Buffer.from(body),
  })
  const read = (reading: Partial<LogReading>, isRunning = (): boolean => false): Promise<string> =>
    new Promise((resolve) => {
      const chunks: Uint8Array[] = []
      readLog(
        { directory, clock: realClock, isRunning, onChange: () => () => undefined },
        { follow: false, timestamps: false, ...reading },
        // Backpressure after every chunk must not lose anything.
        {
          write: (chunk) => chunks.push(chunk) < 0,
          onDrain: (callback) => setImmediate(callback),
          end: () => resolve(Buffer.concat(chunks).toString('latin1')),
        },
      )
    })

  it('gives the last lines, those since a time, up to a size: over two files as over one', async () => {
    const lines = fc.array(
      fc.tuple(
        fc.string({ maxLength: 30 }).map((one) => one.replaceAll('\n', ' ')),
        fc.boolean(),
      ),
      { maxLength: 30 },
    )
    const asked = fc.record({
      tail: fc.option(fc.nat(35)),
      since: fc.option(fc.nat(35)),
      limit: fc.option(fc.integer({ min: 1, max: 300 })),
    })
    await fc.assert(
      fc.asyncProperty(lines, fc.nat(30), asked, async (bodies, cut, { tail, since, limit }) => {
        const all = bodies.map(([body, isError], i) => aLine(i, body, isError ? 'stderr' : 'stdout'))
        const [old, young] = [all.slice(0, cut), all.slice(cut)].map((some) => Buffer.concat(some.map(formatLine)))
        rmSync(path.join(directory, OLD_LOG), { force: true })
        if (old !== undefined && old.length > 0) writeFileSync(path.join(directory, OLD_LOG), old)
        writeFileSync(path.join(directory, LOG), young ?? '')
        const shown = (tail === null ? all : tail === 0 ? [] : all.slice(-tail)).filter((_, i, some) => {
          const index = all.length - some.length + i
          return since === null || index >= since
        })
        const whole = Buffer.from(shown.map(text).join(''), 'latin1')
        const expected = (limit === null ? whole : whole.subarray(0, limit)).toString('latin1')
        const got = await read({
          tailLines: tail ?? undefined,
          sinceMs: since === null ? undefined : AT + since * 1000,
          limitBytes: limit ?? undefined,
        })
        assert.equal(got, expected)
      }),
      { numRuns: 150 },
    )
  })

  it('leaves out what is no line', async () => {
    rmSync(path.join(directory, OLD_LOG), { force: true })
    writeFileSync(
      path.join(directory, LOG),
      Buffer.concat([Buffer.from('garbage\n\n\0\n'), formatLine(aLine(1, 'good')), Buffer.from('cut off')]),
    )
    assert.equal(await read({}), 'good\n')
  })

  it('follows through the moment when the log is put aside', async () => {
    rmSync(path.join(directory, OLD_LOG), { force: true })
    writeFileSync(path.join(directory, LOG), formatLine(aLine(1, 'one')))
    let isRunning = true
    const followed = read({ follow: true }, () => isRunning)
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60))
    await pause()
    const half = formatLine(aLine(2, 'two'))
    appendFileSync(path.join(directory, LOG), half.subarray(0, 10))
    await pause()
    appendFileSync(path.join(directory, LOG), half.subarray(10))
    appendFileSync(path.join(directory, LOG), formatLine(aLine(3, 'three')))
    renameSync(path.join(directory, LOG), path.join(directory, OLD_LOG))
    writeFileSync(path.join(directory, LOG), formatLine(aLine(4, 'four')))
    await pause()
    appendFileSync(path.join(directory, LOG), formatLine(aLine(5, 'five')))
    isRunning = false
    assert.equal(await followed, 'one\ntwo\nthree\nfour\nfive\n')
  })

  it('is bounded: the older half is put aside, and the one before it goes', async () => {
    const home = process.cwd()
    rmSync(path.join(directory, OLD_LOG), { force: true })
    rmSync(path.join(directory, LOG), { force: true })
    process.chdir(directory)
    try {
      const log = openLog(() => ({ ms: AT, nanos: 0 }), 1000)
      for (let i = 0; i < 100; i++) log.write('stdout', Buffer.from(`line ${i}\n`))
      log.close()
    } finally {
      process.chdir(home)
    }
    const shown = (await read({})).trimEnd().split('\n')
    assert.ok(shown.length >= 19 && shown.length <= 40, `${shown.length} lines`)
    assert.deepEqual(
      shown,
      Array.from({ length: shown.length }, (_, i) => `line ${100 - shown.length + i}`),
    )
  })
})
