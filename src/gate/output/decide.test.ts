import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { DataSource } from '../../kinds/volcano/index.ts'
import { type Decision, decide, type Output, type Success } from './decide.ts'
import { isLater, parseRun, runText } from './run.ts'
import { aSource } from './testing.ts'

const NAME = { system: 'hive', type: 'table', name: 'sales' }
const [NOON, LATER] = ['2026-01-01T12:00:00Z', '2026-01-01T13:00:00Z']

const SUCCESS: Success = {
  namespace: 'default',
  by: 'output/jobs.batch/daily',
  run: { id: 'uid-1', at: NOON },
  clusters: ['m1', 'm2'],
  targets: ['m1', 'm2'],
}

const source = (
  annotations: Record<string, string>,
  more: { clusters?: string[]; data?: string; name?: string; isGoing?: boolean } = {},
) => {
  const { clusters = ['m1'], data = 'hive/table/sales', name = 'ours', isGoing = false } = more
  const made = aSource(name, data, annotations)
  const metadata = isGoing ? { ...made.metadata, deletionTimestamp: NOON } : made.metadata
  return { ...made, metadata, spec: { ...(made.spec as object), locality: { clusterNames: clusters } } } as DataSource
}

const OURS = {
  'sluice.dev/provisioned-by': 'output/jobs.batch/daily',
  'sluice.dev/producer-namespace': 'default',
  'sluice.dev/version': 'v7',
  'sluice.dev/run': `uid-1@${NOON}`,
}

const output = (own?: DataSource, written: readonly DataSource[] = []): Output => ({
  name: NAME,
  objectName: 'ours',
  own,
  written,
  isElsewhere: false,
})

const ours = (annotations: Record<string, string> = {}, more: Parameters<typeof source>[1] = {}): Output =>
  output(source({ ...OURS, ...annotations }, more))

/** `v2: m1 m2`, or what else is decided. */
const said = (decision: Decision): string =>
  decision.do === 'update'
    ? `${decision.version}: ${decision.clusters.join(' ')}`
    : decision.do === 'refuse'
      ? `${decision.because}: ${decision.source}`
      : decision.do

