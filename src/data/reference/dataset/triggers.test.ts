import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { keyOfRef } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { storedReader } from '../../../runtime/testing.ts'
import { MOST_REFERENCES } from '../referring.ts'
import { anOriginal, aReference } from '../testing.ts'
import { INDEXES, WATCHES } from './triggers.ts'

const REFERENCES = ['lab/x', 'web/a', 'web/b']
const read = storedReader({ indexes: INDEXES }, [[DATASETS as Resource, REFERENCES.map((where) => aReference(where))]])

const original = (datasetRef: string[], more: object = {}): Dataset =>
  ({ ...anOriginal(), status: { phase: 'Bound', conditions: [], datasetRef, ...more } }) as Dataset

/** As a controller does it with an update. */
function triggered(old: KubeObject, next: KubeObject): string[] {
  const watches = WATCHES.filter(({ resource, isRelevantUpdate }) => resource === DATASETS && isRelevantUpdate?.(old, next) !== false)
  const refs = watches.flatMap((watch) => [...watch.keysFor(old, read, next), ...watch.keysFor(next, read, old)])
  return [...new Set(refs.map(keyOfRef))].sort()
}

const full = (first: string): string[] => [first, ...Array.from({ length: MOST_REFERENCES - 1 }, (_, i) => `many/r${i}`)]

describe('of references, when their original changes', () => {
  const cases: [string, Dataset, Dataset, string[]][] = [
    ['all look again at what they show of it', original(REFERENCES), original(REFERENCES, { fileNum: '2' }), REFERENCES],
    ['only those that came into its list do', original(['lab/x', 'web/a']), original(REFERENCES), ['web/b']],
    ['only those that left it do', original(REFERENCES), original(['web/a', 'web/b']), ['lab/x']],
    ['all do when nobody else has room in it', original(['lab/x']), original(full('lab/x')), REFERENCES],
    ['all do when there is room again', original(full('lab/x')), original(['lab/x']), REFERENCES],
    ['none does without a change of either', original(REFERENCES), original([...REFERENCES]), []],
  ]
  for (const [what, old, next, keys] of cases)
    it(what, () => {
      const seen = triggered(old, next)
      assert.deepEqual(
        seen.filter((key) => !key.startsWith('many/')),
        keys,
      )
    })
})
