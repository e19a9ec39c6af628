import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Cluster } from '../karmada/index.ts'
import type { DataSource, DataSourceClaim, DataSourceLocality } from './index.ts'
import { claimKeys, clustersOf, isPreBoundTo, isSeedForm, matches, sourceKeys } from './matching.ts'

type ClaimSpec = DataSourceClaim['spec']
type SourceSpec = DataSource['spec']

const aClaim = (spec: Partial<ClaimSpec>): DataSourceClaim => ({
  apiVersion: 'datadependency.volcano.sh/v1alpha1',
  kind: 'DataSourceClaim',
  metadata: { name: 'sales', namespace: 'work' },
  spec: { system: 'hive', dataSourceType: 'table', ...spec },
})
const aSource = (spec: Partial<SourceSpec> = {}, name = 'ds-1'): DataSource => ({
  apiVersion: 'datadependency.volcano.sh/v1alpha1',
  kind: 'DataSource',
  metadata: { name },
  spec: { system: 'hive', type: 'table', name: 'sales.daily', locality: { clusterNames: ['west'] }, reclaimPolicy: 'Retain', ...spec },
})
const bare = <T>(object: object): T => ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'ds-1' }, ...object }) as T

const workloadSelector = { matchLabels: { app: 'report' } }
const workload = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'report' }
const seed = (spec: Partial<ClaimSpec> = {}): DataSourceClaim => aClaim({ workloadSelector, ...spec })
const built = (spec: Partial<ClaimSpec> = {}): DataSourceClaim => aClaim({ workload, dataSourceName: 'sales.daily', ...spec })
const demand = (key: string, operator: string, ...values: string[]) => ({ matchExpressions: [{ key, operator, values }] })

describe('a claim for one workload', () => {
  const CASES: [string, Partial<ClaimSpec>, Partial<SourceSpec>, boolean][] = [
    ['the same name', {}, {}, true],
    ['another name', { dataSourceName: 'sales.hourly' }, {}, false],
    ['the name of the object', { dataSourceName: 'ds-1' }, {}, false],
    ['no name', { dataSourceName: '' }, { name: '' }, false],
    ['another system', { system: 's3' }, {}, false],
    ['another type', { dataSourceType: 'view' }, {}, false],
    ['empty attributes for absent ones', { attributes: {} }, {}, true],
    ['absent attributes for empty ones', {}, { attributes: {} }, true],
    ['the same attributes in another order', { attributes: { a: '1', b: '2' } }, { attributes: { b: '2', a: '1' } }, true],
    ['an attribute too few', {}, { attributes: { a: '1' } }, false],
    ['an attribute too many', { attributes: { a: '1' } }, {}, false],
    ['another value of an attribute', { attributes: { a: '1' } }, { attributes: { a: '2' } }, false],
  ]
  for (const [what, claim, source, expected] of CASES)
    it(`${expected ? 'matches' : 'does not match'} a source with ${what}`, () => {
      assert.equal(matches(built(claim), aSource(source)), expected)
      assert.equal(isPreBoundTo(built(claim), aSource(source)), false)
    })
  it('is not of the form of the proposal', () => assert.equal(isSeedForm(built()), false))
})

