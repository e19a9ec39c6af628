import assert from 'node:assert/strict'
import { chmodSync, existsSync, lstatSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Progress } from '../operations/progress.ts'
import { type Source, SourceChanged, SourceRefused } from '../sources/source.ts'
import { inTemporaryDirectory } from '../sources/testing.ts'
import { UNFINISHED } from '../sources/unfinished.ts'
import { TargetRefused } from '../targets/target.ts'
import { handClock, realClock, until } from '../testing.ts'
import { localSource, localTarget, readTree, run, runBetween, scriptedSource, writeTree } from './testing.ts'

const FILES = { a: 'alpha', 'd/b': 'beta', 'd/e/f/g': 'gamma', empty: '', 'ü +%': 'name', large: Buffer.alloc(3_000_000, 'x') }
const between = (use: (from: string, to: string) => Promise<void>) => () =>
  inTemporaryDirectory((directory) => use(path.join(directory, 'from'), path.join(directory, 'to')))

describe('a migration between directories', () => {
  it(
    'copies bytes, times and the right to execute, and leaves nothing else',
    between(async (from, to) => {
      writeTree(from, FILES)
      utimesSync(path.join(from, 'a'), 1_600_000_000.123_456, 1_600_000_000.123_456)
      chmodSync(path.join(from, 'd/b'), 0o4755)
      const result = await runBetween(from, to)
      assert.deepEqual(readTree(to), readTree(from))
      assert.deepEqual([result.copied, result.skipped, result.failed, result.leftOut], [6, 0, 0, 0])
      assert.equal(Math.round(statSync(path.join(to, 'a')).mtimeMs), 1_600_000_000_123)
      assert.equal(statSync(path.join(to, 'd/b')).mode & 0o7777, 0o755)
      assert.ok(!existsSync(path.join(to, UNFINISHED)))
    }),
  )

  it(
    'skips what is there and the same, and copies what is not',
    between(async (from, to) => {
      writeTree(from, FILES)
      await runBetween(from, to)
      writeFileSync(path.join(from, 'a'), 'ALPHA')
      utimesSync(path.join(to, 'd/b'), 1, 1)
      writeTree(to, { large: 'other' })
      const { copied, skipped } = await runBetween(from, to)
      assert.deepEqual([copied, skipped], [3, 3])
      assert.deepEqual(readTree(to), readTree(from))
    }),
  )

  it(
    'keeps what only the target has, unless it is asked to remove it',
    between(async (from, to) => {
      writeTree(from, { a: '1', 'd/b': '2' })
      writeTree(to, { old: 'x', 'd/old': 'y', 'gone/deep/old': 'z' })
      assert.equal((await runBetween(from, to)).removed, 0)
      assert.deepEqual(Object.keys(readTree(to)), ['a', 'd/b', 'd/old', 'gone/deep/old', 'old'])
      assert.equal((await runBetween(from, to, { removesOthers: true })).removed, 3)
      assert.deepEqual(readTree(to), readTree(from))
      assert.ok(!existsSync(path.join(to, 'gone')))
    }),
  )

  it(
    'removes nothing when it is unsure what the source has',
    between(async (from, to) => {
      mkdirSync(from)
      writeTree(to, { old: 'x' })
      await assert.rejects(runBetween(from, to, { removesOthers: true }), /the source has no files/)
      writeTree(from, { a: '1' })
      symlinkSync('/etc', path.join(from, 'out'))
      await assert.rejects(runBetween(from, to, { removesOthers: true }), /not everything of the source/)
      assert.deepEqual(Object.keys(readTree(to)), ['a', 'old'])
    }),
  )

  it(
    'goes on where another was, whatever that left, and removes it',
    between(async (from, to) => {
      const some = fc.record({ there: fc.boolean(), old: fc.boolean(), torn: fc.boolean() })
      let round = 0
      await fc.assert(
        fc.asyncProperty(fc.array(some, { minLength: 1, maxLength: 12 }), async (states) => {
          const [source, target] = [`${from}${++round}`, `${to}${round}`]
          writeTree(source, Object.fromEntries(states.map((_, i) => [`d${i % 3}/f${i}`, `content ${i}`])))
          mkdirSync(target, { recursive: true })
          let expected = 0
          for (const [i, { there, old, torn }] of states.entries()) {
            const name = `d${i % 3}/f${i}`
            const stats = statSync(path.join(source, name))
            if (there) {
              writeTree(target, { [name]: old ? 'CONTENT x' : `content ${i}` })
              if (!old) utimesSync(path.join(target, name), stats.mtimeMs / 1000, stats.mtimeMs / 1000)
            }
            if (!there || old) expected++
            if (torn) writeTree(target, { [`${UNFINISHED}/${i}`]: 'half' })
          }
          const { copied, skipped } = await runBetween(source, target)
          assert.deepEqual([copied, skipped], [expected, states.length - expected])
          assert.deepEqual(readTree(target), readTree(source))
        }),
        { numRuns: 25 },
      )
    }),
  )

  it(
    'writes nothing outside the target through links that lie there',
    between(async (from, to) => {
      const outside = path.join(to, '..', 'outside')
      writeTree(from, { 'd/f': 'new', g: 'new' })
      writeTree(outside, { f: 'old', g: 'old' })
      mkdirSync(to)
      symlinkSync(outside, path.join(to, 'd'))
      symlinkSync(path.join(outside, 'g'), path.join(to, 'g'))
      const { copied, leftOut, problems } = await runBetween(from, to)
      assert.deepEqual([copied, leftOut], [1, 1])
      assert.match(problems.join(), /"d\/f": d is a file there and a directory here/)
      assert.deepEqual(readTree(outside), { f: 'old', g: 'old' })
      assert.ok(lstatSync(path.join(to, 'g')).isFile())
    }),
  )

  it(
    'copies no links that lead out of the source, and says so',
    between(async (from, to) => {
      writeTree(from, { f: '1' })
      symlinkSync('/etc/hostname', path.join(from, 'out'))
      symlinkSync('f', path.join(from, 'in'))
      const { copied, leftOut, problems } = await runBetween(from, to)
      assert.deepEqual([copied, leftOut, problems], [2, 1, ['"out": no file can be made of it']])
      assert.deepEqual(readTree(to), { f: '1', in: '1' })
    }),
  )

  it(
    'reads every file again when that is asked for',
    between(async (from, to) => {
      writeTree(from, FILES)
      await run({ source: localSource(from), target: await localTarget(to, true) })
      assert.deepEqual(readTree(to), readTree(from))
    }),
  )

  it(
    'can be stopped, and leaves nothing that is not whole',
    between(async (from, to) => {
      writeTree(from, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, `content ${i}`])))
      const ending = new AbortController()
      const progress = new Progress('migrate', realClock)
      const running = runBetween(from, to, { signal: ending.signal, progress })
      await until('some are copied', () => progress.filesDone > 5)
      ending.abort(new Error('ended'))
      await assert.rejects(running, /ended/)
      const whole = readTree(from)
      for (const [name, content] of Object.entries(readTree(to))) assert.equal(content, whole[name])
      assert.equal((await runBetween(from, to)).failed, 0)
      assert.deepEqual(readTree(to), whole)
    }),
  )
})

