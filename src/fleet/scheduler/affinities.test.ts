import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Placement } from '../../kinds/karmada/index.ts'
import type { Decision } from './decision.ts'
import { AGGREGATED, type BindingOptions, type ClusterOptions, DYNAMIC, decide, fleetOf, inShort } from './testing.ts'

type Terms = NonNullable<Placement['clusterAffinities']>

const named = (terms: Record<string, string[]>): Terms =>
  Object.entries(terms).map(([affinityName, clusterNames]) => ({ affinityName, clusterNames }))
const withName = (decision: Decision): string => `${decision.affinityName ?? '-'} ${inShort(decision)}`

describe('groups of clusters in turn', () => {
  const GROUPS = named({ near: ['m1'], far: ['m2', 'm3'] })
  const FREE = { m1: { pods: 5 }, m2: { pods: 10 }, m3: { pods: 10 } }
  const asked = (replicas: number, more: BindingOptions = {}): BindingOptions => ({
    replicas,
    placement: { clusterAffinities: GROUPS, replicaScheduling: DYNAMIC },
    ...more,
  })
  const again = { rescheduleTriggeredAt: '2026-01-01T00:00:10Z' }
  const table: [string, Record<string, ClusterOptions>, BindingOptions, string][] = [
    ['the first that fits', FREE, asked(5), 'near m1:5'],
    ['the next when room is short', FREE, asked(6), 'far m2:3, m3:3'],
    ['the next when nothing fits', { m2: {} }, asked(2), 'far m2:2'],
    ['no way back to the first', FREE, asked(2, { on: { m2: 2 }, status: { schedulerObservingAffinityName: 'far' } }), 'far m2:2'],
    [
      'unless it is to be decided anew',
      FREE,
      asked(2, { on: { m2: 2 }, status: { schedulerObservingAffinityName: 'far', lastScheduledTime: '2026-01-01T00:00:00Z' }, ...again }),
      'near m1:2',
    ],
    ['a name that is no longer there: from the first', FREE, asked(2, { status: { schedulerObservingAffinityName: 'gone' } }), 'near m1:2'],
    [
      'when all fail, the first is told of',
      FREE,
      asked(50),
      '- Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 5 are not enough to schedule.',
    ],
    [
      'nothing fits anywhere',
      { m9: {} },
      asked(1),
      '- NoClusterFit: 0/1 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint.',
    ],
  ]
  for (const [name, fleet, options, expected] of table) it(name, () => assert.equal(withName(decide(fleetOf(fleet), options)), expected))

  describe('a cluster in two of them', () => {
    const shared = (replicas: number, more: BindingOptions = {}): BindingOptions =>
      asked(replicas, {
        placement: { clusterAffinities: named({ near: ['m1', 'm2'], far: ['m2', 'm3'] }), replicaScheduling: DYNAMIC },
        ...more,
      })
    const cases: [string, BindingOptions, string][] = [
      ['is used by the first', shared(12), 'near m1:4, m2:8'],
      ['and by the next', shared(16), 'far m2:8, m3:8'],
      ['keeps what it has when the first no longer will do', shared(18, { on: { m1: 5, m2: 4 } }), 'near m1:8, m2:10'],
      ['and takes over from there', shared(21, { on: { m1: 1, m2: 4 } }), 'far m2:13, m3:8'],
      ['and stays in the next', shared(4, { on: { m2: 4 }, status: { schedulerObservingAffinityName: 'far' } }), 'far m2:4'],
    ]
    for (const [name, options, expected] of cases) it(name, () => assert.equal(withName(decide(fleetOf(FREE), options)), expected))
  })

  it('reports every attempt', () => {
    const { failures } = decide(fleetOf(FREE), asked(6))
    assert.deepEqual(failures, [
      'failed to schedule ResourceBinding(default/web-deployment) with clusterAffiliates index(0): failed to assign replicas: failed to scale up: Clusters available replicas 5 are not enough to schedule.',
    ])
    const unfit = decide(fleetOf({ m9: {} }), asked(1))
    assert.equal(unfit.failures.length, 3)
    assert.equal(unfit.failures[2], unfit.message)
    assert.match(unfit.failures[1] ?? '', /index\(1\): 0\/1 clusters/)
  })

  it('keeps what was decided when capacity is short, and gives it up when nothing fits', () => {
    assert.equal(decide(fleetOf(FREE), asked(50, { on: { m1: 1 } })).clusters, undefined)
    assert.deepEqual(decide(fleetOf({ m9: {} }), asked(1, { on: { m1: 1 } })).clusters, [])
  })
})

describe('groups that help out', () => {
  const overflowing = (replicas: number, more: BindingOptions = {}, by = DYNAMIC): BindingOptions => ({
    replicas,
    placement: {
      replicaScheduling: by,
      clusterAffinities: [
        {
          affinityName: 'own',
          clusterNames: ['m1', 'm2'],
          overflowAffinities: [
            { affinityName: 'rented', clusterNames: ['m3'] },
            { affinityName: 'dear', clusterNames: ['m4'] },
          ],
        },
      ],
    },
    status: { schedulerObservingAffinityName: 'own' },
    ...more,
  })
  const FREE = { m1: { pods: 4 }, m2: { pods: 4 }, m3: { pods: 5 }, m4: { pods: 9 } }
  const table: [string, Record<string, ClusterOptions>, BindingOptions, string][] = [
    ['are not needed', FREE, overflowing(6), 'm1:3, m2:3'],
    ['take what is left, in turn', FREE, overflowing(10), 'm1:4, m2:4, m3:2'],
    ['down to the last', FREE, overflowing(15), 'm1:4, m2:4, m3:5, m4:2'],
    [
      'and not more',
      FREE,
      overflowing(23),
      'Unschedulable: failed to assign replicas: Clusters available replicas are not enough to schedule.',
    ],
    [
      'take more when there is more',
      { ...FREE, m1: { pods: 0 }, m2: { pods: 0 } },
      overflowing(11, { on: { m1: 4, m2: 4 } }),
      'm1:4, m2:4, m3:3',
    ],
    [
      'give back first when there is less',
      { ...FREE, m1: { pods: 0 }, m2: { pods: 0 }, m3: { pods: 2 } },
      overflowing(9, { on: { m1: 4, m2: 4, m3: 3 } }),
      'm1:4, m2:4, m3:1',
    ],
    ['give all back', { ...FREE, m1: { pods: 0 }, m2: { pods: 0 } }, overflowing(8, { on: { m1: 4, m2: 4, m3: 3 } }), 'm1:4, m2:4'],
    ['with as few clusters as possible in each', FREE, overflowing(6, {}, AGGREGATED), 'm1:3, m2:3'],
    ['what has no pods does not overflow', FREE, { ...overflowing(0), resource: 'ConfigMap' }, 'm1:0, m2:0'],
  ]
  for (const [name, fleet, options, expected] of table) it(name, () => assert.equal(inShort(decide(fleetOf(fleet), options)), expected))

  it('say so', () => {
    const { explanation } = decide(fleetOf(FREE), overflowing(10))
    assert.match(explanation.clusters.find(({ name }) => name === 'm3')?.why ?? '', /takes overflow \(tier 1\)/)
  })
})
