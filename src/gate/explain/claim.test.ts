import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FORBIDDEN, NONE } from '../../client/read-as-caller.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { releaseText } from '../narrowing/release.ts'
import { nearSources } from './candidates.ts'
import { type ClaimedWorkload, type ClaimInput, explainClaim } from './claim.ts'
import { BUILT, bindingOf, bound, claimOf, clusterOf, heldBinding, sourceOf, waiting } from './testing.ts'

const input = (claim: DataSourceClaim, more: Partial<ClaimInput> = {}): ClaimInput => ({
  claim,
  bound: undefined,
  sources: NONE,
  clusters: [clusterOf('east'), clusterOf('west', false)],
  workloads: [],
  otherWorkloads: 0,
  isIncomplete: false,
  ...more,
})
const texts = (given: ClaimInput): string[] =>
  explainClaim(given).links.flatMap(({ what, state, says, more = [] }) => [`${state} ${what}: ${says}`, ...more.map((line) => `  ${line}`)])
const report = (binding: ClaimedWorkload['binding']): ClaimedWorkload => ({ apiVersion: 'batch/v1', kind: 'Job', name: 'report', binding })
const NOT_THERE = 'there is no DataSource for hive/table/sales, and no workload says that it makes it'

describe('why a claim has its source, or none', () => {
  it('shows a claim that is bound, from its source to its workload', () => {
    const release = releaseText({ allow: ['east'], claims: { sales: 'ds-1' }, seen: {}, policy: 'p' }, 0)
    const binding = bindingOf({ 'sluice.dev/released': release }, { clusters: [{ name: 'east' }] })
    const given = input(bound('sales', 'ds-1'), { bound: sourceOf('ds-1', ['east', 'west', 'north']), workloads: [report(binding)] })
    assert.deepEqual(texts(given), [
      'ok claim: hive/table/sales, for Job report',
      'ok resolved: DataSource ds-1 is bound',
      'ok ready: the data is in east, north (not joined), west (not ready)',
      'ok placed: Released: every workload is scheduled where the data is',
      'ok workload: Job report released to east; runs in east',
    ])
    const { trouble, says } = explainClaim(given)
    assert.deepEqual([trouble, says], [undefined, 'it is bound to DataSource ds-1, and every workload is where the data is'])
  })

  it('says why there is no source, which ones come near, and who waits', () => {
    const other = sourceOf('ds-view', ['east'])
    other.spec.type = 'view'
    const given = input(waiting('sales', 'NoSuchSource', NOT_THERE), {
      sources: { ...NONE, items: [other] },
      workloads: [report(heldBinding('NoSuchSource', `claim sales: ${NOT_THERE}`, 'DataSourceClaim/sales'))],
    })
    assert.deepEqual(texts(given), [
      'ok claim: hive/table/sales, for Job report',
      `waits resolved: NoSuchSource: ${NOT_THERE}`,
      '  DataSource ds-view is of hive/view, not of hive/table',
      'waits workload: Job report is held: NoSuchSource',
      '  sluice why job/report -n shop',
    ])
    const { trouble } = explainClaim(given)
    assert.equal(trouble?.says, `NoSuchSource: ${NOT_THERE}`)
    assert.match(trouble?.fix ?? '', /register a DataSource of system hive, type table, name sales/)
  })

  const unplaced = (reason: string, message: string, status = 'False') =>
    bound('sales', 'ds-1', [{ type: 'Placed', status, reason, message }])
  const unready = (reason: string, message: string) =>
    bound('sales', 'ds-1', [
      { type: 'Ready', status: 'False', reason, message },
      { type: 'Placed', status: 'Unknown', reason: 'NotScheduled', message: 'Job shop/report is not scheduled yet' },
    ])
  const table: [string, DataSourceClaim, string, RegExp, RegExp][] = [
    ['nobody has looked at it', claimOf('sales'), 'waits', /nobody has looked at it/, /see that the gate runs/],
    [
      'it failed to be made',
      waiting('sales', 'ProducerFailed', 'Job a/b makes it, and has failed'),
      'fails',
      /ProducerFailed/,
      /sluice why job\/b -n a/,
    ],
    [
      'a cycle',
      waiting('sales', 'DependencyCycle', 'these claims wait for each other: a/x → a/y → a/x'),
      'fails',
      /a\/x → a\/y/,
      /kubectl edit dsc sales/,
    ],
    [
      'not permitted',
      waiting('sales', 'NotPermitted', 'no DataSource that this namespace may use matches'),
      'waits',
      /NotPermitted/,
      /ReferenceGrant/,
    ],
    [
      'no cluster that is joined',
      unready('NoLocality', 'DataSource ds-1 selects no joined cluster'),
      'waits',
      /NoLocality/,
      /kubectl edit datasource ds-1/,
    ],
    [
      'no cluster that is ready',
      unready('DataClusterUnavailable', 'no cluster of DataSource ds-1 is ready: west'),
      'waits',
      /ds-1/,
      /kubectl get clusters\): west/,
    ],
    ['no workload', unplaced('NoWorkload', 'there is no workload that needs it', 'Unknown'), 'waits', /NoWorkload/, /create Job report/],
    [
      'not scheduled',
      unplaced('NotScheduled', 'Job shop/report is not scheduled yet', 'Unknown'),
      'waits',
      /not scheduled/,
      /sluice why job\/report -n shop/,
    ],
    [
      'elsewhere',
      unplaced('NoCommonCluster', 'Job shop/report is in east, where the data is not'),
      'fails',
      /is in east/,
      /sluice why job\/report -n shop/,
    ],
    [
      'held for another claim',
      unplaced('NoSuchSource', 'Job shop/report is held: claim x: none'),
      'waits',
      /claim x/,
      /sluice why job\/report -n shop/,
    ],
  ]
  for (const [name, claim, state, says, fix] of table)
    it(`has one next step: ${name}`, () => {
      const { trouble } = explainClaim(input(claim, { bound: sourceOf('ds-1', ['west']) }))
      assert.equal(trouble?.state, state)
      assert.match(trouble?.says ?? '', says)
      assert.match(trouble?.fix ?? '', fix)
    })

  it('says what became of a source that was bound', () => {
    const claim = waiting('sales', 'NoSuchSource', NOT_THERE)
    claim.status?.conditions?.push({
      type: 'Bound',
      status: 'False',
      reason: 'BindingInvalid',
      message: 'DataSource ds-1 was deleted',
      observedGeneration: 1,
    } as never)
    assert.ok(texts(input(claim)).includes('waits bound: BindingInvalid: DataSource ds-1 was deleted'))
    assert.ok(texts(input(bound('sales', 'ds-1'))).includes('waits resolved: DataSource ds-1, which is gone'))
  })

  it('says that it is being deleted, and by whom it is kept', () => {
    const claim = bound('sales', 'ds-1')
    Object.assign(claim.metadata, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] })
    assert.equal(explainClaim(input(claim)).trouble?.fix, 'see who has to remove its finalizers: a/b')
  })

  describe('how its workloads are doing', () => {
    const jobIn = (condition: string): ClaimedWorkload['binding'] => {
      const status = { conditions: [{ type: condition, status: 'True' }] }
      const aggregatedStatus = [{ clusterName: 'east', applied: true, status }]
      return { ...bindingOf({}, { clusters: [{ name: 'east' }] }), status: { aggregatedStatus } } as ClaimedWorkload['binding']
    }
    const rows: [string, ClaimedWorkload['binding'], string][] = [
      ['no binding', undefined, 'waits workload: Job report has no binding: it does not exist, or no policy selects it'],
      ['one that may not be read', FORBIDDEN, 'ok workload: Job report: its binding may not be read by you'],
      ['not scheduled', bindingOf({}), 'waits workload: Job report is not scheduled yet'],
      ['finished', jobIn('Complete'), 'ok workload: Job report has succeeded in east'],
      ['failed', jobIn('Failed'), 'fails workload: Job report has failed in east'],
    ]
    for (const [name, binding, expected] of rows)
      it(name, () => assert.ok(texts(input(bound('sales', 'ds-1'), { workloads: [report(binding)] })).includes(expected)))

    it('is said of some, and that there are more', () => {
      const lines = texts(input(bound('sales', 'ds-1'), { workloads: [report(FORBIDDEN)], otherWorkloads: 3, isIncomplete: true }))
      assert.deepEqual(lines.slice(-2), ['ok workload: and 3 more', 'ok workload: there may be others: not all could be looked at'])
    })
  })

  it('does without what may not be read', () => {
    const given = input(bound('sales', 'ds-1'), { bound: FORBIDDEN, clusters: undefined })
    assert.deepEqual(texts(given).slice(1, 3), ['ok resolved: DataSource ds-1 is bound', 'ok ready: it can be used'])
    const none = texts(input(waiting('sales', 'NoSuchSource', 'none'), { sources: { ...NONE, isForbidden: true } }))
    assert.equal(none[2], '  DataSources may not be read by you: which of them come near is not shown')
  })
})

