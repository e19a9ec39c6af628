import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DataSource } from '../index.ts'
import { aComing, admit, admitRequest, requestOf } from './testing.ts'

const SPEC = { system: 'hive', type: 'table', name: 'sales.daily', locality: { clusterNames: ['west'] } }
const OF = { group: DataSource.group, resource: DataSource.plural }

/** What is refused, of a source that is right but for these fields. */
async function refusals(fields: Record<string, unknown>): Promise<string[]> {
  const { schema, refused } = await admit(DataSource, { spec: { ...SPEC, ...fields } }, { clusters: ['west'] })
  return [...schema, ...refused]
}

const locality = (clusterAffinity: Record<string, unknown>) => ({ locality: { clusterAffinity } })

describe('a DataSource', () => {
  const ACCEPTED: [string, Record<string, unknown>][] = [
    ['with names of clusters', {}],
    ['with an affinity by labels', locality({ labelSelector: { matchLabels: { tier: 'gold' } } })],
    ['with an affinity by fields', locality({ fieldSelector: { matchExpressions: [{ key: 'region', operator: 'In', values: ['eu'] }] } })],
    ['with an affinity and an empty list of names', { locality: { clusterAffinity: { exclude: ['test'] }, clusterNames: [] } }],
    ['with both', { locality: { clusterAffinity: { exclude: ['test'] }, clusterNames: ['west'] } }],
    ['with a name that Kubernetes would not take', { name: 'Prod_DB.user:v1/部分=1 of 2' }],
    ['with attributes of any text', { attributes: { 'owned by': 'Data & Friends <data@example.com>' } }],
    ['that is deleted with its last claim', { reclaimPolicy: 'Delete' }],
    ['with names as long as they may be', { system: 's'.repeat(253), type: 't'.repeat(253), name: '数'.repeat(1024) }],
  ]
  for (const [what, fields] of ACCEPTED) it(`${what} is accepted`, async () => assert.deepEqual(await refusals(fields), []))

  it('is kept by default', async () => {
    const { object } = await admit(DataSource, { spec: SPEC })
    assert.deepEqual(object.spec, { ...SPEC, reclaimPolicy: 'Retain' })
  })

  const REFUSED: [string, Record<string, unknown>, string][] = [
    ['an empty system', { system: '' }, 'spec.system: Required value: name the data system, for example hive or s3'],
    ['a blank type', { type: ' ' }, 'spec.type: Required value: name the category of the data, for example table or bucket'],
    ['an empty name', { name: '' }, 'spec.name: Required value: name the data as its system calls it, for example sales.daily'],
    [
      'a locality that says nothing',
      { locality: {} },
      'spec.locality: Required value: say which clusters hold the data: list them in clusterNames, or select them with clusterAffinity',
    ],
    [
      'a locality without a name',
      { locality: { clusterNames: [] } },
      'spec.locality: Required value: say which clusters hold the data: list them in clusterNames, or select them with clusterAffinity',
    ],
    [
      'a blank name of a cluster',
      { locality: { clusterNames: ['west', ' '] } },
      'spec.locality.clusterNames[1]: Required value: name a cluster, or remove the entry',
    ],
    [
      'a blank name in the affinity',
      locality({ clusterNames: [''] }),
      'spec.locality.clusterAffinity.clusterNames[0]: Required value: name a cluster, or remove the entry',
    ],
    [
      'a blank exclusion',
      locality({ exclude: [''] }),
      'spec.locality.clusterAffinity.exclude[0]: Required value: name a cluster, or remove the entry',
    ],
    [
      'an unknown operator',
      locality({ labelSelector: { matchExpressions: [{ key: 'tier', operator: 'Near', values: ['gold'] }] } }),
      'spec.locality.clusterAffinity.labelSelector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator: use In, NotIn, Exists or DoesNotExist',
    ],
    [
      'a demand without values',
      locality({ labelSelector: { matchExpressions: [{ key: 'tier', operator: 'In' }] } }),
      "spec.locality.clusterAffinity.labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
    [
      'an unknown field of clusters',
      locality({ fieldSelector: { matchExpressions: [{ key: 'planet', operator: 'In', values: ['earth'] }] } }),
      'spec.locality.clusterAffinity.fieldSelector: Invalid value: {"matchExpressions":[{"key":"planet","operator":"In","values":["earth"]}]}: unsupported key "planet", must be provider, region, or zone',
    ],
    [
      'an operator that fields do not have',
      locality({ fieldSelector: { matchExpressions: [{ key: 'zone', operator: 'Exists' }] } }),
      'spec.locality.clusterAffinity.fieldSelector: Invalid value: {"matchExpressions":[{"key":"zone","operator":"Exists"}]}: unsupported operator "Exists", must be In or NotIn',
    ],
    [
      'a field without values',
      locality({ fieldSelector: { matchExpressions: [{ key: 'zone', operator: 'In', values: [] }] } }),
      "spec.locality.clusterAffinity.fieldSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
    [
      'an unknown reclaim policy',
      { reclaimPolicy: 'Recycle' },
      'spec.reclaimPolicy: Unsupported value: "Recycle": supported values: "Retain", "Delete"',
    ],
    [
      'an attribute without a key',
      { attributes: { '': 'x' } },
      'spec.attributes: Required value: an attribute has an empty key: name it, or remove it',
    ],
  ]
  for (const [what, fields, message] of REFUSED)
    it(`is refused with ${what}`, async () => assert.deepEqual(await refusals(fields), [message]))

  it('is refused when it is too large', async () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`key-${i}`, 'x']))
    for (const fields of [
      { name: 'x'.repeat(1025) },
      { attributes: many },
      { attributes: { a: 'x'.repeat(1025) } },
      { attributes: { ['x'.repeat(254)]: '' } },
      { locality: { clusterNames: Array.from({ length: 5001 }, (_, i) => `c${i}`) } },
      locality({ exclude: Array.from({ length: 5001 }, (_, i) => `c${i}`) }),
      locality({ labelSelector: { matchLabels: many } }),
    ])
      assert.equal((await refusals(fields)).length, 1, Object.keys(fields).join())
  })

  it('is judged by the same rules where the definition is somebody else’s', async () => {
    const missing = await admitRequest(requestOf(OF, aComing(DataSource, {}), undefined))
    assert.deepEqual(missing.refused, ['spec: Required value: say what the data is and where: system, type, name and locality'])
    const spec = { ...SPEC, name: 'x'.repeat(1025), reclaimPolicy: 'Recycle', attributes: { a: 'x'.repeat(1025) } }
    const { refused } = await admitRequest(requestOf(OF, aComing(DataSource, { spec }), undefined))
    assert.deepEqual(
      refused.map((message) => message.slice(0, message.indexOf(':'))),
      ['spec.name', 'spec.attributes[a]', 'spec.reclaimPolicy'],
    )
    assert.ok(refused.every((message) => message.length < 200))
  })
})

