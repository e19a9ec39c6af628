/**
 * Status that consists of counters, as for Deployments, ReplicaSets, StatefulSets and DaemonSets: reflected together with
 * the generations that the counters refer to, and summed on the template. The template's observedGeneration becomes its
 * generation once every member has observed the newest template; until then it stays, so that old numbers are not mistaken
 * for new ones.
 */
import { isJsonObject } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { TEMPLATE_GENERATION } from '../../../kinds/karmada/well-known.ts'
import { type Fields, fieldsAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { counterOf, memberStatuses, printedCounters, sumOf, wholeStatus } from './status.ts'

export interface Counters {
  /** Printed even when zero. */
  always: readonly string[]
  unlessZero: readonly string[]
}

export const OBSERVED = 'observedGeneration'

/** The counters of a member's object and its generations; `observed` is reported only by the kinds that have it. */
export function reflectCounters(object: KubeObject, counters: Counters, observed: number): Fields | undefined {
  const status = wholeStatus(object)
  if (status === undefined) return undefined
  const reported: Record<string, number> = {}
  const generation = object.metadata.generation ?? 0
  const templateGeneration = templateGenerationOf(object)
  if (generation !== 0) reported.generation = generation
  if (templateGeneration !== 0) reported.resourceTemplateGeneration = templateGeneration
  if (observed !== 0) reported[OBSERVED] = observed
  return Object.assign(
    reported,
    printedCounters((counter) => counterOf(status, counter), counters.always, counters.unlessZero),
  )
}

/** The generation of the template that the member's object was made from; absent counts as 0. */
function templateGenerationOf(object: KubeObject): number {
  const text = object.metadata.annotations?.[TEMPLATE_GENERATION] ?? ''
  if (text === '') return 0
  if (/^[+-]?[0-9]{1,15}$/.test(text)) return Number(text)
  const { name = '', namespace } = object.metadata
  const where = namespace === undefined ? name : `${namespace}/${name}`
  throw new Error(`the annotation ${TEMPLATE_GENERATION} of ${object.kind} ${where} is not an integer: ${JSON.stringify(text)}`)
}

/** Whether a member's own controller has observed the newest spec there. */
export type HasSettled = (status: Fields, item: AggregatedStatusItem) => boolean

export const hasObservedItself: HasSettled = (status) => counterOf(status, OBSERVED) >= counterOf(status, 'generation')

export function aggregateCounters(
  template: KubeObject,
  items: readonly AggregatedStatusItem[],
  { counters, hasSettled = hasObservedItself }: { counters: Counters; hasSettled?: HasSettled },
): KubeObject {
  const old = fieldsAt(template, 'status')
  const generation = template.metadata.generation ?? 0
  const isCurrent = (item: AggregatedStatusItem) => {
    const { status } = item
    return isJsonObject(status) && counterOf(status, 'resourceTemplateGeneration') >= generation && hasSettled(status, item)
  }
  const members = memberStatuses(items)
  const wanted: Record<string, number> = {}
  for (const counter of counters.always) wanted[counter] = sumOf(members, counter)
  for (const counter of counters.unlessZero) wanted[counter] = sumOf(members, counter)
  wanted[OBSERVED] = items.every(isCurrent) ? generation : counterOf(old, OBSERVED)
  if (Object.keys(wanted).every((counter) => counterOf(old, counter) === wanted[counter])) return template
  const others = Object.fromEntries(Object.entries(old).filter(([field]) => !Object.hasOwn(wanted, field)))
  const shown = printedCounters((counter) => wanted[counter] ?? 0, counters.always, [OBSERVED, ...counters.unlessZero])
  return { ...template, status: { ...others, ...shown } }
}
