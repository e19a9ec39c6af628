import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Placement } from '../../kinds/karmada/index.ts'
import { MAX_RECORD_BYTES, recordText } from './decision.ts'
import {
  AGGREGATED,
  type BindingOptions,
  type ClusterOptions,
  DUPLICATED,
  DYNAMIC,
  decide,
  EVEN,
  fleetOf,
  inShort,
  weightsOf,
} from './testing.ts'

type Row = [string, Record<string, ClusterOptions>, BindingOptions, string]

function table(rows: readonly Row[]): void {
  for (const [name, fleet, options, expected] of rows) it(name, () => assert.equal(inShort(decide(fleetOf(fleet), options)), expected))
}

const PLAIN = { m1: {}, m2: {}, m3: {} }

describe('filters', () => {
  const configMap = (placement: Placement, more: BindingOptions = {}): BindingOptions => ({ resource: 'ConfigMap', placement, ...more })
  const noSchedule = { key: 'k', value: 'v', effect: 'NoSchedule' }
  table([
    ['nothing is asked for: every cluster', PLAIN, configMap({}), 'm1:0, m2:0, m3:0'],
    ['there are no clusters', {}, configMap({}), 'NoClusterFit: 0/0 clusters are available: no cluster exists.'],
    [
      'clusters that are going do not count as reasons',
      { m1: { isDeleting: true } },
      configMap({}),
      'NoClusterFit: 0/1 clusters are available: no cluster exists.',
    ],
    ['clusters by name', PLAIN, configMap({ clusterAffinity: { clusterNames: ['m1', 'm3'] } }), 'm1:0, m3:0'],
    ['all but', PLAIN, configMap({ clusterAffinity: { exclude: ['m1'] } }), 'm2:0, m3:0'],
    ['a kind that is not served', { m1: { kinds: ['Deployment'] }, m2: {} }, configMap({}), 'm2:0'],
    [
      'a kind that is no longer served, where it is already',
      { m1: { kinds: [] }, m2: { kinds: [] } },
      configMap({}, { on: { m1: 0 } }),
      'm1:0',
    ],
    ['a taint', { m1: { taints: [noSchedule] }, m2: {} }, configMap({}), 'm2:0'],
    ['a taint that only asks nicely', { m1: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } }, configMap({}), 'm1:0'],
    ['a taint where it is already', { m1: { taints: [noSchedule] } }, configMap({}, { on: { m1: 0 } }), 'm1:0'],
    [
      'a taint that is tolerated',
      { m1: { taints: [noSchedule] } },
      configMap({ clusterTolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }] }),
      'm1:0',
    ],
    ['everything is tolerated', { m1: { taints: [noSchedule] } }, configMap({ clusterTolerations: [{ operator: 'Exists' }] }), 'm1:0'],
    [
      'a cluster that is being left',
      { m1: {} },
      configMap(
        {},
        { on: { m1: 0 }, gracefulEvictionTasks: [{ fromCluster: 'm1', reason: 'TaintUntolerated', producer: 'TaintManager' }] },
      ),
      'NoClusterFit: 0/1 clusters are available: 1 cluster(s) is in the process of eviction.',
    ],
    [
      'all reasons, counted and sorted',
      { m1: { taints: [noSchedule] }, m2: { taints: [{ key: 'k', effect: 'NoExecute' }] }, m3: { kinds: [] }, m4: { kinds: [] }, m5: {} },
      configMap({ clusterAffinity: { exclude: ['m5'] } }),
      'NoClusterFit: 0/5 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint, 1 cluster(s) had untolerated taint {k:NoExecute}, 1 cluster(s) had untolerated taint {k=v:NoSchedule}, 2 cluster(s) did not have the API resource.',
    ],
    ...(['provider', 'region', 'zone'] as const).map(
      (field): Row => [
        `spread by ${field} needs it`,
        { m1: {} },
        configMap({ spreadConstraints: [{ spreadByField: field, minGroups: 1, maxGroups: 1 }] }),
        `NoClusterFit: 0/1 clusters are available: 1 cluster(s) did not have ${field === 'zone' ? 'zones' : field} property.`,
      ],
    ),
  ])
})

