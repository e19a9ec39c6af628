/**
 * Where a world came to rest, in a form in which two courses of the same story are equal: uids become who they stand for,
 * versions and times disappear, names that were made up become what they are made of, and order among such twins is none.
 * Events and Leases are left out.
 */
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ClusterStore } from '../../store/index.ts'

/** Canonical key (`pods/default/web-*#1`) → canonical content. */
export type EndState = ReadonlyMap<string, unknown>

export interface Stored {
  bucket: string
  revision: number
  object: KubeObject
}

const IGNORED = new Set(['events', 'events.events.k8s.io', 'leases.coordination.k8s.io'])
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/
const ADDRESS = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/
/** The end of a made-up name, with the letters Kubernetes uses. */
const MADE_UP = /[bcdfghjklmnpqrstvwxz2456789]{5}$/
/** The volume of a service account's token: its name is drawn by the server, not by a controller. */
const TOKEN_VOLUME = /\bkube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g
const DROPPED = new Set(['resourceVersion', 'managedFields', 'creationTimestamp', 'uid', 'generation', 'containerID', 'selfLink'])
const UNORDERED = new Set(['conditions', 'ownerReferences', 'endpoints', 'addresses', 'notReadyAddresses', 'finalizers', 'volumesInUse'])

/** Everything that counts. */
export function storedIn(store: ClusterStore): Stored[] {
  return store
    .buckets()
    .filter((bucket) => !IGNORED.has(bucket))
    .flatMap((bucket) =>
      store.range(`${bucket}/`).versions.map((version) => ({ bucket, revision: version.revision, object: version.object() as KubeObject })),
    )
}

/** What is as it was at the revision `since` is not looked into: it is the same in every course. */
export function endStateOf(store: ClusterStore, since: number): EndState {
  const stored = storedIn(store)
  const rename = renamer(stored.map(({ object }) => object))
  const groups = new Map<string, unknown[]>()
  for (const { bucket, revision, object } of stored) {
    const key = rename(`${bucket}/${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`)
    const group = groups.get(key)
    const content = revision <= since ? '<untouched>' : canonical(object, { rename, generation: object.metadata.generation, name: '' })
    if (group === undefined) groups.set(key, [content])
    else group.push(content)
  }
  const state = new Map<string, unknown>()
  for (const [key, contents] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const sorted = contents.map((content) => ({ content, text: JSON.stringify(content) })).sort((a, b) => (a.text < b.text ? -1 : 1))
    for (const [i, { content }] of sorted.entries()) state.set(contents.length === 1 ? key : `${key}#${i + 1}`, content)
  }
  return state
}

/** What an object's name says about it: `web-x2k4z` is some child of `web-`. */
export function labelOf(object: KubeObject): string {
  const { name = '', ownerReferences = [] } = object.metadata
  const withoutUids = name.replaceAll(UID, '<uid>')
  return ownerReferences.length > 0 ? withoutUids.replace(MADE_UP, '*') : withoutUids
}

function renamer(objects: readonly KubeObject[]): (text: string) => string {
  const byUid = new Map(objects.map((object) => [object.metadata.uid ?? '', `<${object.kind} ${labelOf(object)}>`]))
  const labels = new Map(
    objects.map((object) => [object.metadata.name ?? '', labelOf(object)]).filter(([name, label]) => name !== label) as [string, string][],
  )
  const names = [...labels.keys()].sort((a, b) => b.length - a.length).map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = names.length === 0 ? undefined : new RegExp(names.join('|'), 'g')
  return (text) => {
    const renamed = pattern === undefined ? text : text.replaceAll(pattern, (name) => labels.get(name) ?? name)
    return renamed.replaceAll(UID, (uid) => byUid.get(uid) ?? '<uid>').replaceAll(TOKEN_VOLUME, 'kube-api-access-*')
  }
}

interface Place {
  rename(text: string): string
  generation: number | undefined
  /** Name of the field. */
  name: string
}

function canonical(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return text(value, place)
  if (value === null || typeof value !== 'object') {
    if (!place.name.endsWith('Generation')) return value
    return value === place.generation ? '<current>' : '<behind>'
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item, place))
    return UNORDERED.has(place.name) ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items
  }
  const fields = Object.entries(value)
    .filter(([name]) => !DROPPED.has(name))
    .map(([name, field]) => [place.rename(name), canonical(field, { ...place, name })] as const)
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function text(value: string, place: Place): string {
  if (place.name === 'nodeName') return '<node>'
  if (TIME.test(value)) return '<time>'
  if (ADDRESS.test(value)) return '<address>'
  return place.rename(value)
}

/** In words, at most `most` lines; empty when they are the same. */
export function differences(expected: EndState, actual: EndState, most = 8): string[] {
  const lines: string[] = []
  for (const key of new Set([...expected.keys(), ...actual.keys()])) {
    if (!actual.has(key)) lines.push(`${key} is missing`)
    else if (!expected.has(key)) lines.push(`${key} is there, and should not be`)
    else lines.push(...fieldDifferences(key, expected.get(key), actual.get(key)))
  }
  return lines.length > most ? [...lines.slice(0, most), `… and ${lines.length - most} more`] : lines
}

function fieldDifferences(path: string, expected: unknown, actual: unknown): string[] {
  if (JSON.stringify(expected) === JSON.stringify(actual)) return []
  if (!isJsonObject(expected) || !isJsonObject(actual)) return [`${path} is ${show(actual)} instead of ${show(expected)}`]
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((name) =>
    fieldDifferences(`${path} .${name}`, expected[name], actual[name]),
  )
}

function show(value: unknown): string {
  const shown = JSON.stringify(value) ?? 'absent'
  return shown.length > 160 ? `${shown.slice(0, 160)}…` : shown
}
