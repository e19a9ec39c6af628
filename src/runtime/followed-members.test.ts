import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCaches } from '../client/cache/caches.ts'
import { createClient } from '../client/client.ts'
import type { ConnectMember } from '../client/members.ts'
import { TransportError } from '../client/transport.ts'
import { World, type WorldCluster } from '../faultsim/world/index.ts'
import { Cluster } from '../kinds/karmada/index.ts'
import { CLUSTERS } from '../kinds/karmada/resources.ts'
import { CONFIG_MAPS, SECRETS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { type FollowedMembers, followMembers } from './followed-members.ts'

interface Testbed {
  world: World
  hub: WorldCluster
  members: FollowedMembers
  /** `<cluster> <part> <address> <token>` of every connection that was requested. */
  asked: string[]
  closed: string[]
  changes: string[]
  errors: string[]
  /** Members that do not answer. */
  down: Set<string>
}

async function aTestbed(): Promise<Testbed> {
  const testbed = { asked: [], closed: [], changes: [], errors: [], down: new Set() } as unknown as Testbed
  const connect: ConnectMember = (cluster, { token, caBundle }, part) => {
    const { metadata, spec } = cluster as Cluster
    const name = metadata.name ?? ''
    if (spec.apiEndpoint === 'https://nowhere') return undefined
    if (spec.apiEndpoint === 'https://broken') throw new Error('no such scheme')
    testbed.asked.push(`${name} ${part} ${spec.apiEndpoint} ${token}${caBundle}`)
    return {
      async request(request) {
        if (testbed.down.has(name)) throw new TransportError('does not answer')
        return testbed.world.member.client.raw(request)
      },
      close: async () => void testbed.closed.push(`${name} ${part}`),
    }
  }
  testbed.world = new World({
    members: 1,
    controllers(options, cluster) {
      if (cluster.name !== 'hub') return { busy: () => [], resync: () => undefined, stop: async () => undefined }
      const { clock, random } = options
      const client = createClient({ transport: options.transportFor('caches'), clock, random, userAgent: 'test' })
      const caches = createCaches({ client, clock, random })
      const onError = (error: unknown, name: string): void => void testbed.errors.push(`${name}: ${(error as Error).message}`)
      const members = followMembers({ caches, clock, random, connect, onError })
      testbed.members = members
      members.subscribe((name) => testbed.changes.push(`${name} ${members.get(name) === undefined ? 'gone' : 'there'}`))
      const stop = async (): Promise<void> => {
        await members.stop()
        caches.stop()
      }
      return { busy: () => [...caches.behind(), ...members.behind()], resync: () => undefined, stop }
    },
  })
  await testbed.world.start()
  testbed.hub = testbed.world.hub
  const isServed =
    (await testbed.world.inside(() => testbed.hub.client.raw({ method: 'GET', path: '/apis/cluster.karmada.io' }))).status === 200
  if (!isServed) await testbed.hub.create(Cluster.crd)
  await testbed.world.settle({ withinMs: 60_000 })
  return testbed
}

const aCluster = (name: string, spec: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name },
  spec: { syncMode: 'Push', apiEndpoint: `https://${name}`, secretRef: { namespace: 'default', name }, ...spec },
})
const aSecret = (name: string, token: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'default', name },
  stringData: { token, caBundle: '' },
})

describe('the connections to members', () => {
  it('come with a Cluster, stay while its status changes, and follow its address and its Secret', async () => {
    const { world, hub, members, asked, closed, changes } = await aTestbed()
    await hub.create(aSecret('one', 't1'))
    await hub.create(aCluster('one'))
    await world.settle()
    assert.deepEqual(asked, ['one caches https://one t1'])
    const before = members.get('one')
    assert.ok(before !== undefined)
    assert.deepEqual(members.list(), [before])
    assert.equal(before.clientFor('somebody'), before.clientFor('somebody'))
    await hub.patch(CLUSTERS, 'one', { status: { kubernetesVersion: 'v1' } }, 'status')
    await hub.patch(CLUSTERS, 'one', { spec: { region: 'east', taints: [{ key: 'a', effect: 'NoSchedule' }] } })
    await world.settle()
    assert.equal(members.get('one'), before)
    assert.deepEqual([asked.length, closed, changes], [2, [], ['one there']])
    await hub.patch(SECRETS, 'default/one', { stringData: { token: 't2' } })
    await world.settle()
    assert.notEqual(members.get('one'), before)
    assert.deepEqual(asked.slice(2), ['one caches https://one t2'])
    assert.deepEqual(closed.sort(), ['one caches', 'one somebody'])
    await assert.rejects(
      world.inside(() => before.clientFor('late').raw({ method: 'GET', path: '/readyz' })),
      /the cluster is gone/,
    )
    await hub.patch(CLUSTERS, 'one', { spec: { apiEndpoint: 'https://elsewhere' } })
    await world.settle()
    assert.deepEqual(asked.slice(3), ['one caches https://elsewhere t2'])
    await hub.delete(CLUSTERS, 'one')
    await world.settle()
    assert.deepEqual([members.list(), changes], [[], ['one there', 'one there', 'one there', 'one gone']])
    await world.stop()
  })

  it('are not tried where there is no address, no way, or the member fetches by itself', async () => {
    const { world, hub, members, asked, errors } = await aTestbed()
    await hub.create(aCluster('pull', { syncMode: 'Pull' }))
    await hub.create(aCluster('silent', { apiEndpoint: undefined }))
    await hub.create(aCluster('nowhere'))
    await hub.create(aCluster('broken'))
    await world.settle()
    assert.deepEqual([members.list(), asked, errors], [[], [], ['broken: no such scheme']])
    await world.stop()
  })

  it('are known again after a start in any order, asked for once, with what we manage there', async () => {
    const testbed = await aTestbed()
    const { world, hub, asked } = testbed
    await hub.create(aCluster('one'))
    await hub.create(aSecret('one', 't1'))
    const map = (name: string, labels: Record<string, string>): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name, labels },
    })
    await world.member.create(map('ours', { 'karmada.io/managed': 'true' }))
    await world.member.create(map('theirs', {}))
    await world.settle()
    asked.length = 0
    await world.restartControllers()
    await world.settle()
    assert.deepEqual(asked, ['one caches https://one t1'])
    const maps = testbed.members.get('one')?.caches.of(CONFIG_MAPS)
    await world.settle()
    assert.deepEqual(
      maps?.list().map(({ metadata }) => metadata.name),
      ['ours'],
    )
    await world.stop()
  })

  it('say who waits for a first list; who cannot be reached holds nobody up', async () => {
    const testbed = await aTestbed()
    const { world, hub, down } = testbed
    await hub.create(aSecret('one', 't1'))
    await hub.create(aCluster('one'))
    await world.settle()
    const maps = testbed.members.get('one')?.caches.of(CONFIG_MAPS)
    assert.deepEqual(testbed.members.behind(), ['the cache of configmaps of cluster one waits for its first list'])
    await world.settle()
    assert.equal(maps?.hasSynced, true)
    assert.deepEqual(testbed.members.behind(), [])
    down.add('one')
    testbed.members.get('one')?.caches.of(SECRETS)
    await world.advance(60_000)
    assert.deepEqual(testbed.members.behind(), [])
    assert.match(testbed.errors.join(), /one: does not answer/)
    await world.stop()
  })
})