describe('a toleration for a time', () => {
  const addedMs = Date.UTC(2026, 0, 1)
  const old = { key: 'down', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }
  const clusterTolerations = [{ key: 'down', operator: 'Exists', tolerationSeconds: 10 }]
  const at = (seconds: number, more: BindingOptions = {}): string => {
    const options = { resource: 'ConfigMap', placement: { clusterTolerations }, ...more }
    return inShort(decide(fleetOf({ m1: { taints: [old] }, m2: {} }), options, { nowMs: addedMs + seconds * 1000 }))
  }
  it('counts until it is over: nothing comes that would have to go at once', () => {
    assert.equal(at(9), 'm1:0, m2:0')
    assert.equal(at(10), 'm2:0')
  })
  it('that is over drives nobody away here: that is decided elsewhere', () => {
    assert.equal(at(100, { on: { m1: 0, m2: 0 } }), 'm1:0, m2:0')
  })
  it('is reported as over', () => {
    const options = { resource: 'ConfigMap', placement: { clusterTolerations } }
    assert.match(
      inShort(decide(fleetOf({ m1: { taints: [old] } }), options, { nowMs: addedMs + 60_000 })),
      /1 cluster\(s\) had taint \{down:NoExecute\}, whose toleration is over\./,
    )
  })
})

describe('duplicated and static weights', () => {
  const asked = (placement: Placement, more: BindingOptions = {}): BindingOptions => ({ replicas: 5, placement, ...more })
  table([
    ['everywhere all of them', PLAIN, asked({ replicaScheduling: DUPLICATED }), 'm1:5, m2:5, m3:5'],
    ['also when nothing is said', PLAIN, asked({}), 'm1:5, m2:5, m3:5'],
    ['whatever clusters have free', { m1: { pods: 1 }, m2: { isSilent: true } }, asked({}), 'm1:5, m2:5'],
    ['the same clusters stay in their order', PLAIN, asked({}, { on: { m3: 5, m1: 5, m2: 5 } }), 'm3:5, m1:5, m2:5'],
    ['scaled to nothing, with requests: nowhere', PLAIN, { replicas: 0, replicaRequirements: {}, placement: {}, on: { m1: 5 } }, ''],
    ['weights', PLAIN, asked({ replicaScheduling: weightsOf({ m1: 3, m2: 2 }) }), 'm1:3, m2:2'],
    ['the highest weight that is meant', PLAIN, asked({ replicaScheduling: weightsOf({ m1: 4, m2: 1 }) }), 'm1:4, m2:1'],
    ['no weights: all the same', PLAIN, asked({ replicaScheduling: EVEN }), 'm1:2, m2:2, m3:1'],
    ['weights of others: all the same', { m4: {}, m5: {} }, asked({ replicaScheduling: weightsOf({ m1: 3 }) }), 'm4:3, m5:2'],
    ['ties by the uid of the template', { m1: {}, m2: {} }, asked({ replicaScheduling: EVEN }, { uid: 'uid-a' }), 'm1:2, m2:3'],
    [
      'divided anew, whatever was before',
      { m1: {}, m2: {} },
      asked({ replicaScheduling: weightsOf({ m1: 1, m2: 4 }) }, { on: { m1: 5 } }),
      'm1:1, m2:4',
    ],
    [
      'weights say who takes part, not the constraints',
      PLAIN,
      asked({
        replicaScheduling: weightsOf({ m1: 1, m2: 1, m3: 1 }),
        spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }],
      }),
      'm1:2, m2:2, m3:1',
    ],
    [
      'no preference at all',
      PLAIN,
      asked({ replicaScheduling: { replicaSchedulingType: 'Divided' } }),
      'SchedulerError: failed to assign replicas: unsupported replica scheduling strategy, replicaSchedulingType: Divided, replicaDivisionPreference: , please try another scheduling strategy',
    ],
    [
      'what has no pods goes everywhere, however it is divided',
      PLAIN,
      { resource: 'ConfigMap', placement: { replicaScheduling: AGGREGATED } },
      'm1:0, m2:0, m3:0',
    ],
  ])

  it('lists clusters without replicas where that is asked for', () => {
    const options = asked({ replicaScheduling: weightsOf({ m1: 3, m2: 2 }) })
    assert.equal(inShort(decide(fleetOf(PLAIN), options, { propagateEmptyWorkloads: true })), 'm1:3, m2:2, m3:0')
  })
})

