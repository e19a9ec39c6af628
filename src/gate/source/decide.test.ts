import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { aCluster, readyStatus } from '../../fleet/testing.ts'
import type { Cluster } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim, DataSourceSpec, DataSourceStatus } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_FINALIZER } from '../../kinds/volcano/well-known.ts'
import { aClaim, aSource } from '../claim/testing.ts'
import { isWritten, oldestOf, recordedIn, wantedStatus } from './decide.ts'
import { isRelevantCluster, listed, readiness } from './locality.ts'
import { createPace } from './pace.ts'
import { type Observed, plan } from './plan.ts'

const SALES = 'hive/table/sales'

function claim(name: string, second = 0): DataSourceClaim {
  const made = aClaim(`default/${name}`, SALES)
  const creationTimestamp = `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`
  return { ...made, metadata: { ...made.metadata, uid: `uid-${name}`, creationTimestamp } }
}

const namesOf = (claims: readonly DataSourceClaim[]): string[] => claims.map(({ metadata }) => metadata.name ?? '')

describe('the oldest claims', () => {
  it('are the first by age, then by name, however they are found', () => {
    const claims = fc.uniqueArray(fc.tuple(fc.nat(5), fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 })), {
      selector: ([, name]) => name,
      maxLength: 40,
    })
    fc.assert(
      fc.property(claims, fc.nat(10), (drawn, most) => {
        const all = drawn.map(([second, name]) => claim(name, second))
        const sorted = drawn.map(([second, name]) => `${second} ${name}`).sort()
        assert.deepEqual(
          namesOf(oldestOf(all, most)),
          sorted.slice(0, most).map((text) => text.slice(2)),
        )
      }),
    )
  })
})

const isReady = (name: string, is = true, more: Partial<Cluster['metadata']> = {}): Cluster => {
  const cluster = aCluster(name) as Cluster
  const conditions = readyStatus.conditions.map((one) => ({ ...one, status: is ? 'True' : 'False' }))
  return { ...cluster, metadata: { ...cluster.metadata, ...more }, status: { ...readyStatus, conditions } as Cluster['status'] }
}

describe('whether data can be used', () => {
  const GOING = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const table: [string, DataSourceSpec['locality'], Cluster[], string][] = [
    ['in a ready cluster', { clusterNames: ['west'] }, [isReady('west')], 'True Available'],
    ['one of two is ready', { clusterNames: ['west', 'east'] }, [isReady('west', false), isReady('east')], 'True Available'],
    ['none is ready', { clusterNames: ['west'] }, [isReady('west', false), isReady('east')], 'False DataClusterUnavailable'],
    ['it is leaving', { clusterNames: ['west'] }, [isReady('west', true, GOING)], 'False DataClusterUnavailable'],
    ['it has not reported', { clusterNames: ['west'] }, [aCluster('west') as Cluster], 'False DataClusterUnavailable'],
    ['not joined', { clusterNames: ['north'] }, [isReady('west')], 'False NoLocality'],
    ['nowhere', {}, [isReady('west')], 'False NoLocality'],
    ['anywhere', { clusterAffinity: {} }, [isReady('west')], 'True Available'],
    [
      'by names that an affinity excludes',
      { clusterNames: ['west'], clusterAffinity: { exclude: ['west'] } },
      [isReady('west')],
      'False NoLocality',
    ],
  ]
  for (const [name, locality, clusters, expected] of table)
    it(name, () => {
      const { status, reason } = readiness(aSource('sales', SALES, { locality }), clusters)
      assert.equal(`${status} ${reason}`, expected)
    })

  it('is asked again when a cluster changes in what decides, and for nothing else', () => {
    const before = isReady('west', true, { labels: { a: 'b' } })
    const busy = { ...before, status: { ...before.status, kubernetesVersion: 'v2' } } as Cluster
    assert.equal(isRelevantCluster(before, busy), false)
    for (const changed of [
      isReady('west', false, { labels: { a: 'b' } }),
      isReady('west', true, { labels: { a: 'c' } }),
      isReady('west', true, { labels: { a: 'b' }, ...GOING }),
      { ...before, spec: { ...before.spec, region: 'r' } },
    ])
      assert.equal(isRelevantCluster(before, changed), true)
  })

  it('names a few clusters, not all', () => {
    const names = Array.from({ length: 12 }, (_, i) => `c${i}`)
    assert.equal(listed(names), `${names.slice(0, 10).join(', ')} and others`)
  })
})

const NOW_MS = Date.parse('2026-01-01T00:01:00Z')

function observed(source: DataSource, bound: readonly DataSourceClaim[] = [], more: Partial<Observed> = {}): Observed {
  return { source, bound, clusters: [isReady('west')], recorded: 'none', nowMs: NOW_MS, ...more }
}

const stored = (status?: DataSourceStatus, metadata: Partial<DataSource['metadata']> = {}): DataSource => {
  const made = aSource('sales', SALES)
  return { ...made, metadata: { ...made.metadata, generation: 1, ...metadata }, ...(status === undefined ? {} : { status }) }
}

/** The status that a pass leaves behind. */
function written(bound: readonly DataSourceClaim[]): DataSourceStatus {
  const { refs, boundClaims, conditions } = wantedStatus(observed(stored(), bound))
  return { ...(refs.length === 0 ? {} : { claimRef: [...refs], claimRefs: [...refs] }), boundClaims, conditions: [...conditions] }
}