describe('a claim for workloads by label', () => {
  const parquet = { attributes: { format: 'parquet', note: 'any text: s3://x' } }
  const CASES: [string, Partial<ClaimSpec>, Partial<SourceSpec>, boolean][] = [
    ['any attributes, without a selector', {}, parquet, true],
    ['no attributes, without a selector', {}, {}, true],
    ['the label', { attributesSelector: { matchLabels: { format: 'parquet' } } }, parquet, true],
    ['another value', { attributesSelector: { matchLabels: { format: 'orc' } } }, parquet, false],
    ['one of the values', { attributesSelector: demand('format', 'In', 'orc', 'parquet') }, parquet, true],
    ['none of the values', { attributesSelector: demand('format', 'NotIn', 'orc') }, parquet, true],
    ['a text that is no label', { attributesSelector: demand('note', 'Exists') }, parquet, true],
    ['an attribute it must not have', { attributesSelector: demand('note', 'DoesNotExist') }, parquet, false],
    ['no attributes, for an inherited key', { attributesSelector: demand('constructor', 'Exists') }, {}, false],
    ['anything, for an operator that does not exist', { attributesSelector: demand('format', 'Near', 'parquet') }, parquet, false],
    ['anything, for a demand without values', { attributesSelector: demand('format', 'NotIn') }, parquet, false],
    ['an attribute it demands, but another system', { system: 's3', attributesSelector: demand('format', 'Exists') }, parquet, false],
    ['the name of the object, whatever the selector', { dataSourceName: 'ds-1', attributesSelector: demand('x', 'Exists') }, {}, true],
    [
      'the name of the object, even if the selector cannot be read',
      { dataSourceName: 'ds-1', attributesSelector: demand('x', 'Near') },
      {},
      true,
    ],
    ['another name of the object', { dataSourceName: 'ds-2' }, {}, false],
    ['the logical name only', { dataSourceName: 'sales.daily' }, {}, false],
    ['an empty name, which counts as none', { dataSourceName: '' }, {}, true],
    ['the name of the object, but another type', { dataSourceName: 'ds-1', dataSourceType: 'view' }, {}, false],
  ]
  for (const [what, claim, source, expected] of CASES)
    it(`${expected ? 'matches' : 'does not match'} a source with ${what}`, () =>
      assert.equal(matches(seed(claim), aSource(source)), expected))

  it('is of the form of the proposal', () => assert.equal(isSeedForm(seed()), true))
  it('is pre-bound to the object that it names, of whatever system and type', () => {
    assert.equal(isPreBoundTo(seed({ dataSourceName: 'ds-1', system: 's3' }), aSource()), true)
    assert.equal(isPreBoundTo(seed({ dataSourceName: 'ds-2' }), aSource()), false)
    assert.equal(isPreBoundTo(seed({ dataSourceName: '' }), aSource({}, '')), false)
    assert.equal(isPreBoundTo(seed(), aSource()), false)
  })
})

describe('objects that no admission has seen', () => {
  it('match nothing, and have no keys but their name', () => {
    for (const claim of [bare<DataSourceClaim>({}), bare<DataSourceClaim>({ spec: {} })]) {
      for (const source of [aSource(), bare<DataSource>({}), bare<DataSource>({ spec: {} })]) assert.equal(matches(claim, source), false)
      assert.deepEqual(claimKeys(claim), [])
      assert.equal(isSeedForm(claim), false)
    }
    for (const source of [bare<DataSource>({}), bare<DataSource>({ spec: {} })]) {
      assert.equal(matches(seed(), source), false)
      assert.deepEqual(sourceKeys(source), ['["object","ds-1"]'])
      assert.deepEqual(clustersOf(source, [aCluster('west')]), { named: [], joined: [] })
    }
  })
  it('do not match by having nothing in common', () => {
    const empty = { system: '', dataSourceType: '', workloadSelector }
    assert.equal(matches(bare({ spec: empty }), aSource({ system: '', type: '' })), false)
    assert.equal(matches(bare({ spec: { workloadSelector } }), bare({ spec: {} })), false)
  })
})

