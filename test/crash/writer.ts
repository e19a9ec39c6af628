/**
 * A writer with objects of its own and some that it shares with others: creates, updates, four kinds of patch, deletes. Every
 * attempt has a name that it leaves in the object, and is entered in the ledger as acknowledged, refused or left open.
 */
import type { Random } from '../../src/base/random.ts'
import { Wire, type WireAnswer, WireError, type WireRequest, type WireTarget } from '../machine/wire.ts'
import type { Ledger, Violation } from './ledger.ts'
import { ATTEMPT, collection, type WatchedObject } from './watcher.ts'

export interface WriterOptions {
  name: string
  resource: string
  namespace: string
  ledger: Ledger
  random: Random
  /** Where the server is now; undefined while writes are not allowed. */
  target(): WireTarget | undefined
  onViolation(violation: Violation): void
}

const OWN_OBJECTS = 8
const SHARED_OBJECTS = 3
const SHARED_SHARE = 0.15
const PAYLOAD_BYTES = 900
/** Occasionally a large one, so that journals grow enough to be replaced by snapshots. */
const LARGE_BYTES = 200_000
const LARGE_SHARE = 0.02
const IDLE_MS = 5

/** What the writer knows about an object of its own: absent, unknown, or present. */
type Known = 'absent' | 'unknown' | { revision: string; uid: string }

interface Outcome {
  plan: Plan
  answer: WireAnswer | undefined
  attempt: string
  key: string
  known: Known
  /** Newest revision known to any client when the request was sent. */
  before: number
}

export class Writer {
  readonly #options: WriterOptions
  readonly #own: Map<string, Known>
  readonly #running: Promise<void>
  #count = 0
  #isStopped = false
  #isIdle = true
  #wire: Wire | undefined
  #wireTarget: WireTarget | undefined

  constructor(options: WriterOptions) {
    this.#options = options
    this.#own = new Map(Array.from({ length: OWN_OBJECTS }, (_, i) => [`${options.name}-${i}`, 'absent']))
    this.#running = this.#run()
  }

  /** It has no request in flight. */
  get isIdle(): boolean {
    return this.#isIdle
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const target = this.#options.target()
      this.#isIdle = target === undefined
      if (target === undefined) await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
      else await this.#step(target)
    }
    this.#isIdle = true
    this.#wire?.close()
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#options.random.next() * from.length)] as T
  }

  async #step(target: WireTarget): Promise<void> {
    const options = this.#options
    const isShared = options.random.next() < SHARED_SHARE
    const name = isShared ? `shared-${Math.floor(options.random.next() * SHARED_OBJECTS)}` : this.#pick([...this.#own.keys()])
    const known = isShared ? 'unknown' : (this.#own.get(name) ?? 'unknown')
    if (!isShared && known === 'unknown') {
      this.#own.set(name, await this.#look(target, name))
      return
    }
    const attempt = `${options.name}.${++this.#count}`
    const plan = planWrite({ options, name, attempt, known, isShared, pick: (from) => this.#pick(from) })
    const before = options.ledger.newest
    const answer = await this.#send(target, plan)
    const after = this.#enter({ plan, answer, attempt, key: `${options.resource}/${options.namespace}/${name}`, known, before })
    if (!isShared) this.#own.set(name, after)
  }

  async #look(target: WireTarget, name: string): Promise<Known> {
    const answer = await this.#send(target, {
      method: 'GET',
      path: `${collection(this.#options.resource, this.#options.namespace)}/${name}`,
    })
    if (answer === undefined) return 'unknown'
    if (answer.status === 404) return 'absent'
    const { metadata } = JSON.parse(answer.body.toString()) as WatchedObject
    return { revision: metadata.resourceVersion, uid: metadata.uid }
  }

  /** The answer, or undefined when the connection ended first. */
  async #send(target: WireTarget, request: WireRequest): Promise<WireAnswer | undefined> {
    if (this.#wire === undefined || this.#wire.isClosed || this.#wireTarget !== target) {
      this.#wire?.close()
      this.#wire = new Wire(target)
      this.#wireTarget = target
    }
    try {
      return await this.#wire.request(request)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      return undefined
    }
  }

  /** Records the outcome in the ledger, and returns what is now known about the object. */
  #enter({ plan, answer, attempt, key, known, before }: Outcome): Known {
    const { ledger, onViolation } = this.#options
    if (answer === undefined) {
      if (plan.method !== 'DELETE') ledger.leaveOpen(attempt)
      return 'unknown'
    }
    if (answer.status >= 500)
      onViolation({ kind: 'order', text: `${ledger.name}: HTTP ${answer.status} ${answer.body.toString().slice(0, 300)}` })
    if (answer.status >= 300) {
      ledger.refuse(attempt)
      return 'unknown'
    }
    const body = JSON.parse(answer.body.toString()) as WatchedObject & { details?: { uid: string } }
    if (plan.method === 'DELETE') {
      ledger.acknowledgeDelete(key, body.details?.uid ?? (typeof known === 'object' ? known.uid : ''))
      return 'absent'
    }
    const revision = Number(body.metadata.resourceVersion)
    for (const violation of ledger.acknowledge({ revision, key, value: attempt }, before)) onViolation(violation)
    return { revision: body.metadata.resourceVersion, uid: body.metadata.uid }
  }
}

type Plan = WireRequest

interface PlanInput {
  options: WriterOptions
  name: string
  attempt: string
  known: Known
  isShared: boolean
  pick<T>(from: readonly T[]): T
}

function planWrite({ options, name, attempt, known, isShared, pick }: PlanInput): Plan {
  const { resource, namespace, random } = options
  const all = collection(resource, namespace)
  const one = `${all}/${name}`
  const size = random.next() < LARGE_SHARE ? LARGE_BYTES : Math.floor(random.next() * PAYLOAD_BYTES)
  const payload = resource === 'secrets' ? { stringData: { payload: 'x'.repeat(size) } } : { data: { payload: 'x'.repeat(size) } }
  const metadata = { name, annotations: { [ATTEMPT]: attempt } }
  const type = { apiVersion: 'v1', kind: resource === 'secrets' ? 'Secret' : 'ConfigMap' }
  const whole = JSON.stringify({ ...type, metadata, ...payload })
  if (known === 'absent' || (isShared && random.next() < 0.2)) {
    if (random.next() < 0.2)
      return { method: 'PATCH', path: `${one}?fieldManager=proof&force=true`, body: whole, contentType: 'application/apply-patch+yaml' }
    return { method: 'POST', path: all, body: whole }
  }
  const merge = JSON.stringify({ metadata: { annotations: { [ATTEMPT]: attempt } } })
  const conditional = typeof known === 'object' ? { ...metadata, resourceVersion: known.revision } : metadata
  return pick<() => Plan>([
    () => ({ method: 'DELETE', path: one }),
    () => ({ method: 'PUT', path: one, body: whole }),
    () => ({ method: 'PUT', path: one, body: JSON.stringify({ ...type, metadata: conditional, ...payload }) }),
    () => ({ method: 'PATCH', path: one, body: merge, contentType: 'application/merge-patch+json' }),
    () => ({ method: 'PATCH', path: one, body: merge, contentType: 'application/strategic-merge-patch+json' }),
    () => ({
      method: 'PATCH',
      path: one,
      body: JSON.stringify([{ op: 'add', path: `/metadata/annotations/${ATTEMPT.replace('/', '~1')}`, value: attempt }]),
      contentType: 'application/json-patch+json',
    }),
    () => ({ method: 'PATCH', path: `${one}?fieldManager=proof&force=true`, body: whole, contentType: 'application/apply-patch+yaml' }),
  ])()
}
