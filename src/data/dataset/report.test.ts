import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Outcome } from '../../runtime/controller.ts'
import { type Asked, asking, DEFAULT_PACE, heardProblem, heardReport, parseReport } from './report.ts'

const pace = DEFAULT_PACE

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
  const at = (atMs: number) => ({ atMs, pace })

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

  const done = (atMs: number, intervalMs: number): Outcome<Asked> => ({ state: 'done', value: { atMs, intervalMs } })
  const table: [string, Record<number, Outcome<Asked>>, object][] = [
    ['at once when nothing is known', {}, { is: 'due', last: undefined, slot: 100 }],
    ['when its time has come', { 98: done(985_000, 10_000) }, { is: 'due', slot: 100, last: { atMs: 985_000, intervalMs: 10_000 } }],
    ['not before', { 96: done(960_000, 60_000) }, { is: 'early', inMs: 15_000, last: { atMs: 960_000, intervalMs: 60_000 } }],
    ['not while it is being asked', { 96: done(1, 2), 99: { state: 'running' } }, { is: 'running', last: { atMs: 1, intervalMs: 2 } }],
    ['later after an attempt that was given up', { 100: { state: 'failed', message: '' } }, { is: 'early', inMs: 5000, last: undefined }],
    ['no matter what was long ago', { 80: done(800_000, 60_000) }, { is: 'due', last: undefined, slot: 100 }],
  ]
  for (const [name, outcomes, expected] of table)
    it(`is ${name}`, () =>
      assert.deepEqual(asking({ nowMs: 1_005_000, pace, longestMs: 65_000, outcomeIn: (slot) => outcomes[slot] }), expected))
})
