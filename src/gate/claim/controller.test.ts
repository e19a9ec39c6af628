import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone } from '../../faultsim/expect/index.ts'
import { survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { JOBS } from '../../kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { CLAIMS_ANNOTATION, DATA_SOURCE_CLAIM_FINALIZER, PRODUCES_ANNOTATION } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { HELD_BECAUSE, HELD_BY, HELD_REASON, RELEASED } from '../../runtime/seams/narrowing.ts'
import { claimController } from './controller.ts'
import type { ClaimDeps } from './deps.ts'
import {
  aBinding,
  aClaim,
  aJob,
  aSeedClaim,
  aSource,
  bindingPath,
  claimAt,
  claimStory,
  eventsOf,
  isReady,
  joined,
  prepared,
  refsOf,
  reported,
  saidOf,
  stateOf,
  worldOptions,
  writesTo,
} from './testing.ts'

const SALES = 'hive/table/sales'

describe('a claim is bound', () => {
  claimStory('with one write, when its source is there', async (hub, world) => {
    await hub.create(aSource('sales', SALES))
    await world.settle()
    hub.takeWrites()
    await hub.create(aClaim('default/sales', SALES))
    await world.settle()
    assert.deepEqual(writesTo(hub, 'datasourceclaims'), ['gate.claim PATCH status'])
    const { status, metadata } = await claimAt(hub, 'default/sales')
    assert.deepEqual([status?.phase, status?.boundTo, status?.boundDataSource], ['Bound', 'sales', 'sales'])
    assert.deepEqual(
      status?.conditions?.map(({ type, status: is, reason, observedGeneration }) => [type, is, reason, observedGeneration]),
      [
        ['Resolved', 'True', 'SourceFound', 1],
        ['Ready', 'True', 'Available', 1],
        ['Placed', 'Unknown', 'NoWorkload', 1],
        ['Bound', 'True', 'BindingSuccessful', 1],
      ],
    )
    assert.equal(metadata.finalizers, undefined)
    assert.deepEqual(await eventsOf(hub, 'default/sales'), ['Normal Bound: DataSource sales is bound'])
  })

  claimStory('D9: when its source comes later, however late', async (hub, world) => {
    await hub.create(aClaim('default/sales', SALES))
    await hub.create(aSeedClaim('default/any', 'hive/table'))
    await hub.create(aSeedClaim('default/this', 'hive/table', { dataSourceName: 'sales' }))
    await world.settle()
    assert.deepEqual(await stateOf(hub, 'default/sales'), 'Pending NoSuchSource')
    assert.equal(
      await saidOf(hub, 'default/sales', 'Resolved'),
      'False NoSuchSource: there is no DataSource for hive/table/sales, and no workload says that it makes it',
    )
    assert.equal(await saidOf(hub, 'default/any', 'Resolved'), 'False NoSuchSource: there is no DataSource of hive/table')
    assert.equal(await saidOf(hub, 'default/this', 'Resolved'), 'False NoSuchSource: there is no DataSource sales')
    assert.equal(await saidOf(hub, 'default/sales', 'Ready'), 'Unknown NotResolved: no DataSource is bound')
    assert.equal(await saidOf(hub, 'default/sales', 'Bound'), undefined)
    await world.advance(3_600_000)
    await hub.create(aSource('sales', SALES))
    await world.settle()
    for (const name of ['sales', 'any', 'this']) assert.equal(await stateOf(hub, `default/${name}`), 'Bound sales')
  })

  claimStory('D16: by exact attributes, of which none and empty ones are the same, or by a selector', async (hub, world) => {
    await hub.create(aSource('plain', SALES))
    await hub.create(aSource('daily', SALES, { attributes: { grain: 'day' } }))
    await hub.create(aClaim('default/none', SALES))
    await hub.create(aClaim('default/empty', SALES, { attributes: {} }))
    await hub.create(aClaim('default/day', SALES, { attributes: { grain: 'day' } }))
    await hub.create(aClaim('default/hour', SALES, { attributes: { grain: 'hour' } }))
    await hub.create(aSeedClaim('default/selected', 'hive/table', { attributesSelector: { matchLabels: { grain: 'day' } } }))
    await world.settle()
    const states = ['none', 'empty', 'day', 'hour', 'selected'].map((name) => stateOf(hub, `default/${name}`))
    assert.deepEqual(await Promise.all(states), ['Bound plain', 'Bound plain', 'Bound daily', 'Pending NoSuchSource', 'Bound daily'])
    assert.match((await saidOf(hub, 'default/hour', 'Resolved')) ?? '', /with exactly these attributes$/)
  })

  claimStory('D15: to data of any name', async (hub, world) => {
    const name = 's3://Lake_1/Sales:daily?x=ä'
    await hub.create(aSource('lake', `s3/prefix/`, { name }))
    await hub.create(aClaim('default/lake', `s3/prefix/`, { dataSourceName: name }))
    await world.settle()
    assert.equal(await stateOf(hub, 'default/lake'), 'Bound lake')
  })

  claimStory('to one that shares a cluster with the policy and the other claims, else to the oldest, else by name', async (hub, world) => {
    await hub.create(aSource('a-west', SALES))
    await world.advance(2000)
    for (const name of ['c-east', 'b-east']) await hub.create(aSource(name, SALES, { locality: { clusterNames: ['east'] } }))
    await hub.create(aBinding(await hub.create(aJob('default/of-policy')), { policy: ['east'] }))
    await hub.create(aBinding(await hub.create(aJob('default/of-first', { annotations: { [CLAIMS_ANNOTATION]: 'others' } }))))
    await hub.create(aSource('users', 'hive/table/users', { locality: { clusterNames: ['east'] } }))
    await hub.create(aClaim('default/others', 'hive/table/users'))
    await world.settle()
    await hub.create(aClaim('default/policy', SALES))
    await hub.create(aClaim('default/first', SALES))
    await hub.create(aClaim('default/free', SALES))
    await world.settle()
    assert.equal(await stateOf(hub, 'default/policy'), 'Bound b-east')
    assert.equal(await stateOf(hub, 'default/first'), 'Bound b-east')
    assert.equal(await stateOf(hub, 'default/free'), 'Bound a-west')
  })

  claimStory(
    'once: it does not move to a better source, nor when its source is changed in what it does not ask for',
    async (hub, world) => {
      await hub.create(aSource('second', SALES, { locality: { clusterNames: ['east'] } }))
      await hub.create(aClaim('default/sales', SALES))
      await world.settle()
      await hub.create(aSource('first', SALES))
      await hub.create(aBinding(await hub.create(aJob('default/of-sales')), { policy: ['west'] }))
      await hub.patch(DATA_SOURCES, 'second', { spec: { locality: { clusterNames: ['west', 'east'] } } })
      await world.settle()
      assert.equal(await stateOf(hub, 'default/sales'), 'Bound second')
    },
  )

  claimStory('to the object that it names, and to no other: of another system or type it is invalid', async (hub, world) => {
    await hub.create(aSource('mine', 'hive/view/x'))
    await hub.create(aSource('other', SALES))
    await hub.create(aSeedClaim('default/this', 'hive/table', { dataSourceName: 'mine' }))
    await world.settle()
    assert.equal(await stateOf(hub, 'default/this'), 'Pending NoSuchSource')
    assert.equal(await saidOf(hub, 'default/this', 'Resolved'), 'False NoSuchSource: DataSource mine is of hive/view, not of hive/table')
    assert.equal(await saidOf(hub, 'default/this', 'Bound'), 'False BindingInvalid: DataSource mine was of another system or type')
    await hub.patch(DATA_SOURCES, 'mine', { spec: { type: 'table' } })
    await world.settle()
    assert.equal(await stateOf(hub, 'default/this'), 'Bound mine')
  })
})

describe('a bound claim', () => {
  claimStory('D8, D11: loses a source that is gone, says so, and finds the next', async (hub, world) => {
    await hub.create(aSource('old', SALES))
    await hub.create(aClaim('default/sales', SALES))
    await world.settle()
    await hub.patch(DATA_SOURCES, 'old', { metadata: { finalizers: null } })
    await hub.delete(DATA_SOURCES, 'old')
    await world.settle()
    await expectGone(hub, DATA_SOURCES, 'old')
    const { status } = await claimAt(hub, 'default/sales')
    assert.deepEqual([status?.phase, status?.boundTo, status?.boundDataSource], ['Pending', undefined, undefined])
    assert.match((await saidOf(hub, 'default/sales', 'Bound')) ?? '', /^False BindingInvalid: DataSource old /)
    assert.equal(await stateOf(hub, 'default/sales'), 'Pending NoSuchSource')
    await hub.create(aSource('new', SALES))
    await world.settle()
    assert.equal(await stateOf(hub, 'default/sales'), 'Bound new')
    const events = await eventsOf(hub, 'default/sales')
    assert.deepEqual([events.length, events.at(-1)], [3, 'Normal Bound: DataSource new is bound'])
    assert.match(events[1] ?? '', /^Warning BindingInvalid: DataSource old /)
  })

  claimStory('R6: goes over to another source when its own is being deleted, else waits for it to go', async (hub, world) => {
    const finalizers = ['example.dev/keep']
    for (const name of ['a', 'b']) await hub.create({ ...aSource(name, SALES), metadata: { name, finalizers } })
    await hub.create(aClaim('default/sales', SALES))
    await world.settle()
    assert.equal(await stateOf(hub, 'default/sales'), 'Bound a')
    await hub.delete(DATA_SOURCES, 'a')
    await world.settle()
    assert.equal(await stateOf(hub, 'default/sales'), 'Bound b')
    assert.equal((await eventsOf(hub, 'default/sales')).at(-1), 'Normal Bound: DataSource b is bound: DataSource a was deleted')
    await hub.delete(DATA_SOURCES, 'b')
    await world.settle()
    assert.equal(await stateOf(hub, 'default/sales'), 'Pending SourceGoing')
    assert.equal(await saidOf(hub, 'default/sales', 'Resolved'), 'False SourceGoing: DataSource a is being deleted')
    for (const name of ['a', 'b']) await hub.patch(DATA_SOURCES, name, { metadata: { finalizers: null } })
    await world.settle()
    assert.equal(await stateOf(hub, 'default/sales'), 'Pending NoSuchSource')
  })

  claimStory('D21: that asks for something else is resolved anew, at its new generation', async (hub, world) => {
    await hub.create(aSource('sales', SALES))
    await hub.create(aSource('users', 'hive/table/users'))
    await hub.create(aClaim('default/sales', SALES))
    await world.settle()
    await hub.patch(DATA_SOURCE_CLAIMS, 'default/sales', { spec: { dataSourceName: 'users' } })
    await world.settle()
    assert.equal(await stateOf(hub, 'default/sales'), 'Bound users')
    assert.ok((await claimAt(hub, 'default/sales')).status?.conditions?.every(({ observedGeneration }) => observedGeneration === 2))
    assert.deepEqual([await refsOf(hub, 'sales'), await refsOf(hub, 'users')], [[], ['default/sales']])
    await hub.patch(DATA_SOURCE_CLAIMS, 'default/sales', { spec: { dataSourceName: 'nothing' } })
    await world.settle()
    assert.equal(await stateOf(hub, 'default/sales'), 'Pending NoSuchSource')
    assert.equal(await saidOf(hub, 'default/sales', 'Bound'), 'False BindingInvalid: DataSource users did not match any more')
  })

  claimStory('D7, D24: says when no cluster with its data is joined or ready, by names and by affinity', async (hub, world) => {
    await hub.create(aSource('named', 'hive/table/a', { locality: { clusterNames: ['north'] } }))
    await hub.create(
      aSource('chosen', 'hive/table/b', { locality: { clusterAffinity: { labelSelector: { matchLabels: { gpu: 'yes' } } } } }),
    )
    await hub.create(aSource('both', 'hive/table/c', { locality: { clusterNames: ['west'], clusterAffinity: { clusterNames: ['east'] } } }))
    for (const name of ['a', 'b', 'c']) await hub.create(aClaim(`default/${name}`, `hive/table/${name}`))
    await world.settle()
    assert.equal(await saidOf(hub, 'default/a', 'Ready'), 'False NoLocality: no cluster of DataSource named is joined: north')
    assert.equal(await saidOf(hub, 'default/b', 'Ready'), 'False NoLocality: DataSource chosen selects no joined cluster')
    assert.equal(await saidOf(hub, 'default/c', 'Ready'), 'False NoLocality: DataSource both selects no joined cluster')
    assert.equal(await stateOf(hub, 'default/a'), 'Bound named NoLocality')
    await joined(hub, 'north', { gpu: 'yes' })
    await world.settle()
    for (const name of ['a', 'b']) assert.match((await saidOf(hub, `default/${name}`, 'Ready')) ?? '', /^True Available/)
    await isReady(hub, 'north', false)
    await world.settle()
    assert.equal(await saidOf(hub, 'default/a', 'Ready'), 'False DataClusterUnavailable: no cluster of DataSource named is ready: north')
    assert.equal(await saidOf(hub, 'named', 'Ready'), 'False DataClusterUnavailable: no cluster of DataSource named is ready: north')
    await isReady(hub, 'north', true)
    await hub.patch(CLUSTERS, 'north', { metadata: { labels: { gpu: 'no' } } })
    await world.settle()
    assert.match((await saidOf(hub, 'default/a', 'Ready')) ?? '', /^True/)
    assert.match((await saidOf(hub, 'default/b', 'Ready')) ?? '', /^False NoLocality/)
  })

  claimStory('D1: a change of what it does not read, or a restart, writes nothing', async (hub, world) => {
    await hub.create(aSource('sales', SALES))
    await hub.create(aClaim('default/sales', SALES))
    await world.settle()
    hub.takeWrites()
    await hub.patch(DATA_SOURCE_CLAIMS, 'default/sales', { metadata: { labels: { a: 'b' } } })
    await hub.patch(DATA_SOURCES, 'sales', { metadata: { labels: { a: 'b' } } })
    await hub.patch(CLUSTERS, 'west', { status: { kubernetesVersion: 'v1.37.0' } }, 'status')
    await world.settle()
    assert.deepEqual(hub.takeControllerWrites(), [])
  })

  claimStory('has a status that nobody else can change for long', async (hub, world) => {
    await hub.create(aSource('sales', SALES))
    await hub.create(aSource('users', 'hive/table/users'))
    await hub.create(aClaim('default/sales', SALES))
    await world.settle()
    await hub.patch(DATA_SOURCE_CLAIMS, 'default/sales', { status: { boundTo: 'users', conditions: null } }, 'status')
    await world.settle()
    const { status } = await claimAt(hub, 'default/sales')
    assert.deepEqual([status?.boundTo, status?.boundDataSource, status?.conditions?.length], ['sales', 'sales', 4])
    assert.deepEqual([await refsOf(hub, 'sales'), await refsOf(hub, 'users')], [['default/sales'], []])
  })
})

describe('a claim that is left to others', () => {
  claimStory('has the finalizer of volcano-global removed, and its bound source taken over', async (hub, world) => {
    await hub.create(aSource('b', SALES))
    await hub.create(aSource('a', SALES))
    const claim = aClaim('default/sales', SALES)
    const finalizers = [DATA_SOURCE_CLAIM_FINALIZER, 'example.dev/keep']
    await hub.create({ ...claim, metadata: { ...claim.metadata, finalizers } })
    await world.settle()
    assert.deepEqual((await claimAt(hub, 'default/sales')).metadata.finalizers, ['example.dev/keep'])
    await hub.delete(DATA_SOURCE_CLAIMS, 'default/sales')
    await world.settle()
    hub.takeWrites()
    await hub.delete(DATA_SOURCES, 'a')
    await world.settle()
    assert.deepEqual(writesTo(hub, 'datasourceclaims'), [], 'nothing is written to a claim that is being deleted')
    await hub.patch(DATA_SOURCE_CLAIMS, 'default/sales', { metadata: { finalizers: null } })
    await world.settle()
    await expectGone(hub, DATA_SOURCE_CLAIMS, 'default/sales')
    await expectGone(hub, DATA_SOURCES, 'a')
  })

  claimStory('with nothing but that finalizer can be deleted', async (hub, world) => {
    await hub.stopControllers()
    const claim = aClaim('default/sales', SALES)
    await hub.create({ ...claim, metadata: { ...claim.metadata, finalizers: [DATA_SOURCE_CLAIM_FINALIZER] } })
    await hub.delete(DATA_SOURCE_CLAIMS, 'default/sales')
    await hub.inside(() => hub.startControllers())
    await world.settle()
    await expectGone(hub, DATA_SOURCE_CLAIMS, 'default/sales')
  })

  claimStory('by volcano-global, bound under its name for the field, keeps its source', async (hub, world) => {
    await hub.create(aSource('b', SALES))
    await world.settle()
    await hub.create(aClaim('default/sales', SALES))
    await world.settle()
    await hub.create(aSource('a', SALES))
    const ours = { boundTo: null, boundDataSource: 'b', phase: 'Bound', conditions: [] }
    await hub.patch(DATA_SOURCE_CLAIMS, 'default/sales', { status: ours }, 'status')
    await world.settle()
    const { status } = await claimAt(hub, 'default/sales')
    assert.deepEqual([status?.boundTo, status?.boundDataSource], ['b', 'b'])
  })
})

const held = (reason: string, by: string, because = 'it waits') => ({ [HELD_REASON]: reason, [HELD_BY]: by, [HELD_BECAUSE]: because })
const released = (allow: readonly string[], ...claims: readonly string[]) => ({
  [RELEASED]: JSON.stringify({ allow, claims: Object.fromEntries(claims.map((name) => [name, 'sales@v1'])) }),
})

describe('a claim says where its workloads are', () => {
  const scheduledTo = (hub: WorldCluster, where: string, ...clusters: string[]) =>
    hub.patch(RESOURCE_BINDINGS, bindingPath(where), { spec: { clusters: clusters.map((name) => ({ name })) } })
  const annotated = (hub: WorldCluster, where: string, annotations: Record<string, string | null>) =>
    hub.patch(RESOURCE_BINDINGS, bindingPath(where), { metadata: { annotations } })

  claimStory('D21: one that names its workload, from its hold to its place', async (hub, world) => {
    const placed = () => saidOf(hub, 'default/sales', 'Placed')
    await hub.create(aSource('sales', SALES))
    await hub.create(aClaim('default/sales', SALES))
    const job = await hub.create(aJob('default/of-sales'))
    await world.settle()
    assert.equal(await placed(), 'Unknown NotScheduled: Job default/of-sales is not scheduled yet')
    await hub.create(aBinding(job, { annotations: held('NoSuchSource', 'DataSourceClaim/sales') }))
    await world.settle()
    assert.equal(await placed(), 'Unknown NotScheduled: Job default/of-sales is not scheduled yet', 'this hold is about to end')
    await annotated(hub, 'default/of-sales', held('NotProducedYet', 'DataSourceClaim/users', 'it waits for users'))
    await world.settle()
    assert.equal(await placed(), 'False NotProducedYet: Job default/of-sales is held: it waits for users')
    await annotated(hub, 'default/of-sales', held('NoCommonCluster', 'DataSourceClaim/sales, DataSource/sales', 'west or east'))
    await world.settle()
    assert.equal(await placed(), 'False NoCommonCluster: Job default/of-sales is held: west or east')
    const free = { [HELD_REASON]: null, [HELD_BY]: null, [HELD_BECAUSE]: null }
    await annotated(hub, 'default/of-sales', { ...free, ...released(['west'], 'sales') })
    await scheduledTo(hub, 'default/of-sales', 'west')
    await world.settle()
    assert.equal(await placed(), 'True Released: every workload is scheduled where the data is')
    await hub.patch(DATA_SOURCES, 'sales', { spec: { locality: { clusterNames: ['east'] } } })
    await world.settle()
    assert.match((await placed()) ?? '', /^True Released/, 'what was released stays released')
    await annotated(hub, 'default/of-sales', { [RELEASED]: null })
    await world.settle()
    assert.equal(await placed(), 'False NoCommonCluster: Job default/of-sales is in west, where the data is not')
    await hub.delete(DATA_SOURCES, 'sales')
    await world.settle()
    assert.equal(await placed(), 'Unknown NotResolved: no DataSource is bound')
  })

  claimStory('one that selects workloads: the first that waits, and not what is no workload', async (hub, world) => {
    const labels = { app: 'many' }
    await hub.create(aSource('sales', SALES))
    await hub.create(aSeedClaim('default/many', 'hive/table'))
    const map = await hub.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'many', labels } })
    const binding = aBinding(map, { clusters: ['east'] })
    await hub.create({ ...binding, spec: { ...(binding.spec as object), replicas: undefined } })
    await world.settle()
    assert.match((await saidOf(hub, 'default/many', 'Placed')) ?? '', /^Unknown NoWorkload/)
    for (const [name, cluster] of [
      ['b', 'east'],
      ['a', 'east'],
      ['c', 'west'],
    ] as const)
      await hub.create(aBinding(await hub.create(aJob(`default/${name}`, { labels })), { clusters: [cluster] }))
    await world.settle()
    assert.equal(await saidOf(hub, 'default/many', 'Placed'), 'False NoCommonCluster: Job default/a is in east, where the data is not')
    for (const name of ['a', 'b']) await scheduledTo(hub, `default/${name}`, 'west')
    await world.settle()
    assert.match((await saidOf(hub, 'default/many', 'Placed')) ?? '', /^True Released/)
    await hub.create(aJob('default/d', { labels }))
    await world.settle()
    assert.match((await saidOf(hub, 'default/many', 'Placed')) ?? '', /^Unknown NotScheduled: Job default\/d /)
  })

  claimStory('of many workloads, without looking at all of them for each', async (hub, world) => {
    const labels = { app: 'many' }
    const count = 120
    await hub.create(aSeedClaim('default/many', 'hive/table'))
    for (let i = 0; i < count; i++) await hub.create(aBinding(await hub.create(aJob(`default/job-${i}`, { labels }))))
    await world.settle()
    await hub.create(aSource('sales', SALES))
    await world.settle()
    hub.takeWrites()
    for (let i = 0; i < count; i++) await scheduledTo(hub, `default/job-${i}`, 'west')
    await world.settle()
    assert.match((await saidOf(hub, 'default/many', 'Placed')) ?? '', /^True Released/)
    const writes = writesTo(hub, 'datasourceclaims').length
    assert.ok(writes < count / 10, `${writes} writes`)
  })
})

