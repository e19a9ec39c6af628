import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectQuiet, expectThere } from '../../faultsim/expect/index.ts'
import { survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import type { Binding, Cluster, GracefulEvictionTask } from '../../kinds/karmada/index.ts'
import { CLUSTER_RESOURCE_BINDINGS, CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { nativeInterpreter } from '../interpreter/testing.ts'
import { membershipControllers } from '../membership/index.ts'
import { aBinding, aCluster, aTestbed, type Cast, runWithCast } from '../membership/testing.ts'
import { applicationFailover } from './application/controller.ts'
import { clusterTaintPolicy } from './cluster-taint-policy/controller.ts'
import { createEvictionRate } from './eviction-rate.ts'
import { gracefulEviction } from './graceful-eviction/controller.ts'
import { failoverControllers } from './index.ts'
import { FAILOVER_DEFAULTS } from './options.ts'
import { taintEviction } from './taint-eviction/controller.ts'

const INTERPRETER = nativeInterpreter()
const CAST: Cast = () => failoverControllers({ interpreter: INTERPRETER })
const NO_EXECUTE = { key: 'down', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }

const webAt = async (hub: WorldCluster): Promise<Binding> =>
  (await expectThere(hub, RESOURCE_BINDINGS, 'default/web-deployment')) as Binding
const taint = (hub: WorldCluster, name: string, ...taints: object[]): Promise<unknown> => hub.patch(CLUSTERS, name, { spec: { taints } })
const setStatus = (hub: WorldCluster, where: string, status: object, resource: Resource = RESOURCE_BINDINGS): Promise<unknown> =>
  hub.patch(resource, where, { status }, 'status')
const tasksOf = (binding: Binding): Partial<GracefulEvictionTask>[] =>
  (binding.spec.gracefulEvictionTasks ?? []).map(({ creationTimestamp, ...task }) => {
    assert.ok(creationTimestamp !== undefined)
    return task
  })
const clustersOf = ({ spec }: Binding): string[] => (spec.clusters ?? []).map(({ name }) => name)
const clusterScoped = (name: string, clusters: readonly string[], more: Record<string, unknown> = {}): KubeObject => {
  const { spec } = aBinding(`default/${name}`, clusters, more) as Binding
  const resource = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name }
  return { apiVersion: 'work.karmada.io/v1alpha2', kind: 'ClusterResourceBinding', metadata: { name }, spec: { ...spec, resource } }
}
const eventsAbout = async (hub: WorldCluster): Promise<string[]> =>
  (await hub.list(EVENTS, { namespace: 'default' })).map(
    ({ reason, involvedObject }) => `${(involvedObject as { kind: string }).kind} ${reason}`,
  )

describe('a cluster that is not ready', () => {
  it('gets the taint of the policy and loses it again', async () => {
    const { world, hub } = await aTestbed(CAST)
    await hub.create(aCluster('m1'))
    await hub.create(policy())
    const ready = (status: string) => ({
      conditions: [{ type: 'Ready', status, reason: 'R', message: '', lastTransitionTime: NO_EXECUTE.timeAdded }],
    })
    await hub.patch(CLUSTERS, 'm1', { status: ready('False') }, 'status')
    await world.settle()
    const { spec } = (await expectThere(hub, CLUSTERS, 'm1')) as Cluster
    assert.deepEqual(
      spec.taints?.map(({ key, effect, timeAdded }) => [key, effect, timeAdded !== undefined]),
      [['down', 'NoExecute', true]],
    )
    await hub.patch(CLUSTERS, 'm1', { status: ready('True') }, 'status')
    await world.settle()
    assert.deepEqual(((await expectThere(hub, CLUSTERS, 'm1')) as Cluster).spec.taints, [])
    assert.deepEqual(await eventsAbout(hub), ['Cluster TaintClusterSucceed', 'Cluster TaintClusterSucceed'])
    await expectQuiet(world)
    await world.stop()
  })
})

function policy(): KubeObject {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterTaintPolicy',
    metadata: { name: 'down' },
    spec: {
      addOnConditions: [{ conditionType: 'Ready', operator: 'NotIn', statusValues: ['True'] }],
      removeOnConditions: [{ conditionType: 'Ready', operator: 'In', statusValues: ['True'] }],
      taints: [{ key: 'down', effect: 'NoExecute' }],
    },
  }
}

