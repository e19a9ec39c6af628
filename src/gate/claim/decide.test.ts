import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ResourceBinding } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim, DataSourceClaimStatus } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIM_FINALIZER } from '../../kinds/volcano/well-known.ts'
import type { Condition } from '../../kube/conditions.ts'
import { HELD_BECAUSE, HELD_BY, HELD_REASON, RELEASED } from '../../runtime/seams/narrowing.ts'
import type { Verdict } from '../source/locality.ts'
import { cycleThrough } from './cycle.ts'
import { bestOf, type Candidate, type Maker, type Unresolved, unresolved } from './decide.ts'
import { placed } from './placed.ts'
import { plan } from './plan.ts'
import { claimState } from './state.ts'
import { isTwinWritten, isWritten, type Observed, wantedStatus } from './status.ts'
import { aBinding, aClaim, aJob, aSeedClaim, aSource } from './testing.ts'

const SALES = 'hive/table/sales'

function source(name: string, created = '2026-01-01T00:00:00Z'): DataSource {
  const made = aSource(name, SALES)
  return { ...made, metadata: { ...made.metadata, creationTimestamp: created } }
}

describe('which source', () => {
  const candidate = (name: string, more: Partial<Candidate> & { created?: string } = {}): Candidate => ({
    source: source(name, more.created),
    isForeign: false,
    fits: 0,
    ...more,
  })
  const LATER = '2026-01-02T00:00:00Z'
  const table: [string, Candidate[], string | undefined][] = [
    ['none of none', [], undefined],
    ['by name, when all else is equal', [candidate('b'), candidate('a')], 'a'],
    ['the oldest before the name', [candidate('a', { created: LATER }), candidate('b')], 'b'],
    ['one that shares clusters before the oldest', [candidate('a'), candidate('b', { created: LATER, fits: 1 })], 'b'],
    ['one that shares clusters with more workloads', [candidate('a', { fits: 1 }), candidate('b', { fits: 2 })], 'b'],
    [
      'never one of another namespace before an own one',
      [candidate('a', { isForeign: true, fits: 9 }), candidate('b', { created: LATER })],
      'b',
    ],
  ]
  for (const [name, candidates, expected] of table)
    it(name, () => {
      assert.equal(bestOf(candidates)?.metadata.name, expected)
      assert.equal(bestOf([...candidates].reverse())?.metadata.name, expected, 'in whichever order they are found')
    })
})

const withSelector = (claim: DataSourceClaim): DataSourceClaim => ({
  ...claim,
  spec: { ...claim.spec, attributesSelector: { matchLabels: { format: 'parquet' } } },
})

describe('why there is no source', () => {
  const data = { system: 'hive', type: 'table', name: 'sales' }
  const nothing: Unresolved = {
    claim: aClaim('default/sales', SALES),
    mismatch: undefined,
    going: [],
    data,
    makers: [],
    cycle: undefined,
    mayBeWithheld: false,
  }
  const maker = (more: Partial<Maker> = {}): Maker => ({ name: 'Job default/m', isForeign: false, hasEnd: true, state: 'running', ...more })
  const table: [string, Partial<Unresolved>, string, RegExp][] = [
    ['nothing is there', {}, 'NoSuchSource', /^there is no DataSource for hive\/table\/sales, and no workload/],
    ['something may be withheld', { mayBeWithheld: true }, 'NotPermitted', /ReferenceGrant/],
    [
      'a pre-bound one is something else',
      { mismatch: aSource('x', 'hive/view/x'), mayBeWithheld: true },
      'NoSuchSource',
      /is of hive\/view, not/,
    ],
    [
      'one is going, even if somebody makes it anew',
      { going: [source('b'), source('a')], makers: [maker()] },
      'SourceGoing',
      /^DataSource a is/,
    ],
    ['a cycle, before who makes it', { cycle: 'a → a', makers: [maker()] }, 'DependencyCycle', /a → a$/],
    [
      'somebody makes it, whether or not something is withheld',
      { makers: [maker()], mayBeWithheld: true },
      'NotProducedYet',
      /is running$/,
    ],
    ['somebody who is held', { makers: [maker({ state: 'held', heldReason: 'NoLocality' })] }, 'NotProducedYet', /is held: NoLocality$/],
    ['somebody who is held without a reason', { makers: [maker({ state: 'held' })] }, 'NotProducedYet', /is held$/],
    ['somebody who is not placed', { makers: [maker({ state: 'not-scheduled' })] }, 'NotProducedYet', /is not placed yet$/],
    ['somebody who failed', { makers: [maker({ state: 'failed' })] }, 'ProducerFailed', /has failed$/],
    [
      'somebody who failed and somebody who has not',
      { makers: [maker({ state: 'failed' }), maker({ name: 'Job a/b' })] },
      'NotProducedYet',
      /^Job a\/b/,
    ],
    ['somebody without an end', { makers: [maker({ hasEnd: false })] }, 'NotProducedYet', /never finishes by itself$/],
    [
      'a near one before an older far one',
      { makers: [maker({ name: 'Job o/far', isForeign: true }), maker()] },
      'NotProducedYet',
      /^Job default\/m/,
    ],
    [
      'attributes that nobody has',
      { claim: withSelector(aSeedClaim('default/a', 'hive/table')), data: undefined },
      'NoSuchSource',
      /attributes/,
    ],
    [
      'no demands that anything fulfils',
      { claim: aSeedClaim('default/a', 'hive/table'), data: undefined },
      'NoSuchSource',
      /of hive\/table$/,
    ],
  ]
  for (const [name, more, reason, message] of table)
    it(name, () => {
      const result = unresolved({ ...nothing, ...more })
      assert.ok('reason' in result)
      assert.equal(result.reason, reason)
      assert.match(result.message, message)
    })
})

