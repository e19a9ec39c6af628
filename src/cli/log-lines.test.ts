import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withFields } from '../base/log.ts'
import { fakeMachine } from './fake-machine.ts'
import { withLog } from './log-lines.ts'
import { CommandError } from './machine.ts'

function logged(
  options: { logFormat?: string; logLevel?: string },
  isTerminal = false,
): { lines: string[]; machine: ReturnType<typeof withLog> } {
  const lines: string[] = []
  const fake = Object.assign(fakeMachine(), { isTerminal, err: (text: string) => void lines.push(text) })
  return { lines, machine: withLog(fake, options) }
}

describe('log lines', () => {
  it('for people: time, level, message, fields; quoted where a space would mislead', () => {
    const { lines, machine } = logged({})
    const fields = { controller: 'a.b', cause: 'no "space" left', object: 'n/x', missing: undefined, count: 3, isLast: false }
    machine.log.write('error', 'a pass failed', fields)
    assert.deepEqual(lines, [
      '2026-01-01T00:00:00.000Z error a pass failed controller=a.b cause="no \\"space\\" left" object=n/x count=3 isLast=false\n',
    ])
  })

  it('for machines: one JSON object per line, whatever the fields hold', () => {
    const { lines, machine } = logged({ logFormat: 'json' })
    withFields(machine.log, { role: 'hub' }).write('info', 'connected', { server: 'https://x\n{"level":"fake"}' })
    assert.equal(lines.join('').trimEnd().split('\n').length, 1)
    assert.deepEqual(JSON.parse(lines[0] ?? ''), {
      time: '2026-01-01T00:00:00.000Z',
      level: 'info',
      message: 'connected',
      role: 'hub',
      server: 'https://x\n{"level":"fake"}',
    })
  })

  it('keep a field that holds a line break on one line', () => {
    const { lines, machine } = logged({})
    machine.log.write('warn', 'odd', { cause: 'first\nsecond' })
    assert.deepEqual(lines, ['2026-01-01T00:00:00.000Z warn  odd cause="first\\nsecond"\n'])
  })

  it('leave out what is below the level, and are coloured only for people', () => {
    const { lines, machine } = logged({ logLevel: 'warn' }, true)
    for (const level of ['debug', 'info', 'warn', 'error'] as const) machine.log.write(level, level)
    assert.equal(lines.length, 2)
    assert.ok(lines.every((line) => line.includes('\u001b[')))
  })

  it('refuse what they are not', () => {
    assert.throws(() => logged({ logFormat: 'xml' }), new CommandError('--log-format takes text or json, not "xml"'))
    assert.throws(() => logged({ logLevel: 'loud' }), new CommandError('--log-level takes debug, info, warn, error, not "loud"'))
  })
})
