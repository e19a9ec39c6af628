import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone, expectQuiet, expectThere } from '../../faultsim/expect/index.ts'
import { survives } from '../../faultsim/survives.ts'
import { aWorld, type WorldCluster } from '../../faultsim/world/index.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { DATA_SOURCE_FINALIZER, PRODUCER_NAMESPACE, PROVISIONED_BY } from '../../kinds/volcano/well-known.ts'
import {
  aClaim,
  aSource,
  claimAt,
  claimStory,
  eventsOf,
  isReady,
  prepared,
  refsOf,
  saidOf,
  sourceAt,
  stateOf,
  worldOptions,
  writesTo,
} from '../claim/testing.ts'
import { sourceController } from './controller.ts'

const SALES = 'hive/table/sales'

describe('a source', () => {
  claimStory('says who uses it, under both names, and whether it can be used', async (hub, world) => {
    await hub.create(aSource('sales', SALES))
    await world.settle()
    assert.deepEqual(writesTo(hub, 'datasources'), ['gate.source PATCH status'])
    const unused = await sourceAt(hub, 'sales')
    assert.deepEqual([unused.status?.claimRefs, unused.status?.boundClaims, unused.metadata.finalizers], [undefined, 0, undefined])
    assert.equal(await saidOf(hub, 'sales', 'Ready'), 'True Available: DataSource sales is in a cluster that is ready')
    assert.equal(await saidOf(hub, 'sales', 'Provisioned'), 'True Static: no workload has made it')
    await hub.create(aClaim('other/a', SALES))
    await world.advance(1000)
    await hub.create(aClaim('default/b', SALES))
    await world.settle()
    const { metadata, status } = await sourceAt(hub, 'sales')
    const claims = await Promise.all(['other/a', 'default/b'].map((where) => claimAt(hub, where)))
    const refs = claims.map(({ apiVersion, kind, metadata: { namespace, name, uid } }) => ({ apiVersion, kind, namespace, name, uid }))
    assert.deepEqual([status?.claimRef, status?.claimRefs, status?.boundClaims], [refs, refs, 2])
    assert.deepEqual(metadata.finalizers, [DATA_SOURCE_FINALIZER])
    assert.deepEqual(
      status?.conditions?.map(({ type, observedGeneration }) => [type, observedGeneration]),
      [
        ['Ready', 1],
        ['Provisioned', 1],
      ],
    )
    for (const where of ['other/a', 'default/b']) await hub.delete(DATA_SOURCE_CLAIMS, where)
    await world.settle()
    const left = await sourceAt(hub, 'sales')
    assert.deepEqual([left.status?.claimRef, left.status?.claimRefs, left.status?.boundClaims], [undefined, undefined, 0])
    assert.equal(left.metadata.finalizers, undefined, 'Retain: it stays, and can be deleted at once')
  })

  claimStory('says who made it, and which of its clusters are missing', async (hub, world) => {
    const annotations = { [PROVISIONED_BY]: 'output/jobs.batch/daily', [PRODUCER_NAMESPACE]: 'other' }
    const made = aSource('made', SALES, { locality: { clusterNames: ['north', 'south'] } })
    await hub.create({ ...made, metadata: { ...made.metadata, annotations } })
    await world.settle()
    assert.equal(await saidOf(hub, 'made', 'Provisioned'), 'True Produced: made by output/jobs.batch/daily of namespace other')
    assert.equal(await saidOf(hub, 'made', 'Ready'), 'False NoLocality: no cluster of DataSource made is joined: north, south')
    await hub.patch(DATA_SOURCES, 'made', { spec: { locality: { clusterNames: ['west'] } } })
    await world.settle()
    assert.match((await saidOf(hub, 'made', 'Ready')) ?? '', /^True/)
    await isReady(hub, 'west', false)
    await world.settle()
    assert.match((await saidOf(hub, 'made', 'Ready')) ?? '', /^False DataClusterUnavailable/)
    await isReady(hub, 'west', true)
    await hub.delete(CLUSTERS, 'west')
    await world.settle()
    assert.match((await saidOf(hub, 'made', 'Ready')) ?? '', /^False NoLocality/)
  })

  claimStory('D12: has its references made anew, whatever somebody wrote there', async (hub, world) => {
    await hub.create(aSource('sales', SALES))
    await hub.create(aClaim('default/a', SALES))
    await world.settle()
    const stale = [{ kind: 'DataSourceClaim', namespace: 'default', name: 'gone', uid: 'x' }]
    await hub.patch(DATA_SOURCES, 'sales', { status: { claimRefs: stale, boundClaims: 7, conditions: null } }, 'status')
    await world.settle()
    assert.deepEqual(await refsOf(hub, 'sales'), ['default/a'])
    assert.equal((await sourceAt(hub, 'sales')).status?.boundClaims, 1)
    await hub.patch(DATA_SOURCES, 'sales', { metadata: { finalizers: null } })
    await world.settle()
    assert.deepEqual((await sourceAt(hub, 'sales')).metadata.finalizers, [DATA_SOURCE_FINALIZER])
  })

  claimStory('that is being deleted unbinds its claims first, and then goes', async (hub, world) => {
    await hub.create(aSource('sales', SALES))
    for (const name of ['a', 'b']) await hub.create(aClaim(`default/${name}`, SALES))
    await world.settle()
    hub.takeWrites()
    await hub.delete(DATA_SOURCES, 'sales')
    await world.settle()
    const order = hub.takeWrites().flatMap(({ part, path }) => (path.includes('/datasource') ? [part] : []))
    assert.deepEqual(order.slice(0, 3), ['gate.claim', 'gate.claim', 'gate.source'])
    await expectGone(hub, DATA_SOURCES, 'sales')
    for (const name of ['a', 'b']) assert.equal(await stateOf(hub, `default/${name}`), 'Pending NoSuchSource')
  })

  claimStory('D12, D13: that was being deleted when nobody ran, or holds a finalizer for nobody, is let go', async (hub, world) => {
    await hub.stopControllers()
    for (const name of ['going', 'staying'])
      await hub.create({ ...aSource(name, SALES), metadata: { name, finalizers: [DATA_SOURCE_FINALIZER] } })
    await hub.delete(DATA_SOURCES, 'going')
    await hub.inside(() => hub.startControllers())
    await world.settle()
    await expectGone(hub, DATA_SOURCES, 'going')
    assert.equal((await sourceAt(hub, 'staying')).metadata.finalizers, undefined)
  })
})

