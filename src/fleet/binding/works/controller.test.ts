import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone, expectQuiet } from '../../../faultsim/expect/index.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import type { Binding, BindingSpec, Work } from '../../../kinds/karmada/index.ts'
import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_RESOURCE_BINDINGS,
  CLUSTERS,
  OVERRIDE_POLICIES,
  RESOURCE_BINDINGS,
  WORKS,
} from '../../../kinds/karmada/resources.ts'
import { CLUSTER_ROLES, DEPLOYMENTS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Controller } from '../../../runtime/controller.ts'
import type { Interpreter } from '../../interpreter/interpreter.ts'
import type { FleetDeps } from '../../services.ts'
import { aCluster } from '../../testing.ts'
import { bindingControllers } from '../index.ts'
import {
  aBinding,
  aClusterOverride,
  aClusterRole,
  aDeployment,
  anOverride,
  bindingWorld,
  eventsOf,
  manifestOf,
  placesOf,
  release,
  targets,
  worksIn,
} from '../testing.ts'

const cast = (given: FleetDeps): Controller[] => bindingControllers(given)

function story(name: string, body: (world: World, hub: WorldCluster) => Promise<void>, how: typeof cast = cast): void {
  it(name, async () => {
    const world = await bindingWorld(how)
    await body(world, world.hub)
    await world.settle()
    await expectQuiet(world)
    await world.stop()
  })
}

const BINDING = 'default/web-deployment'

/** A Deployment and its binding, as scheduled. */
async function given(world: World, spec: Partial<BindingSpec>, template: KubeObject = aDeployment('web')): Promise<void> {
  await world.hub.create(aBinding(await world.hub.create(template), spec))
  await world.settle()
}

const change = async (world: World, spec: Record<string, unknown>): Promise<void> => {
  await world.hub.patch(RESOURCE_BINDINGS, BINDING, { spec })
  await world.settle()
}

const BAD = { plaintext: [{ path: '/spec/nowhere/at/all', operator: 'replace' as const, value: 1 }] }
const task = (fromCluster: string, purgeMode: string, more: object = {}) => ({
  fromCluster,
  purgeMode,
  reason: 'TaintUntolerated',
  producer: 'TaintManager',
  ...more,
})
const labelOf = (work: Work | undefined, label: string): string | undefined => manifestOf(work).metadata.labels?.[label]

