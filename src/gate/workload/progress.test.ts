import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepClone, deepFreeze } from '../../base/json.ts'
import type { AggregatedStatusItem, Binding } from '../../kinds/karmada/index.ts'
import { type Progress, progressOf, WORKLOAD_KINDS, type WorkloadKind, workloadKindOf } from './index.ts'

function known(apiVersion: string, kind: string): WorkloadKind {
  const found = workloadKindOf(apiVersion, kind)
  assert.ok(found)
  return found
}
const JOB = known('batch/v1', 'Job')
const CRON_JOB = known('batch/v1', 'CronJob')
const RAY_CLUSTER = known('ray.io/v1', 'RayCluster')

type Report = 'running' | 'succeeded' | 'failed' | 'silent' | 'not applied'
const END = '2026-03-01T10:05:00Z'
const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: END })
const STATUS_OF = {
  running: { startTime: '2026-03-01T10:00:00Z', active: 1 },
  succeeded: { completionTime: END, succeeded: 1, conditions: [condition('SuccessCriteriaMet'), condition('Complete')] },
  failed: { failed: 7, conditions: [condition('FailureTarget'), condition('Failed')] },
} as const

/** As the fleet writes it: what is not applied has no status. */
function itemOf(clusterName: string, report: Report): AggregatedStatusItem {
  if (report === 'not applied') return { clusterName, appliedMessage: 'no room', health: 'Unknown' }
  return { clusterName, ...(report === 'silent' ? {} : { status: { ...STATUS_OF[report] } }), applied: true, health: 'Unknown' }
}

interface Given {
  /** Undefined: no uid. */
  uid?: string | undefined
  clusters?: readonly string[]
  divided?: boolean
  items?: readonly unknown[]
  annotations?: Record<string, string>
}

function bindingOf({ clusters, divided, items, annotations, ...given }: Given): Binding {
  const uid = Object.hasOwn(given, 'uid') ? given.uid : 'u-1'
  return deepFreeze({
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: 'x-job', namespace: 'shop', ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      resource: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'shop', name: 'x', ...(uid === undefined ? {} : { uid }) },
      ...(clusters === undefined ? {} : { clusters: clusters.map((name) => ({ name })) }),
      placement: divided === undefined ? {} : { replicaScheduling: { replicaSchedulingType: divided ? 'Divided' : 'Duplicated' } },
    },
    ...(items === undefined ? {} : { status: { aggregatedStatus: deepClone(items) } }),
  } as Binding)
}

const reporting = (reports: Readonly<Record<string, Report>>, more: Given = {}): Binding =>
  bindingOf({
    clusters: Object.keys(reports),
    items: Object.entries(reports).map(([cluster, report]) => itemOf(cluster, report)),
    ...more,
  })

const short = ({ state, succeededIn, failedIn, run }: Progress): string =>
  [state, succeededIn.join(), failedIn.join(), run ?? '-'].join(' | ')

