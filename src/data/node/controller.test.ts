import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../faultsim/story.ts'
import { survives } from '../../faultsim/survives.ts'
import { CACHE_RUNTIMES } from '../../kinds/fluid/resources.ts'
import { NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { InvariantView } from '../../runtime/seams/seeded.ts'
import { nodeController } from './controller.ts'
import { aCacheRuntime, anAlluxioRuntime, cached, disk, forgotten, labelsOf, memory, modulesWith, scaled } from './testing.ts'

const modules = modulesWith()
const member = { hub: false, members: 1, nodes: 2, modules }
const DEMO = {
  'fluid.io/s-default-demo': 'true',
  'fluid.io/s-cache-default-demo': 'true',
  'fluid.io/s-h-cache-m-default-demo': '2GiB',
  'fluid.io/s-h-cache-d-default-demo': '1.5GiB',
  'fluid.io/s-h-cache-t-default-demo': '3.5GiB',
  'fluid.io/dataset-num': '1',
  fluid_exclusive: 'default_demo',
}
const demo = () => aCacheRuntime('default/demo', [memory('2Gi'), disk('1536Mi')])
const nodeNames = async (cluster: { list: (resource: typeof NODES) => Promise<{ metadata: { name?: string } }[]> }): Promise<string[]> =>
  (await cluster.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()

describe('a node', () => {
  story(
    'has the labels of the datasets whose workers it has, until they are gone',
    async (world) => {
      const { member: cluster } = world
      const [one = '', two = ''] = await nodeNames(cluster)
      await cached(cluster, demo(), { node: one })
      await world.settle()
      assert.deepEqual([await labelsOf(cluster, one), await labelsOf(cluster, two)], [DEMO, {}])
      await cached(cluster, anAlluxioRuntime('default/other', [{ mediumtype: 'MEM', quota: '1Gi' }]), { node: one, placement: 'Shared' })
      await world.settle()
      assert.deepEqual(await labelsOf(cluster, one), {
        ...DEMO,
        'fluid.io/s-default-other': 'true',
        'fluid.io/s-alluxio-default-other': 'true',
        'fluid.io/s-h-alluxio-m-default-other': '1GiB',
        'fluid.io/s-h-alluxio-t-default-other': '1GiB',
        'fluid.io/dataset-num': '2',
      })
      await scaled(cluster, 'default/other', 0)
      await world.settle()
      assert.deepEqual(await labelsOf(cluster, one), DEMO)
      await forgotten(cluster, 'default/demo')
      await world.settle()
      assert.deepEqual(await labelsOf(cluster, one), {})
    },
    member,
  )

  story(
    'keeps them while a worker is being deleted, even if its dataset is gone',
    async (world) => {
      const { member: cluster } = world
      const [one = ''] = await nodeNames(cluster)
      await cached(cluster, demo(), { node: one })
      await world.settle()
      await cluster.patch(PODS, 'default/demo-worker-0', { metadata: { finalizers: ['example.com/hold'] } })
      await forgotten(cluster, 'default/demo')
      await world.settle()
      assert.equal(await cluster.get(CACHE_RUNTIMES, 'default/demo'), undefined)
      assert.deepEqual(await labelsOf(cluster, one), DEMO)
      await cluster.patch(PODS, 'default/demo-worker-0', { metadata: { finalizers: null } })
      await world.settle()
      assert.deepEqual(await labelsOf(cluster, one), {})
    },
    member,
  )

  story(
    'shows new sizes, and gets its labels back from whoever changes them',
    async (world) => {
      const { member: cluster } = world
      const [one = ''] = await nodeNames(cluster)
      await cached(cluster, demo(), { node: one })
      await world.settle()
      await cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { worker: { tieredStore: { levels: [memory('1Gi')] } } } })
      await cluster.patch(NODES, one, {
        metadata: { labels: { 'fluid.io/s-default-demo': null, 'fluid.io/s-nobody-knows': 'true', 'fluid.io/f-default-demo': 'true' } },
      })
      await world.settle()
      const { 'fluid.io/s-h-cache-d-default-demo': _disk, ...others } = DEMO
      const small = { 'fluid.io/s-h-cache-m-default-demo': '1GiB', 'fluid.io/s-h-cache-t-default-demo': '1GiB' }
      assert.deepEqual(await labelsOf(cluster, one), { ...others, ...small })
      assert.equal((await cluster.get(NODES, one))?.metadata.labels?.['fluid.io/f-default-demo'], 'true')
    },
    member,
  )

  story(
    'gets none for a pod that only has the labels of a worker',
    async (world) => {
      const { member: cluster } = world
      const [one = ''] = await nodeNames(cluster)
      const labels = { 'fluid.io/dataset': 'default-demo', 'cacheruntime.fluid.io/name': 'demo' }
      await cluster.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'default', name: 'intruder', labels },
        spec: { nodeName: one, containers: [{ name: 'c', image: 'i' }] },
      })
      await world.settle()
      assert.deepEqual(await labelsOf(cluster, one), {})
    },
    member,
  )

  story(
    'that is excluded has none',
    async (world) => {
      const { member: cluster } = world
      const [one = ''] = await nodeNames(cluster)
      await cluster.patch(NODES, one, { metadata: { labels: { quiet: 'yes', 'fluid.io/s-a-b': 'true' } } })
      await cached(cluster, demo(), { node: one })
      await world.settle()
      assert.deepEqual(await labelsOf(cluster, one), {})
      await cluster.patch(NODES, one, { metadata: { labels: { quiet: null } } })
      await world.settle()
      assert.deepEqual(await labelsOf(cluster, one), DEMO)
    },
    { ...member, modules: modulesWith({ excludeNodeSelector: 'quiet in (yes, very)' }) },
  )

  it('cannot be excluded by a selector that is none', () =>
    assert.throws(() => nodeController({ excludeNodeSelector: 'a in b' }), /the selector of nodes that get no labels, "a in b", is none: /))
})