describe('sources that come near', () => {
  const SEED = { system: 'hive', dataSourceType: 'table', workloadSelector: { matchLabels: { app: 'x' } } }
  const having = (name: string, change: Partial<DataSource['spec']>, metadata: Partial<DataSource['metadata']> = {}): DataSource => {
    const source = sourceOf(name, ['east'], metadata)
    return { ...source, spec: { ...source.spec, ...change } }
  }
  const rows: [string, DataSourceClaim, DataSource, string[]][] = [
    ['another system', claimOf('c'), having('s', { system: 's3' }), ['DataSource s is of s3/table, not of hive/table']],
    ['another name', claimOf('c'), having('s', { name: 'sale' }), ['DataSource s is for sale, not for sales']],
    [
      'attributes',
      claimOf('c'),
      having('s', { attributes: { a: 'b' } }),
      ['DataSource s has a=b, the claim asks for exactly no attributes'],
    ],
    ['being deleted', claimOf('c'), having('s', {}, { deletionTimestamp: 'now' }), ['DataSource s matches, but is being deleted']],
    ['nobody looked', claimOf('c'), having('s', {}), ['DataSource s matches: the claim is bound as soon as somebody looks at it']],
    [
      'a selector of attributes',
      claimOf('c', { ...SEED, attributesSelector: { matchLabels: { region: 'eu' } } }),
      having('s', { attributes: { region: 'us' } }),
      ['DataSource s has region=us, which does not fulfil region=eu'],
    ],
    [
      'the object it names',
      claimOf('c', { ...SEED, dataSourceName: 's' }),
      having('s', { type: 'view' }),
      ['DataSource s is of hive/view, not of hive/table'],
    ],
    ['another object than it names', claimOf('c', { ...SEED, dataSourceName: 'other' }), having('s', {}), []],
    ['nothing in common', claimOf('c'), having('s', { system: 's3', name: 'x' }), []],
    ['made in another namespace', claimOf('c'), having('s', {}, { annotations: { 'sluice.dev/producer-namespace': 'data' } }), []],
    [
      'made in its own',
      claimOf('c', { ...BUILT, dataSourceName: 'x' }),
      having('s', {}, { annotations: { 'sluice.dev/producer-namespace': 'shop' } }),
      ['DataSource s is for sales, not for x'],
    ],
  ]
  for (const [name, claim, source, expected] of rows) it(name, () => assert.deepEqual(nearSources(claim, [source]), expected))

  it('are few, the nearest first', () => {
    const names = ['e', 'd', 'c', 'b', 'a'].map((name) => having(name, { name: `${name}s` }))
    assert.deepEqual(nearSources(claimOf('c'), [...names, having('z', { attributes: { a: 'b' } })]), [
      'DataSource z has a=b, the claim asks for exactly no attributes',
      'DataSource a is for as, not for sales',
      'DataSource b is for bs, not for sales',
      'and 3 more that come near',
    ])
  })
})
