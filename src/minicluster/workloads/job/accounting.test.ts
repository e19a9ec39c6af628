/**
 * Random lives of pods, deletions by people and crashes of the controller between any two of its writes, run against the
 * pure plan: no pod is ever counted twice, none that ended is forgotten, and the Job always finishes.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Job, JobSpec, Pod } from '../../../kinds/kubernetes/types.ts'
import { applyMergePatch } from '../../../kube/patch/index.ts'
import type { Action, Plan } from '../../../runtime/controller.ts'
import { finishedCondition } from './conditions.ts'
import { countIndexes, parseIntervals } from './intervals.ts'
import { completionIndexOf, isTracked } from './job-pod.ts'
import { plan } from './plan.ts'

const START_MS = Date.UTC(2026, 0, 1)

/** A cluster of one Job: what is stored, and the rules for its writes. */
class Model {
  job: Job
  readonly pods = new Map<string, Pod>()
  nowMs = START_MS
  #versions = 1
  #made = 0
  /** Uids that have been counted, and as what. */
  readonly counted = new Map<string, 'succeeded' | 'failed'>()

  constructor(spec: JobSpec) {
    const template = { metadata: { labels: { job: 'j' } }, spec: { restartPolicy: 'Never', containers: [{ name: 'main' }] } }
    const selector = { matchLabels: { job: 'j' } }
    const metadata = { name: 'j', namespace: 'default', uid: 'job', resourceVersion: '0', creationTimestamp: this.#now() }
    this.job = { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { parallelism: 1, backoffLimit: 3, ...spec, template, selector } }
  }

  #now = (): string => new Date(this.nowMs).toISOString()

  /** The controller observes and plans; it stops after this many writes, or at a conflict. */
  pass(writes: number, between: () => void): { left: number; plan: Plan } {
    const observed = {
      job: this.job,
      claim: { claimed: [...this.pods.values()], adopt: [], release: [] },
      strays: finishedCondition(this.job) === undefined ? [] : [...this.pods.values()].filter(isTracked),
      hasFailed: false,
      nowMs: this.nowMs,
      isTaken: (name: string) => this.pods.has(name),
    }
    const decided = plan(observed)
    let left = writes
    for (const action of decided.actions.flatMap((one) => (one.do === 'batch' ? one.actions : [one]))) {
      if (left-- <= 0 || !this.#apply(action)) break
      between()
    }
    return { left, plan: decided }
  }

  #apply(action: Action): boolean {
    if (action.do === 'create') {
      const name = action.object.metadata.name ?? ''
      const metadata = {
        ...action.object.metadata,
        uid: `pod-${this.#made++}`,
        resourceVersion: String(this.#versions++),
        creationTimestamp: this.#now(),
      }
      if (!this.pods.has(name)) this.pods.set(name, { ...(action.object as Pod), metadata, status: { phase: 'Pending' } })
      return true
    }
    if (action.do === 'delete') {
      this.deletePod(action.of.metadata.name ?? '')
      return true
    }
    assert.equal(action.do, 'patch')
    if (action.do !== 'patch') return false
    const isJob = action.of.kind === 'Job'
    const live = isJob ? this.job : this.pods.get(action.of.metadata.name ?? '')
    if (live === undefined) return true
    if (live.metadata.resourceVersion !== action.of.metadata.resourceVersion) return false
    const next = applyMergePatch(structuredClone(live), { value: structuredClone(action.patch) } as never) as unknown as Job
    next.metadata.resourceVersion = String(this.#versions++)
    if (isJob) this.#audit(this.job, next)
    else if (!isTracked(next)) this.#auditRelease(next as Pod)
    if (isJob) this.job = next
    else this.#store(next as Pod)
    return true
  }

  #store(pod: Pod): void {
    const name = pod.metadata.name ?? ''
    const isGone = pod.metadata.deletionTimestamp !== undefined && !isTracked(pod)
    if (isGone) this.pods.delete(name)
    else this.pods.set(name, pod)
  }

  /** What leaves a list is counted, once; nothing else moves a counter. */
  #audit(before: Job, after: Job): void {
    for (const list of ['succeeded', 'failed'] as const) {
      const [was, is] = [before.status?.uncountedTerminatedPods?.[list] ?? [], after.status?.uncountedTerminatedPods?.[list] ?? []]
      for (const uid of is) assert.ok(!this.counted.has(uid), `${uid} is on the list again`)
      const gone = was.filter((uid) => !is.includes(uid))
      for (const uid of gone) {
        assert.ok(!this.counted.has(uid), `${uid} is counted twice`)
        this.counted.set(uid, list)
      }
      if (list === 'failed' || before.spec?.completionMode !== 'Indexed')
        assert.equal((after.status?.[list] ?? 0) - (before.status?.[list] ?? 0), gone.length, `${list} moved by something else`)
    }
    const { succeeded = [], failed = [] } = after.status?.uncountedTerminatedPods ?? {}
    assert.ok(
      succeeded.every((uid) => !failed.includes(uid)),
      'a pod is on both lists',
    )
    assert.ok((after.status?.ready ?? 0) <= (after.status?.active ?? 0), 'more ready than active')
  }

  /** A pod that succeeded keeps its finalizer until that is on record. */
  #auditRelease(pod: Pod): void {
    if (pod.status?.phase !== 'Succeeded' || finishedCondition(this.job) !== undefined) return
    const { succeeded = [], failed = [] } = this.job.status?.uncountedTerminatedPods ?? {}
    const uid = pod.metadata.uid ?? ''
    const index = completionIndexOf(pod) ?? -1
    const completed = parseIntervals(this.job.status?.completedIndexes, this.job.spec?.completions ?? 0)
    const isIndexRecorded = completed.some(({ first, last }) => first <= index && index <= last)
    assert.ok(succeeded.includes(uid) || failed.includes(uid) || isIndexRecorded, `the success of ${pod.metadata.name} is lost`)
  }