describe('a cycle', () => {
  type Graph = Record<string, string[][]>
  const through = (graph: Graph, start: string): string | undefined => cycleThrough(start, (claim) => graph[claim] ?? [])
  const table: [string, Graph, Record<string, string | undefined>][] = [
    ['is none in a chain', { a: [['b']], b: [['c']], c: [[]] }, { a: undefined, b: undefined, c: undefined }],
    ['is none where nobody makes the last', { a: [['b']], b: [] }, { a: undefined, b: undefined }],
    ['of one', { a: [['a']] }, { a: 'a → a' }],
    ['of two', { a: [['b']], b: [['a']] }, { a: 'a → b → a', b: 'a → b → a' }],
    [
      'of three, from the first by name',
      { c: [['b']], b: [['a']], a: [['c']] },
      { a: 'a → c → b → a', b: 'a → c → b → a', c: 'a → c → b → a' },
    ],
    ['has those behind it outside', { z: [['a']], a: [['b']], b: [['a']] }, { z: undefined, a: 'a → b → a' }],
    ['is none if one of two can make it', { a: [['b'], []], b: [['a']] }, { a: undefined, b: undefined }],
    ['is none if one of two will be able to', { a: [['b'], ['c']], b: [['a']], c: [[]] }, { a: undefined, b: undefined }],
    ['stands if one of several claims of a workload is on it', { a: [['b', 'c']], b: [['a']], c: [[]] }, { a: 'a → b → a', c: undefined }],
    ['that is tangled is a list', { a: [['b', 'c']], b: [['a']], c: [['a']] }, { a: 'a, b, c', b: 'a, b, c', c: 'a, b, c' }],
    ['with two ways that both fail', { a: [['b'], ['c']], b: [['a']], c: [['c']] }, { a: 'a → b → a', c: 'c → c' }],
  ]
  for (const [name, graph, expected] of table)
    it(name, () => {
      for (const [start, text] of Object.entries(expected)) assert.equal(through(graph, start), text, start)
    })

  it('is described in the same way by all its members, and only those are named', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const makers = fc.array(fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }), { maxLength: 2 })
    fc.assert(
      fc.property(fc.array(makers, { minLength: names.length, maxLength: names.length }), (waits) => {
        const graph: Graph = Object.fromEntries(names.map((name, i) => [name, waits[i] ?? []]))
        for (const name of names) {
          const text = through(graph, name)
          if (text === undefined) continue
          const members = text.split(/ → |, /)
          assert.ok(members.includes(name))
          for (const member of members) assert.equal(through(graph, member), text)
        }
      }),
    )
  })

  it('is looked for in a bounded number of claims', () => {
    let asked = 0
    const waits = (claim: string): string[][] => {
      asked++
      return [[`${Number(claim) + 1}`, `${Number(claim) + 2}`]]
    }
    assert.equal(cycleThrough('0', waits), undefined)
    assert.ok(asked <= 1000, `${asked}`)
  })
})

