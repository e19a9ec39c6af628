/** Pods that ask for it run where their data is, or near it; what their authors said themselves is kept. */
import assert from 'node:assert/strict'
import { NODES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { NodeSelectorTerm, Pod } from '../../../src/kinds/kubernetes/types.ts'
import { isBound, isLabelled, nodesUnder, there } from '../expectations.ts'
import { aClass, aDataset, another, aReader, requiring, serve } from '../manifests.ts'
import type { DataArea, DataTestbed } from '../story.ts'

const cached = ({ namespace }: DataTestbed, name = 'demo'): NodeSelectorTerm => ({
  matchExpressions: [{ key: `fluid.io/s-${namespace}-${name}`, operator: 'In', values: ['true'] }],
})

const on = (...hosts: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: hosts }],
})

const asIn = (...terms: NodeSelectorTerm[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
})

const requiredOf = ({ spec }: Pod): NodeSelectorTerm[] | undefined =>
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms

const preferredOf = ({ spec }: Pod) => spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []

/** Bound, with its nodes labelled. */
async function isCached(testbed: DataTestbed, name = 'demo'): Promise<string[]> {
  await isBound(testbed, name)
  const nodes = await nodesUnder(testbed, `${name}-worker`)
  await testbed.until(`nodes of ${name} labelled`, async () =>
    (await Promise.all(nodes.map((node) => isLabelled(testbed, node, name)))).every(Boolean),
  )
  return nodes
}

const nodeOf = async (testbed: DataTestbed, name = 'reader'): Promise<string> => {
  await testbed.until(`${name} has a node`, async () => ((await testbed.get(PODS, name))?.spec?.nodeName ?? '') !== '')
  return (await there(testbed, PODS, name)).spec?.nodeName ?? ''
}

const workerOn = (...nodes: string[]) => ({
  dataset: { placement: 'Shared' as const, nodeAffinity: { required: { nodeSelectorTerms: [on(...nodes)] } } },
  runtime: { worker: { replicas: nodes.length } },
})

