import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { conditionsOf, expectQuiet } from '../../../faultsim/expect/index.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import { CLUSTER_SCOPED_BINDINGS, NAMESPACED_BINDINGS } from '../../../kinds/karmada/binding-kinds.ts'
import type { Binding, BindingSpec, WorkStatus } from '../../../kinds/karmada/index.ts'
import { executionNamespace } from '../../../kinds/karmada/names.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS, WORKS } from '../../../kinds/karmada/resources.ts'
import { CLUSTER_ROLES, DEPLOYMENTS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Controller } from '../../../runtime/controller.ts'
import { aBinding, aClusterRole, aDeployment, bindingWorld, eventsOf, targets } from '../../binding/testing.ts'
import type { FleetDeps } from '../../services.ts'
import { hubCast, joined } from '../../testing.ts'
import { reflectionControllers } from '../index.ts'
import { bindingStatus } from './controller.ts'
import { aReport, aReportingWork } from './testing.ts'

const cast = (given: FleetDeps): Controller[] => reflectionControllers(given)
const BINDING = 'default/web-deployment'

function story(name: string, body: (world: World, hub: WorldCluster) => Promise<void>, how: typeof cast = cast): void {
  it(name, async () => {
    const world = await bindingWorld(how)
    await body(world, world.hub)
    await world.settle()
    await expectQuiet(world)
    await world.stop()
  })
}

const report = (hub: WorldCluster, cluster: string, status: WorkStatus): Promise<unknown> =>
  hub.patch(WORKS, `${executionNamespace(cluster)}/web-work`, { status }, 'status')

async function given(hub: WorldCluster, spec: Partial<BindingSpec>, template: KubeObject = aDeployment('web')): Promise<void> {
  const binding = aBinding(await hub.create(template), spec)
  await hub.create(binding)
  for (const { name } of spec.clusters ?? []) await hub.create(aReportingWork(name))
}

const running = (ready: number, generation = 1) =>
  aReport(
    true,
    { replicas: 1, readyReplicas: ready, generation, observedGeneration: generation, resourceTemplateGeneration: generation },
    ready > 0 ? 'Healthy' : 'Unhealthy',
  )
const templateStatus = async (hub: WorldCluster): Promise<Record<string, unknown> | undefined> =>
  (await hub.get(DEPLOYMENTS, 'default/web'))?.status as Record<string, unknown> | undefined
const theBinding = async (hub: WorldCluster): Promise<Binding> => (await hub.get(RESOURCE_BINDINGS, BINDING)) as Binding
const writesOf = (hub: WorldCluster): string[] => hub.takeControllerWrites().filter((write) => !write.includes('/events'))