describe('the progress of a Job', () => {
  const table: [string, Binding, string][] = [
    ['without clusters', bindingOf({}), 'not-scheduled |  |  | -'],
    ['with an empty list of clusters', bindingOf({ clusters: [] }), 'not-scheduled |  |  | -'],
    ['held', bindingOf({ annotations: { 'sluice.dev/held-because': 'waits for data' } }), 'held |  |  | -'],
    ['held, by reason', bindingOf({ annotations: { 'sluice.dev/held-reason': 'NotProducedYet' } }), 'held |  |  | -'],
    [
      'held again while it runs',
      reporting({ a: 'running' }, { annotations: { 'sluice.dev/held-because': 'waits for data' } }),
      'running |  |  | -',
    ],
    [
      'scheduled nowhere any more, with a report of a place it has left',
      reporting({ a: 'succeeded' }, { clusters: [] }),
      'not-scheduled |  |  | -',
    ],
    ['scheduled, and nobody reports', bindingOf({ clusters: ['a'] }), 'running |  |  | -'],
    ['not applied', reporting({ a: 'not applied' }), 'running |  |  | -'],
    ['silent', reporting({ a: 'silent' }), 'running |  |  | -'],
    ['running', reporting({ a: 'running' }), 'running |  |  | -'],
    ['succeeded', reporting({ a: 'succeeded' }), 'succeeded | a |  | u-1'],
    ['failed', reporting({ a: 'failed' }), 'failed |  | a | -'],

    ['copies, of which one has succeeded', reporting({ c: 'running', b: 'succeeded', a: 'silent' }), 'succeeded | b |  | u-1'],
    ['copies, said explicitly', reporting({ b: 'running', a: 'succeeded' }, { divided: false }), 'succeeded | a |  | u-1'],
    ['copies that have succeeded', reporting({ b: 'succeeded', a: 'succeeded' }), 'succeeded | a,b |  | u-1'],
    ['copies, one failed, one succeeded', reporting({ b: 'failed', a: 'succeeded' }), 'succeeded | a | b | u-1'],
    ['copies, one failed, one runs', reporting({ b: 'failed', a: 'running' }), 'running |  | b | -'],
    ['copies, one failed, one is silent', reporting({ b: 'failed' }, { clusters: ['a', 'b'] }), 'running |  | b | -'],
    ['copies that have failed', reporting({ b: 'failed', a: 'failed' }), 'failed |  | a,b | -'],

    ['pieces, one succeeded, one runs', reporting({ b: 'succeeded', a: 'running' }, { divided: true }), 'running | b |  | -'],
    ['pieces, one succeeded, one is silent', reporting({ b: 'succeeded' }, { clusters: ['a', 'b'], divided: true }), 'running | b |  | -'],
    ['pieces that have succeeded', reporting({ b: 'succeeded', a: 'succeeded' }, { divided: true }), 'succeeded | a,b |  | u-1'],
    ['pieces, one failed, one runs', reporting({ b: 'failed', a: 'running' }, { divided: true }), 'failed |  | b | -'],
    ['pieces, one failed, one succeeded', reporting({ b: 'failed', a: 'succeeded' }, { divided: true }), 'failed | a | b | -'],

    ['a place that it has left does not count', reporting({ old: 'succeeded', a: 'running' }, { clusters: ['a'] }), 'running |  |  | -'],
    ['nor does its failure', reporting({ old: 'failed', a: 'succeeded' }, { clusters: ['a'], divided: true }), 'succeeded | a |  | u-1'],
    [
      'a status of something that is not applied may be of another object',
      bindingOf({ clusters: ['a'], items: [{ clusterName: 'a', status: STATUS_OF.succeeded, appliedMessage: 'immutable' }] }),
      'running |  |  | -',
    ],
    ['a cluster that is listed twice', reporting({ a: 'succeeded' }, { clusters: ['a', 'a'], divided: true }), 'succeeded | a |  | u-1'],
    [
      'two reports of one cluster that differ',
      bindingOf({ clusters: ['a'], items: [itemOf('a', 'succeeded'), itemOf('a', 'running')] }),
      'running |  |  | -',
    ],
    [
      'clusters with odd names',
      bindingOf({ clusters: ['__proto__', 'constructor'], items: [itemOf('constructor', 'succeeded')] }),
      'succeeded | constructor |  | u-1',
    ],
    ['of a template without a uid', reporting({ a: 'succeeded' }, { uid: undefined }), 'succeeded | a |  | -'],
  ]
  for (const [name, binding, expected] of table) it(name, () => assert.equal(short(progressOf(JOB, binding)), expected))

  it('of an object that was created again under its name is another run', () => {
    const run = (uid: string) => progressOf(JOB, reporting({ a: 'succeeded' }, { uid })).run
    assert.notEqual(run('u-1'), run('u-2'))
  })

  it('is one run, wherever else it succeeds later', () => {
    const later = progressOf(JOB, reporting({ a: 'succeeded', b: 'succeeded' }))
    assert.equal(progressOf(JOB, reporting({ a: 'succeeded', b: 'running' })).run, later.run)
  })
})

