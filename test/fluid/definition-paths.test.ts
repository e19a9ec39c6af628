import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepClone } from '../../src/base/json.ts'
import { Dataset } from '../../src/kinds/fluid/index.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { compareDefinitions } from './definition-paths.ts'
import { reasonFor } from './meant-differences.ts'

interface Changeable {
  names: { shortNames: string[] }
  versions: { schema: { openAPIV3Schema: { properties: Record<string, { properties: Record<string, Record<string, unknown>> }> } } }[]
}

/** A definition of theirs that differs from ours. */
function changed(change: (spec: Changeable, fields: Record<string, Record<string, unknown>>) => void): KubeObject {
  const crd = deepClone(Dataset.crd)
  const spec = crd.spec as unknown as Changeable
  change(spec, spec.versions[0]?.schema.openAPIV3Schema.properties.spec?.properties ?? {})
  return crd
}

const DIFFERENCES: [string, KubeObject, string][] = [
  ['a short name', changed(({ names }) => names.shortNames.push('ds')), 'datasets.data.fluid.io: names: theirs '],
  [
    'a field',
    changed((_, fields) => {
      fields.extra = { type: 'string' }
    }),
    'datasets.data.fluid.io v1alpha1 .spec.extra: we have no such field',
  ],
  [
    'a type',
    changed((_, fields) => {
      fields.placement = { ...fields.placement, type: 'integer' }
    }),
    'datasets.data.fluid.io v1alpha1 .spec.placement: type: theirs "integer", ours "string"',
  ],
  [
    'a limit within a list',
    changed((_, fields) => {
      const items = fields.mounts?.items as { properties: Record<string, unknown> }
      items.properties.mountPoint = { type: 'string', minLength: 7 }
    }),
    'datasets.data.fluid.io v1alpha1 .spec.mounts[].mountPoint: minLength: theirs 7, ours 5',
  ],
]

describe('the comparison of definitions', () => {
  it('finds nothing between a definition and itself', () => {
    assert.deepEqual(compareDefinitions(deepClone(Dataset.crd), Dataset.crd), [])
  })
  for (const [what, theirs, expected] of DIFFERENCES)
    it(`finds ${what}`, () => {
      const found = compareDefinitions(theirs, Dataset.crd)
      assert.equal(found.length, 1)
      assert.ok(`${found[0]?.where}: ${found[0]?.what}`.startsWith(expected), JSON.stringify(found))
      assert.deepEqual(
        found.map((difference) => reasonFor(difference)),
        [undefined],
      )
    })
  it('finds a definition that we do not have', () => {
    assert.deepEqual(compareDefinitions(Dataset.crd, undefined), [{ where: 'datasets.data.fluid.io', what: 'we have no such definition' }])
  })
})
