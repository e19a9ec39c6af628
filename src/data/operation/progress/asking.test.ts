import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Outcome } from '../../../runtime/controller.ts'
import { asking, EVERY_MS, type Heard, heard, isSilent } from './asking.ts'

const FIGURES = { bytesDone: 1, filesDone: 1 }
const NOW = 1_000_000
const SLOT = NOW / EVERY_MS
const done = (atMs: number, count = 1, failures = 0): Outcome<Heard> => ({ state: 'done', value: { atMs, count, failures } })
const given = { state: 'failed', message: '' } as const

describe('when a program is asked how far it is', () => {
  const table: [string, Record<number, Outcome<Heard>>, object][] = [
    ['at once when nothing is known', {}, { is: 'due', slot: SLOT }],
    ['two seconds after the last answer', { [SLOT - 1]: done(NOW - EVERY_MS) }, { is: 'due', slot: SLOT }],
    ['not before', { [SLOT - 1]: done(NOW - 500) }, { is: 'early', inMs: 1500 }],
    ['not while it is being asked', { [SLOT - 2]: { state: 'running' } }, { is: 'running' }],
    ['in the next slot after an attempt that was given up', { [SLOT]: given }, { is: 'early', inMs: EVERY_MS }],
    ['after the newest answer, not the latest slot', { [SLOT]: done(NOW - 9000, 1), [SLOT - 1]: done(NOW - 500, 2) }, { is: 'early' }],
    ['no matter what was long ago', { [SLOT - 50]: done(NOW - 100_000) }, { is: 'due' }],
    ['soon again when a few answers failed', { [SLOT - 1]: done(NOW - EVERY_MS, 2, 2) }, { is: 'due' }],
    ['later when nobody answers', { [SLOT - 1]: done(NOW - EVERY_MS, 3, 3) }, { is: 'early', inMs: 2000 }],
    ['every half minute when nobody ever answers', { [SLOT - 1]: done(NOW - EVERY_MS, 90, 90) }, { is: 'early', inMs: 28_000 }],
    ['after an answer that the clock has put into the future', { [SLOT + 3]: done(NOW + 6000) }, { is: 'early', inMs: 8000 }],
  ]
  for (const [what, outcomes, expected] of table)
    it(what, () => {
      const { last: _, ...is } = asking(NOW, (slot) => outcomes[slot])
      assert.deepEqual(Object.fromEntries(Object.entries(is).filter(([key]) => key in expected)), expected)
    })

  it('counts who does not answer, until somebody does', () => {
    let last: Heard | undefined
    const silent: boolean[] = []
    for (let i = 0; i < 4; i++) {
      last = heard(undefined, last, i)
      silent.push(isSilent(last))
    }
    assert.deepEqual(silent, [false, false, true, true])
    assert.deepEqual(heard(FIGURES, last, 9), { atMs: 9, count: 5, failures: 0, figures: FIGURES })
  })
})
