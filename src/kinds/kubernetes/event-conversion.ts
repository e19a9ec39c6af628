/**
 * Events have two representations of one stored form: core/v1 and events.k8s.io/v1. The stored form is the core one; the other
 * renames six fields and keeps the rest.
 */
import type { Json } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { decodeTyped } from './decode-json.ts'

const CORE = 'v1'
const EVENTS = 'events.k8s.io/v1'

/** Name in core/v1 → name in events.k8s.io/v1. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]

/** Between `v1` and `events.k8s.io/v1`; other targets leave the event as it is. */
export function convertEvent(event: KubeObject, toApiVersion: string): KubeObject {
  if (event.apiVersion === toApiVersion || (toApiVersion !== CORE && toApiVersion !== EVENTS)) return event
  const names = new Map(RENAMED.map(([core, events]) => (toApiVersion === EVENTS ? [core, events] : [events, core])))
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(event)) renamed[names.get(name) ?? name] = value
  renamed.apiVersion = toApiVersion
  const group = toApiVersion === EVENTS ? 'events.k8s.io' : ''
  // Decoding again drops and adds zero values as the other struct's tags say.
  return decodeTyped({ group, version: 'v1', kind: 'Event' }, renamed as Json).object
}