describe('a source with reclaim policy Delete', () => {
  const reclaimed = aSource('sales', SALES, { reclaimPolicy: 'Delete' })

  claimStory('goes with the last claim that is bound to it', async (hub, world) => {
    await hub.create(reclaimed)
    await world.settle()
    await expectThere(hub, DATA_SOURCES, 'sales')
    for (const name of ['a', 'b']) await hub.create(aClaim(`default/${name}`, SALES))
    await world.settle()
    await hub.delete(DATA_SOURCE_CLAIMS, 'default/a')
    await world.settle()
    await expectThere(hub, DATA_SOURCES, 'sales')
    await hub.delete(DATA_SOURCE_CLAIMS, 'default/b')
    await world.settle()
    await expectGone(hub, DATA_SOURCES, 'sales')
    assert.deepEqual(await eventsOf(hub, 'sales'), ['Normal Reclaimed: the last bound claim was deleted, and the reclaim policy is Delete'])
  })

  claimStory('also when that happened while nobody ran', async (hub, world) => {
    await hub.create(reclaimed)
    await hub.create(aClaim('default/a', SALES))
    await world.settle()
    await hub.stopControllers()
    await hub.delete(DATA_SOURCE_CLAIMS, 'default/a')
    await hub.inside(() => hub.startControllers())
    await world.settle()
    await expectGone(hub, DATA_SOURCES, 'sales')
  })

  claimStory('stays when its claim asks for something else, and when that one is deleted later', async (hub, world) => {
    await hub.create(reclaimed)
    await hub.create(aClaim('default/a', SALES))
    await world.settle()
    await hub.patch(DATA_SOURCE_CLAIMS, 'default/a', { spec: { dataSourceName: 'other' } })
    await world.settle()
    await hub.delete(DATA_SOURCE_CLAIMS, 'default/a')
    await world.settle()
    await expectThere(hub, DATA_SOURCES, 'sales')
  })

  claimStory('stays when nothing was ever bound to it', async (hub, world) => {
    await hub.create(reclaimed)
    await hub.create(aClaim('default/a', 'hive/table/other'))
    await world.settle()
    await hub.delete(DATA_SOURCE_CLAIMS, 'default/a')
    await world.settle()
    await expectThere(hub, DATA_SOURCES, 'sales')
  })

  claimStory('stays while the claim that was deleted is still there', async (hub, world) => {
    await hub.create(reclaimed)
    const claim = aClaim('default/a', SALES)
    await hub.create({ ...claim, metadata: { ...claim.metadata, finalizers: ['example.dev/keep'] } })
    await world.settle()
    await hub.delete(DATA_SOURCE_CLAIMS, 'default/a')
    await world.settle()
    assert.deepEqual(await refsOf(hub, 'sales'), ['default/a'])
    await hub.patch(DATA_SOURCE_CLAIMS, 'default/a', { metadata: { finalizers: null } })
    await world.settle()
    await expectGone(hub, DATA_SOURCES, 'sales')
  })
})