describe('dynamic weights and aggregated', () => {
  const FREE = { m1: { pods: 18 }, m2: { pods: 12 }, m3: { pods: 6 } }
  const dynamic = (replicas: number, more: BindingOptions = {}): BindingOptions => ({
    replicas,
    placement: { replicaScheduling: DYNAMIC },
    ...more,
  })
  const aggregated = (replicas: number, more: BindingOptions = {}): BindingOptions => ({
    replicas,
    placement: { replicaScheduling: AGGREGATED },
    ...more,
  })
  const again = { rescheduleTriggeredAt: '2026-01-01T00:00:10Z', status: { lastScheduledTime: '2026-01-01T00:00:00Z' } }
  table([
    ['by what clusters have free', FREE, dynamic(12), 'm1:6, m2:4, m3:2'],
    [
      'by the scarcest resource',
      { m1: { cpu: '3', memory: '8Gi' }, m2: { cpu: '8', memory: '3Gi' } },
      dynamic(6, { replicaRequirements: { resourceRequest: { cpu: '500m', memory: '1Gi' } } }),
      'm1:4, m2:2',
    ],
    [
      'a resource that a cluster does not have',
      { m1: {}, m2: {} },
      dynamic(1, { replicaRequirements: { resourceRequest: { 'nvidia.com/gpu': '1' } } }),
      'Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 0 are not enough to schedule.',
    ],
    ['a cluster that has not said what it has', { m1: { isSilent: true }, m2: {} }, dynamic(4), 'm2:4'],
    [
      'too much',
      FREE,
      dynamic(37),
      'Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 36 are not enough to schedule.',
    ],
    [
      'more replicas: what is there stays, what is missing goes by what is free',
      { m1: { pods: 1 }, m2: { pods: 9 } },
      dynamic(15, { on: { m1: 5 } }),
      'm1:6, m2:9',
    ],
    [
      'fewer replicas: in proportion to what is there',
      { m1: { pods: 100 }, m2: { pods: 0 } },
      dynamic(6, { on: { m1: 3, m2: 9 } }),
      'm1:2, m2:4',
    ],
    ['as many replicas: nothing moves', { m1: { pods: 0 }, m2: { pods: 100 } }, dynamic(4, { on: { m1: 4 } }), 'm1:4'],
    [
      'replicas of a cluster that is gone go to the others',
      { m1: { pods: 5 }, m2: { pods: 5 } },
      dynamic(6, { on: { m1: 2, m2: 2, m3: 2 } }),
      'm1:3, m2:3',
    ],
    [
      'anew: also what is there is divided again',
      { m1: { pods: 0 }, m2: { pods: 12 } },
      dynamic(8, { on: { m1: 4, m2: 4 }, ...again }),
      'm1:2, m2:6',
    ],
    [
      'anew, and too much',
      { m1: { pods: 1 } },
      dynamic(8, { on: { m1: 4 }, ...again }),
      'Unschedulable: failed to assign replicas: failed to do fresh scale: Clusters available replicas 5 are not enough to schedule.',
    ],
    ['scaled to nothing, with requests', FREE, dynamic(0, { on: { m1: 5 }, replicaRequirements: {} }), ''],
    ['as few clusters as possible', FREE, aggregated(12), 'm1:12'],
    ['as few as can hold them, by what they have', FREE, aggregated(20), 'm1:12, m2:8'],
    ['first those that have some', FREE, aggregated(8, { on: { m3: 4 } }), 'm3:8'],
    ['then the others', FREE, aggregated(20, { on: { m3: 4 } }), 'm1:12, m3:8'],
    ['fewer replicas on fewer clusters', FREE, aggregated(3, { on: { m1: 2, m2: 4 } }), 'm2:3'],
    [
      'those that get more come before those that only stay',
      { m1: { pods: 0 }, m2: { pods: 10 }, m3: { pods: 0 } },
      aggregated(14, { on: { m3: 5, m1: 4, m2: 3 } }),
      'm2:5, m1:4, m3:5',
    ],
    [
      'by weight, everybody takes part, also who gets nothing',
      { m1: { pods: 0 }, m2: { pods: 10 } },
      dynamic(14, { on: { m2: 5, m1: 4 } }),
      'm1:4, m2:10',
    ],
    [
      'not one too many',
      FREE,
      aggregated(37),
      'Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 36 are not enough to schedule.',
    ],
  ])

  it('among equals, beyond a dozen of them, the one that Karmada comes to', () => {
    const names = Array.from({ length: 16 }, (_, i) => `m${String(i).padStart(2, '0')}`)
    const fleet = fleetOf(Object.fromEntries(names.map((name, i) => [name, { pods: i === 0 ? 1 : 5 }])))
    assert.equal(inShort(decide(fleet, aggregated(8, { on: { m00: 5 } }))), 'm00:6, m08:2')
    assert.equal(inShort(decide(fleet, aggregated(8))), 'm01:4, m02:4')
  })

  it('takes off what is on its way', () => {
    const inFlight = (cluster: string) => (cluster === 'm1' ? { pods: 12, amounts: new Map([['cpu', 12_000]]) } : undefined)
    assert.equal(inShort(decide(fleetOf(FREE), dynamic(12), { inFlight })), 'm1:3, m2:6, m3:3')
    const byCpu = dynamic(6, { replicaRequirements: { resourceRequest: { cpu: '1' } } })
    assert.equal(inShort(decide(fleetOf({ m1: { cpu: '14' }, m2: { cpu: '4' } }), byCpu, { inFlight })), 'm1:2, m2:4')
  })
})

