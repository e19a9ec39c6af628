/** Where workers run, what nodes say about them, and what the dataset says when there is no node left. */
import assert from 'node:assert/strict'
import { CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { NODES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import { cacheLabels, isBound, isGone, isLabelled, nodesUnder, runtimeOf, there, waitsBecause } from '../expectations.ts'
import { another, aReader, serve } from '../manifests.ts'
import type { DataArea, DataTestbed } from '../story.ts'

/** A pod that goes where it wants. */
const NOT_ASKING = { 'fuse.serverful.fluid.io/inject': 'false' }
const SHARED = { dataset: { placement: 'Shared' as const } }

/** The labels that a worker without tiers gives its node. */
const labelsOf = ({ namespace }: DataTestbed, name: string): Record<string, string> => ({
  [`fluid.io/s-${namespace}-${name}`]: 'true',
  [`fluid.io/s-cache-${namespace}-${name}`]: 'true',
  [`fluid.io/s-h-cache-t-${namespace}-${name}`]: '0B',
})

const nodeOf = async (testbed: DataTestbed, name: string): Promise<string> => {
  const [node = ''] = await nodesUnder(testbed, `${name}-worker`)
  assert.notEqual(node, '', `the worker of ${name} has no node`)
  return node
}

export const placement: DataArea = {
  name: 'placement',
  stories: [
    {
      name: 'Exclusive: three datasets take a node each, and each node says whose it is',
      async run(testbed) {
        await serve(testbed)
        for (const name of ['second', 'third']) await another(testbed, name)
        const names = ['demo', 'second', 'third']
        for (const name of names) await isBound(testbed, name)
        const nodes = await Promise.all(names.map((name) => nodeOf(testbed, name)))
        assert.deepEqual([...nodes].sort(), testbed.nodes)
        for (const [i, name] of names.entries())
          assert.deepEqual(await cacheLabels(testbed, nodes[i] ?? ''), {
            ...labelsOf(testbed, name),
            'fluid.io/dataset-num': '1',
            fluid_exclusive: `${testbed.namespace}_${name}`,
          })
      },
    },
    {
      name: 'Exclusive: the fourth finds no node, says what to do, and is bound when one of the others is gone',
      isSample: true,
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 3 } } })
        await isBound(testbed)
        await another(testbed, 'late')
        await waitsBecause(
          testbed,
          /^worker late-worker-0 finds no node, because .*`placement: Shared`.*--process-nodes.*: 0\/\d+ nodes/,
          'late',
        )
        const { status } = await runtimeOf(testbed, 'late')
        assert.deepEqual([status.worker?.phase, status.worker?.reason], ['NotReady', 'Unschedulable'])
        assert.match(status.worker?.message ?? '', /set placement: Shared on Dataset late, or add nodes$/)
        await testbed.delete(DATASETS, 'demo')
        await isBound(testbed, 'late')
      },
    },
    {
      name: 'Shared: four datasets on three nodes, and every node counts its own',
      isSample: true,
      async run(testbed) {
        await serve(testbed, SHARED)
        const names = ['demo', 'second', 'third', 'fourth']
        for (const name of names.slice(1)) await another(testbed, name, SHARED)
        for (const name of names) await isBound(testbed, name)
        const found = await Promise.all(names.map(async (name) => ({ name, node: await nodeOf(testbed, name) })))
        for (const node of testbed.nodes) {
          const own = found.filter((one) => one.node === node)
          const count: Record<string, string> = own.length === 0 ? {} : { 'fluid.io/dataset-num': String(own.length) }
          assert.deepEqual(await cacheLabels(testbed, node), Object.assign(count, ...own.map(({ name }) => labelsOf(testbed, name))))
        }
      },
    },
    {
      name: 'Shared keeps off the node of an Exclusive one, and Exclusive off that of a Shared one',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 2 } } })
        await isBound(testbed)
        for (const name of ['left', 'right']) await another(testbed, name, SHARED)
        for (const name of ['left', 'right']) await isBound(testbed, name)
        const exclusive = await nodesUnder(testbed, 'demo-worker')
        const [shared = ''] = testbed.nodes.filter((node) => !exclusive.includes(node))
        assert.deepEqual([await nodeOf(testbed, 'left'), await nodeOf(testbed, 'right')], [shared, shared])
        await another(testbed, 'late')
        await waitsBecause(testbed, /`placement: Shared`/, 'late')
      },
    },
    {
      name: 'what was Exclusive and is made Shared lets others in, and its nodes are nobody’s any more',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 3 } } })
        await isBound(testbed)
        await another(testbed, 'late', SHARED)
        await waitsBecause(testbed, /^worker late-worker-0 finds no node: /, 'late')
        await testbed.patch(DATASETS, 'demo', { spec: { placement: 'Shared' } })
        await isBound(testbed, 'late')
        await isBound(testbed)
        for (const node of testbed.nodes) assert.equal((await cacheLabels(testbed, node)).fluid_exclusive, undefined)
        assert.equal((await cacheLabels(testbed, await nodeOf(testbed, 'late')))['fluid.io/dataset-num'], '2')
      },
    },
    {
      name: 'a worker that moves takes the labels with it',
      isSample: true,
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        const before = await nodeOf(testbed, 'demo')
        await testbed.until('the first node labelled', () => isLabelled(testbed, before))
        await testbed.patch(NODES, before, { spec: { unschedulable: true } })
        await testbed.delete(PODS, 'demo-worker-0')
        await testbed.until('the worker elsewhere', async () => {
          const [node = before] = await nodesUnder(testbed, 'demo-worker')
          return node !== before && node !== '' && (await isLabelled(testbed, node)) && !(await isLabelled(testbed, before))
        })
        assert.deepEqual(await cacheLabels(testbed, before), {})
        assert.deepEqual(await cacheLabels(testbed, await nodeOf(testbed, 'demo')), {
          ...labelsOf(testbed, 'demo'),
          'fluid.io/dataset-num': '1',
          fluid_exclusive: `${testbed.namespace}_demo`,
        })
        await testbed.patch(NODES, before, { spec: { unschedulable: null } })
      },
    },
    {
      name: 'labels stay while a worker is being deleted: until it is gone, its cache is there',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        const node = await nodeOf(testbed, 'demo')
        await testbed.patch(PODS, 'demo-worker-0', { metadata: { finalizers: ['example.com/slow'] } })
        await testbed.delete(PODS, 'demo-worker-0')
        await testbed.settle()
        assert.ok((await there(testbed, PODS, 'demo-worker-0')).metadata.deletionTimestamp !== undefined)
        assert.equal(await isLabelled(testbed, node), true)
        await testbed.patch(NODES, node, { spec: { unschedulable: true } })
        await testbed.patch(PODS, 'demo-worker-0', { metadata: { finalizers: null } })
        await testbed.until('the labels gone', async () => !(await isLabelled(testbed, node)))
      },
    },
    {
      name: 'of two datasets on a node one leaves: the count falls, the other’s labels stay',
      async run(testbed) {
        await serve(testbed, SHARED)
        await another(testbed, 'second', SHARED)
        const only = { nodeSelector: { 'kubernetes.io/hostname': testbed.nodes[1] } }
        for (const name of ['demo', 'second']) await testbed.patch(CACHE_RUNTIMES, name, { spec: { worker: only } })
        for (const name of ['demo', 'second']) await isBound(testbed, name)
        const node = testbed.nodes[1]
        await testbed.until('both there', async () => (await cacheLabels(testbed, node))['fluid.io/dataset-num'] === '2')
        await testbed.delete(DATASETS, 'second')
        await isGone(testbed, DATASETS, 'second')
        await testbed.until('one left', async () => (await cacheLabels(testbed, node))['fluid.io/dataset-num'] === '1')
        assert.deepEqual(await cacheLabels(testbed, node), { ...labelsOf(testbed, 'demo'), 'fluid.io/dataset-num': '1' })
      },
    },
    {
      name: 'nodes say how much a worker may hold, by medium',
      async run(testbed) {
        const levels = [{ processMemory: { quota: '2Gi' } }, { emptyDir: { quota: '10Gi' } }]
        await serve(testbed, { runtime: { worker: { replicas: 1, tieredStore: { levels } } } })
        await isBound(testbed)
        const labels = await cacheLabels(testbed, await nodeOf(testbed, 'demo'))
        const of = (medium: string) => labels[`fluid.io/s-h-cache-${medium}-${testbed.namespace}-demo`]
        assert.deepEqual([of('m'), of('d'), of('t')], ['2GiB', '10GiB', '12GiB'])
      },
    },
    {
      name: 'labels that no worker accounts for are taken away, and users’ labels are left alone',
      async run(testbed) {
        const [node] = testbed.nodes
        const stale = { 'fluid.io/s-default-old': 'true', 'fluid.io/dataset-num': '3', fluid_exclusive: 'default_old' }
        await testbed.patch(NODES, node, { metadata: { labels: { ...stale, disk: 'ssd' } } })
        await testbed.settle()
        assert.deepEqual(await cacheLabels(testbed, node), {})
        assert.equal((await there(testbed, NODES, node)).metadata.labels?.disk, 'ssd')
      },
    },
    {
      name: 'the dataset and the runtime together say which nodes are meant, and the status repeats it',
      async run(testbed) {
        const [, second] = testbed.nodes
        await serve(testbed, { runtime: { worker: { replicas: 1, nodeSelector: { 'kubernetes.io/hostname': second } } } })
        await isBound(testbed)
        assert.equal(await nodeOf(testbed, 'demo'), second)
        const { status } = await runtimeOf(testbed)
        const { nodeSelectorTerms = [] } = status.cacheAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {}
        const [term] = nodeSelectorTerms
        assert.deepEqual(
          [nodeSelectorTerms.length, term?.matchExpressions],
          [
            1,
            [
              ...(testbed.ownNodes.nodeSelectorTerms?.[0]?.matchExpressions ?? []),
              { key: 'kubernetes.io/hostname', operator: 'In', values: [second] },
            ],
          ],
        )
      },
    },
    {
      name: 'a tainted node is used where the dataset tolerates it',
      async run(testbed) {
        const [, , third] = testbed.nodes
        const { spec } = await there(testbed, NODES, third)
        const taints = [...(spec?.taints ?? []), { key: 'example.com/gpu', effect: 'NoSchedule' }]
        await testbed.patch(NODES, third, { spec: { taints } })
        const only = { worker: { replicas: 1, nodeSelector: { 'kubernetes.io/hostname': third } } }
        await serve(testbed, { runtime: only })
        await waitsBecause(testbed, /^worker demo-worker-0 finds no node: .*untolerated taint/)
        await testbed.patch(DATASETS, 'demo', { spec: { tolerations: [{ key: 'example.com/gpu', operator: 'Exists' }] } })
        await isBound(testbed)
        assert.equal(await nodeOf(testbed, 'demo'), third)
      },
    },
    {
      name: 'a node that comes is taken by the worker that waits for one',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 3 } } })
        await isBound(testbed)
        await another(testbed, 'late')
        await waitsBecause(testbed, /--process-nodes/, 'late')
        const [own] = testbed.nodes
        const { labels } = (await there(testbed, NODES, own)).metadata
        const [key = '', mark = ''] = Object.entries(labels ?? {}).find(([name]) => name.startsWith('example.com/')) ?? []
        await testbed.patch(NODES, testbed.spareNode, { metadata: { labels: { [key]: mark } } })
        await isBound(testbed, 'late')
        assert.equal(await nodeOf(testbed, 'late'), testbed.spareNode)
      },
    },
    {
      name: 'workers rather run where readers are',
      async run(testbed) {
        const [, , third] = testbed.nodes
        await testbed.patch(NODES, third, { spec: { unschedulable: true } })
        await serve(testbed)
        await isBound(testbed)
        assert.notEqual(await nodeOf(testbed, 'demo'), third)
        await testbed.patch(NODES, third, { spec: { unschedulable: null } })
        await testbed.create(aReader(testbed, { labels: NOT_ASKING, spec: { nodeSelector: { 'kubernetes.io/hostname': third } } }))
        await testbed.until('a client there', async () => (await nodesUnder(testbed, 'demo-client')).includes(third))
        await testbed.delete(PODS, 'demo-worker-0')
        await testbed.until('the worker there', async () => (await nodesUnder(testbed, 'demo-worker')).includes(third))
      },
    },
  ],
}