const unused = {} as ClaimDeps
const step =
  (...objects: Parameters<WorldCluster['create']>[0][]) =>
  async (hub: WorldCluster) => {
    for (const object of objects) await hub.create(object)
  }

survives(claimController(unused), {
  role: 'hub',
  ...worldOptions(),
  before: [prepared],
  steps: [
    step(aClaim('default/sales', SALES), aSeedClaim('default/any', 'hive/table')),
    step(aSource('sales', SALES)),
    async (hub) => hub.create(aBinding(await hub.create(aJob('default/of-sales')), { clusters: ['west'] })),
    (hub) => isReady(hub, 'west', false),
    step(aSource('second', SALES, { locality: { clusterNames: ['east'] } })),
    (hub) => hub.delete(DATA_SOURCES, 'sales'),
    (hub) => hub.delete(DATA_SOURCE_CLAIMS, 'default/any'),
  ],
  async atRest(hub) {
    assert.equal(await stateOf(hub, 'default/sales'), 'Bound second NoCommonCluster')
    await expectGone(hub, DATA_SOURCES, 'sales')
  },
})

survives(claimController(unused), {
  role: 'hub',
  ...worldOptions(),
  before: [prepared],
  steps: [
    step(aJob('default/of-b', { annotations: { [PRODUCES_ANNOTATION]: 'hive/table/a' } })),
    step(aClaim('default/a', 'hive/table/a', { workload: { apiVersion: 'batch/v1', kind: 'Job', name: 'of-a' } })),
    step(aClaim('default/b', 'hive/table/b')),
    step(aJob('default/of-a', { annotations: { [PRODUCES_ANNOTATION]: 'hive/table/b' } })),
    step(aSource('b', 'hive/table/b')),
    async (hub) => hub.create(aBinding((await hub.get(JOBS, 'default/of-b')) as KubeObject, { clusters: ['west'] })),
    (hub) => reported(hub, 'default/of-b', 'west', { conditions: [{ type: 'Failed', status: 'True' }] }),
  ],
  atRest: async (hub) => assert.equal(await stateOf(hub, 'default/a'), 'Pending ProducerFailed'),
})
