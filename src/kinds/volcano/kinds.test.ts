import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { deepClone } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { CrdVersion } from '../custom/crd.ts'
import type { OwnKind } from '../schema/define-kind.ts'
import { admit } from './admission/testing.ts'
import { DataSource, DataSourceClaim, volcanoKinds } from './index.ts'

const kindOf = ({ kind }: KubeObject): OwnKind => {
  const found = volcanoKinds.find((own) => own.kind === kind)
  assert.ok(found, kind)
  return found
}

/** Everything that volcano-global's definitions know: what its users and controllers write. */
const MANIFESTS = [
  `apiVersion: datadependency.volcano.sh/v1alpha1
kind: DataSource
metadata: { name: lake-orders, labels: { team: data } }
spec:
  system: lakehouse
  type: table
  name: prod.Orders_2025
  locality: { clusterNames: [member1, member2] }
  attributes: { format: Parquet v2, location: "s3://lake/prod/orders" }
  reclaimPolicy: Delete
status:
  boundClaims: 1
  claimRefs:
  - { apiVersion: datadependency.volcano.sh/v1alpha1, kind: DataSourceClaim, namespace: default, name: orders, uid: 0f2d, resourceVersion: "7", fieldPath: spec }
  conditions:
  - { type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2025-06-01T10:20:30Z", observedGeneration: 1 }
`,
  `apiVersion: datadependency.volcano.sh/v1alpha1
kind: DataSource
metadata: { name: smallest }
spec: { system: s, type: t, name: n, locality: { clusterNames: [a] }, reclaimPolicy: Retain }
`,
  `apiVersion: datadependency.volcano.sh/v1alpha1
kind: DataSourceClaim
metadata: { name: orders, namespace: work, finalizers: [datadependency.volcano.sh/finalizer] }
spec:
  system: lakehouse
  dataSourceType: table
  dataSourceName: prod.Orders_2025
  workload: { apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: report, namespace: work }
  attributes: { format: Parquet v2 }
status:
  phase: Bound
  boundDataSource: lake-orders
  conditions:
  - { type: Bound, status: "True", reason: BindingSuccessful, message: bound, lastTransitionTime: "2025-06-01T10:20:30Z" }
`,
  `apiVersion: datadependency.volcano.sh/v1alpha1
kind: DataSourceClaim
metadata: { name: smallest, namespace: work }
spec: { system: s, dataSourceType: t, dataSourceName: n, workload: { apiVersion: v1, kind: Pod, name: a } }
status: { phase: Pending }
`,
]

describe('the definitions of data dependencies', () => {
  for (const manifest of MANIFESTS.map((text) => parse(text) as KubeObject))
    it(`take ${manifest.kind} ${manifest.metadata.name} of volcano-global as it is`, async () => {
      const { apiVersion: _, kind: __, metadata, ...content } = deepClone(manifest)
      const verdict = await admit(kindOf(manifest), content, { metadata, clusters: ['member1', 'member2', 'a'] })
      assert.deepEqual(verdict, { object: manifest, schema: [], refused: [], warnings: [] })
    })

  const text = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
  const free = { noNullPrototype: true }
  const attributes = fc.dictionary(text, text, { maxKeys: 5, ...free })

  it('take any spec of that form, and lose nothing of it', async () => {
    const workload = fc.record(
      { apiVersion: text, kind: text, name: text, namespace: text },
      { requiredKeys: ['apiVersion', 'kind', 'name'], ...free },
    )
    const claim = fc.record({ system: text, dataSourceType: text, dataSourceName: text, workload, attributes }, free)
    const locality = fc.record({ clusterNames: fc.array(text, { maxLength: 5 }) }, free)
    const reclaimPolicy = fc.constantFrom('Retain', 'Delete')
    const source = fc.record({ system: text, type: text, name: text, locality, attributes, reclaimPolicy }, free)
    for (const [kind, specs] of [[DataSource, source] as const, [DataSourceClaim, claim] as const])
      await fc.assert(
        fc.asyncProperty(specs as fc.Arbitrary<object>, async (spec) => {
          const { object, schema } = await admit(kind, { spec })
          assert.deepEqual(schema, [])
          assert.deepEqual(object.spec, deepClone(spec))
        }),
      )
  })

  it('have the names and the scope of volcano-global, and list kinds', () => {
    const names = volcanoKinds.map(({ crd, definition, scope }) => [crd.metadata.name, definition.listKind, definition.shortNames, scope])
    assert.deepEqual(names, [
      ['datasources.datadependency.volcano.sh', 'DataSourceList', [], 'Cluster'],
      ['datasourceclaims.datadependency.volcano.sh', 'DataSourceClaimList', ['dsc'], 'Namespaced'],
    ])
  })
})