describe('spread by cluster', () => {
  const spread = (
    minGroups: number,
    maxGroups: number,
    more: BindingOptions & { by?: Placement['replicaScheduling'] } = {},
  ): BindingOptions => {
    const { by, ...options } = more
    return {
      replicas: 10,
      placement: { replicaScheduling: by, spreadConstraints: [{ spreadByField: 'cluster', minGroups, maxGroups }] },
      ...options,
    }
  }
  const FREE = { m1: { pods: 4 }, m2: { pods: 3 }, m3: { pods: 6 }, m4: { pods: 20 } }
  table([
    ['the first by what they have free', FREE, spread(1, 2), 'm4:10, m3:10'],
    ['those it is in come first', FREE, spread(1, 2, { on: { m2: 10 } }), 'm2:10, m4:10'],
    [
      'too few',
      { m1: {} },
      spread(2, 2),
      'SchedulerError: failed to select clusters: the number of feasible clusters is less than spreadConstraint.MinGroups',
    ],
    ['at most none, duplicated', FREE, spread(0, 0), 'SchedulerError: failed to assign replicas: no clusters available to schedule'],
    [
      'at most none, divided',
      FREE,
      spread(0, 0, { by: DYNAMIC }),
      'SchedulerError: failed to select clusters: no enough resource when selecting 0 clusters',
    ],
    [
      'those that hold enough',
      { m1: { pods: 4 }, m2: { pods: 3 }, m3: { pods: 6 } },
      spread(2, 2, { by: DYNAMIC, replicas: 10 }),
      'm1:4, m3:6',
    ],
    [
      'a cluster it is in makes way when room is short',
      { m1: { pods: 40 }, m2: { pods: 30 }, m3: { pods: 60 } },
      spread(2, 2, { by: DYNAMIC, replicas: 99, on: { m1: 1, m2: 1 } }),
      'm1:40, m3:59',
    ],
    [
      'not enough in so many',
      FREE,
      spread(1, 2, { by: DYNAMIC, replicas: 30 }),
      'SchedulerError: failed to select clusters: no enough resource when selecting 2 clusters',
    ],
    [
      'by zone alone',
      { m1: { zones: ['a'] } },
      { replicas: 1, placement: { spreadConstraints: [{ spreadByField: 'zone', minGroups: 1, maxGroups: 1 }] } },
      'SchedulerError: failed to select clusters: just support cluster and region spread constraint',
    ],
  ])
})

