import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { ReferenceGrant } from '../../kinds/gateway/reference-grant.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { JOBS } from '../../kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { sourceObjectName } from '../../kinds/volcano/source-name.ts'
import { PRODUCER_NAMESPACE, PRODUCES_ANNOTATION, PROVISIONED_BY } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { HELD_BECAUSE, HELD_REASON } from '../../runtime/seams/narrowing.ts'
import {
  aBinding,
  aClaim,
  aJob,
  aSeedClaim,
  aSource,
  bindingPath,
  claimStory,
  refsOf,
  reported,
  saidOf,
  stateOf,
  writesTo,
} from './testing.ts'

const SALES = 'hive/table/sales'
const making = (data: string): { annotations: Record<string, string> } => ({ annotations: { [PRODUCES_ANNOTATION]: data } })

/** The Job `of-<claim>` that the claim is for, which makes this data. */
const aMaker = (claim: string, makes: string): KubeObject => {
  const [namespace, name] = claim.split('/')
  return aJob(`${namespace}/of-${name}`, making(`hive/table/${makes}`))
}

describe('a claim on data that a workload makes', () => {
  claimStory('says which one it waits for and how that is doing', async (hub, world) => {
    const says = () => saidOf(hub, 'default/sales', 'Resolved')
    await hub.create(aClaim('default/sales', SALES))
    const job = await hub.create(aJob('default/daily', making(SALES)))
    await world.settle()
    assert.equal(await says(), 'False NotProducedYet: Job default/daily makes hive/table/sales, and is not placed yet')
    const marks = { [HELD_REASON]: 'NoSuchSource', [HELD_BECAUSE]: 'it waits' }
    await hub.create(aBinding(job, { annotations: marks }))
    await world.settle()
    assert.equal(await says(), 'False NotProducedYet: Job default/daily makes hive/table/sales, and is held: NoSuchSource')
    const binding = bindingPath('default/daily')
    await hub.patch(RESOURCE_BINDINGS, binding, { metadata: { annotations: { [HELD_REASON]: null, [HELD_BECAUSE]: null } } })
    await hub.patch(RESOURCE_BINDINGS, binding, { spec: { clusters: [{ name: 'west' }] } })
    await world.settle()
    assert.equal(await says(), 'False NotProducedYet: Job default/daily makes hive/table/sales, and is running')
    hub.takeWrites()
    await reported(hub, 'default/daily', 'west', { active: 1 })
    await world.settle()
    assert.deepEqual(writesTo(hub, 'datasourceclaims'), [], 'nothing that changes by itself')
    await reported(hub, 'default/daily', 'west', { conditions: [{ type: 'Failed', status: 'True' }] })
    await world.settle()
    assert.equal(await says(), 'False ProducerFailed: Job default/daily makes hive/table/sales, and has failed')
    await hub.delete(JOBS, 'default/daily', { propagationPolicy: 'Background' })
    await world.settle()
    assert.match((await says()) ?? '', /^False NoSuchSource/)
    await hub.create(aBinding(await hub.create(aJob('default/again', making(SALES))), { clusters: ['west'] }))
    await reported(hub, 'default/again', 'west', { conditions: [{ type: 'Complete', status: 'True' }] })
    await world.settle()
    assert.match((await says()) ?? '', /has succeeded, but there is no DataSource yet$/)
    await hub.create(aSource('sales', SALES))
    await world.settle()
    assert.equal(await stateOf(hub, 'default/sales'), 'Bound sales')
  })

  claimStory('waits rather for one that ends, that can succeed, and that is near', async (hub, world) => {
    const says = () => saidOf(hub, 'default/sales', 'Resolved')
    await hub.create(aClaim('default/sales', SALES))
    const { annotations } = making(SALES)
    const pod = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'a', image: 'a' }] } }
    const spec = { selector: { matchLabels: { app: 'x' } }, template: pod }
    await hub.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'default', name: 'web', annotations }, spec })
    await world.settle()
    assert.equal(await says(), 'False NotProducedYet: Deployment default/web makes hive/table/sales, but never finishes by itself')
    await hub.create(aJob('other/far', making(SALES)))
    await world.settle()
    assert.match((await says()) ?? '', /^False NotProducedYet: Job other\/far makes/)
    await hub.create(aBinding(await hub.create(aJob('default/near', making(SALES))), { clusters: ['west'] }))
    await world.settle()
    assert.match((await says()) ?? '', /^False NotProducedYet: Job default\/near makes .* is running$/)
    await reported(hub, 'default/near', 'west', { conditions: [{ type: 'Failed', status: 'True' }] })
    await world.settle()
    assert.match((await says()) ?? '', /^False NotProducedYet: Job other\/far makes/)
  })

  claimStory('does not wait for a workload that makes something else, or data with attributes', async (hub, world) => {
    await hub.create(aJob('default/daily', making(SALES)))
    await hub.create(aClaim('default/day', SALES, { attributes: { grain: 'day' } }))
    await hub.create(aSeedClaim('default/any', 'hive/table'))
    await hub.create(aClaim('default/users', 'hive/table/users'))
    await world.settle()
    for (const name of ['day', 'any', 'users']) assert.equal(await stateOf(hub, `default/${name}`), 'Pending NoSuchSource')
  })
})