describe('status that comes back', () => {
  story('is nothing before somebody reports', async (world, hub) => {
    await given(hub, { clusters: targets('member1', 'member2') })
    hub.takeControllerWrites()
    await hub.patch(
      RESOURCE_BINDINGS,
      BINDING,
      { status: { lastScheduledTime: '2026-01-01T00:00:00Z', schedulerObservedGeneration: 1 } },
      'status',
    )
    const dispatching = {
      type: 'Dispatching',
      status: 'True',
      reason: 'Dispatching',
      message: 'on its way',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    await report(hub, 'member1', { conditions: [dispatching] })
    await world.settle()
    assert.deepEqual(writesOf(hub), [])
    await report(hub, 'member1', { conditions: [{ ...dispatching, status: 'False', reason: 'SuspendDispatching', message: 'held back' }] })
    await world.settle()
    assert.equal(conditionsOf(await theBinding(hub)).get('FullyApplied')?.status, 'False')
  })

  story('is on the binding and the template, with one write each for reports that come together', async (world, hub) => {
    await given(hub, { replicas: 3, clusters: targets('member1', 'member2', 'member3') })
    await world.settle()
    hub.takeControllerWrites()
    for (const cluster of ['member1', 'member2', 'member3']) await report(hub, cluster, running(1))
    await world.settle()
    assert.deepEqual(
      writesOf(hub)
        .map((write) => write.replace(/\?.*/, ''))
        .sort(),
      [
        'PATCH /apis/apps/v1/namespaces/default/deployments/web/status',
        'PATCH /apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/web-deployment/status',
      ],
    )
    const binding = await theBinding(hub)
    assert.equal(conditionsOf(binding).get('FullyApplied')?.reason, 'FullyAppliedSuccess')
    assert.deepEqual(
      binding.status?.aggregatedStatus?.map(({ clusterName, applied, health }) => [clusterName, applied, health]),
      [
        ['member1', true, 'Healthy'],
        ['member2', true, 'Healthy'],
        ['member3', true, 'Healthy'],
      ],
    )
    const template = await hub.get(DEPLOYMENTS, 'default/web')
    assert.deepEqual(template?.status, { observedGeneration: 1, replicas: 3, readyReplicas: 3 })
    assert.deepEqual(await eventsOf(hub, 'AggregateStatusSucceed'), [
      'Deployment 1× Update Resource with AggregatedStatus successfully.',
      'ResourceBinding 1× Update ResourceBinding(default/web-deployment) with AggregatedStatus successfully.',
    ])
  })

  story('says why something is not applied, and that it is when it is', async (world, hub) => {
    await given(hub, { clusters: targets('member1') })
    await report(hub, 'member1', aReport('no room'))
    await world.settle()
    const refused = await theBinding(hub)
    assert.deepEqual(refused.status?.aggregatedStatus, [{ clusterName: 'member1', appliedMessage: 'no room', health: 'Unknown' }])
    assert.equal(conditionsOf(refused).get('FullyApplied')?.reason, 'FullyAppliedFailed')
    await report(hub, 'member1', running(1))
    await world.settle()
    assert.equal(conditionsOf(await theBinding(hub)).get('FullyApplied')?.status, 'True')
  })

  story('leaves the conditions and fields of the scheduler alone', async (world, hub) => {
    await given(hub, { clusters: targets('member1') })
    const scheduled = { type: 'Scheduled', status: 'True', reason: 'Success', message: 'yes', lastTransitionTime: '2026-01-01T00:00:00Z' }
    await hub.patch(RESOURCE_BINDINGS, BINDING, { status: { conditions: [scheduled], schedulerObservedGeneration: 1 } }, 'status')
    await report(hub, 'member1', running(1))
    await world.settle()
    const { status } = await theBinding(hub)
    assert.deepEqual([status?.conditions?.[0], status?.schedulerObservedGeneration], [scheduled, 1])
    assert.equal(status?.conditions?.length, 2)
  })

  story('reports a new generation of the template only when every member has seen it', async (world, hub) => {
    await given(hub, { clusters: targets('member1', 'member2') })
    for (const cluster of ['member1', 'member2']) await report(hub, cluster, running(1))
    await world.settle()
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 4 } })
    await world.settle()
    const observed = async (): Promise<unknown> => (await templateStatus(hub))?.observedGeneration
    assert.equal(await observed(), 1)
    await report(hub, 'member1', running(1, 2))
    await world.settle()
    assert.equal(await observed(), 1)
    await report(hub, 'member2', running(1, 2))
    await world.settle()
    assert.equal(await observed(), 2)
  })

  story('of a cluster that is left counts while its Work is there, and goes with it', async (world, hub) => {
    await given(hub, { clusters: targets('member1', 'member2') })
    for (const cluster of ['member1', 'member2']) await report(hub, cluster, running(1))
    const task = { fromCluster: 'member1', purgeMode: 'Gracefully', reason: 'TaintUntolerated', producer: 'TaintManager' }
    await hub.patch(RESOURCE_BINDINGS, BINDING, { spec: { clusters: targets('member2'), gracefulEvictionTasks: [task] } })
    await world.settle()
    assert.equal(conditionsOf(await theBinding(hub)).get('FullyApplied')?.status, 'True')
    await hub.patch(RESOURCE_BINDINGS, BINDING, { spec: { gracefulEvictionTasks: null } })
    await hub.delete(WORKS, 'karmada-es-member1/web-work')
    await world.settle()
    const { status } = await theBinding(hub)
    assert.deepEqual(
      status?.aggregatedStatus?.map(({ clusterName }) => clusterName),
      ['member2'],
    )
    assert.equal((await templateStatus(hub))?.replicas, 1)
  })

  story('is zero for what goes nowhere', async (world, hub) => {
    await given(hub, {})
    await hub.patch(RESOURCE_BINDINGS, BINDING, { status: { lastScheduledTime: '2026-01-01T00:00:00Z' } }, 'status')
    await world.settle()
    assert.equal(conditionsOf(await theBinding(hub)).get('FullyApplied')?.status, 'False')
    assert.deepEqual((await hub.get(DEPLOYMENTS, 'default/web'))?.status, { observedGeneration: 1 })
  })

  story('that somebody else overwrites is mended', async (world, hub) => {
    await given(hub, { clusters: targets('member1') })
    await report(hub, 'member1', running(1))
    await world.settle()
    await hub.patch(RESOURCE_BINDINGS, BINDING, { status: { aggregatedStatus: null } }, 'status')
    await hub.patch(DEPLOYMENTS, 'default/web', { status: { replicas: 9 } }, 'status')
    await world.settle()
    assert.equal((await theBinding(hub)).status?.aggregatedStatus?.length, 1)
    assert.equal((await templateStatus(hub))?.replicas, 1)
  })

  story('of cluster-scoped objects goes the same way', async (world, hub) => {
    await hub.create(aBinding(await hub.create(aClusterRole('viewer')), { clusters: targets('member1') }))
    const work = aReportingWork('member1')
    const metadata = {
      ...work.metadata,
      labels: { 'clusterresourcebinding.karmada.io/permanent-id': 'id-of-viewer' },
      annotations: { 'clusterresourcebinding.karmada.io/name': 'viewer-clusterrole' },
    }
    await hub.create({ ...work, metadata })
    await report(hub, 'member1', aReport(true))
    await world.settle()
    const binding = await hub.get(CLUSTER_RESOURCE_BINDINGS, 'viewer-clusterrole')
    assert.equal(conditionsOf(binding as Binding).get('FullyApplied')?.status, 'True')
    assert.deepEqual(await eventsOf(hub, 'AggregateStatusSucceed'), [
      'ClusterResourceBinding 1× Update ClusterResourceBinding(viewer-clusterrole) with AggregatedStatus successfully.',
    ])
    assert.equal((await hub.get(CLUSTER_ROLES, 'viewer'))?.status, undefined)
  })

  let isBroken = true
  story(
    'reaches the binding also while no rule can aggregate it, and the template later',
    async (world, hub) => {
      await given(hub, { clusters: targets('member1') })
      await report(hub, 'member1', running(1))
      await world.advance(1000)
      assert.equal(conditionsOf(await theBinding(hub)).get('FullyApplied')?.status, 'True')
      assert.deepEqual(await eventsOf(hub, 'AggregateStatusFailed'), [
        'Deployment 1× the webhook does not answer',
        'ResourceBinding 1× the webhook does not answer',
      ])
      isBroken = false
      await world.advance(60_000)
      assert.equal((await templateStatus(hub))?.replicas, 1)
    },
    (deps) => {
      const { interpreter } = deps
      const aggregate: typeof interpreter.aggregate = async (...of) => {
        if (isBroken) throw new Error('the webhook does not answer')
        return interpreter.aggregate(...of)
      }
      return cast({ ...deps, interpreter: { ...interpreter, aggregate } })
    },
  )
})

