import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone } from '../../../faultsim/expect/index.ts'
import { viewOf } from '../../../faultsim/prover/invariant-monitor.ts'
import { type Invariant, type Survival, survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import type { Policy } from '../../../kinds/karmada/index.ts'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES } from '../../../kinds/karmada/resources.ts'
import { CLUSTER_ROLES, DEPLOYMENTS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { unconnected } from '../../../runtime/module/unconnected.ts'
import type { InvariantView } from '../../../runtime/seams/seeded.ts'
import type { Templates } from '../../../runtime/templates.ts'
import { nativeInterpreter } from '../../interpreter/testing.ts'
import { hubCast } from '../../testing.ts'
import { detectedBindings, detectedClusterBindings } from '../binding/controller.ts'
import {
  aDeployment,
  aPolicy,
  CLUSTER_ROLE,
  claimText,
  claimTextOf,
  clustersOf,
  DETECTOR,
  hubStory,
  placedIn,
  selecting,
  theBinding,
} from '../testing.ts'
import { clusterPolicyRelease, type Observed, plan, policyRelease } from './controller.ts'

const WEB = 'default/web-deployment'
const FINALIZER = 'karmada.io/propagation-policy-controller'

describe('the plan for a policy', () => {
  const policy = (metadata: KubeObject['metadata']): Policy =>
    ({ ...aPolicy('default/a', { resourceSelectors: selecting('web') }), metadata }) as Policy
  const seen = (metadata: KubeObject['metadata'] | undefined, isHeld: boolean): Observed => ({
    policies: PROPAGATION_POLICIES,
    policy: metadata === undefined ? undefined : policy(metadata),
    finalizer: FINALIZER,
    isHeld,
  })
  const going = { name: 'a', deletionTimestamp: 'now' }
  const table: [string, Observed, unknown][] = [
    ['gone', seen(undefined, false), []],
    ['alive', seen({ name: 'a', finalizers: [FINALIZER] }, true), []],
    ['without its finalizer', seen({ name: 'a', finalizers: ['x'] }, false), [['x', FINALIZER]]],
    ['going, and held', seen({ ...going, finalizers: [FINALIZER] }, true), []],
    ['going, and free', seen({ ...going, finalizers: ['x', FINALIZER] }, false), [['x']]],
    ['going, and left by us', seen({ ...going, finalizers: ['x'] }, false), []],
  ]
  for (const [name, observed, expected] of table)
    it(name, () =>
      assert.deepEqual(
        plan(observed).actions.map((action) => 'patch' in action && (action.patch.metadata as KubeObject['metadata']).finalizers),
        expected,
      ),
    )
})

describe('a policy that is deleted', () => {
  hubStory('lets go of everything first; bindings and what runs stay', async (hub, world) => {
    await hub.create(aPolicy('default/apps', { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }] }))
    await hub.create(aDeployment('default/web'))
    await hub.create(aDeployment('default/db'))
    await world.settle()
    const { uid } = (await theBinding(hub, WEB)).metadata
    await hub.delete(PROPAGATION_POLICIES, 'default/apps')
    await world.settle()
    await expectGone(hub, PROPAGATION_POLICIES, 'default/apps')
    for (const name of ['web', 'db']) {
      const binding = await theBinding(hub, `default/${name}-deployment`)
      assert.deepEqual([claimText(binding), clustersOf(binding)], [undefined, ['member1']])
      assert.equal(claimText(await hub.get(DEPLOYMENTS, `default/${name}`)), undefined)
    }
    assert.equal((await theBinding(hub, WEB)).metadata.uid, uid)
  })

  hubStory('leaves what it had to the next', async (hub, world) => {
    await hub.create(aPolicy('default/first', { resourceSelectors: selecting('web') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    const next = await hub.create(aPolicy('wide', { resourceSelectors: selecting('web'), placement: placedIn('member2') }))
    await hub.delete(PROPAGATION_POLICIES, 'default/first')
    await world.settle()
    await expectGone(hub, PROPAGATION_POLICIES, 'default/first')
    const binding = await theBinding(hub, WEB)
    assert.deepEqual([claimText(binding), clustersOf(binding)], [claimTextOf(next), ['member2']])
  })

  hubStory('of the cluster, too; and one of the same name is another', async (hub, world) => {
    const roles = aPolicy('roles', { resourceSelectors: [{ ...CLUSTER_ROLE, name: 'reader' }] })
    const first = await hub.create(roles)
    await hub.create({ ...CLUSTER_ROLE, metadata: { name: 'reader' }, rules: [] })
    await world.settle()
    assert.equal(claimText(await hub.get(CLUSTER_ROLES, 'reader')), claimTextOf(first))
    await hub.delete(CLUSTER_PROPAGATION_POLICIES, 'roles')
    await world.settle()
    await expectGone(hub, CLUSTER_PROPAGATION_POLICIES, 'roles')
    assert.equal(claimText(await theBinding(hub, 'reader-clusterrole')), undefined)
    const second = await hub.create(roles)
    await world.settle()
    assert.notEqual(claimTextOf(first), claimTextOf(second))
    assert.equal(claimText(await theBinding(hub, 'reader-clusterrole')), claimTextOf(second))
  })

  hubStory('goes also when a template was taken by another controller meanwhile', async (hub, world) => {
    await hub.create(aPolicy('default/web', { resourceSelectors: selecting('web') }))
    await hub.create(aDeployment('default/web'))
    await world.settle()
    await hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { 'resourcetemplate.karmada.io/claimed-by': 'somebody' } } })
    await hub.delete(PROPAGATION_POLICIES, 'default/web')
    await world.settle()
    await expectGone(hub, PROPAGATION_POLICIES, 'default/web')
    assert.equal(claimText(await hub.get(DEPLOYMENTS, 'default/web')), undefined)
  })
})

