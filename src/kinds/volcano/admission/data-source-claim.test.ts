import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ObjectMeta } from '../../../kube/meta.ts'
import { DataSourceClaim } from '../index.ts'
import { ON_LOCALITY_CHANGE } from '../well-known.ts'
import { aComing, admit, admitRequest, requestOf } from './testing.ts'

const DATA = { system: 'hive', dataSourceType: 'table' }
const SEED = { ...DATA, workloadSelector: { matchLabels: { app: 'report' } } }
const BUILT = { ...DATA, dataSourceName: 'sales.daily', workload: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'report' } }

async function refusals(spec: Record<string, unknown>, metadata?: ObjectMeta): Promise<string[]> {
  const { schema, refused } = await admit(DataSourceClaim, { spec }, { metadata })
  return [...schema, ...refused]
}

const workload = (fields: Record<string, unknown>) => ({ ...BUILT, workload: { ...BUILT.workload, ...fields } })
const demand = (key: string, operator: string, ...values: string[]) => ({ matchExpressions: [{ key, operator, values }] })

describe('a DataSourceClaim', () => {
  const ACCEPTED: [string, Record<string, unknown>][] = [
    ['for workloads by label', SEED],
    ['for workloads by label, with demands on attributes', { ...SEED, attributesSelector: demand('format', 'In', 'parquet', 'orc') }],
    ['for workloads by label, on one object', { ...SEED, dataSourceName: 'sales-daily.v2' }],
    ['for workloads by label, with what Go writes for absent fields', { ...SEED, dataSourceName: '', attributes: {} }],
    ['for one workload', BUILT],
    ['for one workload of the core group', workload({ apiVersion: 'v1', kind: 'ReplicationController' })],
    ['for one workload, in its own namespace', workload({ namespace: 'work' })],
    ['for one workload, with attributes of any text', { ...BUILT, attributes: { location: 's3://lake/Sales Daily' } }],
    ['on data whose name Kubernetes would not take', { ...BUILT, dataSourceName: 'Prod_DB.user:v1/ds=2025-01-01' }],
  ]
  for (const [what, spec] of ACCEPTED) it(`${what} is accepted`, async () => assert.deepEqual(await refusals(spec), []))

  const REFUSED: [string, Record<string, unknown>, string][] = [
    ['both forms', { ...SEED, ...BUILT }, 'spec.workloadSelector: Forbidden: may not be combined with workload: keep one of the two'],
    [
      'neither form',
      DATA,
      'spec.workloadSelector: Required value: say who needs the data: select workloads by their labels, or name one in workload instead',
    ],
    [
      'attributesSelector and workload',
      { ...BUILT, attributesSelector: demand('format', 'Exists') },
      'spec.attributesSelector: Forbidden: may not be combined with workload: write attributes, or use workloadSelector',
    ],
    [
      'attributes and workloadSelector',
      { ...SEED, attributes: { format: 'parquet' } },
      'spec.attributes: Forbidden: may not be combined with workloadSelector: write attributesSelector',
    ],
    [
      'an empty selector of workloads',
      { ...SEED, workloadSelector: {} },
      'spec.workloadSelector: Required value: an empty selector would hold every workload of the namespace: demand a label',
    ],
    [
      'a selector of workloads with empty parts',
      { ...SEED, workloadSelector: { matchLabels: {}, matchExpressions: [] } },
      'spec.workloadSelector: Required value: an empty selector would hold every workload of the namespace: demand a label',
    ],
    [
      'an empty selector of attributes',
      { ...SEED, attributesSelector: { matchLabels: {} } },
      'spec.attributesSelector: Required value: an empty selector demands nothing: demand an attribute, or leave the selector out',
    ],
    [
      'an unknown operator',
      { ...SEED, workloadSelector: demand('app', 'Like', 'report') },
      'spec.workloadSelector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator: use In, NotIn, Exists or DoesNotExist',
    ],
    [
      'values where none belong',
      { ...SEED, attributesSelector: demand('format', 'Exists', 'parquet') },
      "spec.attributesSelector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
    [
      'a workload of another namespace',
      workload({ namespace: 'theirs' }),
      'spec.workload.namespace: Invalid value: "theirs": must be the namespace of the claim, "work": leave it out, or create the claim where its workload is',
    ],
    ['an empty system', { ...SEED, system: '' }, 'spec.system: Required value: name the data system, as in the DataSource'],
    [
      'a blank type',
      { ...BUILT, dataSourceType: '\t' },
      'spec.dataSourceType: Required value: name the type of the data, as in the DataSource',
    ],
    [
      'no apiVersion',
      workload({ apiVersion: '' }),
      'spec.workload.apiVersion: Required value: write group and version of the workload, for example apps/v1, or v1 for the core group',
    ],
    ['no kind', workload({ kind: '' }), 'spec.workload.kind: Required value: name the kind of the workload, for example Deployment'],
    ['no name', workload({ name: '' }), 'spec.workload.name: Required value: name the workload: a claim with workload is for exactly one'],
    [
      'a workload, but no data',
      { ...BUILT, dataSourceName: '' },
      'spec.dataSourceName: Required value: with workload, name the data as its system calls it (spec.name of the DataSource)',
    ],
    [
      'the name of an object that cannot exist',
      { ...SEED, dataSourceName: 'Sales_Daily' },
      'spec.dataSourceName: Invalid value: "Sales_Daily": with workloadSelector, this is metadata.name of a DataSource: write such a name, or leave it out and select by attributes',
    ],
  ]
  for (const [what, spec, message] of REFUSED) it(`is refused with ${what}`, async () => assert.deepEqual(await refusals(spec), [message]))

  it('is refused with an apiVersion that cannot be read', async () => {
    for (const apiVersion of ['apps', 'apps/', '/v1', 'apps/v1/extra', 'apps v1', 'apps/V1', 'Apps/v1', 'a_b/v1'])
      assert.match(
        (await refusals(workload({ apiVersion }))).join(),
        /^spec\.workload\.apiVersion: Invalid value: "[^"]+": is not an API version: write group and version/,
      )
  })

  it('is refused with a kind or a name of no workload', async () => {
    assert.match((await refusals(workload({ kind: 'My Job' }))).join(), /^spec\.workload\.kind: Invalid value: "My Job"/)
    assert.match((await refusals(workload({ name: 'Report_1' }))).join(), /^spec\.workload\.name: Invalid value: "Report_1"/)
  })

  it('is refused with a demand on attributes that could never be a label, and told what to do', async () => {
    const found = await refusals({ ...SEED, attributesSelector: { matchLabels: { location: 's3://lake' } } })
    assert.match(
      found.join(),
      /^spec\.attributesSelector\.matchLabels: Invalid value: "s3:\/\/lake": .*; attributes are selected like labels; .* operator Exists/,
    )
    assert.match((await refusals({ ...SEED, attributesSelector: demand('my key', 'Exists') })).join(), /\.key: Invalid value: "my key"/)
  })

  it('is told all that is wrong at once', async () => {
    const found = await refusals({ system: '', dataSourceType: '', workload: { apiVersion: '', kind: '', name: '', namespace: 'x' } })
    assert.equal(found.length, 7)
  })

  it('is refused when it is too large', async () => {
    const labels = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`l${i}`, '']))
    const values = Array.from({ length: 101 }, (_, i) => `v${i}`)
    for (const spec of [
      { ...SEED, system: 'x'.repeat(254) },
      { ...SEED, workloadSelector: { matchLabels: labels } },
      { ...SEED, attributesSelector: demand('a', 'In', ...values) },
      { ...SEED, attributesSelector: { matchExpressions: values.map((key) => ({ key, operator: 'Exists' })) } },
      { ...BUILT, attributes: labels },
      { ...BUILT, dataSourceName: 'x'.repeat(1025) },
    ])
      assert.equal((await refusals(spec)).length, 1)
  })

  it('warns that a selector has no effect beside the name of the object', async () => {
    const { refused, warnings } = await admit(DataSourceClaim, {
      spec: { ...SEED, dataSourceName: 'ds-1', attributesSelector: demand('format', 'Exists') },
    })
    assert.deepEqual(refused, [])
    assert.deepEqual(warnings, ['spec.attributesSelector has no effect: spec.dataSourceName already names the DataSource'])
  })

  it('is judged by the same rules where the definition is somebody else’s', async () => {
    const of = { group: DataSourceClaim.group, resource: DataSourceClaim.plural }
    const none = await admitRequest(requestOf(of, aComing(DataSourceClaim, {}), undefined))
    assert.match(none.refused.join(), /^spec: Required value: say which data is needed/)
    const long = await admitRequest(requestOf(of, aComing(DataSourceClaim, { spec: workload({ name: 'x'.repeat(10_000) }) }), undefined))
    assert.equal(long.refused.length, 1)
    assert.ok(long.refused.join().length < 600)
  })
})

