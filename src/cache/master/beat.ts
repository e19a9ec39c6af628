/**
 * What a worker says of itself with each heartbeat, and of its hand-over, checked: workers hold the key, but one that is out of
 * order must not break the report.
 */
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { hostAndPort } from '../http/block-client.ts'
import { HttpError } from '../http/errors.ts'
import type { WorkerState } from '../protocol/membership.ts'
import type { Amounts } from './members.ts'

export interface Beat {
  name: string
  node: string
  address: string
  state: WorkerState
  tiers: readonly { medium: string; quotaBytes: number; usedBytes: number }[]
  counters: ReadonlyMap<string, number>
}

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/
const COUNTER = /^[a-zA-Z]{1,40}$/
const MOST_TIERS = 16
const MOST_COUNTERS = 64
const STATES = new Set<unknown>(['serving', 'leaving', 'gone'])
const MEDIA = new Set<unknown>(['MEM', 'SSD', 'HDD'])

/** Throws HttpError 400. */
export function readBeat(value: unknown): Beat {
  const beat = isJsonObject(value) ? value : {}
  const { name, node, address, state, tiers = [], counters = {} } = beat
  if (typeof name !== 'string' || !NAME.test(name)) throw bad('name must be the name of a pod')
  if (typeof node !== 'string' || !NAME.test(node)) throw bad('node must be the name of a node')
  if (typeof address !== 'string' || !isAddress(address)) throw bad('address must be host:port')
  if (!STATES.has(state)) throw bad('state must be serving, leaving or gone')
  if (!Array.isArray(tiers) || tiers.length > MOST_TIERS) throw bad(`tiers must be a list of at most ${MOST_TIERS}`)
  if (!isJsonObject(counters) || Object.keys(counters).length > MOST_COUNTERS)
    throw bad(`counters must be at most ${MOST_COUNTERS} numbers`)
  return { name, node, address, state: state as WorkerState, tiers: tiers.map(tierOf), counters: countersOf(counters) }
}

function tierOf(value: unknown): Beat['tiers'][number] {
  const { medium, quotaBytes, usedBytes } = isJsonObject(value) ? value : {}
  if (!MEDIA.has(medium) || !isAmount(quotaBytes) || !isAmount(usedBytes)) throw bad('a tier needs medium, quotaBytes and usedBytes')
  return { medium: String(medium), quotaBytes, usedBytes }
}

function countersOf(counters: JsonObject): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(counters).map(([name, value]) => {
      if (!COUNTER.test(name) || !isAmount(value)) throw bad('counters must be whole numbers by name')
      return [name, value]
    }),
  )
}

/** The hand-over in what a worker answers, in bytes: of `POST /v1/leave` or `GET /v1/state`. Undefined: it says nothing of it. */
export function readHandover(value: unknown): (Amounts & { state: WorkerState }) | undefined {
  const body = isJsonObject(value) ? value : {}
  const report = isJsonObject(body.handover) ? body.handover : body
  const [moved, dropped, left] = [report.moved, report.dropped, report.left].map((amount) => (isJsonObject(amount) ? amount.bytes : amount))
  const state = STATES.has(report.state) ? report.state : body.state
  if (!isAmount(moved) || !isAmount(dropped) || !isAmount(left) || !STATES.has(state)) return undefined
  return { moved, dropped, left, state: state as WorkerState }
}

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

function isAddress(text: string): boolean {
  try {
    return hostAndPort(text).port > 0
  } catch {
    return false
  }
}

const bad = (message: string) => new HttpError(400, 'BadHeartbeat', message)
