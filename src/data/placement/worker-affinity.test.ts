import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { both, type WorkerPlacement, workerAffinity } from './worker-affinity.ts'

const FUSE = 'fluid.io/f-default-demo'
const PLACE: WorkerPlacement = { affinity: undefined, fuseLabel: FUSE, datasetId: 'default-demo', usesNodeDirectories: false }
const dataset = (spec: NonNullable<Dataset['spec']>): Dataset => ({
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'Dataset',
  metadata: {},
  spec,
})
const zone = (value: string) => ({ matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] })
const disk = (value: string) => ({ matchExpressions: [{ key: 'disk', operator: 'In', values: [value] }] })

describe('the affinity of workers', () => {
  it('keeps every other worker off the node, unless the dataset is shared', () => {
    for (const placement of [undefined, '', 'Exclusive'] as const) {
      const { podAntiAffinity } = workerAffinity(dataset({ ...(placement === undefined ? {} : { placement }) }), PLACE)
      assert.deepEqual(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0]?.labelSelector, {
        matchExpressions: [{ key: 'fluid.io/dataset', operator: 'Exists' }],
      })
      assert.equal(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, undefined)
    }
    const { podAntiAffinity } = workerAffinity(dataset({ placement: 'Shared' }), PLACE)
    assert.deepEqual(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0]?.labelSelector, {
      matchExpressions: [{ key: 'fluid.io/dataset-placement', operator: 'In', values: ['Exclusive'] }],
    })
    assert.equal(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.[0]?.weight, 50)
  })

  it('keeps shared workers of one dataset apart where they keep blocks in directories of the node', () => {
    const termsOf = (placement: 'Shared' | 'Exclusive', usesNodeDirectories: boolean) =>
      workerAffinity(dataset({ placement }), { ...PLACE, usesNodeDirectories }).podAntiAffinity
        ?.requiredDuringSchedulingIgnoredDuringExecution
    const same = { labelSelector: { matchLabels: { 'fluid.io/dataset': 'default-demo' } }, topologyKey: 'kubernetes.io/hostname' }
    assert.deepEqual(termsOf('Shared', true)?.slice(1), [same])
    assert.deepEqual(termsOf('Shared', false)?.slice(1), [])
    assert.deepEqual(termsOf('Exclusive', true)?.slice(1), [])
  })

  it('prefers nodes that have readers, and demands what dataset and template demand', () => {
    const template = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [disk('ssd')] } } }
    const { nodeAffinity } = workerAffinity(dataset({ nodeAffinity: { required: { nodeSelectorTerms: [zone('a'), zone('b')] } } }), {
      ...PLACE,
      affinity: template,
    })
    assert.deepEqual(nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution, [
      { weight: 100, preference: { matchExpressions: [{ key: FUSE, operator: 'In', values: ['true'] }] } },
    ])
    assert.deepEqual(
      nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms,
      both([disk('ssd')], [zone('a'), zone('b')]),
    )
  })
})

describe('two lists of alternatives', () => {
  it('hold together: each of one with each of the other', () => {
    assert.deepEqual(both([zone('a'), zone('b')], [disk('ssd')]), [
      { matchExpressions: [...zone('a').matchExpressions, ...disk('ssd').matchExpressions] },
      { matchExpressions: [...zone('b').matchExpressions, ...disk('ssd').matchExpressions] },
    ])
    assert.deepEqual(both([], [zone('a')]), [zone('a')])
    assert.deepEqual(both([{}], [zone('a')]), [zone('a')])
    assert.deepEqual(both([], []), [])
  })
})
