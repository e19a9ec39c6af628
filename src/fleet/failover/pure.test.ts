import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { evictionDue, NEVER } from '../../kinds/karmada/cluster-taints.ts'
import type { Binding, Cluster, ClusterTaintPolicy, GracefulEvictionTask, Taint, Toleration } from '../../kinds/karmada/index.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { aBinding, aCluster } from '../membership/testing.ts'
import { planFor } from './application/plan.ts'
import { matches, taintsBy } from './cluster-taint-policy/controller.ts'
import { evict, purgeModeOf } from './eviction.ts'
import { createEvictionRate } from './eviction-rate.ts'
import { assess } from './graceful-eviction/assess.ts'
import { FAILOVER_DEFAULTS } from './options.ts'
import { evaluate, preservedState } from './state-preservation.ts'
import { byDefault, tolerationsOf } from './taint-eviction/due.ts'

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`
const ms = (second: number): number => Date.parse(at(second))

describe('when taints drive a binding away', () => {
  const taint = (key: string, timeAdded: string | undefined = at(10), value = ''): Taint => ({ key, value, effect: 'NoExecute', timeAdded })
  const NOW = Number.NEGATIVE_INFINITY
  const table: [string, Taint[], Toleration[], number][] = [
    ['at once when nothing is tolerated', [taint('a')], [], NOW],
    ['at once when one of them is not', [taint('a'), taint('b')], [{ key: 'a', operator: 'Exists' }], NOW],
    ['never when all are, for ever', [taint('a'), taint('b')], [{ operator: 'Exists' }], NEVER],
    ['after the seconds', [taint('a')], [{ key: 'a', operator: 'Exists', tolerationSeconds: 5 }], ms(15)],
    ['at once after none', [taint('a')], [{ key: 'a', operator: 'Exists', tolerationSeconds: 0 }], ms(10)],
    [
      'after the shortest of them',
      [taint('a'), taint('b', at(12))],
      [
        { key: 'a', operator: 'Exists', tolerationSeconds: 9 },
        { key: 'b', operator: 'Exists', tolerationSeconds: 1 },
      ],
      ms(13),
    ],
    [
      'the first toleration that fits counts',
      [taint('a')],
      [{ key: 'a', operator: 'Exists', tolerationSeconds: 5 }, { operator: 'Exists' }],
      ms(15),
    ],
    ['values must be equal', [taint('a', at(10), 'x')], [{ key: 'a', operator: 'Equal', value: 'y' }], NOW],
    ['no operator means equal', [taint('a', at(10), 'x')], [{ key: 'a', value: 'x' }], NEVER],
    ['effects must be equal, or not said', [taint('a')], [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }], NOW],
    ['a taint of unknown age has not come of age', [taint('a', '')], [{ operator: 'Exists', tolerationSeconds: 5 }], NEVER],
  ]
  for (const [name, taints, tolerations, expected] of table) it(name, () => assert.equal(evictionDue(taints, tolerations), expected))

  it('after the time that is put up with by default, unless the binding says otherwise', () => {
    const away = [taint('cluster.karmada.io/not-ready')]
    const own: Toleration = { key: 'cluster.karmada.io/not-ready', operator: 'Exists', tolerationSeconds: 5 }
    assert.equal(evictionDue(away, byDefault(40)), ms(50))
    assert.equal(evictionDue(away, [own, ...byDefault(40)]), ms(15))
    assert.equal(evictionDue([taint('a')], byDefault(40)), NOW, 'other taints are not meant')
    assert.equal(evictionDue(away, byDefault(0)), NOW)
  })

  it('by the placement of the last schedule, and by the policy where that cannot be read', () => {
    const tolerations = [{ operator: 'Exists' }]
    const binding = (text: string | undefined): Binding => {
      const object = aBinding('default/web', ['m1'], { placement: { clusterTolerations: tolerations } }) as Binding
      return text === undefined
        ? object
        : { ...object, metadata: { ...object.metadata, annotations: { 'policy.karmada.io/applied-placement': text } } }
    }
    assert.deepEqual(tolerationsOf(binding('{}')), [])
    for (const text of [undefined, '', 'null', '{', '1']) assert.deepEqual(tolerationsOf(binding(text)), tolerations)
  })
})

describe('an eviction', () => {
  const reason = { reason: 'TaintUntolerated', producer: 'TaintManager', purgeMode: 'Gracefully' } as const
  const spec = (binding: Binding, ...clusters: string[]) => {
    const [action] = evict(RESOURCE_BINDINGS, binding, new Map(clusters.map((name) => [name, reason])), ms(20))
    return action?.do === 'patch' ? action.patch.spec : undefined
  }
  const binding = aBinding('default/web', ['m1', 'm2']) as Binding

  it('moves the cluster from the targets to the tasks, with its replicas and the time', () => {
    assert.deepEqual(spec(binding, 'm1'), {
      clusters: [{ name: 'm2', replicas: 1 }],
      gracefulEvictionTasks: [{ fromCluster: 'm1', ...reason, creationTimestamp: at(20), replicas: 1 }],
    })
  })

  it('keeps the task that is there already, and says no replicas where there are none', () => {
    const task: GracefulEvictionTask = { fromCluster: 'm1', reason: 'Other', producer: 'somebody' }
    const known = { ...binding, spec: { ...binding.spec, clusters: [{ name: 'm1' }, { name: 'm2' }], gracefulEvictionTasks: [task] } }
    assert.deepEqual(spec(known, 'm1', 'm2'), {
      clusters: [],
      gracefulEvictionTasks: [task, { fromCluster: 'm2', ...reason, creationTimestamp: at(20) }],
    })
  })

  it('of a cluster it is not on is nothing', () => assert.equal(spec(binding, 'm3'), undefined))

  it('knows the old names of purge modes', () => {
    assert.deepEqual(['Immediately', 'Graciously', 'Never', 'Directly'].map(purgeModeOf), ['Directly', 'Gracefully', 'Never', 'Directly'])
  })
})

describe('an application that has been unhealthy too long', () => {
  const failover = { application: { decisionConditions: { tolerationSeconds: 60 }, purgeMode: 'Directly' } }
  const unhealthy = (more: Record<string, unknown>): Binding => {
    const binding = aBinding('default/web', ['m1'], { failover, ...more }) as Binding
    const annotations = { 'sluice.dev/unhealthy-since': '{"m1":"2026-01-01T00:00:00Z"}' }
    const status = { aggregatedStatus: [{ clusterName: 'm1', health: 'Unhealthy' }] }
    return { ...binding, metadata: { ...binding.metadata, annotations }, status } as Binding
  }
  const table: [string, typeof RESOURCE_BINDINGS, Record<string, unknown>, boolean][] = [
    ['goes where what it depends on follows', RESOURCE_BINDINGS, { propagateDeps: true }, true],
    ['stays where that would stay behind', RESOURCE_BINDINGS, {}, false],
    ['goes where it has no namespace, and nothing that it could depend on', CLUSTER_RESOURCE_BINDINGS as never, {}, true],
  ]
  for (const [name, resource, more, goes] of table)
    it(name, () => {
      const nowMs = Date.parse('2026-01-01T01:00:00Z')
      const { actions } = planFor(resource, FAILOVER_DEFAULTS.gates)({ binding: unhealthy(more), isJudged: true, nowMs })
      const patches = actions.map((action) => ('patch' in action ? JSON.stringify(action.patch) : ''))
      assert.equal(
        patches.some((patch) => patch.includes('"fromCluster":"m1"')),
        goes,
      )
    })
})

describe('an eviction task', () => {
  const task = (more: Partial<GracefulEvictionTask> = {}): GracefulEvictionTask => ({
    fromCluster: 'm1',
    reason: 'TaintUntolerated',
    producer: 'TaintManager',
    creationTimestamp: at(10),
    ...more,
  })
  const binding = (tasks: GracefulEvictionTask[], { seen = 3, health = 'Unhealthy', clusters = ['m2'] } = {}): Binding => {
    const object = aBinding('default/web', clusters, { gracefulEvictionTasks: tasks }) as Binding
    const aggregatedStatus = [{ clusterName: 'm2', health: health as 'Healthy' }]
    return { ...object, metadata: { ...object.metadata, generation: 3 }, status: { schedulerObservedGeneration: seen, aggregatedStatus } }
  }
  const timeoutSeconds = 20
  const table: [string, Binding, number, string[], number | undefined][] = [
    ['waits for its time', binding([task()]), 30, [], ms(30)],
    ['is over after its time', binding([task()]), 31, ['m1'], undefined],
    ['has a time of its own', binding([task({ gracePeriodSeconds: 5 })]), 16, ['m1'], undefined],
    ['is over when all others are healthy', binding([task()], { health: 'Healthy' }), 11, ['m1'], undefined],
    ['not before the scheduler has seen it', binding([task()], { health: 'Healthy', seen: 2 }), 11, [], ms(30)],
    ['not while one is not known to be', binding([task()], { health: 'Healthy', clusters: ['m2', 'm3'] }), 11, [], ms(30)],
    ['not for want of any other', binding([task()], { clusters: [] }), 11, [], ms(30)],
    ['stays where it must', binding([task({ suppressDeletion: true })], { health: 'Healthy' }), 59, [], undefined],
    ['goes where it may', binding([task({ suppressDeletion: false })]), 10, ['m1'], undefined],
  ]
  for (const [name, of, second, done, nextMs] of table)
    it(name, () => {
      const found = assess(of, { nowMs: ms(second), timeoutSeconds, copies: new Set(['m1', 'm2']) })
      assert.deepEqual([found.done, found.nextMs], [done, nextMs])
    })

  it('of purge mode Directly is over when the copy is gone, and not before', () => {
    const of = binding([task({ purgeMode: 'Directly' })], { health: 'Healthy' })
    const doneWith = (copies: string[], who = of): readonly string[] =>
      assess(who, { nowMs: ms(59), timeoutSeconds, copies: new Set(copies) }).done
    assert.deepEqual([doneWith(['m1', 'm2']), doneWith(['m2'])], [[], ['m1']])
    const wentBack = binding([task({ purgeMode: 'Directly' })], { clusters: ['m1'] })
    assert.deepEqual(doneWith(['m1'], wentBack), ['m1'])
  })

  it('that somebody else made gets its time first', () => {
    const { kept, done } = assess(binding([task({ creationTimestamp: undefined, suppressDeletion: false })]), {
      nowMs: ms(20),
      timeoutSeconds,
      copies: new Set(),
    })
    assert.deepEqual([kept[0]?.creationTimestamp, done], [at(20), []])
  })
})

describe('state that is preserved', () => {
  const status = {
    replicas: 3,
    name: 'job-1',
    list: [
      { id: 'a', n: 1 },
      { id: 'b', n: 2 },
    ],
    'a.b/c': 'x',
    nested: { b: 1, a: [true] },
  }
  const table: [string, string | undefined][] = [
    ['{.replicas}', '3'],
    ['{ .name }', 'job-1'],
    ['{.name}/{.replicas}', 'job-1/3'],
    ['plain', 'plain'],
    ['{.list[*].id}', 'a b'],
    ['{.list[?(@.id=="b")].n}', '2'],
    ['{.a\\.b/c}', 'x'],
    ['{.nested}', '{"a":[true],"b":1}'],
    ['{.missing}', undefined],
    ['{.name', undefined],
    ['{.list[}', undefined],
    ["{'}'}", '}'],
  ]
  for (const [template, expected] of table) it(template, () => assert.equal(evaluate(template, status).value, expected))

  it('waits for a status, and says for which', () => {
    const binding = aBinding('default/web', ['m1', 'm2']) as Binding
    const rules = { rules: [{ aliasLabelName: 'from', jsonPath: '{.replicas}' }] }
    assert.deepEqual(preservedState(binding, 'm1', undefined), { value: {} })
    assert.match(preservedState(binding, 'm1', rules).error ?? '', /the application status has not yet been collected from Cluster\(m1\)/)
    const known = { ...binding, status: { aggregatedStatus: [{ clusterName: 'm1', status }] } }
    assert.deepEqual(preservedState(known, 'm1', rules).value, { preservedLabelState: { from: '3' }, clustersBeforeFailover: ['m1', 'm2'] })
  })

  it('never throws, whatever a template holds', () => {
    fc.assert(fc.property(fc.string(), fc.jsonValue(), (template, data) => void evaluate(template, data)))
  })
})

describe('the taints that policies ask for', () => {
  const policy = (name: string, spec: Partial<ClusterTaintPolicy['spec']>, created = at(0)): ClusterTaintPolicy => ({
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterTaintPolicy',
    metadata: { name, creationTimestamp: created },
    spec: { taints: [{ key: 'down', effect: 'NoExecute' }], ...spec },
  })
  const cluster = (ready: string, taints: Taint[] = []): Cluster => ({
    ...(aCluster('m1', { taints }) as Cluster),
    status: { conditions: [{ type: 'Ready', status: ready, reason: 'R', message: '', lastTransitionTime: at(0) }] },
  })
  const is = (operator: 'In' | 'NotIn', ...statusValues: string[]) => [{ conditionType: 'Ready', operator, statusValues }]
  const taints = (of: Cluster, ...policies: ClusterTaintPolicy[]): string[] =>
    taintsBy(policies, of, at(30)).map(({ key, effect, timeAdded }) => `${key} ${effect} ${timeAdded?.slice(17, 19)}`)
  const add = policy('add', { addOnConditions: is('NotIn', 'True'), removeOnConditions: is('In', 'True') })

  it('come and go with conditions, and keep their time', () => {
    assert.deepEqual(taints(cluster('False'), add), ['down NoExecute 30'])
    assert.deepEqual(taints(cluster('False', [{ key: 'down', effect: 'NoExecute', timeAdded: at(5) }]), add), ['down NoExecute 05'])
    assert.deepEqual(taints(cluster('True', [{ key: 'down', effect: 'NoExecute', timeAdded: at(5) }]), add), [])
    assert.deepEqual(taints(cluster('True', [{ key: 'down', effect: 'NoSchedule', timeAdded: at(5) }]), add), ['down NoSchedule 05'])
  })

  it('of other clusters are not ours, and without conditions nothing happens', () => {
    assert.deepEqual(taints(cluster('False'), policy('other', { ...add.spec, targetClusters: { clusterNames: ['m2'] } })), [])
    assert.deepEqual(taints(cluster('False'), policy('empty', {}), policy('none', { addOnConditions: [] })), [])
  })

  it('the youngest policy has the last word, in whatever order they come', () => {
    const remove = policy('remove', { removeOnConditions: is('In', 'False') }, at(9))
    assert.deepEqual(taints(cluster('False'), add, remove), [])
    assert.deepEqual(taints(cluster('False'), remove, add), [])
  })

  const table: [string, Parameters<typeof matches>[1], boolean][] = [
    ['In', is('In', 'False', 'Unknown'), true],
    ['not In', is('In', 'True'), false],
    ['NotIn', is('NotIn', 'True'), true],
    ['not NotIn', is('NotIn', 'False'), false],
    ['a condition that is missing', [{ conditionType: 'Other', operator: 'NotIn', statusValues: ['True'] }], false],
    ['all must hold', [...is('In', 'False'), ...is('In', 'True')], false],
    ['nothing asked', [], false],
  ]
  for (const [name, demands, expected] of table)
    it(name, () => assert.equal(matches(cluster('False').status?.conditions, demands), expected))
})

describe('the rate of evictions', () => {
  it('gives each its turn, once', () => {
    const rate = createEvictionRate(0.5)
    assert.deepEqual(
      ['a', 'b', 'c', 'a'].map((key) => rate.waitMs(key, 0)),
      [0, 2000, 4000, 0],
    )
    assert.equal(rate.waitMs('c', 3000), 1000)
    rate.release('a')
    assert.equal(rate.waitMs('a', 3000), 3000)
    assert.equal(rate.waitMs('d', 60_000), 0)
  })
})
