import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utf8Of } from '../../../base/byte-text.ts'
import { expectGone, expectQuiet } from '../../../faultsim/expect/index.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import type { Binding, BindingSpec, Work } from '../../../kinds/karmada/index.ts'
import { RESOURCE_BINDINGS, WORKS } from '../../../kinds/karmada/resources.ts'
import { BINDING_FINALIZER, DEPENDENCIES_ANNOTATION, RESOURCE_BINDING_ID } from '../../../kinds/karmada/well-known.ts'
import { CONFIG_MAPS, SECRETS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Controller } from '../../../runtime/controller.ts'
import { dependenciesControllers } from '../../dependencies/index.ts'
import type { DependentReference, Interpreter } from '../../interpreter/interpreter.ts'
import { reflectionControllers } from '../../reflection/index.ts'
import type { FleetDeps } from '../../services.ts'
import { bindingControllers } from '../index.ts'
import { aBinding, aClusterRole, aDeployment, bindingWorld, eventsOf, manifestOf, placesOf, release, targets, worksIn } from '../testing.ts'

const ROLE: DependentReference = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'reader' }

/** A rule of an administrator: what the annotation of a Deployment names, it depends on. */
function withRule(native: Interpreter): Interpreter {
  return {
    ...native,
    has: (object, operation) => (operation === 'InterpretDependency' ? object.kind === 'Deployment' : native.has(object, operation)),
    dependencies: async ({ metadata: { annotations = {} } }) => {
      if (annotations.fails !== undefined) throw new Error('the rule failed')
      return annotations.needs === 'reader' ? [ROLE] : []
    },
  }
}

const cast = (given: FleetDeps): Controller[] => {
  const deps = { ...given, interpreter: withRule(given.interpreter) }
  return [...bindingControllers(deps), ...dependenciesControllers(deps), ...reflectionControllers(deps)]
}

function story(name: string, body: (world: World, hub: WorldCluster) => Promise<void>): void {
  it(name, async () => {
    const world = await bindingWorld(cast)
    await body(world, world.hub)
    await world.settle()
    await expectQuiet(world)
    await world.stop()
  })
}

const SECRET: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'token', namespace: 'theirs' },
  data: { token: 'dG9rZW4=' },
} as KubeObject

/** In the store as if admission had never seen it: from before it was checked, or past a webhook. */
async function asStored(hub: WorldCluster, binding: Binding): Promise<void> {
  const { namespace = '', name = '' } = binding.metadata
  const created = { ...binding.metadata, uid: `uid-of-${name}`, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
  const encode = (revision: number) => {
    const object = { ...binding, metadata: { ...created, resourceVersion: String(revision) } }
    return { text: utf8Of(JSON.stringify(object)), object }
  }
  const result = await hub.inside(() =>
    hub.store.commit({ key: `resourcebindings.work.karmada.io/${namespace}/${name}`, expect: 'absent', type: 'put', encode }),
  )
  assert.ok(result.ok)
}

/** A binding in namespace default for an object that is somewhere else. */
function overreaching(template: KubeObject): Binding {
  const binding = aBinding(template, { clusters: targets('member1') })
  const labels = { [RESOURCE_BINDING_ID]: 'some-id' }
  const finalizers = [BINDING_FINALIZER]
  return { ...binding, kind: 'ResourceBinding', metadata: { ...binding.metadata, namespace: 'default', labels, finalizers } }
}

const isRefused = (request: Promise<unknown>): Promise<void> => assert.rejects(request, /spec\.resource\.namespace/)

describe('a binding and an object of another namespace', () => {
  for (const namespace of ['theirs', 'karmada-cluster', 'karmada-es-member2'])
    story(`in ${namespace}: refused, and where it is stored already, nothing is sent`, async (world, hub) => {
      if (namespace === 'theirs') await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      const secret = await hub.create({ ...SECRET, metadata: { ...SECRET.metadata, namespace } })
      const binding = overreaching(secret)
      await isRefused(hub.create(binding))
      await asStored(hub, binding)
      await world.settle()
      assert.deepEqual(await worksIn(hub), [])
      assert.match((await eventsOf(hub, 'SyncWorkFailed')).join(), /ResourceBinding 1× spec\.resource\.namespace: /)
      assert.doesNotMatch((await eventsOf(hub, 'SyncWorkFailed')).join(), /Secret \d/, 'nothing is told in the other namespace')
      await hub.delete(RESOURCE_BINDINGS, 'default/token-secret')
      await expectGone(hub, RESOURCE_BINDINGS, 'default/token-secret')
    })

  story('takes back what an earlier version has sent', async (world, hub) => {
    const mine = await hub.create(aDeployment('web'))
    const binding = await hub.create(aBinding(mine, { clusters: targets('member1', 'member2') }))
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['member1', 'member2'])
    const uid = binding.metadata.uid
    await world.restartControllers()
    await hub.inside(async () => {
      const key = 'resourcebindings.work.karmada.io/default/web-deployment'
      const encode = (revision: number) => {
        const spec = {
          ...(binding as unknown as Binding).spec,
          resource: { ...(binding as unknown as Binding).spec.resource, namespace: 'theirs' },
        }
        const object = { ...binding, spec, metadata: { ...binding.metadata, uid, generation: 2, resourceVersion: String(revision) } }
        return { text: utf8Of(JSON.stringify(object)), object }
      }
      await hub.store.commit({ key, expect: 'any', type: 'put', encode })
    })
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['member1 going', 'member2 going'])
    for (const cluster of ['member1', 'member2']) await release(hub, cluster)
    await hub.delete(RESOURCE_BINDINGS, 'default/web-deployment')
    await expectGone(hub, RESOURCE_BINDINGS, 'default/web-deployment')
  })

  story('does not get at the Works of a binding there by its permanent id', async (world, hub) => {
    await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'theirs' } })
    const secret = await hub.create(SECRET)
    await hub.create(aBinding(secret, { clusters: targets('member1') }))
    await world.settle()
    const mine = await hub.create({ ...SECRET, metadata: { name: 'token', namespace: 'default' }, data: { token: '' } } as KubeObject)
    await hub.create(aBinding(mine, { clusters: targets('member2') }))
    await world.settle()
    const works = await worksIn(hub)
    assert.deepEqual(
      works.map(({ metadata, spec }) => [metadata.namespace, manifestOf({ metadata, spec } as Work).metadata.namespace]),
      [
        ['karmada-es-member1', 'theirs'],
        ['karmada-es-member2', 'default'],
      ],
    )
    assert.equal(new Set(works.map(({ metadata }) => metadata.labels?.[RESOURCE_BINDING_ID])).size, 1, 'both claim the same id')
    const reported = {
      conditions: [],
      manifestStatuses: [
        { identifier: { ordinal: 0, version: 'v1', kind: 'Secret', resource: 'secrets', name: 'token' }, status: { of: 'theirs' } },
      ],
    }
    await hub.patch(WORKS, `karmada-es-member1/${works[0]?.metadata.name}`, { status: reported }, 'status')
    await world.settle()
    const binding = (await hub.get(RESOURCE_BINDINGS, 'default/token-secret')) as Binding
    assert.doesNotMatch(JSON.stringify(binding.status ?? {}), /member1|theirs/)
    await hub.delete(RESOURCE_BINDINGS, 'default/token-secret')
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['member1', 'member2 going'])
    await release(hub, 'member2')
    await hub.delete(SECRETS, 'default/token')
  })
})

