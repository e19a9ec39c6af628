import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkLabelValue, checkQualifiedName } from '../../kube/names.ts'
import { fluidKinds, runtimeKinds } from './index.ts'
import { capacityLabel, commonLabel, datasetId, exclusiveValue, fuseLabel, runtimeFinalizer, runtimeLabel, volumeName } from './names.ts'
import * as resources from './resources.ts'
import { ANNOTATIONS, LABELS, RUNTIME_CONDITION_REASONS, RUNTIME_TYPES } from './well-known.ts'

const UID = '7b6a1a1e-3f0e-4a55-9d0b-0c9f2f6f8a11'
const demo = { namespace: 'default', name: 'demo', uid: UID }

describe('names made of a dataset', () => {
  const VECTORS: [string, string][] = [
    [datasetId(demo), 'default-demo'],
    [commonLabel(demo), 'fluid.io/s-default-demo'],
    [runtimeLabel('alluxio', demo), 'fluid.io/s-alluxio-default-demo'],
    [capacityLabel('memory', 'alluxio', demo), 'fluid.io/s-h-alluxio-m-default-demo'],
    [capacityLabel('disk', 'cache', demo), 'fluid.io/s-h-cache-d-default-demo'],
    [capacityLabel('total', 'juicefs', demo), 'fluid.io/s-h-juicefs-t-default-demo'],
    [fuseLabel(demo), 'fluid.io/f-default-demo'],
    [exclusiveValue(demo), 'default_demo'],
    [volumeName(demo), 'default-demo'],
    [runtimeFinalizer('juicefs'), 'juicefs-runtime-controller-finalizer'],
  ]
  for (const [made, expected] of VECTORS) it(expected, () => assert.equal(made, expected))

  it('have the UID instead from 63 characters on, prefix and all', () => {
    const named = (length: number) => ({ namespace: 'ns', name: 'n'.repeat(length - 3), uid: UID })
    assert.equal(datasetId(named(62)), `ns-${'n'.repeat(59)}`)
    assert.equal(datasetId(named(63)), UID)
    const longest = 62 - 'fluid.io/f-'.length
    assert.equal(fuseLabel(named(longest)).length, 62)
    assert.equal(fuseLabel(named(longest + 1)), `fluid.io/f-${UID}`)
    assert.equal(volumeName(named(63)), `ns-${'n'.repeat(60)}`)
  })

  it('are always labels', () => {
    const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/)
    fc.assert(
      fc.property(label, label, fc.constantFrom(...Object.values(RUNTIME_TYPES)), (namespace, name, type) => {
        const dataset = { namespace, name, uid: UID }
        for (const key of [commonLabel(dataset), runtimeLabel(type, dataset), capacityLabel('total', type, dataset), fuseLabel(dataset)])
          assert.deepEqual(checkQualifiedName(key), [])
        assert.deepEqual(checkLabelValue(datasetId(dataset)), [])
      }),
    )
  })
})

describe('names on the wire', () => {
  it('are labels and annotations', () => {
    for (const key of [...Object.values(LABELS), ...Object.values(ANNOTATIONS)]) assert.deepEqual(checkQualifiedName(key), [])
    assert.equal(Object.keys(RUNTIME_CONDITION_REASONS).length, 10)
  })
  it('know every runtime and every kind', () => {
    assert.deepEqual(Object.keys(RUNTIME_TYPES).sort(), runtimeKinds.map(({ kind }) => kind as string).sort())
    assert.deepEqual(
      Object.values(resources)
        .map(({ plural }) => plural)
        .sort(),
      fluidKinds.map(({ plural }) => plural).sort(),
    )
  })
})
