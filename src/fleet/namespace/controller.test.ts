import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { survives } from '../../faultsim/survives.ts'
import type { World } from '../../faultsim/world/index.ts'
import { CLUSTER_OVERRIDE_POLICIES, CLUSTERS, WORKS } from '../../kinds/karmada/resources.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import { CONFIG_MAPS, EVENTS, NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { executionControllers } from '../execution/index.ts'
import { aConfigMap, aWork } from '../execution/testing.ts'
import { overridesOf } from '../override/index.ts'
import type { FleetDeps } from '../services.ts'
import { aCluster, fleetWorld, hubCast, joined, readyStatus } from '../testing.ts'
import { namespaceSync } from './controller.ts'
import { namespaceControllers } from './index.ts'
import { isSynced } from './is-synced.ts'
import { workNameOf } from './work.ts'

const cast = (given: FleetDeps) => [...namespaceControllers({ applyOverrides: overridesOf }), ...executionControllers(given)]

const aNamespace = (name: string, labels?: Record<string, string>, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels, annotations },
})

const worksOf = async (world: World, name: string): Promise<string[]> =>
  (await world.hub.list(WORKS))
    .filter(({ metadata }) => metadata.name === workNameOf(name))
    .map(({ metadata }) => metadata.namespace ?? '')
    .sort()

describe('which namespaces members get', () => {
  const table: [string, KubeObject, boolean][] = [
    ['one of a user', aNamespace('shop'), true],
    ['default is everywhere', aNamespace('default'), false],
    ['the system of the fleet', aNamespace('karmada-system'), false],
    ['credentials', aNamespace('karmada-cluster'), false],
    ['an execution namespace', aNamespace('karmada-es-member1'), false],
    ['one that only begins so', aNamespace('karmada-es-'), true],
    ['the system of Kubernetes', aNamespace('kube-system'), false],
    ['one that only contains its name', aNamespace('my-kube-system'), true],
    ['one that says no', aNamespace('shop', { 'namespace.karmada.io/skip-auto-propagation': 'true' }), false],
    ['one that says it otherwise', aNamespace('shop', { 'namespace.karmada.io/skip-auto-propagation': 'True' }), false],
    ['one that does not say no', aNamespace('shop', { 'namespace.karmada.io/skip-auto-propagation': 'false' }), true],
  ]
  for (const [name, namespace, expected] of table) it(name, () => assert.equal(isSynced()(namespace), expected))

  it('and names to skip are whole names', () => {
    const isWanted = isSynced(['test-.*', 'exact'])
    assert.deepEqual(
      ['test-1', 'my-test-1', 'exact', 'exactly', 'kube-public'].filter((name) => isWanted(aNamespace(name))),
      ['my-test-1', 'exactly', 'kube-public'],
    )
  })
})

