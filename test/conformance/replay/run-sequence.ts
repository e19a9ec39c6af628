/**
 * Runs one recorded sequence in a namespace of its own and says of each case whether the answer was as recorded.
 * A case that was never reached, because an earlier step could not be done at all, counts as failed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { differences } from './differences.ts'
import { Names } from './names.ts'
import { valueAt } from './pointer.ts'
import { parsedOrNothing, reduceAnswer } from './reduce.ts'
import { type RawAnswer, send } from './send.ts'
import type { Target } from './target.ts'
import { type Answer, isCase, recordedAnswer, type Sequence, type Step, type StepRequest } from './transcript.ts'

export interface CaseResult {
  step: Step
  /** Empty: as recorded. */
  differences: string[]
  /** What came back, reduced; undefined when the case was never reached. */
  answer?: Answer
}

const REQUEST_KEYS = ['method', 'path', 'headers', 'body', 'rawBody', 'bodyBase64', 'auth'] as const
const RETRY_EVERY_MS = 100
const RETRIES = 150

export async function runSequence(target: Target, sequence: Sequence, namespace: string): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  const run = new SequenceRun(target, new Names(namespace))
  try {
    await run.begin()
    for (const step of sequence.steps) {
      const found = await run.step(step)
      if (isCase(step)) results.push({ step, ...found })
    }
  } catch (error) {
    const rest = sequence.steps.filter(isCase).slice(results.length)
    results.push(...rest.map((step) => ({ step, differences: [`not run: ${error}`] })))
  }
  await run.end()
  return results
}

type Found = Omit<CaseResult, 'step'>

interface Stream {
  step: Step & StepRequest
  answer: Promise<RawAnswer>
}

class SequenceRun {
  readonly #target: Target
  readonly #names: Names
  readonly #streams = new Map<string, Stream>()

  constructor(target: Target, names: Names) {
    this.#target = target
    this.#names = names
  }

  async begin(): Promise<void> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#names.namespace } }
    const made = await send(this.#target, { method: 'POST', path: '/api/v1/namespaces', body: namespace })
    if (made.status !== 201)
      throw new Error(`namespace ${this.#names.namespace} refused: ${made.status} ${made.bytes.toString().slice(0, 300)}`)
  }

  /** What came back and how it differs; empty for a step without an answer to compare. */
  async step(step: Step): Promise<Found> {
    if (step.sleepMs !== undefined) await sleep(step.sleepMs)
    if (step.action !== undefined) throw new Error(`the action ${step.action} cannot be done`)
    if (step.collect !== undefined) return this.#collect(step, step.collect)
    const request = this.#request(step)
    if (step.background !== undefined) {
      await this.#start(step.background, step, request)
      return { differences: [] }
    }
    return this.#compare(step, request)
  }

  async end(): Promise<void> {
    for (const stream of this.#streams.values()) await stream.answer.catch(() => undefined)
    // The result does not matter: without controllers no namespace ever finishes terminating.
    await send(this.#target, { method: 'DELETE', path: `/api/v1/namespaces/${this.#names.namespace}` }).catch(() => undefined)
  }

  #request(step: Step): StepRequest {
    const recorded = Object.fromEntries(REQUEST_KEYS.filter((key) => key in step).map((key) => [key, step[key]]))
    return this.#names.fill(recorded) as unknown as StepRequest
  }

  async #compare(step: Step, request: StepRequest): Promise<Found> {
    for (let tries = 0; ; tries++) {
      const back = this.#names.checkpoint()
      const raw = await send(this.#target, request)
      const answer = reduceAnswer({ ...step, path: request.path }, raw, this.#names)
      this.#save(step, raw)
      const found = differences(recordedAnswer(step), answer satisfies Answer)
      if (found.length === 0 || step.retry !== true || tries >= RETRIES) return { differences: found, answer }
      back()
      await sleep(RETRY_EVERY_MS)
    }
  }

  #save(step: Step, raw: RawAnswer): void {
    if (step.save === undefined) return
    const json = parsedOrNothing(raw.bytes.toString())
    for (const [name, pointer] of Object.entries(step.save)) this.#names.saved.set(name, String(valueAt(json, pointer)))
  }

  /** Starts a request that stays open, and continues once its headers have arrived. */
  async #start(name: string, step: Step, request: StepRequest): Promise<void> {
    let begun = (): void => undefined
    const headers = new Promise<void>((resolve) => {
      begun = resolve
    })
    const answer = send(this.#target, request, begun)
    answer.catch(begun)
    this.#streams.set(name, { step: { ...step, ...request, body: step.body }, answer })
    await headers
    await sleep(100)
  }

  async #collect(step: Step, name: string): Promise<Found> {
    const stream = this.#streams.get(name)
    if (stream === undefined) throw new Error(`nothing was started as ${name}`)
    const answer = reduceAnswer(stream.step, await stream.answer, this.#names)
    return { differences: differences(recordedAnswer(step), answer), answer }
  }
}
