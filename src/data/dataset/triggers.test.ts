import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DATASETS, THIN_RUNTIMES } from '../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { storedReader } from '../../runtime/testing.ts'
import { anOriginal, aReference, aThinRuntime } from '../reference/testing.ts'
import { INDEXES, WATCHES } from './triggers.ts'

const keysOf = (dataset: KubeObject): string[] => {
  const read = storedReader({ indexes: INDEXES }, [[DATASETS as Resource, [dataset]]])
  const { namespace, name } = dataset.metadata
  const runtime = aThinRuntime(`${namespace}/${name}`)
  const watches = WATCHES.filter(({ resource }) => resource === (THIN_RUNTIMES as Resource))
  return watches.flatMap((watch) => watch.keysFor(runtime, read)).map((ref) => `${ref.namespace}/${ref.name}`)
}

describe('a change of a runtime', () => {
  it('concerns the dataset of its name', () => assert.deepEqual(keysOf(anOriginal()), ['data/images']))
  it('is no pass for a dataset that refers to another one', () => assert.deepEqual(keysOf(aReference()), []))
})