describe('components', () => {
  const flink: BindingOptions = {
    components: [
      { name: 'jobmanager', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1', memory: '1Gi' } } },
      { name: 'taskmanager', replicas: 3, replicaRequirements: { resourceRequest: { cpu: '2', memory: '2Gi' } } },
    ],
    placement: { replicaScheduling: AGGREGATED, spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] },
  }
  it('go whole to one cluster that can take them', () => {
    const decision = decide(fleetOf({ m1: { cpu: '6' }, m2: { cpu: '7' } }), flink)
    assert.deepEqual(decision.clusters, [
      {
        name: 'm2',
        components: [
          { name: 'jobmanager', replicas: 1 },
          { name: 'taskmanager', replicas: 3 },
        ],
      },
    ])
  })
  table([
    [
      'wait when none can',
      { m1: { cpu: '6' } },
      flink,
      'SchedulerError: failed to select clusters: no enough resource when selecting 1 clusters',
    ],
    [
      'need a pod each',
      { m1: { pods: 3 } },
      flink,
      'SchedulerError: failed to select clusters: no enough resource when selecting 1 clusters',
    ],
    ['without exactly one cluster: everywhere, undivided', { m1: {}, m2: {} }, { ...flink, placement: {} }, 'm1:0, m2:0'],
  ])
  it('keeps capacity for what is in flight', () => {
    const inFlight = () => ({ pods: 1, amounts: new Map([['cpu', 1000]]) })
    assert.match(inShort(decide(fleetOf({ m1: { cpu: '7' } }), flink, { inFlight })), /no enough resource/)
  })
})

describe('the record of a decision', () => {
  it('says of each cluster why, in one sentence', () => {
    const fleet = fleetOf({ m1: { pods: 18 }, m2: { pods: 6 }, m3: { kinds: [] }, m4: { pods: 1 } })
    const { explanation } = decide(fleet, { replicas: 8, placement: { replicaScheduling: DYNAMIC } })
    assert.deepEqual(explanation, {
      total: 4,
      chosen: 2,
      clusters: [
        { name: 'm1', chosen: true, why: 'score 0, 18 replicas available, weight 18, gets 6 of 8 replicas' },
        { name: 'm2', chosen: true, why: 'score 0, 6 replicas available, weight 6, gets 2 of 8 replicas' },
        { name: 'm4', chosen: false, why: 'weight 1 is too small for one of 8 replicas' },
        { name: 'm3', chosen: false, why: 'cluster(s) did not have the API resource' },
      ],
      others: { 'cluster(s) did not have the API resource': 1, 'got no replicas': 1 },
    })
  })

  it('stays small however many clusters there are', () => {
    const key = `example.com/${'k'.repeat(63)}`
    const fleet = Object.fromEntries(
      Array.from({ length: 300 }, (_, i): [string, ClusterOptions] => [
        `${'c'.repeat(40)}-${i}`,
        i % 2 === 0 ? {} : { taints: [{ key, value: `${'v'.repeat(60)}${i}`, effect: 'NoSchedule' }] },
      ]),
    )
    const decision = decide(fleetOf(fleet), { replicas: 2 })
    assert.equal(decision.explanation.clusters.length, 20)
    assert.equal(decision.explanation.chosen, 150)
    assert.equal(
      Object.values(decision.explanation.others).reduce((sum, count) => sum + count, 0),
      150,
    )
    const text = recordText(decision, 3)
    assert.ok(text.length > 2000 && Buffer.byteLength(text) <= MAX_RECORD_BYTES, `${text.length} characters`)
    assert.equal(JSON.parse(text).generation, 3)
  })
})