describe('Works of a binding', () => {
  story('are made complete, one per target, with one write each', async (world, hub) => {
    hub.takeControllerWrites()
    await given(world, { replicas: 5, clusters: targets(['member1', 3], ['member2', 2]) }, aDeployment('web', 5))
    const works = await worksIn(hub)
    assert.deepEqual(await placesOf(hub), ['member1', 'member2'])
    assert.deepEqual(
      works.map((work) => (manifestOf(work).spec as { replicas: number }).replicas),
      [3, 2],
    )
    const writes = hub.takeControllerWrites().filter((write) => !write.includes('/events'))
    assert.equal(writes.length, 2, writes.join('\n'))
    assert.deepEqual(await eventsOf(hub, 'SyncWorkSucceed'), [
      'Deployment 1× Sync work of ResourceBinding(default/web-deployment) successful.',
      'ResourceBinding 1× Sync work of ResourceBinding(default/web-deployment) successful.',
    ])
  })

  story('follow the clusters of the binding and of those that need it', async (world, hub) => {
    await given(world, { clusters: targets('member1', 'member2') })
    await change(world, { clusters: targets('member2'), requiredBy: [{ name: 'other', clusters: targets('member3') }] })
    assert.deepEqual(await placesOf(hub), ['member1 going', 'member2', 'member3'])
    await release(hub, 'member1')
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['member2', 'member3'])
  })

  story('of cluster-scoped objects go the same way', async (world, hub) => {
    await hub.create(aBinding(await hub.create(aClusterRole('viewer')), { clusters: targets('member1') }))
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['member1'])
    await hub.delete(CLUSTER_RESOURCE_BINDINGS, 'viewer-clusterrole')
    await world.settle()
    await release(hub, 'member1')
    await expectGone(hub, CLUSTER_RESOURCE_BINDINGS, 'viewer-clusterrole')
    await hub.delete(CLUSTER_ROLES, 'viewer')
  })

  story('follow the template, also where no policy claims it any more', async (world, hub) => {
    await given(world, { clusters: targets('member1') })
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { tier: 'front' } } })
    await world.settle()
    assert.equal(labelOf((await worksIn(hub))[0], 'tier'), 'front')
    hub.takeControllerWrites()
    await hub.patch(DEPLOYMENTS, 'default/web', { status: { replicas: 1 } }, 'status')
    await world.settle()
    assert.deepEqual(hub.takeControllerWrites(), [], 'a status reaches no member')
  })

  story('wait for the version of the template that the binding names', async (world, hub) => {
    const template = await hub.create(aDeployment('web'))
    const binding = aBinding(template, { clusters: targets('member1') })
    await hub.create({
      ...binding,
      spec: { ...binding.spec, resource: { ...binding.spec.resource, resourceVersion: '100000' } },
    } as Binding)
    await world.settle()
    assert.deepEqual(await placesOf(hub), [])
    await change(world, { resource: { resourceVersion: template.metadata.resourceVersion } })
    assert.deepEqual(await placesOf(hub), ['member1'])
  })

  story('are not made from another object that has the name now', async (world, hub) => {
    const binding = aBinding(await hub.create(aDeployment('web')), { clusters: targets('member1') })
    await hub.create({ ...binding, spec: { ...binding.spec, resource: { ...binding.spec.resource, uid: 'somebody-else' } } })
    await world.settle()
    assert.deepEqual(await placesOf(hub), [])
  })

  story('come back when somebody deletes or changes them, with the same id', async (world, hub) => {
    await given(world, { clusters: targets('member1') })
    const [before] = await worksIn(hub)
    const where = `${before?.metadata.namespace}/${before?.metadata.name}`
    await hub.delete(WORKS, where)
    await release(hub, 'member1')
    await world.settle()
    const [after] = await worksIn(hub)
    assert.notEqual(after?.metadata.uid, before?.metadata.uid)
    assert.deepEqual(after?.metadata.labels, before?.metadata.labels)
    await hub.patch(WORKS, where, {
      metadata: { labels: { 'resourcebinding.karmada.io/permanent-id': null } },
      spec: { suspendDispatching: true },
    })
    await world.settle()
    const [mended] = await worksIn(hub)
    assert.deepEqual([mended?.metadata.labels, mended?.spec], [before?.metadata.labels, before?.spec])
  })

  story('are held back and let go as the binding says', async (world, hub) => {
    await given(world, { clusters: targets('member1', 'member2'), suspension: { dispatchingOnClusters: { clusterNames: ['member2'] } } })
    const held = async (): Promise<unknown[]> => (await worksIn(hub)).map(({ spec }) => spec.suspendDispatching)
    assert.deepEqual(await held(), [false, true])
    await change(world, { suspension: { dispatching: true } })
    assert.deepEqual(await held(), [true, true])
    await change(world, { suspension: null })
    assert.deepEqual(await held(), [false, false])
  })

  story('do not touch a Work of somebody else, and say so', async (world, hub) => {
    const foreign = {
      apiVersion: 'work.karmada.io/v1alpha1',
      kind: 'Work',
      metadata: { name: 'web-7bd8d5cdd7', namespace: 'karmada-es-member1' },
      spec: {},
    }
    await given(world, { clusters: targets('member2') })
    const name = (await worksIn(hub))[0]?.metadata.name
    await hub.create({ ...foreign, metadata: { ...foreign.metadata, name } })
    await change(world, { clusters: targets('member1', 'member2') })
    assert.deepEqual(
      (await worksIn(hub)).map(({ spec }) => spec.workload?.manifests?.length),
      [undefined, 1],
    )
    assert.match(
      (await eventsOf(hub, 'SyncWorkFailed'))[1] ?? '',
      /cluster\(member1\): Work karmada-es-member1\/web-\w+ belongs to another maker/,
    )
    await hub.delete(WORKS, `karmada-es-member1/${name}`)
    await world.settle()
    assert.deepEqual(
      (await worksIn(hub)).map(({ spec }) => spec.workload?.manifests?.length),
      [1, 1],
    )
  })

  story('wait for a cluster that is not there yet, while the others get theirs', async (world, hub) => {
    await given(world, { clusters: targets('late', 'member1') })
    assert.deepEqual(await placesOf(hub), ['member1'])
    assert.deepEqual(await eventsOf(hub, 'SyncWorkFailed'), [
      'Deployment 1× cluster(late): there is no such cluster',
      'ResourceBinding 1× cluster(late): there is no such cluster',
    ])
    await hub.create(aCluster('late'))
    await world.settle()
    assert.match((await eventsOf(hub, 'SyncWorkFailed')).join(), /its execution namespace karmada-es-late does not exist/)
    await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'karmada-es-late' } })
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['late', 'member1'])
  })
})