describe('fleet.namespace', () => {
  it('gives every member the namespace, and its labels and annotations as they change', async () => {
    const world = await fleetWorld({ members: 2, cast })
    const { hub, members } = world
    await hub.create(aNamespace('shop', { team: 'a' }, { note: 'x' }))
    await world.settle()
    assert.deepEqual(await worksOf(world, 'shop'), ['karmada-es-member1', 'karmada-es-member2'])
    for (const member of members) {
      const { labels, annotations } = (await member.get(NAMESPACES, 'shop'))?.metadata ?? {}
      assert.equal(labels?.team, 'a')
      assert.equal(labels?.['karmada.io/managed'], 'true')
      assert.equal(annotations?.note, 'x')
    }
    const [member] = members
    await member?.patch(NAMESPACES, 'shop', { metadata: { labels: { theirs: 'kept' } } })
    await hub.patch(NAMESPACES, 'shop', { metadata: { labels: { team: null, other: 'b' } } })
    await world.settle()
    const labels = (await member?.get(NAMESPACES, 'shop'))?.metadata.labels
    assert.deepEqual([labels?.team, labels?.other, labels?.theirs], [undefined, 'b', 'kept'])
    hub.takeWrites()
    await world.restartControllers()
    await world.settle()
    assert.deepEqual(hub.takeControllerWrites(), [])
    await world.stop()
  })

  it('leaves out what is excluded, and leaves where it is what is excluded later', async () => {
    const world = await fleetWorld({ members: 1, cast })
    const { hub, member } = world
    await hub.create(aNamespace('private', { 'namespace.karmada.io/skip-auto-propagation': 'true' }))
    await hub.create(aNamespace('shop'))
    await world.settle()
    assert.equal(await member.get(NAMESPACES, 'private'), undefined)
    assert.deepEqual(await worksOf(world, 'default'), [])
    await hub.patch(NAMESPACES, 'shop', { metadata: { labels: { 'namespace.karmada.io/skip-auto-propagation': 'true' } } })
    await world.settle()
    assert.deepEqual(await worksOf(world, 'shop'), ['karmada-es-member1'])
    await hub.patch(NAMESPACES, 'private', { metadata: { labels: { 'namespace.karmada.io/skip-auto-propagation': null } } })
    await world.settle()
    assert.notEqual(await member.get(NAMESPACES, 'private'), undefined)
    await world.stop()
  })

  it('gives a new cluster all of them as soon as it has a place for them', async () => {
    const world = await fleetWorld({ members: 1, cast })
    const { hub } = world
    await hub.create(aNamespace('shop'))
    await hub.create(aNamespace('office'))
    await hub.create(aCluster('late'))
    await hub.patch(CLUSTERS, 'late', { status: readyStatus }, 'status')
    await world.settle()
    assert.deepEqual(await worksOf(world, 'shop'), ['karmada-es-member1'], 'there is no execution namespace yet')
    await hub.create(aNamespace('karmada-es-late'))
    await world.settle()
    for (const name of ['shop', 'office']) assert.deepEqual(await worksOf(world, name), ['karmada-es-late', 'karmada-es-member1'])
    await world.stop()
  })

  it('runs for where a cluster is and that it goes, not for what it reports', () => {
    const watch = namespaceSync({ applyOverrides: overridesOf }).watches?.find(({ resource }) => resource === CLUSTERS)
    const before = aCluster('member1', { region: 'east' }, { tier: 'gold' })
    const changed = (change: object): boolean | undefined => watch?.isRelevantUpdate?.(before, { ...before, ...change })
    assert.equal(changed({ status: readyStatus }), false)
    assert.equal(changed({ spec: { ...(before.spec as object), taints: [{ key: 'a', effect: 'NoSchedule' }] } }), false)
    assert.equal(changed({ spec: { ...(before.spec as object), region: 'west' } }), true)
    assert.equal(changed({ metadata: { ...before.metadata, labels: { tier: 'silver' } } }), true)
    assert.equal(changed({ metadata: { ...before.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }), true)
  })

  it('takes the namespace from the members when it is deleted, and brings back a Work that was', async () => {
    const world = await fleetWorld({ members: 1, cast })
    const { hub, member } = world
    await hub.create(aNamespace('shop'))
    await world.settle()
    await hub.delete(WORKS, `karmada-es-member1/${workNameOf('shop')}`)
    await world.settle()
    assert.deepEqual(await worksOf(world, 'shop'), ['karmada-es-member1'])
    assert.notEqual(await member.get(NAMESPACES, 'shop'), undefined)
    await member.create(aConfigMap('inside', {}, 'shop'))
    await finish(world, 'shop')
    await world.settle()
    assert.deepEqual(await worksOf(world, 'shop'), [])
    assert.equal(await member.get(NAMESPACES, 'shop'), undefined)
    assert.equal(await member.get(CONFIG_MAPS, 'shop/inside'), undefined)
    await world.stop()
  })

  it('applies ClusterOverridePolicies, and says when one cannot be applied, to the others nothing', async () => {
    const world = await fleetWorld({ members: 2, cast })
    const { hub, members } = world
    const selectors = [{ apiVersion: 'v1', kind: 'Namespace', name: 'shop' }]
    const only = (name: string) => ({ clusterNames: [name] })
    await hub.create(aNamespace('shop'))
    await hub.create({
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'ClusterOverridePolicy',
      metadata: { name: 'where' },
      spec: {
        resourceSelectors: selectors,
        overrideRules: [{ targetCluster: only('member1'), overriders: { labelsOverrider: [{ operator: 'add', value: { at: 'one' } }] } }],
      },
    })
    await world.settle()
    assert.equal((await members[0]?.get(NAMESPACES, 'shop'))?.metadata.labels?.at, 'one')
    assert.equal((await members[1]?.get(NAMESPACES, 'shop'))?.metadata.labels?.at, undefined)
    const work = (await hub.get(WORKS, `karmada-es-member1/${workNameOf('shop')}`)) as Work
    assert.match(work.metadata.annotations?.['policy.karmada.io/applied-cluster-overrides'] ?? '', /"policyName":"where"/)
    await hub.patch(CLUSTER_OVERRIDE_POLICIES, 'where', {
      spec: { overrideRules: [{ targetCluster: only('member1'), overriders: { plaintext: [{ path: '/no/such', operator: 'remove' }] } }] },
    })
    await hub.patch(NAMESPACES, 'shop', { metadata: { labels: { more: 'x' } } })
    await world.settle()
    assert.equal((await members[0]?.get(NAMESPACES, 'shop'))?.metadata.labels?.more, undefined, 'it stays as it was')
    assert.equal((await members[1]?.get(NAMESPACES, 'shop'))?.metadata.labels?.more, 'x')
    const events = (await hub.list(EVENTS)).filter(({ reason }) => reason === 'ApplyOverridePolicyFailed')
    assert.match(String(events[0]?.message), /cluster\(member1\)/)
    await hub.delete(CLUSTER_OVERRIDE_POLICIES, 'where')
    await world.settle()
    const labels = (await members[0]?.get(NAMESPACES, 'shop'))?.metadata.labels
    assert.deepEqual([labels?.at, labels?.more], [undefined, 'x'])
    const after = (await hub.get(WORKS, `karmada-es-member1/${workNameOf('shop')}`)) as Work
    assert.equal(after.metadata.annotations?.['policy.karmada.io/applied-cluster-overrides'], undefined)
    await world.stop()
  })

  it('leaves alone the Work of a namespace that a binding propagates', async () => {
    const world = await fleetWorld({ members: 1, cast })
    const { hub } = world
    const theirs = aWork(workNameOf('shop'), [aNamespace('shop', { by: 'binding' })])
    await hub.create(theirs)
    await hub.create(aNamespace('shop', { by: 'user' }))
    await world.settle()
    const at = `karmada-es-member1/${workNameOf('shop')}`
    assert.equal(((await hub.get(WORKS, at)) as Work).metadata.ownerReferences, undefined)
    await hub.delete(WORKS, at)
    await world.settle()
    assert.equal(((await hub.get(WORKS, at)) as Work).metadata.ownerReferences?.[0]?.name, 'shop', 'when it goes, it is our turn')
    await world.stop()
  })
})

/** Does what the hub's namespace controller does, which does not run here: the Namespace is removed when it is empty. */
async function finish(world: World, name: string): Promise<void> {
  await world.hub.delete(NAMESPACES, name)
  await world.settle()
  const left = await world.hub.get(NAMESPACES, name)
  if (left === undefined) return
  await world.hub.inside(() => world.hub.client.update(NAMESPACES, { ...left, spec: { finalizers: [] } }, { subresource: 'finalize' }))
}

survives(namespaceSync({ applyOverrides: overridesOf }), {
  role: 'hub',
  members: 1,
  controllers: hubCast(() => namespaceControllers({ applyOverrides: overridesOf })),
  before: [joined(1)],
  steps: [
    (hub) => hub.create(aNamespace('shop', { team: 'a' })),
    (hub) => hub.patch(NAMESPACES, 'shop', { metadata: { labels: { team: 'b' } } }),
    (hub) => hub.create(aNamespace('karmada-es-late')),
    (hub) => hub.create(aCluster('late')),
    (hub) => hub.create(aNamespace('office')),
    (hub) => hub.patch(NAMESPACES, 'office', { metadata: { labels: { 'namespace.karmada.io/skip-auto-propagation': 'true' } } }),
    (hub) => hub.patch(NAMESPACES, 'shop', { metadata: { annotations: { note: 'x' } } }),
  ],
  async atRest(hub) {
    const works = (await hub.list(WORKS)).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort()
    const expected = ['late', 'member1'].flatMap((cluster) => ['office', 'shop'].map((name) => `karmada-es-${cluster}/${workNameOf(name)}`))
    assert.deepEqual(works, expected)
  },
})
