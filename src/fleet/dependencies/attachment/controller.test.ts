import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone } from '../../../faultsim/expect/index.ts'
import { viewOf } from '../../../faultsim/prover/invariant-monitor.ts'
import { type Survival, survives } from '../../../faultsim/survives.ts'
import { aWorld, type WorldCluster } from '../../../faultsim/world/index.ts'
import type { PropagationSpec, ResourceBinding } from '../../../kinds/karmada/index.ts'
import { PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import { CLUSTER_ROLES, CONFIG_MAPS, DEPLOYMENTS } from '../../../kinds/kubernetes/resources.ts'
import { unconnected } from '../../../runtime/module/unconnected.ts'
import type { Templates } from '../../../runtime/templates.ts'
import {
  aPolicy,
  bindingAt,
  CLUSTER_ROLE,
  claimText,
  claimTextOf,
  clustersOf,
  eventsOf,
  hubStory,
  placedIn,
} from '../../detector/testing.ts'
import type { DependentReference, Interpreter } from '../../interpreter/interpreter.ts'
import { nativeInterpreter } from '../../interpreter/testing.ts'
import { hubCast } from '../../testing.ts'
import { dependenciesListing } from '../listing/controller.ts'
import { aMap, attachedTo, DETECTOR_AND_DEPENDENCIES, dependedBy, needsOf, reading, scheduleTo, taking } from '../testing.ts'
import { attachment } from './controller.ts'

const ANNOTATION = 'resourcebinding.karmada.io/dependencies'
const FINALIZER = 'karmada.io/binding-dependencies-distributor'
const WEB = 'default/web-deployment'
const theBindingOf = async (hub: WorldCluster, name: string): Promise<ResourceBinding> =>
  (await bindingAt(hub, `default/${name}-deployment`)) as ResourceBinding
const dependencyStory = (name: string, body: Parameters<typeof hubStory>[1]): void => hubStory(name, body, DETECTOR_AND_DEPENDENCIES)

describe('what an object depends on', () => {
  dependencyStory('says that nothing is preserved where nobody says that something is', async (hub, world) => {
    await hub.create(aMap('config'))
    await hub.create(taking('web'))
    await hub.create(reading('web', 'config'))
    await world.settle()
    await scheduleTo(hub, 'web', 'member1')
    await world.settle()
    const { spec } = await attachedTo(hub, 'config')
    assert.deepEqual([spec?.conflictResolution, spec?.preserveResourcesOnDeletion], ['Abort', false])
  })

  dependencyStory('does not follow for the deprecated association, which is kept and without effect', async (hub, world) => {
    await hub.create(aMap('config'))
    const policy = await hub.create(taking('web', { association: true, propagateDeps: undefined }))
    await hub.create(reading('web', 'config'))
    await world.settle()
    await scheduleTo(hub, 'web', 'member1')
    await world.settle()
    assert.equal((policy.spec as PropagationSpec).association, true)
    assert.equal(await bindingAt(hub, 'default/config-configmap'), undefined)
    assert.equal((await theBindingOf(hub, 'web')).metadata.annotations?.[ANNOTATION], undefined)
  })

  dependencyStory('is not looked for where no rule knows of any', async (hub, world) => {
    await hub.create(aMap('config'))
    await hub.create(
      aPolicy('default/maps', { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'config' }], propagateDeps: true }),
    )
    await world.settle()
    await hub.patch(RESOURCE_BINDINGS, 'default/config-configmap', { spec: { clusters: [{ name: 'member1' }] } })
    await world.settle()
    const { metadata, spec } = await attachedTo(hub, 'config')
    assert.equal(spec?.propagateDeps, true)
    assert.deepEqual([metadata.annotations?.[ANNOTATION], metadata.finalizers], [undefined, ['karmada.io/binding-controller']])
  })

  dependencyStory('follows it when it is scheduled, and where it is scheduled to', async (hub, world) => {
    const map = await hub.create(aMap('config'))
    await hub.create(taking('web', { conflictResolution: 'Overwrite', preserveResourcesOnDeletion: true }))
    await hub.create(reading('web', 'config'))
    await world.settle()
    assert.equal(await bindingAt(hub, 'default/config-configmap'), undefined)
    await scheduleTo(hub, 'web', 'member1', 'member2')
    await world.settle()
    const web = await theBindingOf(hub, 'web')
    const text = '[{"apiVersion":"v1","kind":"ConfigMap","namespace":"default","name":"config"}]'
    assert.equal(web.metadata.annotations?.[ANNOTATION], text)
    assert.ok(web.metadata.finalizers?.includes(FINALIZER))
    const attached = await attachedTo(hub, 'config')
    const { uid, resourceVersion } = map.metadata
    assert.deepEqual(attached.spec, {
      resource: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'config', uid, resourceVersion },
      requiredBy: [
        {
          namespace: 'default',
          name: 'web-deployment',
          clusters: [
            { name: 'member1', replicas: 1 },
            { name: 'member2', replicas: 1 },
          ],
        },
      ],
      conflictResolution: 'Overwrite',
      preserveResourcesOnDeletion: true,
    })
    // The reference key of default/web-deployment, and the id that its binding was given at admission.
    assert.deepEqual(Object.values(dependedBy(attached)), [web.metadata.labels?.['resourcebinding.karmada.io/permanent-id']])
    assert.deepEqual(attached.metadata.finalizers, ['karmada.io/binding-controller'])
    assert.deepEqual(
      attached.metadata.ownerReferences?.map((owner) => [owner.kind, owner.uid, owner.controller]),
      [['ConfigMap', uid, true]],
    )
    assert.equal(claimText(await hub.get(CONFIG_MAPS, 'default/config')), undefined)
    assert.ok((await eventsOf(hub, 'Deployment', 'web')).includes(`GetDependenciesSucceed: Get dependencies(${text}) succeed.`))
    assert.deepEqual(
      (await eventsOf(hub, 'ResourceBinding', 'web-deployment')).filter((line) => line.startsWith('Sync')),
      ['SyncScheduleResultToDependenciesSucceed: Sync schedule results to dependencies succeed.'],
    )
    await scheduleTo(hub, 'web', 'member3')
    await world.settle()
    assert.deepEqual(needsOf(await attachedTo(hub, 'config')), ['web-deployment: member3'])
  })

  dependencyStory('is attached when it appears, and its changes are passed on', async (hub, world) => {
    await hub.create(taking('web'))
    await hub.create(reading('web', 'config'))
    await world.settle()
    await scheduleTo(hub, 'web', 'member1')
    await world.settle()
    assert.equal(await bindingAt(hub, 'default/config-configmap'), undefined)
    await hub.create(aMap('config'))
    await world.settle()
    const first = await attachedTo(hub, 'config')
    const changed = await hub.patch(CONFIG_MAPS, 'default/config', { data: { key: 'other' } })
    await world.settle()
    const second = await attachedTo(hub, 'config')
    assert.notEqual(first.spec?.resource.resourceVersion, second.spec?.resource.resourceVersion)
    assert.equal(second.spec?.resource.resourceVersion, changed.metadata.resourceVersion)
  })

  dependencyStory('that is no longer needed stays as an empty binding', async (hub, world) => {
    for (const name of ['one', 'two']) await hub.create(aMap(name))
    await hub.create(taking('web', { conflictResolution: 'Overwrite' }))
    await hub.create(reading('web', 'one', 'two'))
    await world.settle()
    await scheduleTo(hub, 'web', 'member1')
    await world.settle()
    await hub.patch(DEPLOYMENTS, 'default/web', {
      spec: { template: { spec: { volumes: [{ name: 'two', configMap: { name: 'two' } }] } } },
    })
    await world.settle()
    const one = await attachedTo(hub, 'one')
    assert.deepEqual([needsOf(one), dependedBy(one), one.spec?.conflictResolution], [[], {}, 'Abort'])
    assert.deepEqual(needsOf(await attachedTo(hub, 'two')), ['web-deployment: member1'])
    await hub.patch(PROPAGATION_POLICIES, 'default/web', { spec: { propagateDeps: false } })
    await world.settle()
    const web = await theBindingOf(hub, 'web')
    assert.deepEqual(needsOf(await attachedTo(hub, 'two')), [])
    assert.deepEqual([web.metadata.annotations?.[ANNOTATION], web.metadata.finalizers], [undefined, ['karmada.io/binding-controller']])
  })

  dependencyStory('is let go of before the binding that needed it goes', async (hub, world) => {
    await hub.create(aMap('config'))
    await hub.create(taking('web'))
    await hub.create(reading('web', 'config'))
    await world.settle()
    await scheduleTo(hub, 'web', 'member1')
    await world.settle()
    await hub.delete(DEPLOYMENTS, 'default/web')
    await world.settle()
    const web = await theBindingOf(hub, 'web')
    assert.ok(web.metadata.deletionTimestamp)
    assert.deepEqual(web.metadata.finalizers, ['karmada.io/binding-controller'])
    assert.deepEqual(needsOf(await attachedTo(hub, 'config')), [])
    await hub.patch(RESOURCE_BINDINGS, WEB, { metadata: { finalizers: null } })
    await world.settle()
    await expectGone(hub, RESOURCE_BINDINGS, WEB)
  })

  dependencyStory('of several counts for all of them, and where they disagree it is said', async (hub, world) => {
    await hub.create(aMap('shared'))
    await hub.create(taking('a', { conflictResolution: 'Overwrite', preserveResourcesOnDeletion: false }))
    await hub.create(taking('b', { preserveResourcesOnDeletion: true }))
    for (const name of ['a', 'b']) await hub.create(reading(name, 'shared'))
    await world.settle()
    await scheduleTo(hub, 'a', 'member1')
    await scheduleTo(hub, 'b', 'member2')
    await world.settle()
    const attached = await attachedTo(hub, 'shared')
    assert.deepEqual(needsOf(attached), ['a-deployment: member1', 'b-deployment: member2'])
    assert.equal(Object.keys(dependedBy(attached)).length, 2)
    assert.deepEqual([attached.spec?.conflictResolution, attached.spec?.preserveResourcesOnDeletion], ['Overwrite', true])
    const reported =
      'DependencyPolicyConflict: Dependency policy conflict detected: ConflictResolution conflicted (Overwrite vs Abort); PreserveResourcesOnDeletion conflicted (true vs false).'
    assert.deepEqual(await eventsOf(hub, 'ResourceBinding', 'shared-configmap'), [reported])
    await hub.delete(DEPLOYMENTS, 'default/a')
    await world.settle()
    const left = await attachedTo(hub, 'shared')
    assert.deepEqual([needsOf(left), left.spec?.conflictResolution], [['b-deployment: member2'], 'Abort'])
  })

  dependencyStory('shares its binding with its own policy, in either order', async (hub, world) => {
    const own = { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'config' }], placement: placedIn('member3') }
    await hub.create(aMap('config'))
    await hub.create(taking('web', { conflictResolution: 'Overwrite', preserveResourcesOnDeletion: true }))
    await hub.create(reading('web', 'config'))
    await world.settle()
    await scheduleTo(hub, 'web', 'member1')
    await world.settle()
    const policy = await hub.create(aPolicy('default/config', own))
    await world.settle()
    const shared = await attachedTo(hub, 'config')
    assert.equal(claimText(shared), claimTextOf(policy))
    assert.deepEqual([clustersOf(shared), needsOf(shared)], [['member3'], ['web-deployment: member1']])
    assert.deepEqual([shared.spec?.conflictResolution, shared.spec?.preserveResourcesOnDeletion], ['Abort', undefined])
    const [{ spec: first }] = [shared]
    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { template: { spec: { volumes: null } } } })
    await world.settle()
    const alone = await attachedTo(hub, 'config')
    assert.deepEqual([needsOf(alone), clustersOf(alone), claimText(alone)], [[], ['member3'], claimTextOf(policy)])
    await hub.patch(DEPLOYMENTS, 'default/web', {
      spec: { template: { spec: { volumes: [{ name: 'config', configMap: { name: 'config' } }] } } },
    })
    await world.settle()
    assert.deepEqual((await attachedTo(hub, 'config')).spec, first)
  })
})

