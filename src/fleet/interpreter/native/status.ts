/** What the rules of all kinds do with status: read it from a member's object, and write an aggregated one to the template. */
import { deepEqual, isJsonObject } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { type Fields, fieldsAt } from '../../../kube/fields.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'

/** A status of a member with the name of its cluster. */
export interface MemberStatus {
  cluster: string
  status: Fields
}

/** The whole status; undefined when there is none yet. */
export const wholeStatus = (object: KubeObject): Fields | undefined => (isJsonObject(object.status) ? object.status : undefined)

/** The items whose cluster has reported a status, ordered by cluster: the order in which they arrive does not matter. */
export function memberStatuses(items: readonly AggregatedStatusItem[]): MemberStatus[] {
  const members: MemberStatus[] = []
  for (const { clusterName, status } of items) if (isJsonObject(status)) members.push({ cluster: clusterName, status })
  return members.length < 2 ? members : members.sort((a, b) => compareStrings(a.cluster, b.cluster))
}

/** A counter of a status; absent counts as 0. */
export function counterOf(status: Fields, counter: string): number {
  const value = status[counter]
  return typeof value === 'number' ? value : 0
}

export function sumOf(members: readonly MemberStatus[], counter: string): number {
  let sum = 0
  for (const { status } of members) sum += counterOf(status, counter)
  return sum
}

/** The counters by name, without the zeros that Go leaves out of its JSON. */
export function printedCounters(value: (counter: string) => number, always: readonly string[], unlessZero: readonly string[]): Fields {
  const counters: Record<string, number> = {}
  for (const counter of always) counters[counter] = value(counter)
  for (const counter of unlessZero) {
    const count = value(counter)
    if (count !== 0) counters[counter] = count
  }
  return counters
}

/**
 * The template with `next` as its status; the identical object when it has that already. Fields in `kept` belong to the
 * server, which would restore them. Null is what Go prints for an absent list.
 */
export function withStatus(template: KubeObject, next: Fields, kept: readonly string[] = []): KubeObject {
  const old = fieldsAt(template, 'status')
  const entries = Object.entries(old)
  const status = { ...Object.fromEntries(entries.filter(([field]) => kept.includes(field))), ...next }
  const significant = Object.fromEntries(entries.filter(([, value]) => value !== null))
  return deepEqual(significant, status) ? template : { ...template, status }
}