describe('claims that wait for each other', () => {
  const two = 'False DependencyCycle: these claims wait for each other: default/a → default/b → default/a'

  claimStory('in a cycle of two say so, each the same, until it is broken', async (hub, world) => {
    await hub.create(aMaker('default/a', 'b'))
    await hub.create(aMaker('default/b', 'a'))
    for (const name of ['a', 'b']) await hub.create(aClaim(`default/${name}`, `hive/table/${name}`))
    // Behind the cycle, not on it.
    await hub.create(aClaim('default/z', 'hive/table/a'))
    await world.settle()
    for (const name of ['a', 'b']) assert.equal(await saidOf(hub, `default/${name}`, 'Resolved'), two)
    assert.equal(await stateOf(hub, 'default/z'), 'Pending NotProducedYet')
    await hub.create(aSource('a', 'hive/table/a'))
    await world.settle()
    assert.deepEqual([await stateOf(hub, 'default/a'), await stateOf(hub, 'default/b')], ['Bound a', 'Pending NotProducedYet'])
    await hub.delete(DATA_SOURCES, 'a')
    await world.settle()
    for (const name of ['a', 'b']) assert.equal(await saidOf(hub, `default/${name}`, 'Resolved'), two)
    await hub.patch(JOBS, 'default/of-a', { metadata: { annotations: { [PRODUCES_ANNOTATION]: null } } })
    await world.settle()
    assert.deepEqual([await stateOf(hub, 'default/a'), await stateOf(hub, 'default/b')], ['Pending NotProducedYet', 'Pending NoSuchSource'])
  })

  claimStory('in a cycle of three, closed by what comes last', async (hub, world) => {
    for (const name of ['c', 'b', 'a']) await hub.create(aClaim(`default/${name}`, `hive/table/${name}`))
    await hub.create(aMaker('default/a', 'c'))
    await hub.create(aMaker('default/c', 'b'))
    await world.settle()
    assert.equal(await stateOf(hub, 'default/c'), 'Pending NotProducedYet')
    await hub.create(aMaker('default/b', 'a'))
    await world.settle()
    const three = 'False DependencyCycle: these claims wait for each other: default/a → default/b → default/c → default/a'
    for (const name of ['a', 'b', 'c']) assert.equal(await saidOf(hub, `default/${name}`, 'Resolved'), three)
    await hub.delete(DATA_SOURCE_CLAIMS, 'default/b')
    await world.settle()
    assert.deepEqual(
      [await stateOf(hub, 'default/a'), await stateOf(hub, 'default/c')],
      ['Pending NotProducedYet', 'Pending NotProducedYet'],
    )
  })

  claimStory('alone, for what its own workload makes; but not once that workload runs', async (hub, world) => {
    const job = await hub.create(aMaker('default/a', 'a'))
    await hub.create(aClaim('default/a', 'hive/table/a'))
    await world.settle()
    assert.equal(
      await saidOf(hub, 'default/a', 'Resolved'),
      'False DependencyCycle: these claims wait for each other: default/a → default/a',
    )
    await hub.create(aBinding(job, { clusters: ['west'] }))
    await world.settle()
    assert.equal(await stateOf(hub, 'default/a'), 'Pending NotProducedYet')
  })

  claimStory('do not wait in a circle if somebody outside makes the data as well', async (hub, world) => {
    await hub.create(aMaker('default/a', 'b'))
    await hub.create(aMaker('default/b', 'a'))
    await hub.create(aJob('default/free', making('hive/table/a')))
    for (const name of ['a', 'b']) await hub.create(aClaim(`default/${name}`, `hive/table/${name}`))
    await world.settle()
    for (const name of ['a', 'b']) assert.equal(await stateOf(hub, `default/${name}`), 'Pending NotProducedYet')
    await hub.delete(JOBS, 'default/free', { propagationPolicy: 'Background' })
    await world.settle()
    for (const name of ['a', 'b']) assert.equal(await saidOf(hub, `default/${name}`, 'Resolved'), two)
  })
})

const PRODUCED = { system: 'hive', type: 'table', name: 'sales' }
const MADE = sourceObjectName(PRODUCED, 'other')

/** What a workload of namespace `other` has made. */
function aMadeSource(): KubeObject {
  const annotations = { [PROVISIONED_BY]: 'output/jobs.batch/daily', [PRODUCER_NAMESPACE]: 'other' }
  return { ...aSource(MADE, SALES), metadata: { name: MADE, annotations } }
}