describe('dependencies of rules of users', () => {
  const answering = (references: () => readonly DependentReference[]): Interpreter => {
    const native = nativeInterpreter()
    return { ...native, dependencies: async () => [...references()] }
  }
  async function aHub(interpreter: Interpreter) {
    const cast = (deps: Parameters<typeof DETECTOR_AND_DEPENDENCIES>[0]) => DETECTOR_AND_DEPENDENCIES({ ...deps, interpreter })
    const world = await aWorld({ controllers: hubCast(cast) }).settle()
    const { hub } = world
    await hub.create(taking('web'))
    await hub.create(reading('web'))
    await world.settle()
    await scheduleTo(hub, 'web', 'member1')
    await world.settle()
    return { world, hub }
  }

  it('can be meant by labels: all that have them, also those that come or get them later', async () => {
    const { world, hub } = await aHub(
      answering(() => [{ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', labelSelector: { matchLabels: { of: 'web' } } }]),
    )
    await hub.create(aMap('one', { of: 'web' }))
    await hub.create(aMap('two'))
    await world.settle()
    assert.deepEqual(needsOf(await attachedTo(hub, 'one')), ['web-deployment: member1'])
    assert.equal(await bindingAt(hub, 'default/two-configmap'), undefined)
    await hub.patch(CONFIG_MAPS, 'default/two', { metadata: { labels: { of: 'web' } } })
    await hub.patch(CONFIG_MAPS, 'default/one', { metadata: { labels: { of: 'nobody' } } })
    await world.settle()
    assert.deepEqual(needsOf(await attachedTo(hub, 'two')), ['web-deployment: member1'])
    assert.deepEqual(needsOf(await attachedTo(hub, 'one')), [])
    await scheduleTo(hub, 'web', 'member2')
    await world.settle()
    assert.deepEqual(needsOf(await attachedTo(hub, 'two')), ['web-deployment: member2'])
    await world.stop()
  })

  it('can lie in no namespace', async () => {
    let references: DependentReference[] = [{ ...CLUSTER_ROLE, name: 'web:reader' }]
    const { world, hub } = await aHub(answering(() => references))
    await hub.create({ ...CLUSTER_ROLE, metadata: { name: 'web:reader' }, rules: [] })
    await world.settle()
    const where = 'default/web.reader-clusterrole'
    assert.deepEqual(needsOf((await bindingAt(hub, where)) as ResourceBinding), ['web-deployment: member1'])
    references = []
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { touched: 'yes' } } })
    await world.settle()
    assert.deepEqual(needsOf((await bindingAt(hub, where)) as ResourceBinding), [])
    await hub.delete(CLUSTER_ROLES, 'web:reader')
    await world.stop()
  })

  it('of another namespace do not follow, and rules that fail leave what is attached', async () => {
    let isBroken = false
    const { world, hub } = await aHub(
      answering(() => {
        if (isBroken) throw new Error('the rule is broken')
        return [
          { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-public', name: 'far' },
          { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'near' },
        ]
      }),
    )
    await hub.create({ ...aMap('far'), metadata: { namespace: 'kube-public', name: 'far' } })
    await hub.create(aMap('near'))
    await world.settle()
    assert.equal(await bindingAt(hub, 'default/far-configmap'), undefined)
    isBroken = true
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { touched: 'yes' } } })
    await world.advance(60_000)
    const web = await theBindingOf(hub, 'web')
    assert.equal(web.metadata.annotations?.['sluice.dev/dependencies-unknown'], 'the rule is broken')
    assert.deepEqual(needsOf(await attachedTo(hub, 'near')), ['web-deployment: member1'])
    assert.equal(
      (await eventsOf(hub, 'Deployment', 'web')).filter((line) => line === 'GetDependenciesFailed: the rule is broken').length,
      1,
    )
    isBroken = false
    await world.advance(60_000)
    await world.settle()
    assert.equal((await theBindingOf(hub, 'web')).metadata.annotations?.['sluice.dev/dependencies-unknown'], undefined)
    await world.stop()
  })
})