describe('a source with more claims than it lists', () => {
  const nameOf = (i: number): string => `claim-${String(i).padStart(3, '0')}`
  const COUNT = 130

  it('lists the oldest 100, counts all, says so, and is written now and then, not for each', async () => {
    const world = await aWorld(worldOptions()).settle()
    const { hub } = world
    await prepared(hub)
    await hub.create(aSource('sales', SALES))
    await world.settle()
    hub.takeWrites()
    // The younger the name, the older the claim.
    for (let i = COUNT; i > 0; i--) {
      await hub.create(aClaim(`default/${nameOf(i)}`, SALES))
      if (i % 10 === 1) await world.advance(1000)
    }
    await world.settle()
    const writes = writesTo(hub, 'datasources').length
    assert.ok(writes < COUNT / 3, `${writes} writes for ${COUNT} claims`)
    const { status } = await sourceAt(hub, 'sales')
    assert.deepEqual([status?.claimRefs?.length, status?.claimRef?.length, status?.boundClaims], [100, 100, COUNT])
    assert.deepEqual(
      status?.claimRefs?.map(({ name }) => name).sort(),
      Array.from({ length: 100 }, (_, i) => nameOf(i + 31)),
    )
    assert.equal(await saidOf(hub, 'sales', 'ClaimRefsComplete'), 'False TooManyClaims: only the oldest 100 of the bound claims are listed')
    for (let i = 1; i <= 30; i++) await hub.delete(DATA_SOURCE_CLAIMS, `default/${nameOf(i)}`)
    await world.settle()
    assert.equal(await saidOf(hub, 'sales', 'ClaimRefsComplete'), undefined)
    assert.equal((await sourceAt(hub, 'sales')).status?.boundClaims, 100)
    await expectQuiet(world)
    await world.stop()
  })
})

const claims =
  (...names: string[]) =>
  async (hub: WorldCluster) => {
    for (const name of names) await hub.create(aClaim(`default/${name}`, SALES))
  }

survives(sourceController(), {
  role: 'hub',
  ...worldOptions(),
  before: [prepared],
  steps: [
    (hub) => hub.create(aSource('sales', SALES, { reclaimPolicy: 'Delete' })),
    claims('a', 'b'),
    (hub) => isReady(hub, 'west', false),
    (hub) => hub.create(aSource('second', SALES, { reclaimPolicy: 'Delete' })),
    (hub) => hub.patch(DATA_SOURCE_CLAIMS, 'default/a', { spec: { dataSourceName: 'none' } }),
    (hub) => hub.delete(DATA_SOURCE_CLAIMS, 'default/b'),
    claims('c'),
    (hub) => hub.delete(DATA_SOURCES, 'second'),
  ],
  async atRest(hub) {
    for (const name of ['sales', 'second']) await expectGone(hub, DATA_SOURCES, name)
    assert.equal(await stateOf(hub, 'default/c'), 'Pending NoSuchSource')
  },
})
