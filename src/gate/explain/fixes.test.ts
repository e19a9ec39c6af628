import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Policy } from '../../kinds/karmada/index.ts'
import type { DataSourceClaim, DataSourceClaimSpec } from '../../kinds/volcano/index.ts'
import { HOLD_REASONS } from '../../kinds/volcano/well-known.ts'
import { cycleThrough } from '../claim/cycle.ts'
import { type Maker, type Unresolved, unresolved } from '../claim/decide.ts'
import { decide } from '../narrowing/decide.ts'
import { readiness } from '../source/locality.ts'
import { fixFor, isKnownReason, type Wait, workloadIn } from './fixes.ts'
import { BUILT, bound, claimOf, clusterOf, sourceOf } from './testing.ts'

const SEED: Partial<DataSourceClaimSpec> = {
  system: 'hive',
  dataSourceType: 'table',
  workloadSelector: { matchLabels: { app: 'report' } },
  attributesSelector: { matchLabels: { region: 'eu' } },
}
const DAILY: Maker = { name: 'Job data/daily', isForeign: false, hasEnd: true, state: 'running' }

/** What `gate.claim` says, so that texts and what reads them cannot part. */
function said(claim: DataSourceClaim, more: Partial<Unresolved>): Wait {
  const data = { system: 'hive', type: 'table', name: 'sales' }
  const nothing = { claim, mismatch: undefined, going: [], data, makers: [], cycle: undefined, mayBeWithheld: false }
  const answer = unresolved({ ...nothing, ...more })
  assert.ok('reason' in answer)
  return { ...answer, namespace: 'shop', claim: 'sales', of: claim }
}