async function atRest(hub: WorldCluster): Promise<void> {
  const bindings = viewOf(hub.store).list('resourcebindings') as ResourceBinding[]
  const found = bindings.map((binding) => [binding.metadata.name, needsOf(binding), Object.keys(dependedBy(binding)).length])
  assert.deepEqual(found, [
    ['a-deployment', [], 0],
    ['b-deployment', [], 0],
    ['shared-configmap', ['b-deployment: member2'], 1],
  ])
}

const SURVIVAL: Survival = {
  role: 'hub',
  controllers: hubCast(DETECTOR_AND_DEPENDENCIES),
  steps: [
    (hub) => hub.create(taking('a')),
    (hub) => hub.create(taking('b', { conflictResolution: 'Overwrite' })),
    (hub) => hub.create(reading('a', 'shared')),
    (hub) => hub.create(reading('b', 'shared')),
    (hub) => scheduleTo(hub, 'a', 'member1'),
    (hub) => scheduleTo(hub, 'b', 'member1'),
    (hub) => hub.create(aMap('shared')),
    (hub) => scheduleTo(hub, 'b', 'member2'),
    (hub) => hub.patch(PROPAGATION_POLICIES, 'default/a', { spec: { propagateDeps: false } }),
  ],
  invariants: [
    {
      says: 'who is named as needing something still does',
      broken(objects) {
        const bindings = objects.list('resourcebindings') as ResourceBinding[]
        const names = new Set(bindings.map(({ metadata }) => metadata.name))
        return bindings.find(({ spec }) => (spec?.requiredBy ?? []).some(({ name }) => !names.has(name)))?.metadata.name
      },
    },
  ],
  atRest,
}

const templates = unconnected<Templates>('templates')

survives(dependenciesListing({ templates, interpreter: nativeInterpreter() }), SURVIVAL)
survives(attachment({ templates }), SURVIVAL)