describe('Works that go', () => {
  story('go before their binding, and their binding before nobody', async (world, hub) => {
    await given(world, { clusters: targets('member1', 'member2') })
    await hub.delete(RESOURCE_BINDINGS, BINDING)
    await world.settle()
    await expectGone(hub, RESOURCE_BINDINGS, BINDING)
    assert.deepEqual(await placesOf(hub), ['member1 going', 'member2 going'])
    for (const cluster of ['member1', 'member2']) await release(hub, cluster)
    assert.deepEqual(await placesOf(hub), [])
  })

  story('say first that their object stays, when it is to', async (world, hub) => {
    await given(world, { clusters: targets('member1', 'member2') })
    world.hub.killControllers()
    await hub.patch(RESOURCE_BINDINGS, BINDING, { spec: { preserveResourcesOnDeletion: true, clusters: targets('member1') } })
    await hub.delete(RESOURCE_BINDINGS, BINDING)
    hub.startControllers()
    await world.settle()
    assert.deepEqual(
      (await worksIn(hub)).map(({ metadata, spec }) => [metadata.deletionTimestamp !== undefined, spec.preserveResourcesOnDeletion]),
      [
        [true, true],
        [true, true],
      ],
    )
    for (const cluster of ['member1', 'member2']) await release(hub, cluster)
  })

  story('go too when their binding vanished without them', async (world, hub) => {
    await given(world, { clusters: targets('member1') })
    hub.killControllers()
    await hub.patch(RESOURCE_BINDINGS, BINDING, { metadata: { finalizers: null } })
    await hub.delete(RESOURCE_BINDINGS, BINDING)
    hub.startControllers()
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['member1 going'])
    await release(hub, 'member1')
  })

  story('stay exactly as they were while their cluster is left gracefully', async (world, hub) => {
    await given(world, { replicas: 2, clusters: targets(['member1', 2]) })
    const [before] = await worksIn(hub)
    await change(world, { clusters: targets(['member2', 2]), gracefulEvictionTasks: [task('member1', 'Gracefully')] })
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { tier: 'front' } } })
    await world.settle()
    const [kept, moved] = await worksIn(hub)
    assert.deepEqual(kept, before)
    assert.equal(labelOf(moved, 'tier'), 'front')
    await change(world, { gracefulEvictionTasks: null })
    assert.deepEqual(await placesOf(hub), ['member1 going', 'member2'])
    await release(hub, 'member1')
  })

  story('are gone before another comes, when a cluster is left directly', async (world, hub) => {
    await given(world, { clusters: targets('member1') })
    const labels = { preservedLabelState: { 'job-id': '42' }, clustersBeforeFailover: ['member1'] }
    await change(world, { clusters: targets('member2'), gracefulEvictionTasks: [task('member1', 'Directly', labels)] })
    assert.deepEqual(await placesOf(hub), ['member1 going'])
    await world.advance(60_000)
    assert.deepEqual(await placesOf(hub), ['member1 going'])
    await release(hub, 'member1')
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['member2'])
    assert.equal(labelOf((await worksIn(hub))[0], 'job-id'), '42')
  })
})

