/**
 * Events about a state that no write marks: a claim that waits for its first consumer gets one, though nothing about it
 * changes. Such an event is kept like a child object: its name is derived from its content, and it is created when the cache
 * shows none, and again when it has expired and the state persists. A settled or restarted controller finds it there.
 */
import { createHash } from 'node:crypto'
import { formatTime } from '../../base/clock.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import type { Event } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type Access, type Action, type EventIntent, type Index, indexOf, type Reader, via, type Watch } from '../../runtime/controller.ts'

const INDEX = 'recorded-events'

/** The events that exist for an object at this time. */
export type RecordedEvents = ReadonlySet<string>

/** Declare both, and `WRITES_EVENTS`, to use `recordedEventsOf` and `recordOnce`. */
export const eventIndex: Index = indexOf(EVENTS, INDEX, (event) => (isOfUid(event) ? [event.involvedObject.uid] : []))

export const eventWatch = (kind: string): Watch =>
  via(EVENTS, ({ involvedObject: of }) =>
    of?.kind === kind && of.name !== undefined ? [{ namespace: of.namespace ?? '', name: of.name }] : [],
  )

export const WRITES_EVENTS: Access = { resource: EVENTS, verbs: ['create'] }

export function recordedEventsOf(read: Reader, object: KubeObject | undefined): RecordedEvents {
  const { uid } = object?.metadata ?? {}
  const events = uid === undefined ? [] : read.byIndex(EVENTS, INDEX, uid)
  return new Set(events.map(({ type, reason, message }) => textOf({ type: type ?? '', reason: reason ?? '', message: message ?? '' })))
}

export interface RecordOptions {
  recorded: RecordedEvents
  component: string
  nowMs: number
}

/** The creation of the event, or nothing while it exists. */
export function recordOnce(intent: EventIntent, { recorded, component, nowMs }: RecordOptions): Action[] {
  if (recorded.has(textOf(intent))) return []
  const { of, type, reason, message } = intent
  const { name = '', namespace, uid = '' } = of.metadata
  const hash = createHash('sha256')
    .update(JSON.stringify([uid, type, reason, message]))
    .digest('hex')
  const time = formatTime(nowMs)
  const event: Event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${baseOf(name)}.${hash.slice(0, 16)}`, namespace: namespace ?? 'default' },
    involvedObject: { kind: of.kind, namespace, name, uid, apiVersion: of.apiVersion, resourceVersion: of.metadata.resourceVersion },
    reason,
    message,
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type,
  }
  return [{ do: 'create', resource: EVENTS, object: event }]
}

const isOfUid = (event: Event): event is Event & { involvedObject: { uid: string } } => event.involvedObject?.uid !== undefined

const textOf = ({ type, reason, message }: Pick<Event, 'type' | 'reason' | 'message'>): string => JSON.stringify([type, reason, message])

/** The name may have the maximum length: the hash must still fit after it, following a letter or a digit. */
const baseOf = (name: string): string => name.slice(0, 230).replace(/[^a-z0-9]+$/, '')
