import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject } from '../../../kube/meta.ts'
import { nodeResources, podResources, resourceListOf } from './amounts.ts'
import { createSums, type Sums } from './sums.ts'

type Resources = Record<string, string>

const aNode = (allocatable: Resources, ready = 'True'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  status: { allocatable, conditions: [{ type: 'Ready', status: ready }] },
})
const container = (requests: Resources, more: object = {}) => ({ name: 'c', resources: { requests }, ...more })
const aPod = (spec: object, phase = 'Running'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default' },
  spec,
  status: { phase },
})

describe('what a pod asks for', () => {
  const sidecar = (requests: Resources) => container(requests, { restartPolicy: 'Always' })
  const table: [string, object, Resources][] = [
    ['nothing', { containers: [container({})] }, {}],
    [
      'the sum of its containers',
      { containers: [container({ cpu: '100m', memory: '1Gi' }), container({ cpu: '0.4' })] },
      { cpu: '500m', memory: '1Gi' },
    ],
    [
      'the largest of its init containers, when that is more',
      {
        containers: [container({ cpu: '1', memory: '1Gi' })],
        initContainers: [container({ cpu: '2' }), container({ cpu: '3', memory: '512Mi' })],
      },
      { cpu: '3', memory: '1Gi' },
    ],
    [
      'sidecars run beside both',
      { containers: [container({ cpu: '1' })], initContainers: [sidecar({ cpu: '500m' }), container({ cpu: '2' })] },
      { cpu: '2500m' },
    ],
    ['and its overhead', { containers: [container({ cpu: '1' })], overhead: { cpu: '250m' } }, { cpu: '1250m' }],
    ['whole devices', { containers: [container({ 'nvidia.com/gpu': '2' })] }, { 'nvidia.com/gpu': '2' }],
    ['what cannot be read counts for nothing', { containers: [container({ cpu: 'much', memory: '1Mi' })] }, { memory: '1Mi' }],
  ]
  for (const [name, spec, expected] of table) it(name, () => assert.deepEqual(resourceListOf(podResources(aPod(spec)).requests), expected))

  it('counts as being allocated until it has a node, and then until it is over', () => {
    const spec = { containers: [container({ cpu: '1' })] }
    assert.deepEqual(
      [aPod(spec, 'Pending'), aPod({ ...spec, nodeName: 'n' }), aPod({ ...spec, nodeName: 'n' }, 'Succeeded'), aPod(spec, 'Failed')].map(
        (pod) => podResources(pod).counts,
      ),
      ['allocating', 'allocated', undefined, 'allocating'],
    )
  })
})

describe('the sums over a member', () => {
  it('are those of all nodes, and of pods by whether they have one', () => {
    const sums = createSums()
    sums.node(undefined, nodeResources(aNode({ cpu: '4', memory: '8Gi', pods: '110', 'hugepages-2Mi': '0' })))
    sums.node(undefined, nodeResources(aNode({ cpu: '3500m', memory: '8388608Ki', pods: '110' })))
    sums.node(undefined, nodeResources(aNode({ cpu: '64' }, 'Unknown')))
    sums.pod(undefined, podResources(aPod({ nodeName: 'n', containers: [container({ cpu: '1', memory: '1Gi' })] })))
    sums.pod(undefined, podResources(aPod({ containers: [container({})] }, 'Pending')))
    assert.deepEqual(sums.summary(), {
      nodeSummary: { totalNum: 3, readyNum: 2 },
      resourceSummary: {
        allocatable: { cpu: '71500m', 'hugepages-2Mi': '0', memory: '16Gi', pods: '220' },
        allocating: { pods: '1' },
        allocated: { cpu: '1', memory: '1Gi', pods: '1' },
      },
    })
  })

  it('are empty for a member without anything', () => {
    assert.deepEqual(createSums().summary(), { nodeSummary: {}, resourceSummary: {} })
  })

  it('are written as nodes write them', () => {
    const sums = createSums()
    for (let i = 0; i < 2; i++) sums.node(undefined, nodeResources(aNode({ memory: '8G', 'ephemeral-storage': '95491281920' })))
    assert.deepEqual(sums.summary().resourceSummary.allocatable, { 'ephemeral-storage': '190982563840', memory: '16G' })
    for (let i = 0; i < 3; i++) sums.node(undefined, nodeResources(aNode({ memory: '1024Ki' })))
    assert.equal(sums.summary().resourceSummary.allocatable?.memory, '15628072Ki')
  })

  const quantity = fc.constantFrom('0', '1', '100m', '1500m', '2', '1Gi', '512Mi', '1e3', '9223372036854775807')
  const resources = fc.dictionary(fc.constantFrom('cpu', 'memory', 'ephemeral-storage', 'nvidia.com/gpu', 'hugepages-2Mi'), quantity)
  const node = fc.tuple(resources, fc.constantFrom('True', 'False')).map(([list, ready]) => aNode(list, ready))
  const pod = fc
    .tuple(resources, resources, fc.constantFrom(undefined, 'n'), fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'))
    .map(([own, init, nodeName, phase]) => aPod({ nodeName, containers: [container(own)], initContainers: [container(init)] }, phase))
  /** `[which object, its new state]`: undefined is its deletion. */
  const events = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('node' as const), id: fc.nat(5), now: fc.option(node, { nil: undefined }) }),
      fc.record({ kind: fc.constant('pod' as const), id: fc.nat(8), now: fc.option(pod, { nil: undefined }) }),
    ),
    { maxLength: 60 },
  )
  const take = (sums: Sums, kind: 'node' | 'pod', old: KubeObject | undefined, now: KubeObject | undefined): void => {
    if (kind === 'node') sums.node(old && nodeResources(old), now && nodeResources(now))
    else sums.pod(old && podResources(old), now && podResources(now))
  }

  it('kept by events equal what counting everything anew gives', () => {
    fc.assert(
      fc.property(events, (happened) => {
        const byEvents = createSums()
        const live = new Map<string, { kind: 'node' | 'pod'; object: KubeObject }>()
        for (const { kind, id, now } of happened) {
          const key = `${kind} ${id}`
          take(byEvents, kind, live.get(key)?.object, now)
          if (now === undefined) live.delete(key)
          else live.set(key, { kind, object: now })
        }
        const anew = createSums()
        for (const { kind, object } of [...live.values()].reverse()) take(anew, kind, undefined, object)
        assert.deepEqual(byEvents.summary(), anew.summary())
      }),
    )
  })
})