describe('the progress of other kinds', () => {
  const cron = (times: Readonly<Record<string, string | undefined>>, more: Given = {}): string =>
    short(
      progressOf(
        CRON_JOB,
        bindingOf({
          clusters: Object.keys(times),
          items: Object.entries(times).map(([clusterName, lastSuccessfulTime]) => ({
            clusterName,
            status: { lastScheduleTime: END, ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }) },
            applied: true,
          })),
          ...more,
        }),
      ),
    )

  it('a CronJob runs until one of its Jobs has succeeded, and every later success is another run', () => {
    assert.equal(cron({ a: undefined }), 'running |  |  | -')
    assert.equal(cron({ a: '2026-03-01T10:05:00Z' }), 'succeeded | a |  | u-1/2026-03-01T10:05:00Z')
    assert.equal(cron({ a: '2026-03-01T11:05:00Z' }), 'succeeded | a |  | u-1/2026-03-01T11:05:00Z')
  })

  it('the newest run of all clusters counts, whatever zone its time is written in', () => {
    const newest = 'succeeded | a,b |  | u-1/2026-03-01T10:05:00Z'
    assert.equal(cron({ a: '2026-03-01T10:05:00Z', b: '2026-03-01T11:04:00+01:00' }), newest)
    assert.equal(cron({ b: '2026-03-01T10:04:00Z', a: '2026-03-01T10:05:00Z' }), newest)
    assert.equal(cron({ a: '2026-03-01T10:05:00Z', b: undefined }), 'succeeded | a |  | u-1/2026-03-01T10:05:00Z')
  })

  it('what a cluster that was left reported is no run', () => {
    assert.equal(cron({ a: '2026-03-01T10:05:00Z', b: '2026-03-02T10:05:00Z' }, { clusters: ['a'] }), cron({ a: '2026-03-01T10:05:00Z' }))
  })

  it('a CronJob in pieces waits for each', () => {
    assert.equal(cron({ a: '2026-03-01T10:05:00Z', b: undefined }, { divided: true }), 'running | a |  | -')
  })

  it('a RayCluster has failed when all its copies have, and never succeeds', () => {
    const ray = (...states: string[]) =>
      short(
        progressOf(
          RAY_CLUSTER,
          bindingOf({
            clusters: states.map((_, i) => `m${i}`),
            items: states.map((state, i) => ({ clusterName: `m${i}`, status: { state }, applied: true })),
          }),
        ),
      )
    assert.equal(ray('ready', 'ready'), 'running |  |  | -')
    assert.equal(ray('failed', 'ready'), 'running |  | m0 | -')
    assert.equal(ray('failed', 'failed'), 'failed |  | m0,m1 | -')
  })
})