  deletePod(name: string): void {
    const pod = this.pods.get(name)
    if (pod === undefined) return
    const deletionTimestamp = pod.metadata.deletionTimestamp ?? this.#now()
    this.#store({ ...pod, metadata: { ...pod.metadata, deletionTimestamp, resourceVersion: String(this.#versions++) } })
  }

  /** Its node ends it. */
  endPod(name: string): void {
    const pod = this.pods.get(name)
    if (pod === undefined || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return
    this.#store({ ...pod, status: { phase: 'Failed' }, metadata: { ...pod.metadata, resourceVersion: String(this.#versions++) } })
  }

  /** The node sets the phase of the n-th pod that has not ended. */
  movePod(n: number, phase: string): void {
    const living = [...this.pods.values()].filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
    const pod = living[n % Math.max(1, living.length)]
    if (pod === undefined) return
    const isReady = phase === 'Running' ? 'True' : 'False'
    const status = { phase, conditions: [{ type: 'Ready', status: isReady, lastTransitionTime: this.#now() }] }
    this.#store({ ...pod, status, metadata: { ...pod.metadata, resourceVersion: String(this.#versions++) } })
  }
}

type Step =
  | { do: 'pass'; writes: number }
  | { do: 'move'; n: number; phase: string }
  | { do: 'delete'; n: number }
  | { do: 'wait'; seconds: number }

const moves = fc.record({
  do: fc.constant('move' as const),
  n: fc.nat(5),
  phase: fc.constantFrom('Running', 'Succeeded', 'Succeeded', 'Failed'),
})
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('pass' as const), writes: fc.integer({ min: 0, max: 6 }) }) },
  { weight: 4, arbitrary: moves },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), n: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 60 }) }) },
)

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })
const plain: fc.Arbitrary<JobSpec> = fc.record({
  completions: optional(fc.integer({ min: 1, max: 4 })),
  parallelism: fc.integer({ min: 1, max: 3 }),
  backoffLimit: fc.integer({ min: 0, max: 6 }),
  podReplacementPolicy: optional(fc.constantFrom('Failed', 'TerminatingOrFailed')),
})
const indexed: fc.Arbitrary<JobSpec> = fc.record({
  completionMode: fc.constant('Indexed'),
  completions: fc.integer({ min: 1, max: 4 }),
  parallelism: fc.integer({ min: 1, max: 3 }),
  backoffLimit: fc.integer({ min: 0, max: 6 }),
  backoffLimitPerIndex: optional(fc.integer({ min: 0, max: 2 })),
})

function play(model: Model, step: Step, meanwhile: (Step & { do: 'move' }) | undefined): void {
  if (step.do === 'wait') model.nowMs += step.seconds * 1000
  if (step.do === 'move') model.movePod(step.n, step.phase)
  if (step.do === 'delete') model.deletePod([...model.pods.keys()][step.n] ?? '')
  // A node may write in the middle of a pass.
  if (step.do === 'pass') model.pass(step.writes, () => (meanwhile === undefined ? undefined : model.movePod(meanwhile.n, meanwhile.phase)))
}

/** Undisturbed passes, and pods that succeed (or not), until the Job has finished and nothing is left to do. */
function settle(model: Model): void {
  for (let round = 0; round < 400; round++) {
    const { plan: decided } = model.pass(Number.POSITIVE_INFINITY, () => undefined)
    if (decided.actions.length > 0) continue
    if (finishedCondition(model.job) !== undefined) return
    for (const [name, { metadata }] of model.pods) if (metadata.deletionTimestamp !== undefined) model.endPod(name)
    model.movePod(0, round % 7 === 6 ? 'Failed' : 'Succeeded')
    model.nowMs += 600_000
  }
  assert.fail(`the job never ends: ${JSON.stringify(model.job.status)}`)
}

describe('the accounts of a job', () => {
  for (const [name, specs] of [
    ['plain', plain],
    ['indexed', indexed],
  ] as const)
    it(`count every pod of a ${name} job once, whatever happens`, () => {
      const lives = fc.array(fc.tuple(steps, optional(moves)), { maxLength: 60 })
      fc.assert(
        fc.property(specs, lives, (spec, life) => {
          const model = new Model(spec)
          for (const [step, meanwhile] of life) play(model, step, meanwhile)
          settle(model)
          const { status = {} } = model.job
          const of = (kind: string): number => [...model.counted.values()].filter((one) => one === kind).length
          assert.deepEqual(status.uncountedTerminatedPods, {})
          assert.equal(status.failed ?? 0, of('failed'))
          assert.equal(status.active, undefined)
          if (spec.completionMode === 'Indexed')
            assert.equal(status.succeeded ?? 0, countIndexes(parseIntervals(status.completedIndexes, spec.completions ?? 0)))
          else assert.equal(status.succeeded ?? 0, of('succeeded'))
          if (finishedCondition(model.job)?.type === 'Complete') assert.ok((status.succeeded ?? 0) >= (spec.completions ?? 1))
          assert.ok(
            [...model.pods.values()].every((pod) => !isTracked(pod)),
            'a finalizer is left',
          )
        }),
        { numRuns: 600 },
      )
    })
})