export const locality: DataArea = {
  name: 'locality',
  stories: [
    {
      name: 'preferred: a pod goes to the node of the cache, and says which datasets it uses',
      isSample: true,
      async run(testbed) {
        await serve(testbed)
        const [node] = await isCached(testbed)
        const reader = await testbed.create(aReader(testbed))
        assert.deepEqual(preferredOf(reader), [{ weight: 100, preference: cached(testbed) }])
        assert.deepEqual(requiredOf(reader), testbed.ownNodes.nodeSelectorTerms)
        assert.equal(reader.metadata.annotations?.['fluid.io/datasets-in-use'], 'demo')
        assert.equal(reader.spec?.containers?.[0]?.volumeMounts?.[0]?.mountPropagation, 'HostToContainer')
        assert.equal(await nodeOf(testbed), node)
      },
    },
    {
      name: 'required: a pod waits for the node of the cache, and for no other',
      async run(testbed) {
        await serve(testbed)
        const [node = ''] = await isCached(testbed)
        await testbed.patch(NODES, node, { spec: { unschedulable: true } })
        const reader = await testbed.create(aReader(testbed, { labels: requiring('demo') }))
        assert.deepEqual(requiredOf(reader), [
          {
            matchExpressions: [
              ...(testbed.ownNodes.nodeSelectorTerms?.[0]?.matchExpressions ?? []),
              ...(cached(testbed).matchExpressions ?? []),
            ],
          },
        ])
        await testbed.until('it waits', async () => {
          const { status } = await there(testbed, PODS, 'reader')
          return status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable') === true
        })
        await testbed.patch(NODES, node, { spec: { unschedulable: null } })
        assert.equal(await nodeOf(testbed), node)
      },
    },
    {
      name: 'a pod that says itself where it belongs is left as it is',
      async run(testbed) {
        await serve(testbed)
        await isCached(testbed)
        const [, second] = testbed.nodes
        const zone = { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'Exists' }] }
        const spec = { ...asIn(zone), nodeSelector: { 'kubernetes.io/hostname': second } }
        const reader = await testbed.create(aReader(testbed, { labels: requiring('demo'), spec }))
        assert.deepEqual([requiredOf(reader), preferredOf(reader)], [[zone], []])
        assert.equal(await nodeOf(testbed), second)
      },
    },
    {
      name: 'other demands of the pod hold together with those of its dataset, each alternative',
      async run(testbed) {
        const [first, second, third] = testbed.nodes
        await testbed.create(aClass(testbed))
        await another(testbed, 'demo', workerOn(second))
        await isCached(testbed)
        const spec = asIn(on(first, second), on(third))
        const reader = await testbed.create(aReader(testbed, { labels: requiring('demo'), spec }))
        const both = (host: NodeSelectorTerm): NodeSelectorTerm => ({
          matchExpressions: [...(host.matchExpressions ?? []), ...(cached(testbed).matchExpressions ?? [])],
        })
        assert.deepEqual(requiredOf(reader), [both(on(first, second)), both(on(third))])
        assert.equal(await nodeOf(testbed), second)
      },
    },
    {
      name: 'several required datasets: only where all of them are',
      isSample: true,
      async run(testbed) {
        const [first, second, third] = testbed.nodes
        await testbed.create(aClass(testbed))
        await another(testbed, 'left', workerOn(first, second))
        await another(testbed, 'right', workerOn(second, third))
        for (const name of ['left', 'right']) {
          await testbed.until(
            `two workers of ${name}`,
            async () => (await nodesUnder(testbed, `${name}-worker`)).filter((node) => node !== '').length === 2,
          )
          await isCached(testbed, name)
        }
        await testbed.create(aReader(testbed, { claims: ['left', 'right'], labels: requiring('left', 'right') }))
        assert.equal(await nodeOf(testbed), second)
        const [terms = {}, ...others] = requiredOf(await there(testbed, PODS, 'reader')) ?? []
        assert.deepEqual(others, [], 'no alternative')
        const keys = terms.matchExpressions?.map(({ key }) => key) ?? []
        assert.deepEqual(keys.slice(-2), [`fluid.io/s-${testbed.namespace}-left`, `fluid.io/s-${testbed.namespace}-right`])
      },
    },
    {
      name: 'several required datasets that are nowhere together: the pod waits until they are',
      async run(testbed) {
        const [first, second] = testbed.nodes
        await testbed.create(aClass(testbed))
        await another(testbed, 'left', workerOn(first))
        await another(testbed, 'right', workerOn(second))
        for (const name of ['left', 'right']) await isCached(testbed, name)
        await testbed.create(aReader(testbed, { claims: ['left', 'right'], labels: requiring('left', 'right') }))
        await testbed.settle()
        assert.equal((await there(testbed, PODS, 'reader')).spec?.nodeName, undefined)
        await testbed.patch(NODES, second, { spec: { unschedulable: true } })
        await testbed.delete(PODS, 'right-worker-0')
        await testbed.until('gone from there', async () => !(await isLabelled(testbed, second, 'right')))
        await testbed.patch(NODES, second, { spec: { unschedulable: null } })
      },
    },
    {
      name: 'one required and one preferred dataset: a demand and a wish',
      async run(testbed) {
        const [first, second] = testbed.nodes
        await testbed.create(aClass(testbed))
        await another(testbed, 'must', workerOn(first, second))
        await another(testbed, 'may', workerOn(second))
        for (const name of ['must', 'may']) await isCached(testbed, name)
        const reader = await testbed.create(aReader(testbed, { claims: ['may', 'must'], labels: requiring('must') }))
        assert.deepEqual(preferredOf(reader)[0], { weight: 100, preference: cached(testbed, 'may') })
        assert.equal(reader.metadata.annotations?.['fluid.io/datasets-in-use'], 'may,must')
        assert.equal(await nodeOf(testbed), second)
      },
    },
    {
      name: 'the same pod is placed by the same terms, in whatever order it names its claims',
      async run(testbed) {
        const [first, second] = testbed.nodes
        await testbed.create(aClass(testbed))
        for (const [name, node] of [
          ['a', first],
          ['b', second],
        ] as const)
          await another(testbed, name, workerOn(node))
        for (const name of ['a', 'b']) await isCached(testbed, name)
        const forth = await testbed.create(aReader(testbed, { name: 'forth', claims: ['a', 'b'] }))
        const back = await testbed.create(aReader(testbed, { name: 'back', claims: ['b', 'a'] }))
        assert.deepEqual(preferredOf(forth), preferredOf(back))
      },
    },
    {
      name: 'a pod that asks, without datasets, keeps away from nodes with caches',
      async run(testbed) {
        await serve(testbed, { runtime: { worker: { replicas: 2 } } })
        const nodes = await isCached(testbed)
        const reader = await testbed.create(aReader(testbed, { claims: [] }))
        assert.deepEqual(preferredOf(reader), [
          { weight: 100, preference: { matchExpressions: [{ key: 'fluid.io/dataset-num', operator: 'DoesNotExist' }] } },
        ])
        assert.ok(!nodes.includes(await nodeOf(testbed)))
      },
    },
    {
      name: 'a pod that does not ask is nobody’s business',
      async run(testbed) {
        await serve(testbed)
        await isCached(testbed)
        const plain = await testbed.create({ ...aReader(testbed), metadata: { name: 'reader' } } as Pod)
        assert.deepEqual([preferredOf(plain), requiredOf(plain)], [[], testbed.ownNodes.nodeSelectorTerms])
        assert.equal(plain.metadata.annotations?.['fluid.io/datasets-in-use'], undefined)
      },
    },
    {
      name: 'where clients may run, readers must: the selector of the runtime is theirs, too',
      async run(testbed) {
        const [, , third] = testbed.nodes
        await testbed.patch(NODES, third, { metadata: { labels: { disk: 'ssd' } } })
        await serve(testbed, { runtime: { client: { cleanPolicy: 'OnRuntimeDeleted', nodeSelector: { disk: 'ssd' } } } })
        await isCached(testbed)
        await testbed.create(aReader(testbed))
        assert.equal(await nodeOf(testbed), third)
      },
    },
    {
      name: 'a pod comes as a whole or not at all: refused until its dataset is there and bound',
      async run(testbed) {
        await assert.rejects(testbed.create(aReader(testbed)), /failed to get the following PVCs \[demo\]: create them first/)
        await testbed.create(aClass(testbed))
        await testbed.create(aDataset(testbed))
        await testbed.settle()
        await assert.rejects(testbed.create(aReader(testbed)), /failed to get the following PVCs \[demo\]/)
        assert.deepEqual(await testbed.list(PODS), [])
      },
    },
    {
      name: 'a label that requires what the pod does not mount is told, and changes nothing',
      async run(testbed) {
        await serve(testbed)
        await isCached(testbed)
        const reader = await testbed.create(aReader(testbed, { labels: requiring('other') }))
        assert.deepEqual(requiredOf(reader), testbed.ownNodes.nodeSelectorTerms)
        assert.deepEqual(preferredOf(reader), [{ weight: 100, preference: cached(testbed) }])
      },
    },
    {
      name: 'the zone of the workers, where their nodes are taken',
      async run(testbed) {
        const [first, second] = testbed.nodes
        const zone = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['near'] }
        for (const node of [first, second]) await testbed.patch(NODES, node, { metadata: { labels: { [zone.key]: 'near' } } })
        await testbed.create(aClass(testbed))
        const near = { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [zone] }] } } }
        await another(testbed, 'demo', { dataset: near })
        const [node = ''] = await isCached(testbed)
        await testbed.patch(NODES, node, { spec: { unschedulable: true } })
        const reader = await testbed.create(aReader(testbed))
        assert.deepEqual(preferredOf(reader), [
          { weight: 100, preference: cached(testbed) },
          { weight: 50, preference: { matchExpressions: [zone] } },
        ])
        assert.equal(await nodeOf(testbed), node === first ? second : first)
      },
    },
  ],
}