describe('the next step for what is waited for', () => {
  const built = claimOf('sales')
  const policy = { metadata: { name: 'batch' }, spec: { placement: { clusterAffinity: { clusterNames: ['north'] } } } } as unknown as Policy
  const table: [string, Wait, string][] = [
    [
      'a claim that does not exist',
      { reason: 'NoSuchClaim', message: '', namespace: 'shop', claim: 'sales' },
      'create DataSourceClaim sales (kubectl apply -n shop -f FILE), or take it out of the annotation sluice.dev/claims',
    ],
    [
      'data that nobody registered',
      said(built, {}),
      'ask an administrator to register a DataSource of system hive, type table, name sales, or annotate the workload that makes it with sluice.dev/produces: hive/table/sales',
    ],
    [
      'data with attributes, which no workload can make',
      said(claimOf('sales', { ...BUILT, attributes: { region: 'eu' } }), { data: undefined }),
      'ask an administrator to register a DataSource of system hive, type table, name sales and attributes region=eu',
    ],
    [
      'data that is selected by attributes',
      said(claimOf('sales', SEED), { data: undefined }),
      'ask an administrator to register a DataSource of system hive, type table whose attributes fulfil region=eu',
    ],
    [
      'an object that is not there',
      said(claimOf('sales', { ...SEED, dataSourceName: 'ds-1' }), { data: undefined }),
      'ask an administrator to register a DataSource of system hive, type table under the name ds-1',
    ],
    [
      'an object that is something else',
      said(claimOf('sales', { ...SEED, system: 's3', dataSourceName: 'ds-1' }), { mismatch: sourceOf('ds-1', []) }),
      'let the claim name another DataSource, or correct its system and type: kubectl edit dsc sales -n shop',
    ],
    ['data that is being made', said(built, { makers: [DAILY] }), 'see how Job data/daily is doing: sluice why job/daily -n data'],
    [
      'data that is being made, from the hold of a workload',
      { ...said(built, { makers: [DAILY] }), message: `claim sales: ${said(built, { makers: [DAILY] }).message}` },
      'see how Job data/daily is doing: sluice why job/daily -n data',
    ],
    [
      'data of a workload that has no end',
      said(built, { makers: [{ ...DAILY, name: 'Deployment data/web', hasEnd: false }] }),
      'Deployment data/web never finishes: let a Job make it, or ask an administrator to register a DataSource of system hive, type table, name sales',
    ],
    [
      'data of a workload that failed',
      said(built, { makers: [{ ...DAILY, state: 'failed' }] }),
      'see why Job data/daily failed, and run it again: sluice why job/daily -n data',
    ],
    [
      'a cycle',
      said(built, { makers: [DAILY], cycle: cycleThrough('shop/a', (claim) => [[claim === 'shop/a' ? 'shop/b' : 'shop/a']]) }),
      'break the cycle at one of its claims (shop/a → shop/b → shop/a): kubectl edit dsc sales -n shop',
    ],
    [
      'a source that is being deleted',
      said(built, { going: [sourceOf('ds-1', [])] }),
      'wait until DataSource ds-1 is gone (kubectl get datasource ds-1), then ask an administrator to register a DataSource of system hive, type table, name sales',
    ],
    [
      'data of another namespace',
      said(built, { mayBeWithheld: true }),
      'ask who owns the data for a ReferenceGrant from DataSourceClaim of namespace shop to DataSource in the namespace that makes it, or an administrator for a DataSource',
    ],
    [
      'clusters that have not joined',
      { ...readiness(sourceOf('ds-1', ['west']), []), namespace: 'shop', source: 'ds-1' },
      'join one of its clusters (sluice join NAME --cluster-kubeconfig FILE), or correct spec.locality: kubectl edit datasource ds-1',
    ],
    [
      'clusters that are not ready',
      { ...readiness(sourceOf('ds-1', ['west', 'east']), [clusterOf('west', false), clusterOf('east', false)]), namespace: 'shop' },
      'bring one of these clusters back (kubectl get clusters): east, west',
    ],
    [
      'the same from the hold of a workload',
      held(['west'], { clusters: [clusterOf('west', false)] }),
      'bring one of these clusters back (kubectl get clusters): west',
    ],
    [
      'a policy for other clusters',
      {
        ...held(['west'], { policy }),
        policy: 'propagationpolicy batch -n shop',
        sets: [{ claim: 'sales', source: 'ds-1', clusters: ['west'] }],
      },
      'let the policy include west (kubectl edit propagationpolicy batch -n shop), or bring the data to a cluster of the policy and add that to spec.locality: kubectl edit datasource ds-1',
    ],
    [
      'claims that exclude each other',
      {
        reason: 'NoCommonCluster',
        message: '',
        namespace: 'shop',
        sets: [
          { claim: 'a', source: 'ds-1', clusters: ['west'] },
          { claim: 'b', source: 'ds-2', clusters: ['east'] },
        ],
      },
      'bring the data of one to a cluster of the other, and add that cluster to spec.locality: kubectl edit datasource ds-1 ds-2',
    ],
    [
      'an annotation that cannot be read',
      { reason: 'InvalidAnnotation', message: '', namespace: 'shop', workload: 'job report -n shop' },
      'correct it: kubectl annotate job report -n shop --overwrite sluice.dev/claims=NAME,NAME',
    ],
    [
      'more claims than can be recorded',
      { reason: 'TooManyClaims', message: '', namespace: 'shop', workload: 'job report -n shop' },
      'let fewer claims concern job report -n shop: kubectl get dsc shows those of its namespace',
    ],
    [
      'a claim that nobody has looked at',
      { reason: 'NotResolved', message: '', namespace: 'shop' },
      'look again in a moment; if it stays like this, see that the gate runs on this hub: sluice up, or sluice controllers --role hub',
    ],
    ['no workload', { reason: 'NoWorkload', message: '', namespace: 'shop', of: built }, 'create Job report in namespace shop'],
    [
      'no workload that a selector selects',
      { reason: 'NoWorkload', message: '', namespace: 'shop', of: claimOf('sales', SEED) },
      'label a workload of namespace shop so that the claim selects it (app=report), or name the claim in its annotation sluice.dev/claims',
    ],
    [
      'a workload that is not scheduled',
      { reason: 'NotScheduled', message: 'Job shop/report is not scheduled yet', namespace: 'shop' },
      'see what it waits for: sluice why job/report -n shop',
    ],
    ['a reason of somebody else', { reason: 'Toy', message: '', namespace: 'shop', claim: 'sales' }, 'see: sluice why dsc/sales -n shop'],
  ]
  for (const [name, wait, fix] of table) it(name, () => assert.equal(fixFor(wait), fix))

  it('knows every reason for which a workload can be held', () => {
    for (const reason of HOLD_REASONS) assert.ok(isKnownReason(reason), reason)
    for (const reason of HOLD_REASONS)
      assert.ok(
        table.some(([, wait]) => wait.reason === reason),
        `${reason} has a row here`,
      )
    assert.equal(isKnownReason('constructor'), false)
  })

  it('finds the workload in a message, and none where there is none', () => {
    assert.deepEqual(workloadIn('Job data/daily makes x'), { kind: 'Job', namespace: 'data', name: 'daily' })
    assert.equal(workloadIn('there is no DataSource for hive/table/x'), undefined)
    assert.equal(workloadIn('DataSource ds-1 is being deleted'), undefined)
  })

  it('comes to a sentence whatever a condition says', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom(...HOLD_REASONS, 'NoWorkload', 'toString'))
    const spec = fc.oneof(fc.constant(undefined), fc.object({ maxDepth: 1 }))
    fc.assert(
      fc.property(text, fc.string(), spec, (reason, message, of) => {
        const claim = { ...claimOf('sales'), spec: of } as unknown as DataSourceClaim
        assert.ok(fixFor({ reason, message, namespace: 'shop', of: claim }).length > 0)
      }),
    )
  })
})

/** How the narrowing holds a workload with one claim on data in these clusters. */
function held(clusters: readonly string[], more: Partial<Parameters<typeof decide>[0]>): Wait {
  const claim = bound('sales', 'ds-1')
  const facts = {
    claims: [{ claim, state: { is: 'met' as const, source: sourceOf('ds-1', clusters), clusters } }],
    missing: [],
    policy: { metadata: { name: 'batch' }, spec: {} } as unknown as Policy,
    clusters: [clusterOf('west'), clusterOf('north')],
    binding: undefined,
    nowMs: 0,
    ...more,
  }
  const hold = decide(facts)?.hold
  assert.ok(hold !== undefined)
  return { ...hold, namespace: 'shop' }
}