describe('where workloads are', () => {
  const workload = (name: string, parts: Parameters<typeof aBinding>[1] | undefined) => ({
    name: `Job ${name}`,
    binding: parts === undefined ? undefined : (aBinding(aJob(name), parts) as ResourceBinding),
  })
  const held = (reason: string, by: string) => ({ annotations: { [HELD_REASON]: reason, [HELD_BY]: by, [HELD_BECAUSE]: 'why' } })
  const released = (text: string, ...clusters: string[]) => ({ annotations: { [RELEASED]: text }, clusters })
  const record = JSON.stringify({ allow: ['east'], claims: { sales: 'x@v1' } })
  const table: [string, ReturnType<typeof workload>[], string][] = [
    ['there is none', [], 'Unknown NoWorkload'],
    ['without a binding', [workload('d/a', undefined)], 'Unknown NotScheduled'],
    ['not scheduled', [workload('d/a', {})], 'Unknown NotScheduled'],
    ['inside', [workload('d/a', { clusters: ['west'] })], 'True Released'],
    ['outside', [workload('d/a', { clusters: ['west', 'east'] })], 'False NoCommonCluster'],
    ['released there', [workload('d/a', released(record, 'east'))], 'True Released'],
    [
      'released for other claims only',
      [workload('d/a', released('{"allow":["east"],"claims":{"x":"y"}}', 'east'))],
      'False NoCommonCluster',
    ],
    ['released with a record that nobody can read', [workload('d/a', released('{', 'east'))], 'False NoCommonCluster'],
    ['moved out of where it was released to', [workload('d/a', released(record, 'north'))], 'False NoCommonCluster'],
    [
      'held by this claim, which has a source now',
      [workload('d/a', held('NoSuchSource', 'DataSourceClaim/sales'))],
      'Unknown NotScheduled',
    ],
    ['held by another claim', [workload('d/a', held('NoSuchSource', 'DataSourceClaim/sales2'))], 'False NoSuchSource'],
    ['held for want of a common cluster', [workload('d/a', held('NoCommonCluster', 'DataSourceClaim/sales'))], 'False NoCommonCluster'],
    ['held with a reason that no condition can have', [workload('d/a', held('no reason!', ''))], 'False Held'],
    ['one waits, one is inside', [workload('d/a', { clusters: ['west'] }), workload('d/b', {})], 'Unknown NotScheduled'],
    ['one waits, one is outside', [workload('d/a', {}), workload('d/b', { clusters: ['east'] })], 'False NoCommonCluster'],
  ]
  for (const [name, workloads, expected] of table)
    it(name, () => {
      const { status, reason } = placed({ claim: 'sales', workloads, clusters: ['west'] })
      assert.equal(`${status} ${reason}`, expected)
    })

  it('names the first of those that wait', () => {
    const workloads = ['d/c', 'd/a', 'd/b'].map((name) => workload(name, name === 'd/a' ? { clusters: ['west'] } : {}))
    assert.equal(placed({ claim: 'sales', workloads, clusters: ['west'] }).message, 'Job d/b is not scheduled yet')
  })
})

const SAID: Verdict = { status: 'Unknown', reason: 'NoWorkload', message: 'none' }
const NOW = '2026-01-01T00:00:10Z'
const BEFORE = '2026-01-01T00:00:05Z'

function observed(status: DataSourceClaimStatus | undefined, more: Partial<Observed> = {}): Observed {
  const claim = aClaim('default/sales', SALES)
  return {
    claim: { ...claim, metadata: { ...claim.metadata, generation: 2 }, ...(status === undefined ? {} : { status }) },
    resolution: { source: source('sales') },
    isMismatch: false,
    lostBecause: undefined,
    ready: { status: 'True', reason: 'Available', message: 'there' },
    placed: SAID,
    isComplete: true,
    nowMs: Date.parse(NOW),
    ...more,
  }
}

/** The status that a pass leaves behind. */
function written(of: Observed): DataSourceClaimStatus {
  const { phase, source: name, conditions } = wantedStatus(of)
  return { phase, ...(name === undefined ? {} : { boundTo: name, boundDataSource: name }), conditions: [...conditions] }
}

const WAITS: Observed['resolution'] = { reason: 'NoSuchSource', message: 'none' }
const unbound = { resolution: WAITS, ready: SAID, placed: SAID }

