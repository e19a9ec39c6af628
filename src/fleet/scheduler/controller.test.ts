import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectQuiet, expectThere } from '../../faultsim/expect/index.ts'
import { type Invariant, survives } from '../../faultsim/survives.ts'
import type { World, WorldCluster } from '../../faultsim/world/index.ts'
import { aWorld } from '../../faultsim/world/index.ts'
import type { Binding, Placement } from '../../kinds/karmada/index.ts'
import { CLUSTER_RESOURCE_BINDINGS, CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { APPLIED_PLACEMENT, SCHEDULED } from '../../kinds/karmada/well-known.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { hubCast } from '../testing.ts'
import { scheduler } from './controller.ts'
import { readRecord } from './decision.ts'
import { IN_FLIGHT_MS } from './in-flight.ts'
import { AGGREGATED, aBindingOf, aClusterOf, type BindingOptions, type ClusterOptions, DUPLICATED, DYNAMIC, statusOf } from './testing.ts'

const BOTH = hubCast(() => [scheduler(RESOURCE_BINDINGS), scheduler(CLUSTER_RESOURCE_BINDINGS)])
const WHERE = 'default/web-deployment'

/** As a user sends it: without what the server fills in. */
function aBinding(options: BindingOptions = {}): KubeObject {
  const { metadata, status: _, ...rest } = aBindingOf({ replicas: 4, ...options })
  const { name, namespace, labels, annotations } = metadata
  return { ...rest, metadata: { name, namespace, labels, annotations } } as KubeObject
}

function aClusterBinding(placement: Placement): KubeObject {
  const { spec, metadata, ...rest } = aBinding({ resource: 'ClusterRole', placement, replicas: 0 }) as Binding
  const { namespace: _, ...resource } = spec.resource
  return {
    ...rest,
    kind: 'ClusterResourceBinding',
    metadata: { ...metadata, namespace: undefined, name: 'admin-clusterrole' },
    spec: { ...spec, resource },
  } as KubeObject
}

async function addCluster(hub: WorldCluster, name: string, options: ClusterOptions = {}): Promise<void> {
  const { status: _, ...cluster } = aClusterOf(name, options)
  await hub.create(cluster as KubeObject)
  await setStatus(hub, name, options)
}
const setStatus = (hub: WorldCluster, name: string, options: ClusterOptions): Promise<KubeObject> =>
  hub.patch(CLUSTERS, name, { status: statusOf(options) }, 'status')

async function aFleet(clusters: Record<string, ClusterOptions>): Promise<World> {
  const world = await aWorld({ controllers: BOTH }).settle()
  for (const [name, options] of Object.entries(clusters)) await addCluster(world.hub, name, options)
  await world.settle()
  return world
}

const bindingAt = async (hub: WorldCluster, where = WHERE, resource: Resource = RESOURCE_BINDINGS): Promise<Binding> =>
  (await expectThere(hub, resource, where)) as Binding
const placed = ({ spec }: Binding): string => (spec.clusters ?? []).map(({ name, replicas = 0 }) => `${name}:${replicas}`).join(', ')
const scheduledOf = ({ status }: Binding): string => {
  const condition = findCondition(status?.conditions, SCHEDULED)
  return `${condition?.status} ${condition?.reason}`
}
const eventsOf = async (hub: WorldCluster, kind: string): Promise<string[]> =>
  (await hub.list(EVENTS, { namespace: 'default' }))
    .filter(({ involvedObject }) => (involvedObject as { kind: string }).kind === kind)
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
const writesOf = (hub: WorldCluster): string[] =>
  hub
    .takeControllerWrites()
    .filter((line) => !line.includes('/events'))
    .map((line) => line.replace(/\?.*/, ''))

describe('a binding', () => {
  it('is decided about in one patch, reported in another, and left alone then', async () => {
    const world = await aFleet({ m1: { pods: 20 }, m2: { pods: 10 } })
    const { hub } = world
    writesOf(hub)
    await hub.create(aBinding({ replicas: 3, placement: { replicaScheduling: DYNAMIC } }))
    await world.settle()
    assert.deepEqual(writesOf(hub), [
      'PATCH /apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/web-deployment',
      'PATCH /apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/web-deployment/status',
    ])
    const binding = await bindingAt(hub)
    assert.equal(placed(binding), 'm1:2, m2:1')
    assert.equal(binding.status?.schedulerObservedGeneration, binding.metadata.generation)
    assert.ok(binding.status?.lastScheduledTime !== undefined)
    assert.deepEqual(JSON.parse(binding.metadata.annotations?.[APPLIED_PLACEMENT] ?? ''), binding.spec.placement)
    const record = readRecord(binding.metadata.annotations)
    assert.deepEqual([record?.reason, record?.generation, record?.chosen], ['Success', binding.metadata.generation, 2])
    const { type, status, reason, message } = findCondition(binding.status?.conditions, SCHEDULED) ?? {}
    assert.deepEqual([type, status, reason, message], [SCHEDULED, 'True', 'Success', 'Binding has been scheduled successfully.'])
    const event = 'Normal ScheduleBindingSucceed Binding has been scheduled successfully. Result: {m1:2, m2:1}'
    assert.deepEqual([await eventsOf(hub, 'ResourceBinding'), await eventsOf(hub, 'Deployment')], [[event], [event]])
    await expectQuiet(world)
    await world.stop()
  })

  it('of a cluster-scoped object goes the same way', async () => {
    const world = await aFleet({ m1: { kinds: ['ClusterRole'] }, m2: {} })
    await world.hub.create(aClusterBinding({}))
    await world.settle()
    const binding = await bindingAt(world.hub, 'admin-clusterrole', CLUSTER_RESOURCE_BINDINGS)
    assert.deepEqual([placed(binding), scheduledOf(binding)], ['m1:0', 'True Success'])
    assert.deepEqual(binding.spec.clusters, [{ name: 'm1' }])
    assert.deepEqual(await eventsOf(world.hub, 'ClusterRole'), [
      'Normal ScheduleBindingSucceed Binding has been scheduled successfully. Result {m1:0}',
    ])
    await expectQuiet(world)
    await world.stop()
  })

  it('is left alone when it is not ours to decide', async () => {
    const world = await aFleet({ m1: {} })
    const { hub } = world
    const unlabelled = aBinding({ name: 'attached' })
    unlabelled.metadata.labels = {}
    await hub.create(unlabelled)
    await hub.create(aBinding({ name: 'others', schedulerName: 'mine' }))
    await hub.create(aBinding({ name: 'held', suspension: { scheduling: true } }))
    await world.settle()
    assert.deepEqual(
      await Promise.all(['attached', 'others', 'held'].map(async (name) => (await bindingAt(hub, `default/${name}`)).spec.clusters)),
      [undefined, undefined, undefined],
    )
    await hub.patch(RESOURCE_BINDINGS, 'default/held', { spec: { suspension: null } })
    await world.settle()
    assert.equal(placed(await bindingAt(hub, 'default/held')), 'm1:4')
    await world.stop()
  })

  it('is scaled without moving what is there, and decided anew when that is asked for', async () => {
    const world = await aFleet({ m1: { pods: 6 }, m2: { pods: 30 } })
    const { hub } = world
    await hub.create(aBinding({ replicas: 6, placement: { replicaScheduling: DYNAMIC, clusterAffinity: { clusterNames: ['m1'] } } }))
    await world.settle()
    await hub.patch(RESOURCE_BINDINGS, WHERE, { spec: { replicas: 9, placement: { clusterAffinity: null } } })
    await world.settle()
    assert.equal(placed(await bindingAt(hub)), 'm1:6, m2:3')
    await hub.patch(RESOURCE_BINDINGS, WHERE, { spec: { replicas: 3 } })
    await world.settle()
    assert.equal(placed(await bindingAt(hub)), 'm1:2, m2:1')
    await world.advance(IN_FLIGHT_MS)
    const now = (await bindingAt(hub)).status?.lastScheduledTime
    const at = new Date(Date.parse(now ?? '') + 60_000).toISOString().replace('.000', '')
    await hub.patch(RESOURCE_BINDINGS, WHERE, { spec: { rescheduleTriggeredAt: at } })
    await world.settle()
    assert.equal(placed(await bindingAt(hub)), 'm1:1, m2:2')
    await expectQuiet(world)
    await world.stop()
  })

  it('leaves what is divided where it is when labels change, and follows with what is the same everywhere', async () => {
    const world = await aFleet({ m1: { labels: { use: 'yes' } }, m2: { labels: { use: 'yes' } } })
    const { hub } = world
    const clusterAffinity = { labelSelector: { matchLabels: { use: 'yes' } } }
    await hub.create(aBinding({ name: 'divided', placement: { clusterAffinity, replicaScheduling: DYNAMIC } }))
    await hub.create(aBinding({ name: 'copied', placement: { clusterAffinity, replicaScheduling: DUPLICATED } }))
    await world.settle()
    await hub.patch(CLUSTERS, 'm2', { metadata: { labels: { use: 'no' } } })
    await world.settle()
    assert.deepEqual(
      [placed(await bindingAt(hub, 'default/divided')), placed(await bindingAt(hub, 'default/copied'))],
      ['m1:2, m2:2', 'm1:4'],
    )
    await addCluster(hub, 'm3', { labels: { use: 'yes' } })
    await world.settle()
    assert.deepEqual(
      [placed(await bindingAt(hub, 'default/divided')), placed(await bindingAt(hub, 'default/copied'))],
      ['m1:2, m2:2', 'm1:4, m3:4'],
    )
    await hub.delete(CLUSTERS, 'm2')
    await world.settle()
    assert.equal(placed(await bindingAt(hub, 'default/divided')), 'm1:3, m3:1')
    await expectQuiet(world)
    await world.stop()
  })

  it('falls back to the next group of clusters, and says which', async () => {
    const world = await aFleet({ m1: { labels: { group: 'a' } }, m2: { labels: { group: 'b' } } })
    const { hub } = world
    const clusterAffinities = ['a', 'b'].map((group) => ({ affinityName: group, labelSelector: { matchLabels: { group } } }))
    await hub.create(aBinding({ placement: { clusterAffinities } }))
    await world.settle()
    assert.deepEqual([placed(await bindingAt(hub)), (await bindingAt(hub)).status?.schedulerObservingAffinityName], ['m1:4', 'a'])
    await hub.patch(CLUSTERS, 'm1', { metadata: { labels: { group: 'none' } } })
    await world.settle()
    assert.deepEqual([placed(await bindingAt(hub)), (await bindingAt(hub)).status?.schedulerObservingAffinityName], ['m2:4', 'b'])
    await hub.patch(CLUSTERS, 'm1', { metadata: { labels: { group: 'a' } } })
    await world.settle()
    assert.equal(placed(await bindingAt(hub)), 'm2:4')
    await expectQuiet(world)
    await world.stop()
  })
})

describe('a binding that waits', () => {
  it('for a cluster that fits loses its clusters, says why once, and goes on as soon as there is one', async () => {
    const world = await aFleet({ m1: { labels: { use: 'yes' } } })
    const { hub } = world
    await hub.create(aBinding({ placement: { clusterAffinity: { labelSelector: { matchLabels: { use: 'yes' } } } } }))
    await world.settle()
    await hub.patch(CLUSTERS, 'm1', { metadata: { labels: { use: 'no' } } })
    await world.settle()
    const waiting = await bindingAt(hub)
    assert.deepEqual([waiting.spec.clusters, scheduledOf(waiting)], [undefined, 'False NoClusterFit'])
    const failure =
      'Warning ScheduleBindingFailed 0/1 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint.'
    assert.deepEqual((await eventsOf(hub, 'ResourceBinding')).slice(1), [failure])
    await expectQuiet(world)
    await addCluster(hub, 'm0')
    await world.settle()
    assert.match(findCondition((await bindingAt(hub)).status?.conditions, SCHEDULED)?.message ?? '', /^0\/2 clusters are available: 2 /)
    await expectQuiet(world)
    await hub.delete(CLUSTERS, 'm0')
    await world.settle()
    await expectQuiet(world)
    await addCluster(hub, 'm2', { labels: { use: 'yes' }, kinds: [] })
    await world.settle()
    assert.match(
      findCondition((await bindingAt(hub)).status?.conditions, SCHEDULED)?.message ?? '',
      /1 cluster\(s\) did not have the API resource/,
    )
    await setStatus(hub, 'm2', {})
    await world.settle()
    assert.deepEqual([placed(await bindingAt(hub)), scheduledOf(await bindingAt(hub))], ['m2:4', 'True Success'])
    await expectQuiet(world)
    await world.stop()
  })

  it('for capacity goes on when there is some, and does nothing when there is less', async () => {
    const world = await aFleet({ m1: { pods: 3 }, m2: { pods: 0, taints: [{ key: 'k', effect: 'NoSchedule' }] } })
    const { hub } = world
    await hub.create(aBinding({ replicas: 5, placement: { replicaScheduling: AGGREGATED } }))
    await world.settle()
    assert.deepEqual([scheduledOf(await bindingAt(hub)), (await bindingAt(hub)).spec.clusters], ['False Unschedulable', undefined])
    assert.equal(readRecord((await bindingAt(hub)).metadata.annotations)?.reason, 'Unschedulable')
    writesOf(hub)
    await setStatus(hub, 'm1', { pods: 2 })
    await world.settle()
    assert.deepEqual(writesOf(hub), [])
    await expectQuiet(world)
    await setStatus(hub, 'm1', { pods: 4 })
    await world.settle()
    assert.match(findCondition((await bindingAt(hub)).status?.conditions, SCHEDULED)?.message ?? '', /available replicas 4 are/)
    await setStatus(hub, 'm1', { pods: 9 })
    await world.settle()
    assert.equal(placed(await bindingAt(hub)), 'm1:5')
    await expectQuiet(world)
    await world.stop()
  })

  it('for a taint to go', async () => {
    const world = await aFleet({ m1: { taints: [{ key: 'k', effect: 'NoSchedule' }] } })
    await world.hub.create(aBinding())
    await world.settle()
    assert.equal(scheduledOf(await bindingAt(world.hub)), 'False NoClusterFit')
    await world.hub.patch(CLUSTERS, 'm1', { spec: { taints: null } })
    await world.settle()
    assert.equal(placed(await bindingAt(world.hub)), 'm1:4')
    await world.stop()
  })

  it('takes its turn by priority', async () => {
    const world = await aFleet({ m1: { pods: 0 } })
    const { hub } = world
    for (const [name, priority] of [
      ['low', 1],
      ['high', 9],
      ['none', 0],
    ] as const)
      await hub.create(aBinding({ name, schedulePriority: { priority }, placement: { replicaScheduling: DYNAMIC } }))
    await world.settle()
    await setStatus(hub, 'm1', { pods: 4 })
    await world.settle()
    const where = await Promise.all(['low', 'high', 'none'].map(async (name) => placed(await bindingAt(hub, `default/${name}`))))
    assert.deepEqual(where, ['', 'm1:4', ''])
    await world.stop()
  })
})

describe('what is on its way', () => {
  it('is not given away twice, nor after a restart, until it is there or was too long', async () => {
    const world = await aFleet({ m1: { pods: 10 }, m2: { pods: 6 } })
    const { hub } = world
    const placement = { replicaScheduling: AGGREGATED }
    await Promise.all([
      hub.create(aBinding({ name: 'one', replicas: 6, placement })),
      hub.create(aBinding({ name: 'two', replicas: 6, placement })),
    ])
    await world.settle()
    assert.deepEqual([placed(await bindingAt(hub, 'default/one')), placed(await bindingAt(hub, 'default/two'))], ['m1:6', 'm2:6'])
    await world.restartControllers()
    await hub.create(aBinding({ name: 'three', replicas: 5, placement }))
    await world.settle()
    assert.equal(scheduledOf(await bindingAt(hub, 'default/three')), 'False Unschedulable')
    await hub.patch(
      RESOURCE_BINDINGS,
      'default/two',
      { status: { aggregatedStatus: [{ clusterName: 'm2', health: 'Healthy' }] } },
      'status',
    )
    await world.settle()
    assert.equal(placed(await bindingAt(hub, 'default/three')), 'm2:5')
    await hub.create(aBinding({ name: 'four', replicas: 8, placement }))
    await world.settle()
    assert.equal(scheduledOf(await bindingAt(hub, 'default/four')), 'False Unschedulable')
    await world.advance(IN_FLIGHT_MS + 1000)
    await world.settle()
    assert.equal(placed(await bindingAt(hub, 'default/four')), 'm1:8')
    await expectQuiet(world)
    await world.stop()
  })
})

const sumsUp: Invariant = {
  says: 'what is divided and scheduled has all its replicas',
  broken(objects) {
    const wrong = (objects.list('resourcebindings') as unknown as Binding[]).find(({ metadata, spec, status }) => {
      const isDivided = spec.placement?.replicaScheduling?.replicaSchedulingType === 'Divided'
      if (
        !isDivided ||
        status?.schedulerObservedGeneration !== metadata.generation ||
        scheduledOf({ metadata, spec, status } as Binding) !== 'True Success'
      )
        return false
      return (spec.clusters ?? []).reduce((sum, { replicas = 0 }) => sum + replicas, 0) !== spec.replicas
    })
    return wrong === undefined ? undefined : `${wrong.metadata.name} has ${placed(wrong)} of ${wrong.spec.replicas}`
  },
}

type Step = (hub: WorldCluster) => Promise<unknown>

const survival = (resource: Resource, make: (placement: Placement) => KubeObject, where: string) => ({
  role: 'hub' as const,
  controllers: BOTH,
  before: [(hub: WorldCluster) => addCluster(hub, 'm1', { pods: 9, labels: { use: 'yes' }, kinds: ['Deployment', 'ClusterRole'] })],
  steps: [
    (hub) => hub.create(make({ clusterAffinity: { labelSelector: { matchLabels: { use: 'yes' } } } })),
    (hub) => addCluster(hub, 'm2', { pods: 9, labels: { use: 'yes' }, kinds: ['Deployment', 'ClusterRole'] }),
    (hub) => hub.patch(CLUSTERS, 'm1', { metadata: { labels: { use: 'no' } } }),
    (hub) => hub.patch(resource, where, { spec: { placement: { clusterAffinity: { labelSelector: null, clusterNames: ['m1', 'm3'] } } } }),
    (hub) => hub.patch(CLUSTERS, 'm1', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
    (hub) => hub.delete(CLUSTERS, 'm1'),
    (hub) => addCluster(hub, 'm3', { kinds: ['Deployment', 'ClusterRole'] }),
  ] satisfies Step[],
  invariants: [sumsUp],
  async atRest(hub: WorldCluster) {
    const binding = await bindingAt(hub, where, resource)
    assert.deepEqual([(binding.spec.clusters ?? []).map(({ name }) => name), scheduledOf(binding)], [['m3'], 'True Success'])
  },
})

const dividing: Step[] = [
  (hub) => hub.create(aBinding({ name: 'other', replicas: 5, placement: { replicaScheduling: DYNAMIC } })),
  (hub) => hub.patch(RESOURCE_BINDINGS, 'default/other', { spec: { replicas: 12 } }),
  (hub) => hub.patch(RESOURCE_BINDINGS, 'default/other', { spec: { replicas: 3 } }),
]
const copies = survival(RESOURCE_BINDINGS, (placement) => aBinding({ placement }), WHERE)

survives(scheduler(RESOURCE_BINDINGS), { ...copies, steps: [...copies.steps, ...dividing] })

const clusterScoped = scheduler(CLUSTER_RESOURCE_BINDINGS)
survives(
  { name: 'fleet.scheduler.cluster-scoped', for: clusterScoped.for, watches: clusterScoped.watches, indexes: clusterScoped.indexes },
  survival(CLUSTER_RESOURCE_BINDINGS, aClusterBinding, 'admin-clusterrole'),
)
