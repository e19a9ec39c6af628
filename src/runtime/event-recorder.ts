/**
 * Writes events as client-go's recorder does: one object per distinct event, whose count grows when it is recorded
 * again. Best effort and bounded: a controller never waits for its events, and what cannot be written is reported once.
 */
import { createHash } from 'node:crypto'
import { type Clock, formatTime } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import { isAlreadyExists, isNamespaceTerminating, isNotFound, isOutcomeUnknown } from '../client/errors.ts'
import { EVENTS } from '../kinds/kubernetes/resources.ts'
import { childName } from '../kube/child-name.ts'
import type { KubeObject } from '../kube/meta.ts'
import { checkDns1123Subdomain } from '../kube/names.ts'
import type { EventIntent } from './controller.ts'

export interface EventRecorder {
  record(intent: EventIntent): void
  /** Events that are not written yet. */
  readonly pending: number
  stop(): void
}

export interface EventRecorderOptions {
  client: Client
  clock: Clock
  /** The source component of the events. */
  component: string
  onWritten?(): void
  /** Too many are pending: the oldest is dropped. */
  onDropped?(): void
  onError(error: unknown, intent: EventIntent): void
}

/** Distinct events remembered, to count repetitions; and events that may be pending before the oldest is dropped. */
const REMEMBERED = 4096
const MAX_PENDING = 1000
const MAX_MESSAGE = 1024
const MAX_TRIES = 10
/** How often a write whose answer did not come is sent again. Nothing else would: no pass records its event twice. */
const REPEATS = 2

export function createEventRecorder({ client, clock, component, onWritten, onDropped, onError }: EventRecorderOptions): EventRecorder {
  const known = new Map<string, { name: string; count: number }>()
  const waiting: EventIntent[] = []
  let isWriting = false
  let isStopped = false
  let last = 0n
  // Several recorders may record for the same object in the same millisecond: each starts at its own offset.
  const offset = BigInt(createHash('sha256').update(component).digest().readUInt32BE() % 1_000_000)

  /** Nanoseconds that never repeat: the name of an event ends in them. */
  function stamp(): string {
    const now = BigInt(Math.floor(clock.now())) * 1_000_000n + offset
    last = now > last ? now : last + 1n
    return last.toString(16)
  }

  async function writeAll(): Promise<void> {
    isWriting = true
    for (let intent = waiting.shift(); intent !== undefined && !isStopped; intent = waiting.shift()) {
      try {
        await write(intent)
        onWritten?.()
      } catch (error) {
        // The namespace is being deleted, and its events with it.
        if (!isNamespaceTerminating(error)) onError(error, intent)
      }
    }
    isWriting = false
  }

  async function write(intent: EventIntent): Promise<void> {
    const key = keyOf(intent)
    const seen = known.get(key)
    if (seen !== undefined && (await incrementCount(intent, seen))) return
    const name = await create(intent)
    known.delete(key)
    known.set(key, { name, count: 1 })
    for (const oldest of known.keys()) {
      if (known.size <= REMEMBERED) break
      known.delete(oldest)
    }
  }

  /**
   * Another recorder may write for the same object at the same moment: if the name is taken, the next one is tried. Without an answer
   * the same name is sent again: if it is taken then, the first one has arrived.
   */
  async function create(intent: EventIntent): Promise<string> {
    let name = nameOf(intent.of, stamp())
    let unanswered = 0
    for (let tries = 1; ; tries++) {
      try {
        await client.create(EVENTS, eventOf(intent, { name, time: formatTime(clock.now()), component }))
        return name
      } catch (error) {
        if (isAlreadyExists(error) && unanswered > 0) return name
        if (isOutcomeUnknown(error) && unanswered < REPEATS) unanswered++
        else if (isAlreadyExists(error) && tries < MAX_TRIES) name = nameOf(intent.of, stamp())
        else throw error
      }
    }
  }

  /** False when the earlier event has expired. */
  async function incrementCount(intent: EventIntent, seen: { name: string; count: number }): Promise<boolean> {
    try {
      const of = { namespace: namespaceOf(intent.of), name: seen.name }
      const body = { count: seen.count + 1, lastTimestamp: formatTime(clock.now()) }
      await client.patch(EVENTS, of, { type: 'merge', body })
      seen.count++
      return true
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }

  return {
    record(intent) {
      if (isStopped) return
      if (waiting.length >= MAX_PENDING) {
        waiting.shift()
        onDropped?.()
      }
      waiting.push(intent)
      if (!isWriting) void writeAll()
    },
    get pending() {
      return waiting.length + (isWriting ? 1 : 0)
    },
    stop() {
      isStopped = true
      waiting.length = 0
    },
  }
}

const namespaceOf = (of: KubeObject): string => of.metadata.namespace ?? 'default'

/** Not every object name can begin the name of an event: some are too long, and those of roles may contain colons. */
function nameOf({ metadata: { name = '', uid = '' } }: KubeObject, suffix: string): string {
  const wanted = `${name}.${suffix}`
  return checkDns1123Subdomain(wanted).length === 0 ? wanted : `${childName('event-', uid, name)}.${suffix}`
}

const keyOf = ({ of, type, reason, message, fieldPath }: EventIntent): string =>
  JSON.stringify([of.kind, of.metadata.namespace, of.metadata.name, of.metadata.uid, type, reason, message, fieldPath])

function eventOf(intent: EventIntent, made: { name: string; time: string; component: string }): KubeObject {
  const { of, type, reason, message, fieldPath, host } = intent
  const { name, uid, resourceVersion } = of.metadata
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: made.name, namespace: namespaceOf(of) },
    involvedObject: { kind: of.kind, namespace: of.metadata.namespace, name, uid, apiVersion: of.apiVersion, resourceVersion, fieldPath },
    reason,
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 3)}...` : message,
    source: { component: made.component, host },
    reportingComponent: made.component,
    reportingInstance: host ?? '',
    firstTimestamp: made.time,
    lastTimestamp: made.time,
    count: 1,
    type,
  }
}
