import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '../../client/client.ts'
import { TransportError } from '../../client/transport.ts'
import { expectGone, expectQuiet, expectThere } from '../../faultsim/expect/index.ts'
import type { World, WorldCluster } from '../../faultsim/world/index.ts'
import type { Cluster } from '../../kinds/karmada/index.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from '../../kinds/kubernetes/resources.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { membershipControllers } from './index.ts'
import { hasTokens, joinMember, registerMember, type Sides, unjoinMember } from './join.ts'
import { aBinding, aTestbed } from './testing.ts'

const REQUEST = { name: 'member1', apiEndpoint: 'https://member1:6443', region: 'east', zones: ['east-a'] }
const sidesOf = (world: World, of: WorldCluster = world.member): Sides => ({ hub: world.hub.client, member: of.client, clock: world.clock })
const join = (world: World, request = REQUEST, of?: WorldCluster): Promise<string[]> =>
  world.inside(() => joinMember(sidesOf(world, of), request))
const decoded = (object: KubeObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(object.data as Record<string, string>).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  )

describe('joining a cluster', () => {
  it('makes on both sides what Karmada makes, and the member becomes ready', async () => {
    const { world, hub } = await aTestbed((deps) => membershipControllers(deps), { members: 1, nodes: 1 })
    const areTokensThere = (): Promise<boolean> => world.inside(() => hasTokens(sidesOf(world).member, REQUEST))
    assert.equal(await areTokensThere(), false)
    assert.deepEqual(await join(world), [
      'member: Namespace karmada-cluster',
      'member: ServiceAccount karmada-cluster/karmada-impersonator',
      'member: ClusterRole karmada-impersonator',
      'member: ClusterRoleBinding karmada-impersonator',
      'member: Secret karmada-cluster/karmada-impersonator',
      'member: ServiceAccount karmada-cluster/karmada-member1',
      'member: ClusterRole karmada-controller-manager:karmada-member1',
      'member: ClusterRoleBinding karmada-controller-manager:karmada-member1',
      'member: Secret karmada-cluster/karmada-member1',
      'hub: Namespace karmada-cluster',
      'hub: Secret karmada-cluster/member1-impersonator',
      'hub: Secret karmada-cluster/member1',
      'hub: Cluster member1',
    ])
    await world.settle()
    const cluster = (await expectThere(hub, CLUSTERS, 'member1')) as Cluster
    const id = (await expectThere(world.member, NAMESPACES, 'kube-system')).metadata.uid
    assert.deepEqual(
      { ...cluster.spec, taints: [], resourceModels: [] },
      {
        id,
        syncMode: 'Push',
        apiEndpoint: 'https://member1:6443',
        secretRef: { namespace: 'karmada-cluster', name: 'member1' },
        impersonatorSecretRef: { namespace: 'karmada-cluster', name: 'member1-impersonator' },
        region: 'east',
        zones: ['east-a'],
        taints: [],
        resourceModels: [],
      },
    )
    assert.equal(findCondition(cluster.status?.conditions, 'Ready')?.status, 'True')
    const secret = await expectThere(hub, SECRETS, 'karmada-cluster/member1')
    const inMember = await expectThere(world.member, SECRETS, 'karmada-cluster/karmada-member1')
    assert.deepEqual(decoded(secret), { caBundle: decoded(inMember)['ca.crt'], token: decoded(inMember).token })
    assert.deepEqual(Object.keys(decoded(await expectThere(hub, SECRETS, 'karmada-cluster/member1-impersonator'))), ['token'])
    for (const name of ['member1', 'member1-impersonator']) {
      const [owner] = (await expectThere(hub, SECRETS, `karmada-cluster/${name}`)).metadata.ownerReferences ?? []
      assert.deepEqual([owner?.kind, owner?.uid, owner?.controller], ['Cluster', cluster.metadata.uid, true])
    }
    const role = await expectThere(world.member, CLUSTER_ROLES, 'karmada-controller-manager:karmada-member1')
    assert.deepEqual(role.rules, [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['get'] },
    ])
    assert.equal(await areTokensThere(), true)
    await expectQuiet(world)
    const before = world.clusters.map(({ store }) => store.revision)
    assert.deepEqual(await world.inside(() => registerMember(sidesOf(world), REQUEST)), [])
    assert.deepEqual(
      world.clusters.map(({ store }) => store.revision),
      before,
    )
    assert.deepEqual(await world.inside(() => registerMember(sidesOf(world), { ...REQUEST, apiEndpoint: 'https://member1:7443' })), [
      'hub: Cluster member1',
    ])
    await world.stop()
  })

  it('refuses a name that is taken and a cluster that is joined, and makes nothing', async () => {
    const { world, hub } = await aTestbed((deps) => membershipControllers(deps), { members: 2 })
    await join(world)
    await assert.rejects(join(world, REQUEST, world.members[1]), /cluster member1 is already joined/)
    await assert.rejects(join(world, { ...REQUEST, name: 'other' }), /already joined as member1; a cluster can be joined only once/)
    const planned = await world.inside(() =>
      joinMember(sidesOf(world, world.members[1]), { ...REQUEST, name: 'member2' }, { dryRun: true }),
    )
    assert.deepEqual([planned.length, planned.at(-1)], [13, 'hub: Cluster member2'])
    await expectGone(hub, CLUSTERS, 'member2')
    await expectGone(world.members[1] ?? assert.fail(), NAMESPACES, 'karmada-cluster')
    await world.stop()
  })

  it('says who does not answer', async () => {
    const { world } = await aTestbed(() => [], { members: 1 })
    const transport = { request: () => Promise.reject(new TransportError('connect ECONNREFUSED')), close: async () => undefined }
    const { clock } = world
    const member = createClient({ transport, clock, random: { next: () => 0.5, bytes: (n) => new Uint8Array(n) }, userAgent: 'test' })
    await assert.rejects(
      world.inside(() => joinMember({ ...sidesOf(world), member }, REQUEST)),
      /https:\/\/member1:6443 does not answer: connect ECONNREFUSED\nIs it running/,
    )
    await world.stop()
  })
})