describe('an invalid DataSource that is already stored', () => {
  const spec = { ...SPEC, system: '', locality: { clusterNames: ['west'] }, reclaimPolicy: 'Retain' }
  const old = aComing(DataSource, { spec }, { labels: { a: 'b' }, finalizers: ['example.com/x'] })

  it('can lose its labels and finalizers', async () => assert.deepEqual(await admit(DataSource, { spec }, { old }), await clean(spec)))
  it('is judged when its spec changes', async () => {
    const { refused } = await admit(DataSource, { spec: { ...spec, name: 'other' } }, { old })
    assert.deepEqual(refused, ['spec.system: Required value: name the data system, for example hive or s3'])
  })
  it('can change while it is deleted', async () => {
    const metadata = { deletionTimestamp: '2025-01-01T00:00:00Z' }
    assert.deepEqual((await admit(DataSource, { spec: { ...spec, name: '' } }, { old, metadata })).refused, [])
  })

  const clean = async (content: object) => ({ object: aComing(DataSource, { spec: content }), schema: [], refused: [], warnings: [] })
})

describe('clusters that do not exist', () => {
  const warningsOf = async (of: Record<string, unknown>, clusters: string[]) =>
    (await admit(DataSource, { spec: { ...SPEC, locality: of } }, { clusters })).warnings

  it('are warned of, by name', async () => {
    assert.deepEqual(
      await warningsOf({ clusterNames: ['west', 'esat'], clusterAffinity: { clusterNames: ['nroth'], exclude: ['none'] } }, ['west']),
      ['spec.locality names clusters that do not exist: "esat", "nroth"; check the names, or join them'],
    )
  })
  it('are named in part when they are many, within what a warning can hold', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `${i}\n${'x'.repeat(200)}`)
    const [warning = ''] = await warningsOf({ clusterNames: names }, [])
    assert.match(warning, /"0\\nx+", "1\\nx+", "2\\nx+" and 37 more; check/)
    assert.ok(warning.length <= 256)
  })
  it('are not warned of twice: only when the spec is new', async () => {
    const { object: old } = await admit(DataSource, { spec: SPEC })
    assert.deepEqual((await admit(DataSource, { spec: SPEC }, { old, metadata: { labels: { a: 'b' } } })).warnings, [])
  })
  it('are not asked for when all exist, or none is named', async () => {
    assert.deepEqual(await warningsOf({ clusterNames: ['west'] }, ['west']), [])
    assert.deepEqual(await warningsOf({ clusterAffinity: { labelSelector: { matchLabels: { a: 'b' } } } }, []), [])
  })
})

describe('an affinity that demands nothing', () => {
  it('means every cluster, as in a placement, and its author is told', async () => {
    const { refused, warnings } = await admit(DataSource, { spec: { ...SPEC, locality: { clusterAffinity: {} } } })
    assert.deepEqual(refused, [])
    assert.deepEqual(warnings, ['spec.locality.clusterAffinity is empty: every cluster counts as having the data'])
  })
})