const aGrant = (from: string, name?: string): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1beta1',
  kind: 'ReferenceGrant',
  metadata: { namespace: 'other', name: 'data' },
  spec: {
    from: [{ group: 'datadependency.volcano.sh', kind: 'DataSourceClaim', namespace: from }],
    to: [{ group: 'datadependency.volcano.sh', kind: 'DataSource', ...(name === undefined ? {} : { name }) }],
  },
})

const NOT_PERMITTED =
  'False NotPermitted: no DataSource that this namespace may use matches; data that workloads of another namespace make can be used with a ReferenceGrant there'

describe('data that another namespace makes', () => {
  /** Everything that can be seen of a claim, with the name of the data left out. */
  const seen = async (hub: WorldCluster, where: string) => [await stateOf(hub, where), await saidOf(hub, where, 'Resolved')]

  claimStory(
    'cannot be used without consent, nor seen: not the source, not who makes it, not that it goes',
    async (hub, world) => {
      await hub.create(aClaim('default/there', SALES))
      await hub.create(aClaim('default/not', 'hive/table/nothing'))
      await hub.create(aSeedClaim('default/this', 'hive/view', { dataSourceName: MADE }))
      await hub.create(aSeedClaim('default/any', 'hive/table'))
      const all = async () => {
        await world.settle()
        for (const name of ['there', 'not', 'this', 'any'])
          assert.deepEqual(await seen(hub, `default/${name}`), ['Pending NotPermitted', NOT_PERMITTED])
        assert.equal(await saidOf(hub, 'default/this', 'Bound'), undefined)
      }
      await all()
      await hub.create(aJob('other/daily', making(SALES)))
      await all()
      await hub.create({ ...aMadeSource(), metadata: { ...aMadeSource().metadata, finalizers: ['example.dev/keep'] } })
      await all()
      await hub.create(aClaim('other/own', SALES))
      await world.settle()
      assert.equal(await stateOf(hub, 'other/own'), `Bound ${MADE}`)
      await hub.delete(DATA_SOURCES, MADE)
      await all()
      await hub.patch(DATA_SOURCES, MADE, { metadata: { finalizers: null } })
    },
    { referenceConsent: 'grant' },
  )

  claimStory(
    'can be used with a grant, until it is withdrawn',
    async (hub, world) => {
      await hub.create(aClaim('default/sales', SALES))
      await hub.create(aJob('other/daily', making(SALES)))
      await hub.create(aGrant('default', MADE))
      await world.settle()
      assert.match((await saidOf(hub, 'default/sales', 'Resolved')) ?? '', /^False NotProducedYet: Job other\/daily makes/)
      await hub.create(aMadeSource())
      await world.settle()
      assert.equal(await stateOf(hub, 'default/sales'), `Bound ${MADE}`)
      await hub.delete(ReferenceGrant.resource, 'other/data')
      await world.settle()
      assert.deepEqual(await seen(hub, 'default/sales'), ['Pending NotPermitted', NOT_PERMITTED])
      assert.equal(await saidOf(hub, 'default/sales', 'Bound'), `False BindingInvalid: DataSource ${MADE} can no longer be used`)
      assert.deepEqual(await refsOf(hub, MADE), [])
      await hub.create(aSource('written', SALES))
      await world.settle()
      assert.equal(await stateOf(hub, 'default/sales'), 'Bound written', 'what a person wrote is for everybody')
    },
    { referenceConsent: 'grant' },
  )

  claimStory('is open where nobody has stated anything, and closed by the first grant for others', async (hub, world) => {
    await hub.create(aMadeSource())
    await hub.create(aClaim('default/sales', SALES))
    await hub.create(aClaim('default/not', 'hive/table/nothing'))
    await world.settle()
    assert.deepEqual([await stateOf(hub, 'default/sales'), await stateOf(hub, 'default/not')], [`Bound ${MADE}`, 'Pending NoSuchSource'])
    await hub.create(aGrant('third'))
    await world.settle()
    for (const name of ['sales', 'not']) assert.equal((await seen(hub, `default/${name}`))[1], NOT_PERMITTED)
    await hub.patch(ReferenceGrant.resource, 'other/data', { spec: aGrant('default').spec as Record<string, unknown> })
    await world.settle()
    assert.deepEqual([await stateOf(hub, 'default/sales'), await stateOf(hub, 'default/not')], [`Bound ${MADE}`, 'Pending NoSuchSource'])
  })

  claimStory('is the last choice: an older source of another namespace does not steer a claim', async (hub, world) => {
    await hub.create(aMadeSource())
    await world.advance(2000)
    await hub.create(aSource('written', SALES, { locality: { clusterNames: ['nowhere'] } }))
    await hub.create(aClaim('default/sales', SALES))
    await world.settle()
    assert.equal(await stateOf(hub, 'default/sales'), 'Bound written NoLocality')
  })
})
