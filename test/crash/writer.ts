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
  /** Where the server is now; undefined while nobody may write. */
  target(): WireTarget | undefined
  onViolation(violation: Violation): void
}

export interface Writer {
  /** No request of it is under way. */
  readonly isIdle: boolean
  stop(): Promise<void>
}

const OWN_OBJECTS = 8
const SHARED_OBJECTS = 3
const PAYLOAD_BYTES = 900
/** Now and then a large one, so that journals grow enough to be replaced by snapshots. */
const LARGE_BYTES = 200_000
const LARGE_SHARE = 0.02
const IDLE_MS = 5

/** What the writer knows about an object of its own: absent, there, or nothing. */
type Known = 'absent' | 'unknown' | { revision: string; uid: string }

export function startWriter(options: WriterOptions): Writer {
  const { random, ledger } = options
  const own = new Map<string, Known>(Array.from({ length: OWN_OBJECTS }, (_, i) => [`${options.name}-${i}`, 'absent' as Known]))
  const shared = Array.from({ length: SHARED_OBJECTS }, (_, i) => `shared-${i}`)
  let count = 0
  let isStopped = false
  let isIdle = true
  let wire: Wire | undefined
  let wireTarget: WireTarget | undefined

  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T

  /** The answer, or undefined when the connection ended first. */
  const send = async (target: WireTarget, request: WireRequest): Promise<WireAnswer | undefined> => {
    if (wire === undefined || wire.isClosed || wireTarget !== target) {
      wire?.close()
      wire = new Wire(target)
      wireTarget = target
    }
    try {
      return await wire.request(request)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      return undefined
    }
  }

  const step = async (target: WireTarget): Promise<void> => {
    const isShared = random.next() < 0.15
    const name = isShared ? pick(shared) : pick([...own.keys()])
    const known = isShared ? 'unknown' : (own.get(name) ?? 'unknown')
    const attempt = `${options.name}.${++count}`
    if (!isShared && known === 'unknown') return void own.set(name, await look(target, name))
    const plan = planWrite({ options, name, attempt, known, isShared, pick })
    const before = ledger.newest
    const answer = await send(target, plan)
    const after = enter({ plan, answer, attempt, key: `${options.resource}/${options.namespace}/${name}`, known, before })
    if (!isShared) own.set(name, after)
  }

  const look = async (target: WireTarget, name: string): Promise<Known> => {
    const answer = await send(target, { method: 'GET', path: `${collection(options.resource, options.namespace)}/${name}` })
    if (answer === undefined) return 'unknown'
    if (answer.status === 404) return 'absent'
    const { metadata } = JSON.parse(answer.body.toString()) as WatchedObject
    return { revision: metadata.resourceVersion, uid: metadata.uid }
  }

  interface Outcome {
    plan: Plan
    answer: WireAnswer | undefined
    attempt: string
    key: string
    known: Known
    before: number
  }

  const enter = ({ plan, answer, attempt, key, known, before }: Outcome): Known => {
    if (answer === undefined) {
      if (plan.method !== 'DELETE') ledger.leaveOpen(attempt)
      return 'unknown'
    }
    if (answer.status >= 500)
      options.onViolation({ kind: 'order', text: `${ledger.name}: HTTP ${answer.status} ${answer.body.toString().slice(0, 300)}` })
    if (answer.status >= 300) {
      ledger.refuse(attempt)
      return 'unknown'
    }
    const body = JSON.parse(answer.body.toString()) as WatchedObject & { details?: { uid: string } }
    if (plan.method === 'DELETE') {
      const uid = body.details?.uid ?? (typeof known === 'object' ? known.uid : '')
      ledger.acknowledgeDelete(key, uid)
      return 'absent'
    }
    const revision = Number(body.metadata.resourceVersion)
    for (const violation of ledger.acknowledge({ revision, key, value: attempt }, before)) options.onViolation(violation)
    return { revision: body.metadata.resourceVersion, uid: body.metadata.uid }
  }

  const run = async (): Promise<void> => {
    while (!isStopped) {
      const target = options.target()
      isIdle = target === undefined
      if (target === undefined) await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
      else await step(target)
    }
    isIdle = true
    wire?.close()
  }
  const running = run()
  return {
    get isIdle() {
      return isIdle
    },
    async stop() {
      isStopped = true
      await running
    },
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
