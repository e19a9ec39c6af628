import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectQuiet } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import { survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { type Dataset, fluidKinds } from '../../kinds/fluid/index.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import type { ConfigMap } from '../../kinds/kubernetes/types.ts'
import type { Resource } from '../../kube/resource.ts'
import { defineModule } from '../../runtime/module/module.ts'
import { storedReader } from '../../runtime/testing.ts'
import { otherModules } from '../testing.ts'
import { accessController } from './controller.ts'
import { type Grant, grantsOf } from './grants.ts'
import { plan } from './plan.ts'

const dataset = (where: string, mountPoint: string, datasetRef?: string[]): Dataset => {
  const [namespace = '', name = ''] = where.split('/')
  return {
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: 'Dataset',
    metadata: { namespace, name },
    spec: { mounts: [{ mountPoint, name: 'm' }] },
    ...(datasetRef === undefined ? {} : { status: { conditions: [], datasetRef } }),
  }
}
const withUid = (of: Dataset, uid = 'u'): Dataset => ({ ...of, metadata: { ...of.metadata, uid } })

describe('a dataset that refers to another one', () => {
  const [watch] = (accessController.watches ?? []).filter(({ resource }) => resource === (DATASETS as Resource))
  const keysOf = (reference: Dataset, original: Dataset) =>
    watch?.keysFor(reference, storedReader(accessController, [[DATASETS as Resource, [reference, original]]]))

  it('makes its original look again when that lists it', () => {
    const original = dataset('own/real', 's3://x', ['a/ref', 'b/ref'])
    assert.deepEqual(keysOf(dataset('a/ref', 'dataset://own/real/train'), original), [{ namespace: 'own', name: 'real' }])
  })
  it('is no pass for an original that does not list it yet', () => {
    assert.deepEqual(keysOf(dataset('c/ref', 'dataset://own/real'), dataset('own/real', 's3://x', ['a/ref'])), [])
  })
})

describe('who may read a dataset', () => {
  const references = new Map(
    [
      dataset('a/ref', 'dataset://own/real'),
      dataset('b/ref', 'dataset://own/real/train'),
      dataset('b/again', 'dataset://own/real/train/'),
      dataset('c/ref', 'dataset://own/other'),
      dataset('d/ref', 's3://bucket'),
      dataset('own/ref', 'dataset://own/real'),
    ].map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]),
  )
  const of = (...refs: string[]): readonly Grant[] => grantsOf(dataset('own/real', 's3://x', refs), (name) => references.get(name)).granted
  const CASES: [string, string[], Grant[]][] = [
    ['nobody', [], []],
    ['a reference to all of it', ['a/ref'], [{ namespace: 'a', subPath: '/' }]],
    ['references to a part, once', ['b/ref', 'b/again'], [{ namespace: 'b', subPath: '/train' }]],
    ['no reference that refers to something else', ['c/ref', 'd/ref'], []],
    ['no reference that is gone', ['e/ref', 'nonsense', 'a/ref/more'], []],
    ['its own namespace anyway', ['own/ref'], []],
    [
      'all others, in order',
      ['b/ref', 'a/ref'],
      [
        { namespace: 'a', subPath: '/' },
        { namespace: 'b', subPath: '/train' },
      ],
    ],
  ]
  for (const [says, refs, expected] of CASES) it(`is ${says}`, () => assert.deepEqual(of(...refs), expected))

  it('are as many as fit, and how many are left is said', () => {
    const refs = Array.from({ length: 10_050 }, (_, i) => `n${i}/ref`)
    const all = grantsOf(dataset('own/real', 's3://x', refs), (name) => dataset(name, 'dataset://own/real'))
    assert.deepEqual([all.granted.length, all.left], [10_000, 50])
    const long = grantsOf(dataset('own/real', 's3://x', refs), (name) => dataset(name, `dataset://own/real/${name}${'x'.repeat(2000)}`))
    assert.ok(JSON.stringify(long.granted).length < 900_000 && long.left > 9000)
    const { events } = plan({ dataset: withUid(dataset('own/real', 's3://x')), grants: all, live: undefined })
    assert.match(events?.[0]?.message ?? '', /^50 references do not fit/)
  })

  it('is not told over a ConfigMap of a user', () => {
    const live: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'real-cache-access' } }
    const own = withUid(dataset('own/real', 's3://x'))
    const planned = plan({ dataset: own, grants: { granted: [{ namespace: 'a', subPath: '/' }], left: 0 }, live })
    assert.deepEqual([planned.actions, planned.events?.[0]?.reason], [[], 'ConfigMapNotOurs'])
    assert.deepEqual(plan({ dataset: own, grants: { granted: [], left: 0 }, live }).events, undefined)
  })
})

const accessForTests = defineModule({
  name: 'access-for-tests',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: fluidKinds },
  defaults: {},
  services: () => ({}),
  controllers: () => [accessController],
})
const modules = [...otherModules, accessForTests]

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const refer = (cluster: WorldCluster, datasetRef: string[]) =>
  cluster.patch(DATASETS, 'default/real', { status: { conditions: [], datasetRef } }, 'status')
async function begin(cluster: WorldCluster): Promise<void> {
  for (const name of ['a', 'b']) await cluster.create(namespace(name))
  await cluster.create(dataset('default/real', 's3://x'))
  await cluster.create(dataset('a/ref', 'dataset://default/real/one'))
  await refer(cluster, ['a/ref'])
}
const listIn = async (cluster: WorldCluster): Promise<string | undefined> =>
  ((await cluster.get(CONFIG_MAPS, 'default/real-cache-access')) as ConfigMap | undefined)?.data?.['namespaces.json']

describe('the list of who may read', () => {
  story(
    'follows the references and what they mount, and is kept as it is',
    async (world) => {
      const { member } = world
      await begin(member)
      await world.settle()
      assert.equal(await listIn(member), '[{"namespace":"a","subPath":"/one"}]')
      await member.patch(DATASETS, 'a/ref', { spec: { mounts: [{ mountPoint: 'dataset://default/real/two', name: 'm' }] } })
      await world.settle()
      assert.equal(await listIn(member), '[{"namespace":"a","subPath":"/two"}]')
      await member.patch(CONFIG_MAPS, 'default/real-cache-access', {
        data: { 'namespaces.json': '[{"namespace":"b","subPath":"/"}]', more: 'x' },
      })
      await world.settle()
      assert.equal(await listIn(member), '[{"namespace":"a","subPath":"/two"}]')
      await member.delete(CONFIG_MAPS, 'default/real-cache-access')
      await world.settle()
      assert.equal(await listIn(member), '[{"namespace":"a","subPath":"/two"}]')
      await refer(member, [])
      await world.settle()
      assert.equal(await listIn(member), undefined, 'consent was withdrawn')
      await member.delete(NAMESPACES, 'b')
      await expectQuiet(world)
    },
    { hub: false, members: 1, modules },
  )

  survives(accessController, {
    modules,
    steps: [
      begin,
      async (cluster) => {
        await cluster.create(dataset('b/ref', 'dataset://default/real'))
        await refer(cluster, ['a/ref', 'b/ref'])
      },
      (cluster) => refer(cluster, ['b/ref']),
      (cluster) => cluster.delete(CONFIG_MAPS, 'default/real-cache-access'),
    ],
    atRest: async (cluster) => {
      assert.equal(await listIn(cluster), '[{"namespace":"b","subPath":"/"}]')
    },
  })
})
