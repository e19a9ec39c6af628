import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Outcome } from '../../runtime/controller.ts'
import { type Asked, asking, DEFAULT_PACE, heardProblem, heardReport, parseReport } from './report.ts'

const pace = DEFAULT_PACE
const WORKERS = 'w0,w1'

describe('a report', () => {
  const table: [string, string, unknown][] = [
    ['nothing but what is known', '{"cached":"1B","evil":"x","__proto__":{"cacheCapacity":"2B"}}', { cached: '1B' }],
    ['no other shapes', '{"cached":1,"cacheCapacity":["2B"],"cacheHitRatio":null,"nonCacheable":"3B"}', { nonCacheable: '3B' }],
    ['nothing long', JSON.stringify({ cached: 'x'.repeat(65), cacheCapacity: 'x'.repeat(64) }), { cacheCapacity: 'x'.repeat(64) }],
    ['no control characters, and nothing empty', '{"cached":"1\\u001b[2JB","cacheCapacity":""}', {}],
  ]
  for (const [name, text, expected] of table) it(`has ${name}`, () => assert.deepEqual(parseReport(text).cacheStates, expected))

  it('may say how large the sources are, and otherwise that is not known', () => {
    const { ufsTotal, fileNum } = parseReport('{"ufsTotal":"2.00GiB","fileNum":17}')
    assert.deepEqual([ufsTotal, fileNum], ['2.00GiB', 'N/A'])
  })

  it('may say why a source cannot be listed, in one line', () => {
    assert.equal(parseReport('{"problem":"/a: no\\u001b[2J\\n such host"}').sourceProblem, '/a: no [2J such host')
    for (const text of ['{}', '{"problem":""}', '{"problem":5}']) assert.equal('sourceProblem' in parseReport(text), false)
  })

  it('is a JSON object', () => {
    for (const text of ['', 'Total: 5', '[]', 'null', '"x"', '{"cached":"1B"'])
      assert.throws(() => parseReport(text), /^Error: the report is n/)
  })
})

describe('when a cache is asked', () => {
  const report = (cached: string) => ({ cacheStates: { cached } })
  const at = (atMs: number) => ({ atMs, pace, workers: WORKERS })

  it('depends on whether the figures change', () => {
    let asked = heardReport(report('1'), undefined, at(0))
    const intervals = [asked.intervalMs]
    for (let i = 0; i < 4; i++) {
      asked = heardReport(report('1'), asked, at(0))
      intervals.push(asked.intervalMs)
    }
    assert.deepEqual(intervals, [10_000, 20_000, 40_000, 60_000, 60_000])
    assert.equal(heardReport(report('2'), asked, at(0)).intervalMs, 10_000)
  })

  it('is often for a minute when no report comes; the last one is kept, with the time since when', () => {
    let asked = heardReport(report('1'), undefined, at(0))
    const intervals: number[] = []
    for (let ms = 10_000; intervals.length < 9; ms += asked.intervalMs) {
      asked = heardProblem('no', asked, at(ms))
      intervals.push(asked.intervalMs / 1000)
    }
    assert.deepEqual(intervals, [10, 10, 10, 10, 10, 10, 20, 40, 60])
    assert.deepEqual([asked.report, asked.reportedAtMs, asked.failingSinceMs], [report('1'), 0, 10_000])
    assert.equal(heardReport(report('1'), asked, at(0)).problem, undefined)
  })

  const answer = (atMs: number, intervalMs: number, count = 1): Asked => ({ atMs, intervalMs, count, workers: WORKERS })
  const done = (value: Asked): Outcome<Asked> => ({ state: 'done', value })
  const ofOthers: Asked = { ...answer(1_001_000, 10_000, 2), workers: 'others' }
  const given = { state: 'failed', message: '' } as const
  const table: [string, Record<string, Outcome<Asked>>, object][] = [
    ['at once when nothing is known', {}, { is: 'due', last: undefined, at: { slot: 100, turn: 0 } }],
    [
      'when its time has come',
      { '98.0': done(answer(985_000, 10_000)) },
      { is: 'due', at: { slot: 100, turn: 0 }, last: answer(985_000, 10_000) },
    ],
    ['not before', { '96.0': done(answer(960_000, 60_000)) }, { is: 'early', inMs: 15_000, last: answer(960_000, 60_000) }],
    ['not while it is being asked', { '96.0': done(answer(1, 2)), '99.0': { state: 'running' } }, { is: 'running', last: answer(1, 2) }],
    ['later after an attempt that was given up', { '100.0': given }, { is: 'early', inMs: 5000, last: undefined }],
    ['no matter what was long ago', { '80.0': done(answer(800_000, 60_000)) }, { is: 'due', last: undefined, at: { slot: 100, turn: 0 } }],
    ['at once when the workers are others', { '100.0': done(ofOthers) }, { is: 'due', at: { slot: 100, turn: 1 }, last: ofOthers }],
    [
      'again about workers that are there once more',
      { '100.0': done(answer(1_001_000, 10_000)), '100.1': done(ofOthers) },
      { is: 'due', at: { slot: 100, turn: 2 }, last: ofOthers },
    ],
    [
      'in the next slot when workers come and go all the time',
      Object.fromEntries(Array.from({ length: 8 }, (_, turn) => [`100.${turn}`, done(ofOthers)])),
      { is: 'early', inMs: 5000, last: ofOthers },
    ],
    [
      'later by what was heard before the clock was set back',
      { '100.0': done(answer(1_003_000, 10_000, 5)), '103.0': done(answer(1_039_000, 10_000, 4)) },
      { is: 'early', inMs: 8000, last: answer(1_003_000, 10_000, 5) },
    ],
  ]
  for (const [name, outcomes, expected] of table)
    it(`is ${name}`, () =>
      assert.deepEqual(
        asking({ nowMs: 1_005_000, pace, longestMs: 65_000, workers: WORKERS, outcomeOf: ({ slot, turn }) => outcomes[`${slot}.${turn}`] }),
        expected,
      ))
})
