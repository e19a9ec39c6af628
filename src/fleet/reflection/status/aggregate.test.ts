import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../base/json.ts'
import type { AggregatedStatusItem, BindingSpec, Work } from '../../../kinds/karmada/index.ts'
import { applyMergePatch } from '../../../kube/patch/index.ts'
import { aBinding, aDeployment, targets } from '../../binding/testing.ts'
import { aggregatedItems, fullyApplied } from './aggregate.ts'
import { createGathering } from './gathering.ts'
import { mergeDifference } from './merge-difference.ts'
import { isOutstanding } from './plan.ts'
import { aReport, aReportingWork } from './testing.ts'

describe('what Works say together', () => {
  const table: [string, Work[], AggregatedStatusItem[]][] = [
    ['nothing without Works', [], []],
    ['unknown until somebody reports', [aReportingWork('a')], [{ clusterName: 'a', health: 'Unknown' }]],
    [
      'in the order of clusters, with what is applied and how it is',
      [aReportingWork('b', aReport(true, { replicas: 2 }, 'Healthy')), aReportingWork('a', aReport(true))],
      [
        { clusterName: 'a', applied: true, health: 'Unknown' },
        { clusterName: 'b', status: { replicas: 2 }, applied: true, health: 'Healthy' },
      ],
    ],
    [
      'with the reason where it is not applied',
      [aReportingWork('a', aReport('no room'))],
      [{ clusterName: 'a', appliedMessage: 'no room', health: 'Unknown' }],
    ],
    [
      'and then nothing of what was reported before',
      [aReportingWork('a', aReport('no room', { replicas: 2 }, 'Healthy'))],
      [{ clusterName: 'a', appliedMessage: 'no room', health: 'Unknown' }],
    ],
    ['not of those on their way out', [aReportingWork('a', aReport(true), { deletionTimestamp: '2026-01-01T00:00:00Z' })], []],
  ]
  for (const [name, works, expected] of table) it(name, () => assert.deepEqual(aggregatedItems(works), expected))

  it('is the same in whatever order they come', () => {
    const works = ['c', 'a', 'b'].map((cluster) => aReportingWork(cluster, aReport(true)))
    fc.assert(
      fc.property(fc.shuffledSubarray(works, { minLength: 3 }), (shuffled) =>
        assert.deepEqual(aggregatedItems(shuffled), aggregatedItems(works)),
      ),
    )
  })
})

describe('fully applied', () => {
  const spec = (more: Partial<BindingSpec>): BindingSpec => aBinding(aDeployment('web'), more).spec
  const leaving = { fromCluster: 'b', reason: 'TaintUntolerated', producer: 'TaintManager' }
  const applied = (...clusters: string[]): AggregatedStatusItem[] => clusters.map((clusterName) => ({ clusterName, applied: true }))
  const table: [string, BindingSpec, AggregatedStatusItem[], string][] = [
    ['is nothing that goes nowhere', spec({}), [], 'False'],
    ['is what is applied everywhere', spec({ clusters: targets('a', 'b') }), applied('a', 'b'), 'True'],
    ['not where one has no Work', spec({ clusters: targets('a', 'b') }), applied('a'), 'False'],
    ['not where one is not applied', spec({ clusters: targets('a') }), [{ clusterName: 'a', appliedMessage: 'no' }], 'False'],
    ['not while another place still has it', spec({ clusters: targets('a') }), applied('a', 'b'), 'False'],
    ['not where the places are others', spec({ clusters: targets('a', 'c') }), applied('a', 'b'), 'False'],
    ['also where it follows another', spec({ requiredBy: [{ name: 'x', clusters: targets('a') }] }), applied('a'), 'True'],
    [
      'a place that is left by and by counts',
      spec({ clusters: targets('a'), gracefulEvictionTasks: [{ ...leaving, purgeMode: 'Gracefully' }] }),
      applied('a', 'b'),
      'True',
    ],
    [
      'one that is left directly does not',
      spec({ clusters: targets('a'), gracefulEvictionTasks: [{ ...leaving, purgeMode: 'Directly' }] }),
      applied('a'),
      'True',
    ],
  ]
  for (const [name, of, items, expected] of table)
    it(name, () => {
      const { status, reason, message } = fullyApplied(of, items)
      assert.equal(status, expected)
      assert.deepEqual(
        [reason, message],
        expected === 'True'
          ? ['FullyAppliedSuccess', 'All works have been successfully applied']
          : ['FullyAppliedFailed', 'Failed to apply all works, see status.aggregatedStatus for details'],
      )
    })
})

describe('the difference of two statuses', () => {
  const json = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.array(fc.integer(), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  })).object

  it('is a merge patch from one to the other, and nothing when they are equal', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        const difference = mergeDifference(from, to)
        const patched = applyMergePatch(from, { value: (difference ?? {}) as JsonObject, strictErrors: [] })
        assert.deepEqual(patched, to)
        assert.equal(mergeDifference(to, to), undefined)
      }),
    )
  })

  it('is nothing for zeros that the server leaves out', () => {
    assert.equal(mergeDifference({}, { replicas: 0, conditions: [] }, { omitsZeros: true }), undefined)
    assert.deepEqual(mergeDifference({ replicas: 1 }, { replicas: 0 }, { omitsZeros: true }), { replicas: null })
    assert.deepEqual(mergeDifference({}, { replicas: 0 }), { replicas: 0 })
  })
})

describe('reports that come together', () => {
  it('wait from the first on, and no longer, also when the clock is set back', () => {
    const gathering = createGathering(50)
    const waitMs = (version: string, nowMs: number): number => gathering.waitMs('a', version, { nowMs, isOutstanding: false })
    assert.equal(waitMs('1', 1000), 50)
    assert.equal(waitMs('1', 1030), 20)
    assert.equal(waitMs('1', 500), 50)
    assert.equal(waitMs('1', 550), 0)
    assert.equal(waitMs('1', 551), 0, 'what was refused does not wait again')
    assert.equal(waitMs('2', 1052), 50)
    assert.equal(gathering.end('a'), 0)
    assert.equal(waitMs('2', 1102), 50)
    assert.equal(createGathering(0).waitMs('a', '1', { nowMs: 1000, isOutstanding: true }), 0)
  })

  it('wait longer for a first word, and not a moment longer when it is there', () => {
    const gathering = createGathering(50)
    assert.equal(gathering.waitMs('a', '1', { nowMs: 1000, isOutstanding: true }), 500)
    assert.equal(gathering.waitMs('a', '1', { nowMs: 1020, isOutstanding: false }), 30)
    assert.equal(gathering.waitMs('a', '1', { nowMs: 1200, isOutstanding: true }), 300)
    assert.equal(gathering.waitMs('a', '1', { nowMs: 1200, isOutstanding: false }), 0)
    assert.equal(gathering.waitMs('a', '1', { nowMs: 1500, isOutstanding: true }), 0)
  })

  const outstanding: [string, boolean, Work[]][] = [
    ['a cluster without a Work has said nothing', true, [aReportingWork('a', aReport(true))]],
    ['nor has one whose Work is only there', true, [aReportingWork('a', aReport(true)), aReportingWork('b')]],
    ['that it could not be applied is a word', false, [aReportingWork('a', aReport(true)), aReportingWork('b', aReport('no room'))]],
    ['others do not matter', false, ['a', 'b', 'c'].map((cluster) => aReportingWork(cluster, aReport(true)))],
  ]
  for (const [name, expected, works] of outstanding)
    it(name, () => assert.equal(isOutstanding(aBinding(aDeployment('web'), { clusters: targets('a', 'b') }), works), expected))
})
