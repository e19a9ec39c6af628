/** What the rules of all kinds do with status: take it from a member's object, and put a summed-up one on the template. */
import { deepEqual, isJsonObject } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Fields, fieldsAt, numberAt } from '../../fields.ts'

/** A status of a member with the name of its cluster. */
export interface MemberStatus {
  cluster: string
  status: Fields
}

/** The whole status; nothing when there is none yet. */
export const wholeStatus = (object: KubeObject): Fields | undefined => (isJsonObject(object.status) ? object.status : undefined)

/** Items in the order of their clusters, so that the order in which they arrive shows nowhere. */
const byCluster = (items: readonly AggregatedStatusItem[]): AggregatedStatusItem[] =>
  items.toSorted((a, b) => compareStrings(a.clusterName, b.clusterName))

/** The items whose cluster has told a status, in the order of clusters. */
export function memberStatuses(items: readonly AggregatedStatusItem[]): MemberStatus[] {
  return byCluster(items).flatMap(({ clusterName, status }) => (isJsonObject(status) ? [{ cluster: clusterName, status }] : []))
}

export const sumOf = (members: readonly MemberStatus[], counter: string): number =>
  members.reduce((sum, { status }) => sum + (numberAt(status, counter) ?? 0), 0)

/** The counters by name, without the zeros that Go leaves out of its JSON. */
export function printedCounters(value: (counter: string) => number, always: readonly string[], unlessZero: readonly string[]): Fields {
  const shown = [...always, ...unlessZero.filter((counter) => value(counter) !== 0)]
  return Object.fromEntries(shown.map((counter) => [counter, value(counter)]))
}

/**
 * The template with `next` as its status; the very same object when it has that already. Fields in `kept` belong to the
 * server, which would bring them back. A null is what Go prints for a list that is not there.
 */
export function withStatus(template: KubeObject, next: Fields, kept: readonly string[] = []): KubeObject {
  const old = fieldsAt(template, 'status')
  const entries = Object.entries(old)
  const status = { ...Object.fromEntries(entries.filter(([field]) => kept.includes(field))), ...next }
  const significant = Object.fromEntries(entries.filter(([, value]) => value !== null))
  return deepEqual(significant, status) ? template : { ...template, status }
}