describe('a member that is cut off', () => {
  it('is given up after its time: its bindings move, and nothing moves back when it returns', async () => {
    const thresholds = { periodMs: 1000, failureThresholdMs: 3000, successThresholdMs: 3000 }
    const cast: Cast = (deps) => [...membershipControllers(deps, thresholds), ...failoverControllers({ interpreter: INTERPRETER })]
    const { world, hub } = await aTestbed(cast, { members: 2 })
    for (const { name } of world.members) await hub.create(aCluster(name))
    await hub.create(policy())
    await hub.create(aBinding('default/web', ['member1', 'member2']))
    await world.settle()
    world.member.link.cut()
    await world.advance(2000)
    assert.deepEqual(clustersOf(await webAt(hub)), ['member1', 'member2'])
    await world.advance(5000)
    await world.settle()
    assert.deepEqual(clustersOf(await webAt(hub)), ['member2'])
    const taintsOf = async () =>
      (((await expectThere(hub, CLUSTERS, 'member1')) as Cluster).spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`)
    assert.deepEqual((await taintsOf()).sort(), ['cluster.karmada.io/not-ready:NoSchedule', 'down:NoExecute'])
    world.member.link.mend()
    await world.advance(40_000)
    await world.settle()
    assert.deepEqual([await taintsOf(), clustersOf(await webAt(hub))], [[], ['member2']])
    await expectQuiet(world)
    await world.stop()
  })
})

describe('a NoExecute taint', () => {
  it('drives away who does not tolerate it, lets who does stay for its time, and the rest for ever', async () => {
    const { world, hub } = await aTestbed(CAST)
    for (const name of ['m1', 'm2']) await hub.create(aCluster(name))
    const tolerating = (seconds?: number) => ({
      placement: {
        clusterTolerations: [{ key: 'down', operator: 'Exists', ...(seconds === undefined ? {} : { tolerationSeconds: seconds }) }],
      },
    })
    await hub.create(aBinding('default/web', ['m1', 'm2']))
    await hub.create(aBinding('default/patient', ['m1'], tolerating(60)))
    await hub.create(aBinding('default/faithful', ['m1'], tolerating()))
    await hub.create(clusterScoped('reader', ['m1', 'm2'], { failover: { cluster: { purgeMode: 'Directly' } } }))
    await world.settle()
    const now = new Date(world.clock.now()).toISOString().replace(/\.\d+/, '')
    await taint(hub, 'm1', { ...NO_EXECUTE, timeAdded: now })
    await world.settle()
    const web = await webAt(hub)
    assert.deepEqual(clustersOf(web), ['m2'])
    assert.deepEqual(tasksOf(web), [
      { fromCluster: 'm1', replicas: 1, purgeMode: 'Gracefully', reason: 'TaintUntolerated', producer: 'TaintManager' },
    ])
    const reader = (await expectThere(hub, CLUSTER_RESOURCE_BINDINGS, 'reader')) as Binding
    assert.deepEqual([clustersOf(reader), tasksOf(reader)[0]?.purgeMode], [['m2'], 'Directly'])
    const at = async (name: string): Promise<string[]> =>
      clustersOf((await expectThere(hub, RESOURCE_BINDINGS, `default/${name}`)) as Binding)
    assert.deepEqual(await at('patient-deployment'), ['m1'])
    await world.advance(65_000)
    assert.deepEqual([await at('patient-deployment'), await at('faithful-deployment')], [[], ['m1']])
    await world.stop()
  })

  it('moves two a second apart, not all at once', async () => {
    const { world, hub } = await aTestbed(() => failoverControllers({ interpreter: INTERPRETER }, { evictionsPerSecond: 1 }))
    await hub.create(aCluster('m1'))
    for (let i = 0; i < 6; i++) await hub.create(aBinding(`default/web${i}`, ['m1']))
    await world.settle()
    const left = async () => ((await hub.list(RESOURCE_BINDINGS)) as Binding[]).filter((binding) => clustersOf(binding).length > 0).length
    await taint(hub, 'm1', NO_EXECUTE)
    await world.advance(500)
    assert.equal(await left(), 5)
    await world.advance(2000)
    assert.equal(await left(), 3)
    await world.settle()
    assert.equal(await left(), 0)
    await world.stop()
  })

  it('purges as the hub is set where a binding says nothing, and as the binding says where it does', async () => {
    const { world, hub } = await aTestbed(() => failoverControllers({ interpreter: INTERPRETER }, { purgeMode: 'Directly' }))
    await hub.create(aCluster('m1'))
    const ofCluster = (purgeMode: string) => ({ failover: { cluster: { purgeMode } } })
    await hub.create(aBinding('default/web', ['m1']))
    await hub.create(aBinding('default/patient', ['m1'], ofCluster('Gracefully')))
    await hub.create(aBinding('default/other', ['m1'], { failover: {} }))
    await taint(hub, 'm1', NO_EXECUTE)
    await world.settle()
    const modes = ((await hub.list(RESOURCE_BINDINGS)) as Binding[]).map(({ metadata, spec }) => [
      metadata.name,
      spec.gracefulEvictionTasks?.map(({ purgeMode }) => purgeMode),
    ])
    assert.deepEqual(Object.fromEntries(modes), {
      'web-deployment': ['Directly'],
      'patient-deployment': ['Gracefully'],
      'other-deployment': ['Directly'],
    })
    await world.stop()
  })

  it('that goes before the toleration ends drives nobody away', async () => {
    const { world, hub } = await aTestbed(CAST)
    await hub.create(aCluster('m1'))
    await hub.create(
      aBinding('default/web', ['m1'], { placement: { clusterTolerations: [{ operator: 'Exists', tolerationSeconds: 3600 }] } }),
    )
    await taint(hub, 'm1', { ...NO_EXECUTE, timeAdded: undefined })
    await world.advance(60_000)
    await taint(hub, 'm1')
    await world.advance(7_200_000)
    assert.deepEqual(clustersOf(await webAt(hub)), ['m1'])
    await expectQuiet(world)
    await world.stop()
  })

  it('waits for the state that is to be taken along, and says so', async () => {
    const { world, hub } = await aTestbed(CAST)
    await hub.create(aCluster('m1'))
    const statePreservation = { rules: [{ aliasLabelName: 'ready', jsonPath: '{.readyReplicas}' }] }
    await hub.create(aBinding('default/web', ['m1'], { failover: { cluster: { purgeMode: 'Directly', statePreservation } } }))
    await taint(hub, 'm1', NO_EXECUTE)
    await world.settle()
    assert.deepEqual(clustersOf(await webAt(hub)), ['m1'])
    assert.deepEqual(await eventsAbout(hub), ['ResourceBinding EvictWorkloadFromClusterFailed'])
    await setStatus(hub, 'default/web-deployment', { aggregatedStatus: [{ clusterName: 'm1', status: { readyReplicas: 2 } }] })
    await world.settle()
    const [task] = tasksOf(await webAt(hub))
    assert.deepEqual([task?.preservedLabelState, task?.clustersBeforeFailover], [{ ready: '2' }, ['m1']])
    await world.stop()
  })
})

const HEALTHY = {
  aggregatedStatus: [
    { clusterName: 'm1', health: 'Unhealthy' },
    { clusterName: 'm2', health: 'Healthy' },
  ],
}

describe('what is left behind', () => {
  it('goes when the others are healthy, with events on binding and template', async () => {
    const { world, hub } = await aTestbed(CAST)
    for (const name of ['m1', 'm2']) await hub.create(aCluster(name))
    await hub.create(aBinding('default/web', ['m1', 'm2']))
    await taint(hub, 'm1', NO_EXECUTE)
    await world.settle()
    await setStatus(hub, 'default/web-deployment', HEALTHY)
    await world.settle()
    const { metadata } = await webAt(hub)
    assert.equal(tasksOf(await webAt(hub)).length, 1)
    await setStatus(hub, 'default/web-deployment', { schedulerObservedGeneration: metadata.generation })
    await world.settle()
    assert.deepEqual(tasksOf(await webAt(hub)), [])
    assert.deepEqual(await eventsAbout(hub), [
      'ResourceBinding EvictWorkloadFromClusterSucceed',
      'Deployment EvictWorkloadFromClusterSucceed',
    ])
    await expectQuiet(world)
    await world.stop()
  })

  it('goes when its time is over, also after a restart, and stays where a person must confirm', async () => {
    const { world, hub } = await aTestbed(CAST)
    const task = { fromCluster: 'm1', reason: 'ApplicationFailure', producer: 'somebody' }
    await hub.create(
      aBinding('default/web', ['m2'], { gracefulEvictionTasks: [task, { ...task, fromCluster: 'm3', suppressDeletion: true }] }),
    )
    await world.settle()
    assert.equal(tasksOf(await webAt(hub)).length, 2)
    await world.advance(300_000)
    await world.restartControllers()
    await world.advance(299_000)
    assert.equal(tasksOf(await webAt(hub)).length, 2)
    await world.advance(5000)
    assert.deepEqual(
      tasksOf(await webAt(hub)).map(({ fromCluster }) => fromCluster),
      ['m3'],
    )
    await expectQuiet(world)
    const [kept] = (await webAt(hub)).spec.gracefulEvictionTasks ?? []
    await hub.patch(RESOURCE_BINDINGS, 'default/web-deployment', {
      spec: { gracefulEvictionTasks: [{ ...kept, suppressDeletion: false }] },
    })
    await world.settle()
    assert.deepEqual(tasksOf(await webAt(hub)), [])
    await world.stop()
  })
})

const application = (more: object = {}) => ({
  propagateDeps: true,
  failover: { application: { decisionConditions: { tolerationSeconds: 60 }, purgeMode: 'Gracefully', gracePeriodSeconds: 120, ...more } },
})

describe('an application that is not healthy', () => {
  it('leaves its cluster after its time, which a restart does not lengthen', async () => {
    const { world, hub } = await aTestbed(CAST)
    await hub.create(aBinding('default/web', ['m1', 'm2'], application()))
    await setStatus(hub, 'default/web-deployment', HEALTHY)
    await world.settle()
    assert.match((await webAt(hub)).metadata.annotations?.['sluice.dev/unhealthy-since'] ?? '', /^\{"m1":"2026-/)
    await world.advance(40_000)
    await world.restartControllers()
    await world.advance(15_000)
    assert.deepEqual(clustersOf(await webAt(hub)), ['m1', 'm2'])
    await world.advance(10_000)
    await world.settle()
    const web = await webAt(hub)
    assert.deepEqual(clustersOf(web), ['m2'])
    assert.deepEqual(tasksOf(web), [
      {
        fromCluster: 'm1',
        replicas: 1,
        purgeMode: 'Gracefully',
        gracePeriodSeconds: 120,
        reason: 'ApplicationFailure',
        producer: 'resource-binding-application-failover-controller',
      },
    ])
    assert.equal(web.metadata.annotations?.['sluice.dev/unhealthy-since'], undefined)
    await world.stop()
  })

  it('that recovers, or of which nothing is known, starts anew', async () => {
    const { world, hub } = await aTestbed(CAST)
    await hub.create(aBinding('default/web', ['m1', 'm2'], application()))
    for (const health of ['Unknown', 'Healthy']) {
      await setStatus(hub, 'default/web-deployment', HEALTHY)
      await world.advance(50_000)
      await setStatus(hub, 'default/web-deployment', { aggregatedStatus: [{ clusterName: 'm1', health }] })
      await world.settle()
      assert.equal((await webAt(hub)).metadata.annotations?.['sluice.dev/unhealthy-since'], undefined)
    }
    await world.advance(300_000)
    assert.deepEqual(clustersOf(await webAt(hub)), ['m1', 'm2'])
    await expectQuiet(world)
    await world.stop()
  })

  it('stays where it must be confirmed, or takes its state along', async () => {
    const { world, hub } = await aTestbed(CAST)
    const statePreservation = { rules: [{ aliasLabelName: 'ready', jsonPath: '{.readyReplicas}' }] }
    await hub.create(aBinding('default/web', ['m1'], application({ purgeMode: 'Never', gracePeriodSeconds: undefined })))
    await hub.create(
      aBinding('default/state', ['m1'], application({ purgeMode: 'Directly', gracePeriodSeconds: undefined, statePreservation })),
    )
    const status = { aggregatedStatus: [{ clusterName: 'm1', health: 'Unhealthy', status: { readyReplicas: 0 } }] }
    for (const name of ['web', 'state']) await setStatus(hub, `default/${name}-deployment`, status)
    await world.advance(62_000)
    await world.settle()
    assert.deepEqual(
      tasksOf(await webAt(hub)).map(({ purgeMode, suppressDeletion }) => [purgeMode, suppressDeletion]),
      [['Never', true]],
    )
    const state = (await expectThere(hub, RESOURCE_BINDINGS, 'default/state-deployment')) as Binding
    assert.deepEqual(tasksOf(state)[0]?.preservedLabelState, { ready: '0' })
    await world.stop()
  })

  it('stays where its policy says nothing about it', async () => {
    const { world, hub } = await aTestbed(CAST)
    await hub.create(aBinding('default/web', ['m1', 'm2'], { propagateDeps: true, failover: { cluster: { purgeMode: 'Gracefully' } } }))
    await hub.create(aBinding('default/plain', ['m1', 'm2'], { propagateDeps: true }))
    for (const name of ['web', 'plain']) await setStatus(hub, `default/${name}-deployment`, HEALTHY)
    await world.advance(3_600_000)
    for (const { spec, metadata } of (await hub.list(RESOURCE_BINDINGS)) as Binding[])
      assert.deepEqual(
        [spec.clusters?.map(({ name }) => name), spec.gracefulEvictionTasks, metadata.annotations?.['sluice.dev/unhealthy-since']],
        [['m1', 'm2'], undefined, undefined],
      )
    await expectQuiet(world)
    await world.stop()
  })

  it('of a kind whose health nobody knows, or without what it depends on, stays', async () => {
    const { world, hub } = await aTestbed(CAST)
    await hub.create(aBinding('default/web', ['m1'], { ...application(), propagateDeps: false }))
    await hub.create(clusterScoped('reader', ['m1'], application()))
    await setStatus(hub, 'default/web-deployment', HEALTHY)
    await setStatus(hub, 'reader', HEALTHY, CLUSTER_RESOURCE_BINDINGS)
    await world.advance(300_000)
    assert.deepEqual(clustersOf(await webAt(hub)), ['m1'])
    assert.deepEqual(clustersOf((await expectThere(hub, CLUSTER_RESOURCE_BINDINGS, 'reader')) as Binding), ['m1'])
    await world.stop()
  })
})

const READY = (status: string) => ({
  conditions: [{ type: 'Ready', status, reason: 'R', message: '', lastTransitionTime: NO_EXECUTE.timeAdded }],
})
const STEPS: readonly ((hub: WorldCluster) => Promise<unknown>)[] = [
  (hub) => hub.create(aCluster('m1')),
  (hub) => hub.create(policy()),
  (hub) => hub.create(aBinding('default/web', ['m1', 'm2'], application())),
  (hub) => hub.create(clusterScoped('reader', ['m1'])),
  (hub) => hub.patch(CLUSTERS, 'm1', { status: READY('False') }, 'status'),
  (hub) => hub.patch(CLUSTERS, 'm1', { status: READY('True') }, 'status'),
  (hub) => setStatus(hub, 'default/web-deployment', { aggregatedStatus: [{ clusterName: 'm2', health: 'Unhealthy' }] }),
  (hub) => hub.advance(700_000),
]

async function atRest(hub: WorldCluster): Promise<void> {
  const web = await webAt(hub)
  assert.deepEqual([clustersOf(web), tasksOf(web)], [[], []])
  assert.deepEqual(tasksOf((await expectThere(hub, CLUSTER_RESOURCE_BINDINGS, 'reader')) as Binding), [])
}

const survival = { role: 'hub' as const, controllers: runWithCast(CAST), steps: STEPS, atRest }
survives(clusterTaintPolicy, survival)
for (const resource of [RESOURCE_BINDINGS, CLUSTER_RESOURCE_BINDINGS] as Resource<Binding>[]) {
  survives(taintEviction(resource, { options: FAILOVER_DEFAULTS, rate: createEvictionRate(1) }), survival)
  survives(applicationFailover(resource, INTERPRETER, FAILOVER_DEFAULTS.gates), survival)
  survives(gracefulEviction(resource, FAILOVER_DEFAULTS), survival)
}