const nothing = {} as FleetDeps

describe('under every fault', () => {
  survives(bindingStatus(NAMESPACED_BINDINGS, nothing), {
    role: 'hub',
    before: [joined(2)],
    controllers: hubCast(cast),
    steps: [
      (hub) => given(hub, { clusters: targets('member1', 'member2') }),
      (hub) => report(hub, 'member1', running(0)),
      (hub) => report(hub, 'member2', running(1)),
      (hub) => hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 4 } }),
      (hub) => report(hub, 'member1', running(1, 2)),
      (hub) => report(hub, 'member2', running(1, 2)),
      (hub) => hub.patch(RESOURCE_BINDINGS, BINDING, { spec: { clusters: targets('member2') } }),
      (hub) => hub.delete(WORKS, 'karmada-es-member1/web-work'),
    ],
    invariants: [
      {
        says: 'a template never claims to be observed before its members have seen it',
        broken(objects) {
          const works = objects.list('works') as (KubeObject & { status?: WorkStatus })[]
          const seen = works.map(({ status }) =>
            Number((status?.manifestStatuses?.[0]?.status as { generation?: number } | undefined)?.generation ?? 0),
          )
          const template = objects.list('deployments')[0]?.status as { observedGeneration?: number } | undefined
          return works.length > 0 && (template?.observedGeneration ?? 0) > Math.min(...seen) ? JSON.stringify([template, seen]) : undefined
        },
      },
    ],
    async atRest(hub) {
      const binding = await theBinding(hub)
      assert.deepEqual(
        binding.status?.aggregatedStatus?.map(({ clusterName }) => clusterName),
        ['member2'],
      )
      assert.equal(conditionsOf(binding).get('FullyApplied')?.status, 'True')
      assert.deepEqual((await hub.get(DEPLOYMENTS, 'default/web'))?.status, { observedGeneration: 2, replicas: 1, readyReplicas: 1 })
    },
  })
  survives(
    {
      name: 'fleet.reflection.status.cluster-scoped',
      for: CLUSTER_RESOURCE_BINDINGS,
      ...parts(bindingStatus(CLUSTER_SCOPED_BINDINGS, nothing)),
    },
    {
      role: 'hub',
      before: [joined(1)],
      controllers: hubCast(cast),
      steps: [
        async (hub) => hub.create(aBinding(await hub.create(aClusterRole('viewer')), { clusters: targets('member1') })),
        (hub) =>
          hub.create(
            aReportingWork('member1', undefined, {
              labels: { 'clusterresourcebinding.karmada.io/permanent-id': 'id-of-viewer' },
              annotations: { 'clusterresourcebinding.karmada.io/name': 'viewer-clusterrole' },
            }),
          ),
        (hub) => report(hub, 'member1', aReport('no room')),
        (hub) => report(hub, 'member1', aReport(true)),
      ],
      async atRest(hub) {
        const binding = await hub.get(CLUSTER_RESOURCE_BINDINGS, 'viewer-clusterrole')
        assert.equal(conditionsOf(binding as Binding).get('FullyApplied')?.status, 'True')
      },
    },
  )
})

function parts({ watches, indexes, signals }: ReturnType<typeof bindingStatus>) {
  return { watches, indexes, signals }
}