describe('a migration from a source that nobody vouches for', () => {
  const into = (use: (to: string) => Promise<void>) => () => inTemporaryDirectory(use)

  it(
    'keeps the directory where a file has others below it, in whichever order they come',
    into(async (to) => {
      for (const names of [
        ['a', 'a/b', 'c'],
        ['a/b', 'a', 'c'],
      ]) {
        const target = path.join(to, names.join('-').replaceAll('/', '_'))
        const source = scriptedSource(Object.fromEntries(names.map((name) => [name, { content: name }])))
        const { leftOut, failed } = await run({ source, target: await localTarget(target), parallelism: 1 })
        assert.deepEqual([leftOut, failed], [1, 0])
        assert.deepEqual(readTree(target), { 'a/b': 'a/b', c: 'c' })
      }
    }),
  )

  it(
    'does not remove a file that only the target has, where a directory must be',
    into(async (to) => {
      writeTree(to, { a: 'mine' })
      const { leftOut } = await run({ source: scriptedSource({ 'a/b': { content: 'x' } }), target: await localTarget(to) })
      assert.equal(leftOut, 1)
      assert.deepEqual(readTree(to), { a: 'mine' })
    }),
  )

  it(
    'shows no file whose size was a lie, tries again a few times, and copies the others',
    into(async (to) => {
      const clock = handClock()
      const source = scriptedSource({
        lie: { content: 'short', size: 1000 },
        more: { content: 'longer than said', size: 3 },
        good: { content: 'x' },
      })
      const progress = new Progress('migrate', clock)
      const running = run({ source, target: await localTarget(to), clock, progress })
      let result: Awaited<typeof running> | undefined
      void running.then((ended) => {
        result = ended
      })
      await until('it ends', () => {
        clock.advance(1000)
        return result !== undefined
      })
      assert.deepEqual([result?.failed, result?.copied, source.reads.get('lie')], [2, 1, 4])
      assert.deepEqual(readTree(to), { good: 'x' })
      assert.deepEqual([progress.bytesDone, progress.filesDone], [1, 1])
    }),
  )

  it(
    'takes the version of now when a file changes, and leaves out what has gone',
    into(async (to) => {
      const script = { f: { content: 'one' }, gone: { content: 'x' } }
      const source = scriptedSource(script)
      const listed = await source.list(undefined, new AbortController().signal)
      const changing: Source = {
        ...source,
        list: async () => listed,
        async *read(file, range, signal) {
          if (file.path === 'gone') throw new SourceChanged('gone')
          if (file.size === 3) {
            script.f = { content: 'three' }
            throw new SourceChanged('changed')
          }
          yield* source.read(file, range, signal)
        },
        stat: async (name, signal) => (name === 'gone' ? undefined : source.stat(name, signal)),
      }
      const { copied, vanished } = await run({ source: changing, target: await localTarget(to) })
      assert.deepEqual([copied, vanished, readTree(to)], [1, 1, { f: 'three' }])
    }),
  )

  it(
    'ends at once when the source refuses, or its listing breaks off',
    into(async (to) => {
      const source = scriptedSource(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, { content: 'x' }])))
      const refusing: Source = {
        ...source,
        // biome-ignore lint/correctness/useYield: it never comes to that
        async *read() {
          throw new SourceRefused('no more')
        },
      }
      await assert.rejects(run({ source: refusing, target: await localTarget(to) }), SourceRefused)
      const broken: Source = { ...source, list: async () => Promise.reject(new Error('broke off')) }
      await assert.rejects(run({ source: broken, target: await localTarget(to) }), /broke off/)
      assert.deepEqual(readTree(to), {})
    }),
  )

  it(
    'never goes further than the listing may: an endless one is held back while copies wait',
    into(async (to) => {
      let pages = 0
      const source = scriptedSource({})
      const endless: Source = {
        ...source,
        list: async () => ({
          files: Array.from({ length: 1000 }, (_, i) => ({ path: `${pages++}-${i}`, size: 1, mtimeNs: '1' })),
          cursor: 'more',
        }),
        async *read(_file, _range, signal) {
          signal.throwIfAborted()
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
          signal.throwIfAborted()
          yield Buffer.from('x')
        },
      }
      const ending = new AbortController()
      const progress = new Progress('migrate', realClock)
      const running = run({ source: endless, target: await localTarget(to), signal: ending.signal, progress })
      await until('the listing waits', () => progress.filesTotal > 50_000)
      const listed = progress.filesTotal
      await new Promise((resolve) => setImmediate(resolve))
      assert.equal(progress.filesTotal, listed)
      assert.equal(progress.report().isTotalKnown, false)
      ending.abort(new Error('ended'))
      await assert.rejects(running, /ended/)
    }),
  )

  it(
    'says what to do when the target cannot be written',
    into(async (to) => {
      writeTree(to, { file: 'x' })
      const opening = localTarget(path.join(to, 'file', 'below'))
      await assert.rejects(opening, (error: Error) => error instanceof TargetRefused || /ENOTDIR/.test(error.message))
    }),
  )
})