const bindingsOf = (objects: InvariantView): KubeObject[] => [
  ...objects.list('resourcebindings'),
  ...objects.list('clusterresourcebindings'),
]

const claimsAreKept: Invariant = {
  says: 'a policy that is gone has left no claim',
  broken(objects) {
    const ids = new Set(
      [...objects.list('propagationpolicies'), ...objects.list('clusterpropagationpolicies')].flatMap(({ metadata }) =>
        Object.values(metadata.labels ?? {}),
      ),
    )
    const claimed = [...objects.list('deployments'), ...objects.list('clusterroles'), ...bindingsOf(objects)]
    const left = claimed.find((object) => {
      const id = claimText(object)?.split(' ')[1]
      return id !== undefined && id !== 'undefined' && !ids.has(id)
    })
    return left === undefined ? undefined : `${left.kind} ${left.metadata.name} is claimed by ${claimText(left)}`
  },
}

const onceBound: Invariant = {
  says: 'a binding is of the template it names',
  broken(objects) {
    const wrong = bindingsOf(objects).find(
      ({ metadata, spec }) => metadata.ownerReferences?.[0]?.uid !== (spec as { resource: { uid: string } }).resource.uid,
    )
    return wrong?.metadata.name
  },
}

async function atRest(hub: WorldCluster): Promise<void> {
  const objects = viewOf(hub.store)
  const found = bindingsOf(objects).map((binding) => [
    binding.metadata.name,
    claimText(binding)?.split(' ')[0],
    clustersOf(binding as never),
    (binding.spec as { replicas?: number }).replicas,
  ])
  assert.deepEqual(found, [
    ['db-deployment', undefined, ['member1'], 2],
    ['web-deployment', 'wide', ['member3'], 4],
    ['reader-clusterrole', 'roles', ['member1'], undefined],
  ])
  assert.deepEqual(objects.list('propagationpolicies'), [])
}

const SURVIVAL: Survival = {
  role: 'hub',
  controllers: hubCast(DETECTOR),
  steps: [
    (hub) => hub.create(aPolicy('default/apps', { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }] })),
    (hub) => hub.create(aDeployment('default/web')),
    (hub) => hub.create(aDeployment('default/db')),
    (hub) => hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 4 } }),
    (hub) =>
      hub.create(
        aPolicy('default/taker', {
          resourceSelectors: selecting('web'),
          priority: 1,
          preemption: 'Always',
          placement: placedIn('member2'),
        }),
      ),
    (hub) => hub.create(aPolicy('wide', { resourceSelectors: selecting('web'), placement: placedIn('member3') })),
    (hub) => hub.create(aPolicy('roles', { resourceSelectors: [{ ...CLUSTER_ROLE, name: 'reader' }] })),
    (hub) => hub.create({ ...CLUSTER_ROLE, metadata: { name: 'reader' }, rules: [] }),
    (hub) => hub.delete(PROPAGATION_POLICIES, 'default/apps'),
    (hub) => hub.delete(PROPAGATION_POLICIES, 'default/taker'),
  ],
  invariants: [claimsAreKept, onceBound],
  atRest,
}

const templates = unconnected<Templates>('templates')
const DEPS = { templates, interpreter: nativeInterpreter() }

survives(policyRelease(templates), SURVIVAL)
survives(clusterPolicyRelease(templates), SURVIVAL)
survives(detectedBindings(DEPS), SURVIVAL)
survives(detectedClusterBindings(DEPS), SURVIVAL)