describe('a binding with a namespace and an object without one', () => {
  const forged = JSON.stringify([ROLE])
  const withAnnotation = (binding: Binding, text: string): Binding => ({
    ...binding,
    metadata: { ...binding.metadata, annotations: { [DEPENDENCIES_ANNOTATION]: text } },
  })
  const isSent = async (hub: WorldCluster): Promise<boolean> => (await worksIn(hub)).some((work) => manifestOf(work).kind === 'ClusterRole')

  story('sends it to no cluster that it names itself', async (world, hub) => {
    const role = await hub.create(aClusterRole('reader'))
    await hub.create(overreaching(role))
    await world.settle()
    assert.equal(await isSent(hub), false)
    assert.match((await eventsOf(hub, 'SyncWorkFailed')).join(), /nothing that namespace default has there depends on ClusterRole reader/)
  })

  story('sends it to none that another binding needs it in, says who wrote that', async (world, hub) => {
    const role = await hub.create(aClusterRole('reader'))
    const attached = overreaching(role)
    const map = await hub.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bait', namespace: 'default' } })
    const bait = withAnnotation(aBinding(map, { clusters: targets('member2'), propagateDeps: true }), forged)
    await hub.create(bait)
    const requiredBy: BindingSpec['requiredBy'] = [
      { namespace: 'default', name: 'bait-configmap', clusters: targets('member2', 'member3') },
    ]
    await hub.create({ ...attached, metadata: { ...attached.metadata, name: 'other' }, spec: { ...attached.spec, requiredBy } } as Binding)
    await world.settle()
    assert.equal(await isSent(hub), false)
    await hub.delete(CONFIG_MAPS, 'default/bait')
  })

  story('sends it where a rule of the interpreter says that something there needs it', async (world, hub) => {
    await hub.create(aClusterRole('reader'))
    const web = await hub.create(aDeployment('web', 2, { annotations: { needs: 'reader' } }))
    await hub.create(aBinding(web, { clusters: targets('member1', 'member2'), propagateDeps: true }))
    await world.settle()
    assert.deepEqual(await placesOf(hub), ['member1', 'member1', 'member2', 'member2'])
    assert.equal(await isSent(hub), true)
    const attached = (await hub.get(RESOURCE_BINDINGS, 'default/reader-clusterrole')) as Binding
    assert.equal(attached.spec.resource.namespace, undefined)
  })

  story('and not to more clusters than that is in', async (world, hub) => {
    await hub.create(aClusterRole('reader'))
    const web = await hub.create(aDeployment('web', 2, { annotations: { needs: 'reader' } }))
    await hub.create(aBinding(web, { clusters: targets('member1'), propagateDeps: true }))
    await world.settle()
    await hub.patch(RESOURCE_BINDINGS, 'default/reader-clusterrole', { spec: { clusters: targets('member3') } })
    await world.settle()
    assert.deepEqual(
      (await placesOf(hub)).filter((place) => place === 'member3'),
      [],
    )
  })
})
