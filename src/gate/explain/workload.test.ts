import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FORBIDDEN, type Got } from '../../client/read-as-caller.ts'
import type { Binding } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { releaseText } from '../narrowing/release.ts'
import { bindingOf, bound, claimOf, clusterOf, heldBinding, sourceOf, waiting } from './testing.ts'
import { explainWorkload, type WorkloadInput } from './workload.ts'

const template: KubeObject = { apiVersion: 'batch/v1', kind: 'Job', metadata: { namespace: 'shop', name: 'report' } }
const input = (more: Partial<WorkloadInput>): WorkloadInput => ({
  template,
  binding: undefined,
  claims: [],
  missing: [],
  sources: new Map(),
  clusters: [clusterOf('east'), clusterOf('west', false)],
  isCut: false,
  ...more,
})
const sources = (...of: DataSource[]): Map<string, Got<DataSource>> => new Map(of.map((source) => [source.metadata.name ?? '', source]))
const texts = (more: Partial<WorkloadInput>): string[] =>
  explainWorkload(input(more)).links.flatMap(({ what, state, says, more: lines = [] }) => [
    `${state} ${what}: ${says}`,
    ...lines.map((line) => `  ${line}`),
  ])
const trouble = (more: Partial<WorkloadInput>): string[] => {
  const found = explainWorkload(input(more)).trouble
  return found === undefined ? [] : [found.state, found.says, found.fix]
}
const released = (allow: readonly string[], from: Record<string, string>, places = allow, more: Partial<Binding['spec']> = {}): Binding =>
  bindingOf(
    {
      'sluice.dev/narrowed-by': 'gate',
      'sluice.dev/released': releaseText({ allow, claims: from, seen: {}, policy: 'shop/batch@x' }, Date.UTC(2026, 0, 1)),
    },
    { clusters: places.map((name) => ({ name })), ...more },
  )
const MAKES = 'Job data/daily makes hive/table/sales, and is running'

