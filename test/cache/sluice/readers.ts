/** Pods that read: a few Jobs at a time on all nodes, each judged when it is complete, and followed by the next. */
import type { Random } from '../../../src/base/random.ts'
import type { Job, Pod } from '../../../src/kinds/kubernetes/types.ts'
import type { Checks } from '../checks.ts'
import type { Contents } from '../programs/contents.ts'
import { CORE, type DatasetPlan, JOBS, READER_LABEL, readerJob } from './manifests.ts'
import type { MemberApi } from './member-api.ts'
import type { PromiseName } from './promises.ts'
import { judgeReading, notNewest, type Reading, type ReadingContext } from './reading.ts'

export interface ReadersOptions {
  api: MemberApi
  plans: readonly DatasetPlan[]
  nodes: readonly string[]
  contents: Contents
  /** What the sources had at the beginning. */
  first: readonly string[]
  checks: Checks<PromiseName>
  random: Random
}

interface Reader {
  plan: DatasetPlan
  node: string
  startedMs: number
}

const MOST_AT_ONCE = 4
const LONG_SHARE = 0.35
const LONG_PASSES = 15
/** A reader that is not done after this long waits for something that never comes. */
const PATIENCE_MS = 600_000

export class Readers {
  readonly figures = { pods: 0, passes: 0, bytes: 0, longestMs: 0 }
  readonly #options: ReadersOptions
  readonly #running = new Map<string, Reader>()
  #serial = 0

  constructor(options: ReadersOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running.size
  }

  /** Judges who is done; `isMore`: and starts others. */
  async turn(isMore: boolean): Promise<void> {
    const { api, random, plans, nodes } = this.#options
    while (isMore && this.#running.size < MOST_AT_ONCE) {
      const plan = plans[Math.floor(random.next() * plans.length)]
      const node = nodes[Math.floor(random.next() * nodes.length)]
      if (plan === undefined || node === undefined) throw new Error('there is nothing to read, or nowhere')
      await this.#start(plan, node, random.next() < LONG_SHARE ? 2 + Math.floor(random.next() * LONG_PASSES) : 1)
    }
    for (const job of await api.list<Job>(`${JOBS}?labelSelector=${encodeURIComponent(READER_LABEL)}`)) {
      const name = job.metadata.name ?? ''
      if (this.#running.has(name) && isOver(job)) await this.#judge(name, job)
    }
    for (const [name, { startedMs }] of this.#running)
      if (performance.now() - startedMs > PATIENCE_MS) await this.#giveUp(name, `it is not done after ${PATIENCE_MS / 1000} s`)
  }

  /** A pod of every dataset on every node, until what it reads is the newest content. */
  async judgeNewest(untilMs: number): Promise<void> {
    const { plans, nodes, checks } = this.#options
    const places = plans.flatMap((plan) => nodes.map((node) => ({ plan, node })))
    for (let left = places; left.length > 0; ) {
      const found = await Promise.all(left.map(({ plan, node }) => this.#readOnce(plan, node)))
      const late = left.flatMap((place, i) => (found[i] === undefined ? [] : [{ ...place, why: found[i] }]))
      const isOver = performance.now() > untilMs
      for (const { plan, node } of left) {
        const why = late.find((one) => one.plan === plan && one.node === node)?.why
        if (why === undefined || isOver) checks.judge('newest', why === undefined ? undefined : `${plan.name} on ${node}: ${why}`)
      }
      left = isOver ? [] : late
    }
  }

  /** Undefined: the newest; else why not. */
  async #readOnce(plan: DatasetPlan, node: string): Promise<string | undefined> {
    const { api } = this.#options
    const name = await this.#start(plan, node, 1)
    for (;;) {
      const job = await api.get<Job>(`${JOBS}/${name}`)
      if (job === undefined) return 'its Job is gone'
      if (isOver(job)) {
        const reading = await this.#judge(name, job)
        return reading === undefined ? 'it failed' : notNewest(reading, this.#context(plan))
      }
      const { startedMs = 0 } = this.#running.get(name) ?? {}
      if (performance.now() - startedMs > PATIENCE_MS) return this.#giveUp(name, 'it does not come to its end')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async #start(plan: DatasetPlan, node: string, passes: number): Promise<string> {
    const name = `reader-${this.#serial++}`
    this.#running.set(name, { plan, node, startedMs: performance.now() })
    await this.#options.api.create(JOBS, readerJob({ name, claim: plan.name, node, passes }))
    return name
  }

  async #judge(name: string, job: Job): Promise<Reading | undefined> {
    const reader = this.#running.get(name)
    if (reader === undefined) return undefined
    const { api, checks } = this.#options
    const pods = await this.#pods(name)
    const succeeded = pods.find(({ status }) => status?.phase === 'Succeeded')
    if (!isComplete(job) || succeeded === undefined) {
      await this.#giveUp(name, `it failed: ${JSON.stringify(job.status?.conditions)}`)
      return undefined
    }
    const reading = judgeReading(await api.text(`${CORE}/pods/${succeeded.metadata.name}/log`), this.#context(reader.plan))
    checks.saw('reads', reading.files.size)
    for (const problem of reading.problems) checks.fail('reads', `${name} of ${reader.plan.name} on ${reader.node}: ${problem}`)
    const { figures } = this
    figures.pods++
    figures.passes += reading.passes
    figures.bytes += reading.bytes * reading.passes
    figures.longestMs = Math.max(figures.longestMs, performance.now() - reader.startedMs)
    this.#running.delete(name)
    if (reading.problems.length === 0) await api.delete(`${JOBS}/${name}`)
    return reading
  }

  async #giveUp(name: string, why: string): Promise<string> {
    const { plan, node } = this.#running.get(name) ?? {}
    const pods = await this.#pods(name)
    const states = pods.map(({ metadata, status }) => `${metadata.name}: ${JSON.stringify(status).slice(0, 1500)}`)
    this.#options.checks.fail('reads', `${name} of ${plan?.name} on ${node}: ${why}; ${states.join('; ')}`)
    this.#running.delete(name)
    return why
  }

  #pods(job: string): Promise<Pod[]> {
    return this.#options.api.list<Pod>(`${CORE}/pods?labelSelector=${encodeURIComponent(`job-name=${job}`)}`)
  }

  #context({ shows }: DatasetPlan): ReadingContext {
    const { contents, first } = this.#options
    return { contents, first, shows }
  }
}

const hasCondition = ({ status }: Job, type: string): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')
const isComplete = (job: Job): boolean => hasCondition(job, 'Complete')
const isOver = (job: Job): boolean => isComplete(job) || hasCondition(job, 'Failed')