describe('what happens when the data moves', () => {
  const says = (value: string): ObjectMeta => ({ annotations: { [ON_LOCALITY_CHANGE]: value } })
  const UNKNOWN = `metadata.annotations[${ON_LOCALITY_CHANGE}]: Unsupported value: "move": supported values: "Ignore", "Move"`

  it('is Ignore or Move', async () => {
    assert.deepEqual(await refusals(SEED, says('Ignore')), [])
    assert.deepEqual(await refusals(SEED, says('Move')), [])
    assert.deepEqual(await refusals(SEED, says('move')), [UNKNOWN])
  })
  it('may stay as it was stored, and is judged when it changes', async () => {
    const old = aComing(DataSourceClaim, { spec: SEED }, says('teleport'))
    assert.deepEqual((await admit(DataSourceClaim, { spec: SEED }, { old, metadata: says('teleport') })).refused, [])
    assert.deepEqual((await admit(DataSourceClaim, { spec: SEED }, { old, metadata: says('move') })).refused, [UNKNOWN])
  })
})

describe('an invalid claim that is already stored', () => {
  const spec = { ...SEED, workloadSelector: {} }
  const old = aComing(DataSourceClaim, { spec }, { finalizers: ['datadependency.volcano.sh/finalizer'] })

  it('can lose its finalizer', async () => assert.deepEqual((await admit(DataSourceClaim, { spec }, { old })).refused, []))
  it('is judged when its spec changes', async () => {
    assert.equal((await admit(DataSourceClaim, { spec: { ...spec, system: 's3' } }, { old })).refused.length, 1)
  })
  it('can change while it is deleted', async () => {
    const metadata = { deletionTimestamp: '2025-01-01T00:00:00Z' }
    assert.deepEqual((await admit(DataSourceClaim, { spec: { ...spec, system: '' } }, { old, metadata })).refused, [])
  })
})