describe('what a workload waits for', () => {
  it('says nothing about a workload without claims', () => {
    assert.deepEqual(explainWorkload(input({})), { links: [] })
    assert.deepEqual(explainWorkload(input({ binding: bindingOf({}) })), { links: [] })
  })

  it('shows each claim, its source and where that is', () => {
    const version = { annotations: { 'sluice.dev/version': 'v7' } }
    assert.deepEqual(
      texts({
        claims: [bound('clicks', 'ds-2'), bound('sales', 'ds-1')],
        sources: sources(sourceOf('ds-1', ['east', 'west'], version), sourceOf('ds-2', ['north', 'east'])),
        binding: released(['east'], { clicks: 'ds-2', sales: 'ds-1@v7' }),
      }),
      [
        'ok data: claim clicks: DataSource ds-2, in east, north (not joined)',
        'ok data: claim sales: DataSource ds-1 (v7), in east, west (not ready)',
        'ok gate: released to east: it stays there, even if the data moves',
        '  decided at 2026-01-01T00:00:00Z from clicks = ds-2, sales = ds-1@v7',
      ],
    )
  })

  it('says what is missing and what to do, once', () => {
    const waits = {
      claims: [waiting('sales', 'NotProducedYet', MAKES)],
      binding: heldBinding('NotProducedYet', `claim sales: ${MAKES}`, 'DataSourceClaim/sales'),
    }
    assert.deepEqual(texts(waits), [`waits data: claim sales: NotProducedYet: ${MAKES}`, 'waits gate: held: NotProducedYet'])
    assert.deepEqual(trouble(waits), [
      'waits',
      `it is held (NotProducedYet): claim sales: ${MAKES}`,
      'see how Job data/daily is doing: sluice why job/daily -n data',
    ])
  })

  it('shows the next step of every claim that waits, not only of the first', () => {
    const lines = texts({
      claims: [
        waiting('clicks', 'NoSuchSource', 'there is no DataSource for hive/table/clicks'),
        waiting('sales', 'NotProducedYet', MAKES),
      ],
      missing: ['orders'],
      binding: heldBinding('NoSuchClaim', 'claim orders, which it names in sluice.dev/claims, does not exist', 'DataSourceClaim/orders'),
    })
    assert.equal(lines[0], 'waits data: claim orders, which it names in sluice.dev/claims, does not exist')
    assert.match(lines[1] ?? '', /^waits data: claim clicks: NoSuchSource/)
    assert.match(lines[2] ?? '', /^ {2}ask an administrator/)
    assert.equal(lines[4], '  see how Job data/daily is doing: sluice why job/daily -n data')
  })

  it('names both sets when there is no common cluster', () => {
    const message = 'no cluster is allowed by claim sales (source ds-1: west) and the policy batch (east)'
    assert.deepEqual(
      trouble({
        claims: [bound('sales', 'ds-1')],
        sources: sources(sourceOf('ds-1', ['west'])),
        binding: heldBinding('NoCommonCluster', message, 'DataSourceClaim/sales, DataSource/ds-1'),
      }),
      [
        'fails',
        `it is held (NoCommonCluster): ${message}`,
        'let the policy include west (kubectl edit propagationpolicy batch -n shop), or bring the data to a cluster of the policy and add that to spec.locality: kubectl edit datasource ds-1',
      ],
    )
  })

  it('shows what several claims have in common, and that they have nothing', () => {
    const claims = [bound('clicks', 'ds-2'), bound('sales', 'ds-1')]
    const gate = (...names: string[]) =>
      texts({ claims, sources: sources(sourceOf('ds-1', ['east', 'west']), sourceOf('ds-2', names)), binding: bindingOf({}) }).slice(-2)
    assert.deepEqual(gate('west', 'north'), ['waits gate: neither held nor released yet', '  all of it is in west'])
    assert.deepEqual(gate('north'), ['waits gate: neither held nor released yet', '  no cluster has all of it'])
  })

  it('says that a placement is closed, and by what', () => {
    const closed = { clusterAffinity: { clusterNames: ['(no cluster is allowed)'] } }
    const [state, says, fix] = trouble({
      claims: [bound('sales', 'ds-1')],
      sources: sources(sourceOf('ds-1', ['west'])),
      binding: released(['west'], { sales: 'ds-1' }, [], { placement: closed }),
    })
    assert.deepEqual([state, says], ['fails', 'no cluster is allowed by claim sales (source ds-1: west) and its policy'])
    assert.match(fix ?? '', /let the policy include west/)
  })

  describe('once it was released', () => {
    it('does not move with data that moved, and says so', () => {
      const moved = {
        claims: [bound('sales', 'ds-1')],
        sources: sources(sourceOf('ds-1', ['west'], { annotations: { 'sluice.dev/version': 'v8' } })),
        binding: released(['east'], { sales: 'ds-1@v7' }),
      }
      assert.deepEqual(texts(moved).slice(1), [
        'ok gate: released to east: it stays there, even if the data moves',
        '  decided at 2026-01-01T00:00:00Z from sales = ds-1@v7',
        '  claim sales has ds-1 (v8) now, in west (not ready): that does not move it',
      ])
      assert.deepEqual(trouble(moved), [])
    })

    it('is in no trouble when its source is lost', () => {
      const lost = {
        claims: [waiting('sales', 'SourceGoing', 'DataSource ds-1 is being deleted')],
        binding: released(['east'], { sales: 'ds-1' }),
      }
      assert.deepEqual(trouble(lost), [])
      assert.ok(texts(lost).includes('  claim sales waits now (SourceGoing): that does not move it'))
    })

    it('follows the data where the claim says so', () => {
      const claim = bound('sales', 'ds-1')
      claim.metadata.annotations = { 'sluice.dev/on-locality-change': 'Move' }
      const lines = texts({ claims: [claim], sources: sources(sourceOf('ds-1', ['east'])), binding: released(['east'], { sales: 'ds-1' }) })
      assert.equal(lines[1], 'ok gate: released to east: it follows the data (sluice.dev/on-locality-change: Move on sales)')
    })

    it('stays where it is when it is held later', () => {
      const binding = released(['east'], { sales: 'ds-1' })
      const { annotations } = heldBinding('NoSuchClaim', 'claim clicks does not exist', 'DataSourceClaim/clicks').metadata
      binding.metadata.annotations = { ...binding.metadata.annotations, ...annotations }
      binding.spec.suspension = { scheduling: true }
      const lines = texts({ claims: [bound('sales', 'ds-1')], missing: ['clicks'], sources: sources(sourceOf('ds-1', ['east'])), binding })
      assert.deepEqual(lines.slice(-2), [
        'waits gate: held: NoSuchClaim: claim clicks does not exist',
        '  it stays in what it was released to: east',
      ])
    })
  })

  describe('when nobody has decided', () => {
    const table: [string, Partial<WorkloadInput>, RegExp][] = [
      ['a claim that was not looked at', { claims: [claimOf('sales')] }, /NotResolved.*claim sales/],
      [
        'one that was changed since',
        { claims: [{ ...bound('sales', 'ds-1'), metadata: { name: 'sales', generation: 2 } } as DataSourceClaim] },
        /NotResolved/,
      ],
      ['one whose source is gone', { claims: [bound('sales', 'ds-1')], sources: new Map([['ds-1', undefined]]) }, /NotResolved/],
      ['an annotation that cannot be read', { unreadable: 'it is empty' }, /InvalidAnnotation.*sluice\.dev\/claims cannot be read/],
      [
        'a claim that waits, and no hold yet',
        { claims: [waiting('sales', 'NoSuchSource', 'none')] },
        /it waits \(NoSuchSource\): claim sales: none/,
      ],
    ]
    for (const [name, more, says] of table) it(name, () => assert.match(trouble(more)[1] ?? '', says))
  })

  describe('for those who may not read everything', () => {
    it('shows the source by its name only', () => {
      const lines = texts({ claims: [bound('sales', 'ds-1')], sources: new Map([['ds-1', FORBIDDEN]]), clusters: undefined })
      assert.deepEqual(lines, ['ok data: claim sales: DataSource ds-1, which may not be read by you'])
    })

    it('explains the hold by its marks alone', () => {
      const binding = heldBinding('NoSuchSource', 'claim sales: none', 'DataSourceClaim/sales')
      assert.deepEqual(texts({ claims: FORBIDDEN, binding }), [
        'ok data: its claims may not be read by you',
        'waits gate: held: NoSuchSource: claim sales: none',
      ])
      assert.equal(trouble({ claims: FORBIDDEN, binding })[2], 'ask an administrator to register a DataSource')
    })
  })

  it('says that it has not looked at everything', () => {
    const claims = Array.from({ length: 25 }, (_, i) => waiting(`c${String(i).padStart(2, '0')}`, 'NoSuchSource', 'none'))
    const lines = texts({ claims, isCut: true }).filter((line) => !line.startsWith(' '))
    assert.equal(lines.length, 22)
    assert.deepEqual(lines.slice(-2), ['ok data: and 5 more claims', 'ok data: only 500 claims of this namespace were looked at'])
  })

  it('leaves the hold of another narrowing alone', () => {
    const binding = heldBinding('Toy', 'the toy holds it')
    assert.deepEqual(explainWorkload(input({ binding })), { links: [] })
  })

  it('comes to an answer whatever the marks of a binding contain', () => {
    fc.assert(
      fc.property(fc.string(), fc.json(), fc.string(), (because, record, by) => {
        const binding = heldBinding('NoSuchSource', because, by)
        binding.metadata.annotations = { ...binding.metadata.annotations, 'sluice.dev/released': record }
        assert.ok(explainWorkload(input({ binding, claims: [claimOf('sales')] })).links.length > 0)
      }),
    )
  })
})
