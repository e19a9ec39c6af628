/**
 * Reading objects for a table. A row must never fail, whatever an object holds, so every access is forgiving: a value
 * of the wrong type counts as absent.
 */
import { isJsonObject } from '../../../base/json.ts'
import { fieldAt } from '../../../kube/fields.ts'
import { humanDuration } from '../../../kube/go-duration.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { LabelSelectorObject } from '../../../kube/selector.ts'

/** The cells of one object. */
export type Cells = (object: KubeObject, nowMs: number) => unknown[]

/** A null counts as absent, as it does in Go. */
export const at = (value: unknown, ...path: string[]): unknown => fieldAt(value, ...path) ?? undefined

/** A string, or the fallback when it is absent or empty. */
export const text = (value: unknown, fallback = ''): string => (typeof value === 'string' && value !== '' ? value : fallback)

export const count = (value: unknown): number => (typeof value === 'number' ? value : 0)

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const texts = (value: unknown): string[] => list(value).filter((item): item is string => typeof item === 'string')

export const keysOf = (value: unknown): string[] => (isJsonObject(value) ? Object.keys(value).sort(compareStrings) : [])

export const nameOf = (object: KubeObject): string => object.metadata.name ?? ''

/** The time since a timestamp, `<unknown>` without one. */
export function since(timestamp: unknown, nowMs: number): string {
  const ms = timeToMs(timestamp)
  return ms === undefined ? '<unknown>' : humanDuration(nowMs - ms)
}

export const ageOf = (object: KubeObject, nowMs: number): string => since(object.metadata.creationTimestamp, nowMs)

/** `a=b,c=d`, sorted; `<none>` without any. */
export function labelsText(labels: unknown): string {
  const keys = keysOf(labels)
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${text(at(labels, key))}`).join(',')
}

/** Names and images of containers, comma separated. */
export function containerCells(podSpec: unknown): [string, string] {
  const containers = list(at(podSpec, 'containers'))
  return [containers.map((c) => text(at(c, 'name'))).join(','), containers.map((c) => text(at(c, 'image'))).join(',')]
}

/** The first `max` of a list, with the number of those left out; `empty` when there is nothing. */
export function firstOf(items: readonly string[], max: number, empty: string): string {
  if (items.length > max) return `${items.slice(0, max).join(',')} + ${items.length - max} more...`
  return items.join(',') || empty
}

/** A selector with everything of the wrong type left out. */
export function selectorOf(value: unknown): LabelSelectorObject | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const labels = at(value, 'matchLabels')
  const matchLabels = Object.fromEntries(keysOf(labels).map((key) => [key, text(at(labels, key))]))
  const matchExpressions = list(at(value, 'matchExpressions')).map((e) => ({
    key: text(at(e, 'key')),
    operator: text(at(e, 'operator')),
    values: texts(at(e, 'values')),
  }))
  return { matchLabels, matchExpressions }
}
