import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DataSource, DataSourceClaim } from '../index.ts'
import { claimKeys, clustersOf, matches, sourceKeys } from '../matching.ts'
import { CLAIMS_ANNOTATION, ON_LOCALITY_CHANGE, PRODUCES_ANNOTATION } from '../well-known.ts'
import { admit, admitRequest, requestOf } from './testing.ts'

const word = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a',
    'hive',
    'table',
    'work',
    'other',
    'apps/v1',
    'Deployment',
    'In',
    'Exists',
    'Near',
    'region',
    'a/b/c',
    '__proto__',
  ),
  fc.string({ maxLength: 6, unit: 'binary' }),
)
const words = fc.array(word, { maxLength: 3 })
const map = fc.dictionary(word, word, { maxKeys: 3 })
const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(fields, { requiredKeys: [], noNullPrototype: true })
const matchExpressions = fc.array(some({ key: word, operator: word, values: words }), { maxLength: 2 })
const selector = some({ matchLabels: map, matchExpressions })

/** One value in a few is of any other shape. */
const nearly = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 19, arbitrary: values }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) })

const affinity = some({
  labelSelector: nearly(selector),
  fieldSelector: nearly(some({ matchExpressions })),
  clusterNames: nearly(words),
  exclude: nearly(words),
})
const sourceSpec = some({
  system: nearly(word),
  type: nearly(word),
  name: nearly(word),
  locality: nearly(some({ clusterNames: nearly(words), clusterAffinity: nearly(affinity) })),
  attributes: nearly(map),
  reclaimPolicy: nearly(fc.constantFrom('Retain', 'Delete', 'Recycle')),
})
const claimSpec = some({
  system: nearly(word),
  dataSourceType: nearly(word),
  dataSourceName: nearly(word),
  workload: nearly(some({ apiVersion: nearly(word), kind: word, name: word, namespace: word })),
  workloadSelector: nearly(selector),
  attributes: nearly(map),
  attributesSelector: nearly(selector),
})

const SOURCE = { system: 'hive', type: 'table', name: 'a', locality: { clusterNames: ['a'] } }
const CLAIM = { system: 'hive', dataSourceType: 'table', workloadSelector: { matchLabels: { a: 'a' } } }
/** Right, but for one field. */
const almost = (right: object, values: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc.tuple(values, fc.nat()).map(([value, i]) => {
    const entries = Object.entries(value)
    return { ...right, ...Object.fromEntries(entries.slice(i % (entries.length + 1)).slice(0, 1)) }
  })

const CASES = [
  { kind: DataSource, spec: fc.oneof(sourceSpec, almost(SOURCE, sourceSpec)), of: 'a source' },
  { kind: DataSourceClaim, spec: fc.oneof(claimSpec, almost(CLAIM, claimSpec)), of: 'a claim' },
] as const
/** A path, what is wrong there, and more than that: what to do. */
const MESSAGE = /^[\s\S]+: [\s\S]+/

for (const { kind, spec, of } of CASES)
  describe(`anything as ${of}`, () => {
    it('is accepted or refused with errors of fields, and nothing worse', async () => {
      await fc.assert(
        fc.asyncProperty(nearly(spec), word, async (value, locality) => {
          const metadata = { annotations: { [ON_LOCALITY_CHANGE]: locality } }
          const { schema, refused, warnings } = await admit(kind, { spec: value }, { metadata })
          for (const message of [...schema, ...refused]) assert.match(message, MESSAGE)
          for (const warning of warnings) assert.ok(warning.length <= 256)
        }),
        { numRuns: 500 },
      )
    })

    it('stays accepted when it comes again', async () => {
      let accepted = 0
      await fc.assert(
        fc.asyncProperty(spec, async (value) => {
          const first = await admit(kind, { spec: value })
          if (first.schema.length + first.refused.length > 0) return
          accepted++
          const again = await admit(kind, { spec: first.object.spec }, { old: first.object })
          assert.deepEqual(again, { object: first.object, schema: [], refused: [], warnings: [] })
        }),
        { numRuns: 500 },
      )
      assert.ok(accepted > 50, `${accepted} are accepted`)
    })

    it('can lose its labels, once the schema let it in', async () => {
      await fc.assert(
        fc.asyncProperty(spec, async (value) => {
          const { object: old, schema } = await admit(kind, { spec: value }, { metadata: { labels: { a: 'b' } } })
          if (schema.length > 0) return
          const { refused, warnings } = await admit(kind, { spec: old.spec }, { old })
          assert.deepEqual({ refused, warnings }, { refused: [], warnings: [] })
        }),
        { numRuns: 300 },
      )
    })
  })

describe('what the schema lets in', () => {
  it('can be matched and looked up without failing, admitted or not', async () => {
    const clusters = [
      { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata: { name: 'a' }, spec: { syncMode: 'Push' as const } },
    ]
    await fc.assert(
      fc.asyncProperty(almost(SOURCE, sourceSpec), almost(CLAIM, claimSpec), async (offered, wanted) => {
        const { object: source, schema: ofSource } = await admit(DataSource, { spec: offered })
        const { object: claim, schema: ofClaim } = await admit(DataSourceClaim, { spec: wanted })
        if (ofSource.length + ofClaim.length > 0) return
        const [one, other] = [source as DataSource, claim as DataSourceClaim]
        const isShared = claimKeys(other).some((key) => sourceKeys(one).includes(key))
        assert.ok(!matches(other, one) || isShared)
        assert.ok(clustersOf(one, clusters).joined.length <= 1)
      }),
      { numRuns: 300 },
    )
  })
})

describe('anything as an annotation of a workload', () => {
  it('is accepted or refused with one error each', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 30, unit: 'binary' }), fc.string({ maxLength: 30 }), async (produces, claims) => {
        const annotations = { [PRODUCES_ANNOTATION]: produces, [CLAIMS_ANNOTATION]: claims }
        const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'daily', namespace: 'work', annotations } }
        const { refused } = await admitRequest(requestOf({ group: 'batch', resource: 'jobs' }, job, undefined))
        assert.ok(refused.length <= 2)
        for (const message of refused) assert.match(message, MESSAGE)
      }),
      { numRuns: 300 },
    )
  })
})