describe('the status of a claim', () => {
  it('keeps the time of a transition, the order, and the conditions of others', () => {
    const old = (type: string, status: string): Condition => ({ type, status, reason: 'X', message: '', lastTransitionTime: BEFORE })
    const before = { phase: 'Pending' as const, conditions: [old('Other', 'True'), old('Bound', 'False'), old('Ready', 'True')] }
    const { conditions } = wantedStatus(observed(before))
    assert.deepEqual(
      conditions.map(({ type, status, lastTransitionTime, observedGeneration }) => [type, status, lastTransitionTime, observedGeneration]),
      [
        ['Resolved', 'True', NOW, 2],
        ['Ready', 'True', BEFORE, 2],
        ['Placed', 'Unknown', NOW, 2],
        ['Bound', 'True', NOW, 2],
        ['Other', 'True', BEFORE, undefined],
      ],
    )
  })

  it('is written once: then there is nothing more to write', () => {
    for (const one of [observed(undefined), observed(undefined, unbound)]) {
      const status = written(one)
      assert.deepEqual(plan({ ...one, claim: { ...one.claim, status } }).actions, [])
      assert.equal(plan(one).actions.length, 1)
    }
  })

  it('says that something was bound for as long as nothing else is', () => {
    const bound = written(observed(undefined))
    const lost = observed(bound, { ...unbound, lostBecause: 'DataSource sales was deleted' })
    const later = written(observed(written(lost), unbound))
    assert.deepEqual(later.conditions?.find(({ type }) => type === 'Bound')?.message, 'DataSource sales was deleted')
    assert.equal(later.boundTo, undefined)
  })

  it('takes away what is bound no more, and nothing that is not there', () => {
    const bound = written(observed(undefined))
    const lost = { ...unbound, lostBecause: 'gone' }
    const patchOf = (status: DataSourceClaimStatus): unknown => {
      const [action] = plan(observed(status, lost)).actions
      return action !== undefined && 'patch' in action ? Object.keys((action.patch as { status: object }).status) : undefined
    }
    assert.deepEqual(patchOf(bound), ['phase', 'boundTo', 'boundDataSource', 'conditions'])
    assert.deepEqual(patchOf({ ...bound, boundTo: undefined }), ['phase', 'boundDataSource', 'conditions'])
  })

  it('concludes nothing from templates that are not known yet', () => {
    const before = written(observed(undefined, { ...unbound, resolution: { reason: 'NotProducedYet', message: 'soon' } }))
    const early = observed(before, { ...unbound, isComplete: false })
    assert.ok(isWritten(early.claim, wantedStatus(early)))
    const edited: DataSourceClaim = { ...early.claim, metadata: { ...early.claim.metadata, generation: 3 } }
    assert.equal(wantedStatus({ ...early, claim: edited }).conditions[0]?.reason, 'NoSuchSource')
    const there = observed(written(observed(undefined, { placed: { ...SAID, reason: 'NotScheduled' } })), { isComplete: false })
    assert.ok(isWritten(there.claim, wantedStatus(there)))
  })

  it('is left alone on a claim that is being deleted, but for the finalizer of volcano-global', () => {
    const { claim } = observed(undefined)
    assert.deepEqual(plan({ claim, isLeft: true }).actions, [])
    const theirs = { ...claim, metadata: { ...claim.metadata, finalizers: ['a', DATA_SOURCE_CLAIM_FINALIZER] } }
    const [action] = plan({ claim: theirs, isLeft: true }).actions
    assert.deepEqual(action !== undefined && 'patch' in action ? action.patch : undefined, { metadata: { finalizers: ['a'] } })
  })
})

describe('twin fields', () => {
  const table: [string, [unknown, unknown], unknown, boolean, boolean][] = [
    ['both right', ['a', 'a'], 'a', false, true],
    ['one pruned, after we wrote', ['a', undefined], 'a', true, true],
    ['the other pruned, after we wrote', [undefined, 'a'], 'a', true, true],
    ['one missing, before we wrote', [undefined, 'a'], 'a', false, false],
    ['none', [undefined, undefined], 'a', true, false],
    ['one wrong', ['a', 'b'], 'a', true, false],
    ['the only one wrong', ['b', undefined], 'a', true, false],
    ['nothing wanted, nothing there', [undefined, undefined], undefined, true, true],
    ['nothing wanted, something there', [undefined, 'a'], undefined, true, false],
  ]
  for (const [name, twins, wanted, hasWritten, expected] of table)
    it(name, () => assert.equal(isTwinWritten(twins, wanted, hasWritten), expected))
})

describe('what a claim says to others', () => {
  const stateOf = (of: Observed) => claimState({ ...of.claim, status: written(of) })

  it('nothing before it was looked at, or after it was edited', () => {
    const { claim } = observed(undefined)
    assert.deepEqual(claimState(claim), { isCurrent: false, source: undefined, waits: undefined })
    const status = written(observed(undefined))
    assert.equal(claimState({ ...claim, metadata: { ...claim.metadata, generation: 3 }, status }).isCurrent, false)
  })

  it('which source, or what it waits for', () => {
    assert.deepEqual(stateOf(observed(undefined)), { isCurrent: true, source: 'sales', waits: undefined })
    assert.deepEqual(stateOf(observed(undefined, unbound)), { isCurrent: true, source: undefined, waits: WAITS })
    const ready: Verdict = { status: 'False', reason: 'NoLocality', message: 'nowhere' }
    const waits = { reason: 'NoLocality', message: 'nowhere' }
    assert.deepEqual(stateOf(observed(undefined, { ready })), { isCurrent: true, source: 'sales', waits })
  })
})