describe('the plan for a source', () => {
  const done = (of: Observed): string[] =>
    plan(of).actions.map((action) => {
      if (action.do !== 'patch') return action.do
      const { metadata } = action.patch as { metadata?: { finalizers: string[] } }
      return metadata === undefined ? 'status' : `finalizers [${metadata.finalizers}]`
    })
  const HELD = { finalizers: ['a', DATA_SOURCE_FINALIZER] }
  const GOING = { deletionTimestamp: '2026-01-01T00:00:59Z' }
  const [a] = [claim('a')]
  const settled = { status: written([a]), none: written([]) }
  const table: [string, Observed, string[]][] = [
    ['its status', observed(stored()), ['status']],
    ['nothing when it is told', observed(stored(settled.none)), []],
    ['first its finalizer, alone', observed(stored(settled.none), [a]), [`finalizers [${DATA_SOURCE_FINALIZER}]`]],
    ['then who is bound', observed(stored(settled.none, HELD), [a]), ['status']],
    ['nothing more', observed(stored(settled.status, HELD), [a]), []],
    ['who is bound no longer', observed(stored(settled.status, HELD)), ['status']],
    ['last the finalizer', observed(stored(settled.none, HELD)), ['finalizers [a]']],
    ['nothing while it is being deleted and used', observed(stored(settled.status, { ...HELD, ...GOING }), [a]), []],
    ['the finalizer when it is being deleted', observed(stored(settled.status, { ...HELD, ...GOING })), ['finalizers [a]']],
    ['nothing when it is being deleted by others', observed(stored(settled.status, { finalizers: ['a'], ...GOING })), []],
    ['its end with its last claim', observed(stored(settled.status, HELD), [], { recorded: 'gone' }), ['delete']],
    ['nothing before it is certain that they are gone', observed(stored(settled.status, HELD), [], { recorded: 'uncertain' }), []],
    ['its status when they are only bound no more', observed(stored(settled.status, HELD), [], { recorded: 'there' }), ['status']],
  ]
  for (const [name, of, expected] of table) it(name, () => assert.deepEqual(done(of), expected))

  it('asks again when it is not certain', () => {
    assert.ok((plan(observed(stored(), [], { recorded: 'uncertain' })).requeueAfterMs ?? 0) > 0)
  })
})

describe('the status of a source', () => {
  const bound = [claim('a'), claim('b', 1)]
  const wanted = wantedStatus(observed(stored(), bound))
  const has = (status: DataSourceStatus): boolean => isWritten(stored(status), wanted)

  it('may lack one of the two lists, once it was written', () => {
    const { claimRef, claimRefs, ...rest } = written(bound)
    assert.ok(has({ ...rest, claimRef, claimRefs }))
    assert.ok(has({ ...rest, claimRef }))
    assert.ok(has({ ...rest, claimRefs }))
    assert.ok(!has(rest))
    assert.ok(has({ ...rest, claimRefs, claimRef: [] }), 'an empty list is the same as none')
    assert.ok(!has({ ...rest, claimRefs, claimRef: claimRef?.slice(1) }))
    assert.ok(!has({ ...rest, claimRefs, boundClaims: 3 }))
    assert.ok(!has({ claimRefs, boundClaims: 2 }), 'without our conditions nothing was written by us')
  })

  it('remembers who was bound, by either list, and nobody without a name', () => {
    const { claimRef, claimRefs } = written(bound)
    for (const status of [{ claimRef }, { claimRefs }, { claimRef, claimRefs: [] }]) assert.equal(recordedIn(stored(status)).length, 2)
    assert.deepEqual(recordedIn(stored({ claimRefs: [{ uid: 'x' }] })), [])
    assert.deepEqual(recordedIn(stored()), [])
  })

  it('has the condition about more claims only while there are more', () => {
    const many = Array.from({ length: 101 }, (_, i) => claim(`c${i}`))
    const full = wantedStatus(observed(stored(), many))
    assert.deepEqual([full.refs.length, full.boundClaims, full.conditions.at(-1)?.reason], [100, 101, 'TooManyClaims'])
    const fewer = wantedStatus(observed(stored({ conditions: [...full.conditions] }), many.slice(1)))
    assert.deepEqual(
      fewer.conditions.map(({ type }) => type),
      ['Ready', 'Provisioned'],
    )
  })
})

describe('the pace', () => {
  it('looks at once, then waits, but never because a write failed or a clock was set back', () => {
    const pace = createPace()
    assert.equal(pace.waitMs('a', '1', 1000), 0)
    pace.looked('a', { nowMs: 1000, pauseMs: 100, replaces: '1' })
    assert.equal(pace.waitMs('a', '2', 1040), 60)
    assert.equal(pace.waitMs('a', '1', 1040), 0, 'the write failed')
    assert.equal(pace.waitMs('a', '2', 900), 0)
    assert.equal(pace.waitMs('a', '2', 1100), 0)
    assert.equal(pace.waitMs('b', '2', 1040), 0)
    pace.looked('a', { nowMs: 1040, pauseMs: 0, replaces: undefined })
    assert.equal(pace.waitMs('a', '2', 1041), 0)
  })
})