describe('what becomes of something that was made', () => {
  const byHand = (name: string, isGoing = false): DataSource => source({}, { name, isGoing })
  const table: [string, Output, string, Partial<Success>?][] = [
    ['nothing stands for it', output(), 'create'],
    ['somebody wrote a source for it', output(undefined, [byHand('b'), byHand('a')]), 'stands: a'],
    ['somebody wrote one, which is going', output(undefined, [byHand('a', true)]), 'nothing'],
    ['one goes and one stays', output(undefined, [byHand('a', true), byHand('b')]), 'stands: b'],
    ['ours is there, and somebody wrote another', { ...ours({}, { clusters: ['m1', 'm2'] }), written: [byHand('a')] }, 'nothing'],
    ['ours is up to date', ours({}, { clusters: ['m1', 'm2'] }), 'nothing'],
    ['it succeeded in one more cluster', ours(), 'v7: m1 m2'],
    ['it succeeded in fewer clusters than are known', ours({}, { clusters: ['m1', 'm2', 'm3'] }), 'nothing'],
    ['it succeeded elsewhere as well', ours({}, { clusters: ['m3', 'm0'] }), 'v7: m0 m1 m2 m3', { targets: ['m0', 'm1', 'm2', 'm3'] }],
    ['it has left a cluster, and nothing is new', ours({}, { clusters: ['m1', 'm2', 'm3'] }), 'nothing', { targets: ['m1', 'm2'] }],
    ['it has left a cluster, and succeeded in another', ours({}, { clusters: ['m0', 'm1'] }), 'v8: m1 m2', { targets: ['m1', 'm2'] }],
    ['another run came later', ours(), 'v8: m1 m2', { run: { id: 'uid-2', at: LATER } }],
    ['another run came earlier', ours({ 'sluice.dev/run': `uid-2@${LATER}` }), 'nothing'],
    [
      'two runs of one second, ours is the greater text',
      ours({ 'sluice.dev/run': `uid-0@${NOON}`, 'sluice.dev/provisioned-by': 'output/jobs.batch/a' }),
      'v8: m1 m2',
    ],
    [
      'two runs of one second, ours is the lesser text',
      ours({ 'sluice.dev/run': `uid-2@${NOON}`, 'sluice.dev/provisioned-by': 'output/jobs.batch/a' }),
      'nothing',
    ],
    ['two runs of one second, of a workload and its successor', ours({ 'sluice.dev/run': `uid-2@${NOON}` }), 'v8: m1 m2'],
    [
      'a later run of the same workload',
      ours({ 'sluice.dev/run': `uid-1/${NOON}@${NOON}` }),
      'v8: m1 m2',
      { run: { id: `uid-1/${LATER}`, at: NOON } },
    ],
    [
      'an earlier run of the same workload',
      ours({ 'sluice.dev/run': `uid-1/${LATER}@${NOON}` }),
      'nothing',
      { run: { id: `uid-1/${NOON}`, at: NOON } },
    ],
    ['somebody made the run unreadable', ours({ 'sluice.dev/run': 'yesterday' }), 'v8: m1 m2'],
    ['somebody made run and version unreadable', ours({ 'sluice.dev/run': '@', 'sluice.dev/version': 'v-1' }), 'v1: m1 m2'],
    ['ours is going', ours({}, { isGoing: true }), 'nothing'],
    ['somebody has the name', output(source({})), 'taken: ours'],
    ['somebody else made what has the name', ours({ 'sluice.dev/provisioned-by': 'catalog/lake' }), 'taken: ours'],
    ['another namespace has the name', ours({ 'sluice.dev/producer-namespace': 'other' }), 'taken: ours'],
    ['nobody says whose it is', ours({ 'sluice.dev/producer-namespace': '' }), 'taken: ours'],
    ['ours was made to stand for something else', ours({}, { data: 'hive/table/costs' }), 'taken: ours'],
  ]
  for (const [name, of, expected, more] of table) it(name, () => assert.equal(said(decide(of, { ...SUCCESS, ...more })), expected))

  it('never throws, and changes nothing but ours, whatever annotations and specs contain', () => {
    const annotation = fc.oneof(fc.string(), fc.constantFrom(...Object.values(OURS)))
    const annotations = fc.dictionary(fc.constantFrom(...Object.keys(OURS)), annotation)
    fc.assert(
      fc.property(annotations, fc.oneof(fc.constant(undefined), fc.jsonValue()), (given, spec) => {
        const own = { ...source(given), ...(spec === undefined ? {} : { spec }) } as DataSource
        const decision = decide(output(own), SUCCESS)
        const isOurs = given['sluice.dev/producer-namespace'] === 'default' && given['sluice.dev/provisioned-by']?.startsWith('output/')
        assert.ok(decision.do !== 'create' && (decision.do !== 'update' || isOurs === true))
      }),
    )
  })

  it('comes to rest after as many writes as there are runs, in whatever order they are looked at', () => {
    const at = fc.constantFrom(NOON, LATER)
    const run = fc.record({ id: fc.constantFrom('a', 'a/1', 'b', 'c'), at })
    const runs = fc.uniqueArray(run, { selector: ({ id }) => id, minLength: 1 })
    fc.assert(
      fc.property(runs, fc.array(fc.nat(), { maxLength: 40 }), (known, looks) => {
        let own = source({ ...OURS, 'sluice.dev/run': runText({ id: '-', at: '2025-01-01T00:00:00Z' }) })
        let writes = 0
        for (const look of [...looks, ...known.keys(), ...known.keys()]) {
          const one = known[look % known.length] as Success['run']
          const by = `output/jobs.batch/${one.id[0]}`
          const decision = decide(output(own), { ...SUCCESS, by, run: one, clusters: ['m1'] })
          if (decision.do !== 'update') continue
          writes++
          own = source({ ...OURS, 'sluice.dev/provisioned-by': by, 'sluice.dev/run': runText(one) })
        }
        assert.ok(writes <= known.length, `${writes} writes`)
        const last = parseRun(own.metadata.annotations?.['sluice.dev/run'])
        assert.ok(last !== undefined && known.every((one) => !isLater(one, last)))
      }),
    )
  })
})