describe('overrides', () => {
  story('that come later, change or go change the Works they mean and no others', async (world, hub) => {
    await given(world, { clusters: targets('member1', 'member2') })
    await hub.create(aBinding(await hub.create(aDeployment('other')), { clusters: targets('member1') }))
    await hub.create(
      anOverride('by-name', { color: 'red' }, { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }] }),
    )
    await world.settle()
    const colors = async (): Promise<unknown[]> => (await worksIn(hub)).map((work) => labelOf(work, 'color'))
    assert.deepEqual(await colors(), [undefined, 'red', 'red'])
    assert.deepEqual(await eventsOf(hub, 'ApplyOverridePolicySucceed'), [
      'Deployment 1× Apply override policy(default/by-name) for cluster(member1) succeed.',
      'Deployment 1× Apply override policy(default/by-name) for cluster(member2) succeed.',
    ])
    await hub.patch(OVERRIDE_POLICIES, 'default/by-name', {
      spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', labelSelector: { matchLabels: { app: 'other' } } }] },
    })
    await world.settle()
    assert.deepEqual(await colors(), ['red', undefined, undefined])
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { app: 'other' } } })
    await world.settle()
    assert.deepEqual(await colors(), ['red', 'red', 'red'])
    await hub.delete(OVERRIDE_POLICIES, 'default/by-name')
    await world.settle()
    assert.deepEqual(await colors(), [undefined, undefined, undefined])
    assert.ok((await worksIn(hub)).every(({ metadata }) => metadata.annotations?.['policy.karmada.io/applied-overrides'] === undefined))
  })

  story('of all kinds and for all namespaces reach both kinds of bindings', async (world, hub) => {
    await given(world, { clusters: targets('member1') })
    await hub.create(aBinding(await hub.create(aClusterRole('viewer')), { clusters: targets('member1') }))
    await hub.create(aClusterOverride('all', { color: 'blue' }))
    await world.settle()
    assert.deepEqual(
      (await worksIn(hub)).map((work) => labelOf(work, 'color')),
      ['blue', 'blue'],
    )
    await hub.delete(CLUSTER_OVERRIDE_POLICIES, 'all')
  })

  story('follow the labels of a cluster', async (world, hub) => {
    await given(world, { clusters: targets('member1', 'member2') })
    await hub.create(anOverride('fast', { disk: 'ssd' }, {}, { labelSelector: { matchLabels: { disks: 'fast' } } }))
    await hub.patch(CLUSTERS, 'member2', { metadata: { labels: { disks: 'fast' } } })
    await world.settle()
    assert.deepEqual(
      (await worksIn(hub)).map((work) => labelOf(work, 'disk')),
      [undefined, 'ssd'],
    )
  })

  story('that cannot be applied in one cluster do not hold up another', async (world, hub) => {
    await hub.create(anOverride('bad', {}, { overrideRules: [{ targetCluster: { clusterNames: ['member1'] }, overriders: BAD }] }))
    await given(world, { clusters: targets('member1', 'member2') })
    assert.deepEqual(await placesOf(hub), ['member2'])
    const why = (await eventsOf(hub, 'ApplyOverridePolicyFailed'))[0]?.replace('Deployment 1× ', '') ?? ''
    assert.match(why, /^Apply override policy\(default\/bad\) for cluster\(member1\) failed: /)
    const reported = `cluster(member1): ${why}`
    assert.deepEqual(await eventsOf(hub, 'SyncWorkFailed'), [`Deployment 1× ${reported}`, `ResourceBinding 1× ${reported}`])
    assert.deepEqual(await eventsOf(hub, 'SyncWorkSucceed'), [])
    await hub.delete(OVERRIDE_POLICIES, 'default/bad')
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['member1', 'member2'])
  })
})

describe('an interpreter that fails', () => {
  let isBroken = true
  const calls: number[] = []
  const broken = (given: FleetDeps): Controller[] => {
    const interpreter: Interpreter = {
      ...given.interpreter,
      async revise(object, replicas) {
        calls.push(replicas)
        if (isBroken) throw new Error('the webhook does not answer')
        return given.interpreter.revise(object, replicas)
      },
    }
    return bindingControllers({ ...given, interpreter })
  }
  story(
    'is asked once per number of replicas, less and less often, and told of once',
    async (world, hub) => {
      await given(world, { replicas: 4, clusters: targets(['member1', 1], ['member2', 1], ['member3', 2]) })
      assert.deepEqual(calls.slice(0, 2), [1, 2])
      assert.deepEqual(await placesOf(hub), [])
      await world.advance(300_000)
      assert.ok(calls.length <= 2 * 10, `${calls.length} calls`)
      assert.equal((await eventsOf(hub, 'SyncWorkFailed')).length, 6)
      isBroken = false
      await world.advance(300_000)
      await world.settle()
      assert.deepEqual(await placesOf(hub), ['member1', 'member2', 'member3'])
    },
    broken,
  )
})
