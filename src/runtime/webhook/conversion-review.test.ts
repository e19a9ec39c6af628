import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject } from '../../kube/meta.ts'
import { StatusError } from '../../kube/status.ts'
import { type ConvertibleKind, reviewConversion } from './conversion-review.ts'

/** Its v2 renames `size` to `length`; an object without a size cannot be converted. */
const things: ConvertibleKind = {
  group: 'example.dev',
  kind: 'Thing',
  convert(object, to) {
    const { size } = (object.spec ?? {}) as { size?: number }
    if (size === undefined) throw new Error(`${object.metadata.name} has no size`)
    // A careless conversion: it makes new metadata.
    return { apiVersion: to, kind: 'Other', metadata: { name: 'wrong', labels: { converted: 'yes' } }, spec: { length: size } }
  },
}

const thing = (name: string, spec: unknown = { size: 1 }): KubeObject => ({
  apiVersion: 'example.dev/v1',
  kind: 'Thing',
  metadata: { name, namespace: 'n', uid: `uid-${name}` },
  spec,
})
const asked = (objects: unknown, desiredAPIVersion: unknown = 'example.dev/v2') =>
  reviewConversion({ kind: 'ConversionReview', request: { uid: 'r1', desiredAPIVersion, objects } }, [things]).response

describe('a conversion review', () => {
  it('converts all objects in their order, and keeps what identifies them', () => {
    const { uid, convertedObjects, result } = asked([thing('a'), thing('b', { size: 2 })])
    assert.deepEqual([uid, result], ['r1', { status: 'Success' }])
    assert.deepEqual(
      convertedObjects,
      ['a', 'b'].map((name, i) => ({
        apiVersion: 'example.dev/v2',
        kind: 'Thing',
        metadata: { name, namespace: 'n', uid: `uid-${name}`, labels: { converted: 'yes' } },
        spec: { length: i + 1 },
      })),
    )
    assert.deepEqual(asked([]).result, { status: 'Success' })
  })

  it('fails whole, with a sentence, when one object cannot be converted', () => {
    const cases: [unknown, RegExp][] = [
      [thing('odd', {}), /odd has no size/],
      [{ ...thing('a'), kind: 'Stranger' }, /Stranger of example\.dev is not a kind/],
      [{ ...thing('a'), apiVersion: 'other.dev/v1' }, /Thing of other\.dev is not a kind/],
      [{ kind: 'Thing' }, /without apiVersion or metadata/],
      [7, /without apiVersion or metadata/],
    ]
    for (const [object, message] of cases) {
      const { convertedObjects, result } = asked([thing('good'), object])
      assert.deepEqual([convertedObjects, result.status], [[], 'Failure'])
      assert.match(result.message ?? '', message)
    }
  })

  it('refuses what is no review, and never anything else', () => {
    const anything = fc.jsonValue({ maxDepth: 5 }) as fc.Arbitrary<unknown>
    const shaped = fc.record({
      kind: fc.constant('ConversionReview'),
      request: fc.record({ uid: fc.string(), desiredAPIVersion: anything, objects: fc.oneof(anything, fc.array(anything)) }),
    })
    for (const body of [undefined, null, {}, { kind: 'ConversionReview' }, { kind: 'ConversionReview', request: { uid: 3 } }])
      assert.throws(() => reviewConversion(body, [things]), StatusError)
    fc.assert(
      fc.property(shaped, (body) => {
        const { response } = reviewConversion(body, [things])
        assert.equal(response.uid, body.request.uid)
        assert.equal(response.convertedObjects.length === 0 || response.result.status === 'Success', true)
      }),
      { numRuns: 500 },
    )
  })
})