describe('the progress of anything', () => {
  const cluster = fc.constantFrom<string>('a', 'b', 'c', 'd')
  const report = fc.constantFrom<Report>('running', 'succeeded', 'failed', 'silent', 'not applied')
  const reports = fc.dictionary(cluster, report, { noNullPrototype: true })
  const given = fc.record({ clusters: fc.uniqueArray(cluster), divided: fc.boolean() })
  const itemsOf = (from: Readonly<Record<string, Report>>) => Object.entries(from).map(([name, one]) => itemOf(name, one))
  const kind = fc.constantFrom(...WORKLOAD_KINDS)
  const json = fc.jsonValue({ maxDepth: 3 })
  const hostileItem = fc.oneof(
    json,
    fc.record(
      { clusterName: fc.oneof(cluster, json), status: fc.anything(), applied: fc.oneof(fc.constant(true), json) },
      { requiredKeys: [] },
    ),
  )

  it('does not depend on the order of reports, nor on that of clusters', () => {
    const times = fc.constantFrom('2026-03-01T10:05:00Z', '2026-03-01T12:05:00+02:00', '2026-03-02T10:05:00Z', 'x')
    const item = fc.oneof(
      fc.tuple(cluster, report).map(([name, one]): unknown => itemOf(name, one)),
      fc.tuple(cluster, times).map(([clusterName, lastSuccessfulTime]) => ({ clusterName, status: { lastSuccessfulTime }, applied: true })),
      hostileItem,
    )
    fc.assert(
      fc.property(kind, given, fc.array(item), fc.infiniteStream(fc.nat()), (of, { clusters, divided }, items, order) => {
        const shuffled = <T>(list: readonly T[]): T[] =>
          list
            .map((one) => ({ one, at: Number(order.next().value) }))
            .sort((a, b) => a.at - b.at)
            .map(({ one }) => one)
        assert.deepEqual(
          progressOf(of, bindingOf({ clusters: shuffled(clusters), divided, items: shuffled(items) })),
          progressOf(of, bindingOf({ clusters, divided, items })),
        )
      }),
    )
  })

  it('names only clusters that it is scheduled to, sorted, none as both, and a run only when it has succeeded', () => {
    fc.assert(
      fc.property(kind, given, fc.array(hostileItem), reports, (of, { clusters, divided }, hostile, fair) => {
        const { state, succeededIn, failedIn, run } = progressOf(
          of,
          bindingOf({ clusters, divided, items: [...itemsOf(fair), ...hostile] }),
        )
        for (const names of [succeededIn, failedIn]) {
          assert.deepEqual(names, [...new Set(names)].sort())
          assert.ok(names.every((name) => clusters.includes(name)))
        }
        assert.ok(!succeededIn.some((name) => failedIn.includes(name)))
        assert.equal(run !== undefined, state === 'succeeded')
        assert.equal(state === 'not-scheduled', clusters.length === 0)
        if (of.isEndless) assert.deepEqual([succeededIn, state === 'succeeded'], [[], false])
      }),
    )
  })

  it('is as the rules say, for pieces and for copies', () => {
    fc.assert(
      fc.property(given, reports, ({ clusters, divided }, from) => {
        const { state } = progressOf(JOB, bindingOf({ clusters, divided, items: itemsOf(from) }))
        const states = clusters.map((name) => (Object.hasOwn(from, name) ? from[name] : 'silent'))
        const isAll = (wanted: Report) => states.every((one) => one === wanted)
        const isAny = (wanted: Report) => states.includes(wanted)
        if (clusters.length === 0) assert.equal(state, 'not-scheduled')
        else assert.equal(state === 'succeeded', divided ? isAll('succeeded') : isAny('succeeded'))
        if (clusters.length > 0) assert.equal(state === 'failed', divided ? isAny('failed') : isAll('failed'))
      }),
    )
  })

  it('only advances when one more cluster succeeds', () => {
    fc.assert(
      fc.property(given, reports, cluster, ({ clusters, divided }, from, next) => {
        fc.pre(clusters.includes(next) && from[next] !== 'failed')
        const before = progressOf(JOB, bindingOf({ clusters, divided, items: itemsOf(from) }))
        const after = progressOf(JOB, bindingOf({ clusters, divided, items: itemsOf({ ...from, [next]: 'succeeded' }) }))
        assert.ok(after.succeededIn.includes(next))
        assert.ok(before.succeededIn.every((name) => after.succeededIn.includes(name)))
        assert.deepEqual(after.failedIn, before.failedIn)
        if (before.state !== 'running') assert.equal(after.state, before.state)
        if (before.run !== undefined) assert.equal(after.run, before.run)
      }),
    )
  })

  it('a failure of one more cluster never makes a success', () => {
    fc.assert(
      fc.property(given, reports, cluster, ({ clusters, divided }, from, next) => {
        fc.pre(clusters.includes(next))
        const before = progressOf(JOB, bindingOf({ clusters, divided, items: itemsOf(from) }))
        const after = progressOf(JOB, bindingOf({ clusters, divided, items: itemsOf({ ...from, [next]: 'failed' }) }))
        assert.ok(after.failedIn.includes(next))
        if (after.state === 'succeeded') assert.equal(before.state, 'succeeded')
      }),
    )
  })

  it('is told without an exception, whatever is in the binding, and changes nothing in it', () => {
    const anything = fc.anything({ withNullPrototype: true })
    const part = fc.oneof(anything, json)
    const binding = fc.oneof(
      fc.record({ metadata: part, spec: part, status: part }),
      fc.record({
        metadata: fc.record({ annotations: part }),
        spec: fc.record({ clusters: fc.oneof(part, fc.array(fc.record({ name: part }))), resource: part, placement: part }),
        status: fc.record({ aggregatedStatus: fc.oneof(part, fc.array(hostileItem)) }),
      }),
    )
    fc.assert(
      fc.property(kind, binding, (of, value) => {
        const first = progressOf(of, value as Binding)
        assert.ok(['not-scheduled', 'held', 'running', 'succeeded', 'failed'].includes(first.state))
        assert.deepEqual(progressOf(of, value as Binding), first)
      }),
    )
  })
})