describe('taking a cluster out', () => {
  const unjoin = (world: World, more: object = {}): Promise<void> =>
    world.inside(() => unjoinMember(sidesOf(world), { name: 'member1', ...more }))

  it('removes all that joining made', async () => {
    const { world, hub } = await aTestbed((deps) => membershipControllers(deps), { members: 1 })
    await join(world)
    await world.settle()
    await unjoin(world, { dryRun: true })
    await expectThere(hub, CLUSTERS, 'member1')
    await unjoin(world)
    await world.settle()
    await expectGone(hub, CLUSTERS, 'member1')
    for (const name of ['member1', 'member1-impersonator']) await expectGone(hub, SECRETS, `karmada-cluster/${name}`)
    await expectGone(hub, NAMESPACES, 'karmada-es-member1')
    await expectGone(world.member, CLUSTER_ROLES, 'karmada-controller-manager:karmada-member1')
    await expectGone(world.member, CLUSTER_ROLE_BINDINGS, 'karmada-controller-manager:karmada-member1')
    await expectGone(world.member, SERVICE_ACCOUNTS, 'karmada-cluster/karmada-member1')
    await expectGone(world.member, NAMESPACES, 'karmada-cluster')
    await assert.rejects(unjoin(world), /there is no cluster member1/)
    await world.stop()
  })

  it('says what it waits for, and lets go by force', async () => {
    const { world, hub } = await aTestbed((deps) => membershipControllers(deps), { members: 1 })
    await join(world)
    await hub.create(aBinding('default/web', ['member1']))
    await world.settle()
    await assert.rejects(unjoin(world, { waitMs: 2000 }), /not gone after 2 s: bindings still name this cluster.*\nIt goes on; --force/)
    await unjoin(world, { waitMs: 1000, force: true })
    await world.settle()
    await expectGone(hub, CLUSTERS, 'member1')
    await expectGone(hub, NAMESPACES, 'karmada-es-member1')
    await world.stop()
  })
})