/** Datasets with workers on a node, by the names that workers have in this story. */
function datasetsOn(view: InvariantView, node: string): string[] {
  const workers = (view.list('pods') as Pod[]).filter(({ spec }) => spec?.nodeName === node)
  return [...new Set(workers.map(({ metadata }) => metadata.labels?.['cacheruntime.fluid.io/name'] ?? ''))].sort()
}

survives(nodeController(), {
  modules,
  nodes: 1,
  steps: [
    (cluster) => cached(cluster, demo(), { placement: 'Shared' }),
    (cluster) => cached(cluster, aCacheRuntime('default/other'), { placement: 'Shared' }),
    (cluster) => cluster.patch(CACHE_RUNTIMES, 'default/demo', { spec: { worker: { tieredStore: { levels: [memory('1Gi')] } } } }),
    (cluster) => scaled(cluster, 'default/demo', 0),
    (cluster) => scaled(cluster, 'default/demo', 1),
    (cluster) => forgotten(cluster, 'default/other'),
  ],
  invariants: [
    {
      says: 'a label does not go while a worker of its dataset is on the node, and does not come without one',
      about: ['nodes'],
      broken: (view, { object, previous, isPeoples, isDeletion }) => {
        if (isPeoples || isDeletion) return undefined
        const there = datasetsOn(view, object.metadata.name ?? '')
        const has = (node: typeof previous, dataset: string): boolean =>
          node?.metadata.labels?.[`fluid.io/s-default-${dataset}`] !== undefined
        return ['demo', 'other'].find((dataset) => {
          const [before, now] = [has(previous, dataset), has(object, dataset)]
          return before !== now && there.includes(dataset) !== now
        })
      },
    },
    {
      says: 'the number of datasets is that of the labels beside it',
      about: ['nodes'],
      broken: (_view, { object }) => {
        const labels = object.metadata.labels ?? {}
        const count = Object.keys(labels).filter((key) => key.startsWith('fluid.io/s-default-')).length
        const shown = labels['fluid.io/dataset-num'] ?? '0'
        return shown === String(count) ? undefined : `${shown} for ${count}`
      },
    },
  ],
  async atRest(cluster) {
    const [node = ''] = await nodeNames(cluster)
    const { 'fluid.io/s-default-demo': common, 'fluid.io/s-h-cache-m-default-demo': size, ...others } = await labelsOf(cluster, node)
    assert.deepEqual([common, size, others['fluid.io/dataset-num']], ['true', '1GiB', '1'])
    assert.deepEqual(
      Object.keys(others).filter((key) => key.endsWith('-other')),
      [],
    )
  },
})