describe('keys', () => {
  it('of a claim are as selective as its demands allow', () => {
    const CASES: [DataSourceClaim, string[]][] = [
      [built(), ['["name","hive","table","sales.daily"]']],
      [seed(), ['["type","hive","table"]']],
      [seed({ dataSourceName: 'ds-1' }), ['["object","ds-1"]']],
      [seed({ attributesSelector: { matchLabels: { b: '2', a: '1' } } }), ['["attribute","hive","table","a=1"]']],
      [
        seed({ attributesSelector: demand('a', 'In', '1', '2') }),
        ['["attribute","hive","table","a=1"]', '["attribute","hive","table","a=2"]'],
      ],
      [seed({ attributesSelector: demand('a', 'Exists') }), ['["type","hive","table"]']],
      [seed({ attributesSelector: demand('a', 'Near') }), []],
    ]
    for (const [claim, keys] of CASES) assert.deepEqual(claimKeys(claim), keys)
  })
  it('of a source are all under which a claim may look', () =>
    assert.deepEqual(sourceKeys(aSource({ attributes: { a: '1', long: 'x'.repeat(64) } })), [
      '["object","ds-1"]',
      '["name","hive","table","sales.daily"]',
      '["type","hive","table"]',
      '["attribute","hive","table","a=1"]',
    ]))

  const text = fc.constantFrom('a', 'b', '', 'a=b', 'constructor')
  const key = fc.constantFrom('a', 'b', 'example.com/c', 'constructor', '__proto__')
  const attributes = fc.dictionary(key, fc.constantFrom('a', 'b', '', 'not a label'), { maxKeys: 3 })
  const values = fc.array(fc.constantFrom('a', 'b', ''), { maxLength: 3 })
  const expression = fc.record({ key, operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Near'), values })
  const selector = fc.record(
    {
      matchLabels: fc.dictionary(key, fc.constantFrom('a', 'b'), { maxKeys: 2 }),
      matchExpressions: fc.array(expression, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  const anyClaim = fc
    .record(
      {
        system: text,
        dataSourceType: text,
        dataSourceName: text,
        workload: fc.constant(workload),
        workloadSelector: fc.constant(workloadSelector),
        attributes,
        attributesSelector: selector,
      },
      { requiredKeys: [] },
    )
    .map((spec) => bare<DataSourceClaim>({ spec }))
  const anySource = fc
    .tuple(text, fc.record({ system: text, type: text, name: text, attributes }, { requiredKeys: [] }))
    .map(([name, spec]) => bare<DataSource>({ metadata: { name }, spec }))

  it('are shared by whatever matches, and by a claim and the object it names', () => {
    let matched = 0
    fc.assert(
      fc.property(anyClaim, anySource, (claim, source) => {
        if (!matches(claim, source) && !isPreBoundTo(claim, source)) return
        matched++
        const offered = new Set(sourceKeys(source))
        assert.ok(claimKeys(claim).some((wanted) => offered.has(wanted)))
      }),
      { numRuns: 5000 },
    )
    assert.ok(matched > 50, `${matched} match`)
  })
  it('are there once each', () => {
    fc.assert(fc.property(anySource, (source) => assert.equal(new Set(sourceKeys(source)).size, sourceKeys(source).length)))
  })
})

const aCluster = (name: string, labels: Record<string, string> = {}, spec: Partial<Cluster['spec']> = {}): Cluster => ({
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name, labels },
  spec: { syncMode: 'Push', ...spec },
})

describe('where a source is', () => {
  const CLUSTERS = [aCluster('west', { tier: 'gold' }, { region: 'eu' }), aCluster('east', { tier: 'gold' }), aCluster('north')]
  const gold = { labelSelector: { matchLabels: { tier: 'gold' } } }
  const CASES: [string, DataSourceLocality, string[], string[]?][] = [
    ['names, sorted and each once', { clusterNames: ['west', 'gone', 'east', 'west', ''] }, ['east', 'gone', 'west'], ['east', 'west']],
    ['labels', { clusterAffinity: gold }, ['east', 'west']],
    ['fields', { clusterAffinity: { fieldSelector: demand('region', 'In', 'eu') } }, ['west']],
    ['names in an affinity, of those that exist', { clusterAffinity: { clusterNames: ['gone', 'north'] } }, ['north']],
    ['exclusion', { clusterAffinity: { exclude: ['west'] } }, ['east', 'north']],
    ['an empty affinity', { clusterAffinity: {} }, ['east', 'north', 'west']],
    ['a selector that cannot be read', { clusterAffinity: { labelSelector: demand('tier', 'Near', 'gold') } }, []],
    ['both: what both select', { clusterAffinity: gold, clusterNames: ['north', 'west', 'gone'] }, ['west']],
    ['an affinity and an empty list', { clusterAffinity: gold, clusterNames: [] }, ['east', 'west']],
    ['an affinity and a list of nothing', { clusterAffinity: gold, clusterNames: [''] }, []],
    ['nothing', {}, []],
    ['an empty list', { clusterNames: [] }, []],
  ]
  for (const [what, locality, named, joined = named] of CASES)
    it(`by ${what}`, () => assert.deepEqual(clustersOf(aSource({ locality }), CLUSTERS), { named, joined }))

  it('does not take quadratic time', () => {
    const many = Array.from({ length: 5000 }, (_, i) => aCluster(`c${i}`))
    let looks = 0
    const counted = many.map((cluster) => ({
      ...cluster,
      get metadata() {
        looks++
        return cluster.metadata
      },
    }))
    const clusterNames = many.map(({ metadata }) => metadata.name ?? '')
    assert.equal(clustersOf(aSource({ locality: { clusterNames, clusterAffinity: { clusterNames } } }), counted).joined.length, 5000)
    assert.ok(looks <= 4 * 5000, `${looks} looks`)
  })

  it('is sorted, and what exists of it is part of it', () => {
    const name = fc.constantFrom('west', 'east', 'north', 'gone', '')
    const names = fc.array(name, { maxLength: 4 })
    const clusterAffinity = fc.record({ clusterNames: names, exclude: names }, { requiredKeys: [] })
    fc.assert(
      fc.property(fc.record({ clusterNames: names, clusterAffinity }, { requiredKeys: [] }), (locality) => {
        const { named, joined } = clustersOf(aSource({ locality }), CLUSTERS)
        assert.deepEqual([...named], [...new Set(named)].sort())
        assert.deepEqual(
          [...joined],
          named.filter((one) => CLUSTERS.some(({ metadata }) => metadata.name === one)),
        )
      }),
    )
  })
})