const NOW_MS = Date.parse('2025-06-01T10:20:30Z')

/** The row of `kubectl get`, by header: on our own server, or as any server shows the columns of the definition. */
function shown(kind: OwnKind, object: Record<string, unknown>): { headers: string[]; cells: unknown[] } {
  const printer = kind.definition.versions[0]?.printer
  assert.ok(printer)
  const metadata = { name: 'one', creationTimestamp: '2025-06-01T10:10:30Z' }
  const { cells } = printer.row({ apiVersion: 'v1', kind: kind.kind, metadata, ...object }, NOW_MS)
  return { headers: printer.columns.map(({ name }) => name.toUpperCase()), cells }
}

const columnsOf = ({ crd }: OwnKind) =>
  (crd.spec as { versions: CrdVersion[] }).versions.flatMap((version) => version.additionalPrinterColumns ?? []).map(({ name }) => name)

describe('the columns of a source', () => {
  const SPEC = { system: 'hive', type: 'table', name: 'sales.daily' }
  const HEADERS = ['SYSTEM', 'TYPE', 'NAME', 'CLUSTERS', 'CLAIMS', 'AGE']

  it('are the same wherever it is served', () => {
    assert.deepEqual(columnsOf(DataSource), HEADERS)
    assert.deepEqual(shown(DataSource, {}).headers, ['NAME', ...HEADERS])
  })
  it('say what it is, where, and how many use it', () => {
    const { cells } = shown(DataSource, { spec: { ...SPEC, locality: { clusterNames: ['west', 'east'] } }, status: { boundClaims: 3 } })
    assert.deepEqual(cells, ['one', 'hive', 'table', 'sales.daily', 'west,east', 3, '10m'])
  })

  const names = ['a', 'b', 'c', 'd', 'e']
  const matchExpressions = [{ key: 'region', operator: 'In', values: ['us', 'eu'] }]
  const CLUSTERS: [unknown, string][] = [
    [undefined, '<none>'],
    [{ clusterNames: [] }, '<none>'],
    [{ clusterNames: names }, 'a,b,c + 2 more...'],
    [{ clusterAffinity: { clusterNames: ['a', 'b'] } }, 'a,b'],
    [{ clusterAffinity: { labelSelector: { matchLabels: { tier: 'gold', zone: 'a' } } } }, 'tier=gold,zone=a'],
    [{ clusterAffinity: { fieldSelector: { matchExpressions } } }, 'region in (eu,us)'],
    [{ clusterAffinity: { exclude: ['test'] } }, 'not test'],
    [
      { clusterNames: ['a'], clusterAffinity: { labelSelector: { matchLabels: { tier: 'gold' } }, exclude: names } },
      'a; tier=gold; not a,b,c + 2 more...',
    ],
    [{ clusterAffinity: {} }, '<all>'],
    [{ clusterAffinity: { labelSelector: {} } }, '<all>'],
    [{ clusterNames: [7], clusterAffinity: 'x' }, '<all>'],
    [{ clusterNames: ['x'.repeat(500)] }, `${'x'.repeat(100)}…`],
  ]
  for (const [locality, text] of CLUSTERS)
    it(`show ${JSON.stringify(locality)?.slice(0, 60)} as ${text.slice(0, 40)}`, () =>
      assert.equal(shown(DataSource, { spec: { ...SPEC, locality } }).cells[4], text))
})

describe('the columns of a claim', () => {
  const HEADERS = ['PHASE', 'SOURCE', 'WAITS-FOR', 'AGE']
  const condition = (type: string, status: string, reason: string) => ({ type, status, reason })

  it('are the same wherever it is served', () => {
    assert.deepEqual(columnsOf(DataSourceClaim), HEADERS)
    assert.deepEqual(shown(DataSourceClaim, {}).headers, ['NAME', ...HEADERS])
  })
  it('say which source is bound', () => {
    const conditions = [condition('Resolved', 'True', 'SourceFound'), condition('Placed', 'Unknown', 'NoWorkload')]
    const { cells } = shown(DataSourceClaim, { status: { phase: 'Bound', boundDataSource: 'ds-1', conditions } })
    assert.deepEqual(cells, ['one', 'Bound', 'ds-1', null, '10m'])
  })
  it('say what it waits for: the first condition that is False', () => {
    const conditions = [
      condition('Resolved', 'True', 'SourceFound'),
      condition('Ready', 'False', 'NoLocality'),
      condition('Placed', 'False', 'NoCommonCluster'),
    ]
    const { cells } = shown(DataSourceClaim, { status: { phase: 'Pending', conditions } })
    assert.deepEqual(cells, ['one', 'Pending', null, 'NoLocality', '10m'])
  })
})
