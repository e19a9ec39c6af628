/**
 * Status made of counters, as Deployments, ReplicaSets, StatefulSets and DaemonSets have it: reflected together with the
 * generations that tell what the counters are about, summed up on the template. The template's observedGeneration becomes its
 * generation once every member has seen the newest template; until then it stays, so that nobody takes old numbers for new.
 */
import { isJsonObject } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { TEMPLATE_GENERATION } from '../../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Fields, fieldsAt, numberAt, textAt } from '../../fields.ts'
import { memberStatuses, printedCounters, sumOf, wholeStatus } from './status.ts'

export interface Counters {
  /** Printed even when zero. */
  always: readonly string[]
  unlessZero: readonly string[]
}

export const OBSERVED = 'observedGeneration'

const counterOf =
  (status: unknown) =>
  (name: string): number =>
    numberAt(status, name) ?? 0

/** The counters of a member's object and its generations; `observed` is told only by the kinds that tell it. */
export function reflectCounters(object: KubeObject, counters: Counters, observed: number): Fields | undefined {
  const status = wholeStatus(object)
  if (status === undefined) return undefined
  const generations = {
    generation: object.metadata.generation ?? 0,
    resourceTemplateGeneration: templateGenerationOf(object),
    [OBSERVED]: observed,
  }
  const told = { ...printedCounters(counterOf(generations), [], Object.keys(generations)) }
  return { ...told, ...printedCounters(counterOf(status), counters.always, counters.unlessZero) }
}

/** The generation of the template that the member's object was made from; absent counts as 0. */
function templateGenerationOf(object: KubeObject): number {
  const text = textAt(object, 'metadata', 'annotations', TEMPLATE_GENERATION) ?? ''
  if (text === '') return 0
  if (/^[+-]?[0-9]{1,15}$/.test(text)) return Number(text)
  const { name = '', namespace } = object.metadata
  const where = namespace === undefined ? name : `${namespace}/${name}`
  throw new Error(`the annotation ${TEMPLATE_GENERATION} of ${object.kind} ${where} is not an integer: ${JSON.stringify(text)}`)
}

/** Whether a member's own controller has seen the newest spec there. */
export type HasSettled = (status: Fields, item: AggregatedStatusItem) => boolean

export const hasObservedItself: HasSettled = (status) => counterOf(status)(OBSERVED) >= counterOf(status)('generation')

export function aggregateCounters(
  template: KubeObject,
  items: readonly AggregatedStatusItem[],
  { counters, hasSettled = hasObservedItself }: { counters: Counters; hasSettled?: HasSettled },
): KubeObject {
  const old = fieldsAt(template, 'status')
  const generation = template.metadata.generation ?? 0
  const isCurrent = (item: AggregatedStatusItem) => {
    const { status } = item
    return isJsonObject(status) && counterOf(status)('resourceTemplateGeneration') >= generation && hasSettled(status, item)
  }
  const members = memberStatuses(items)
  const wanted = new Map([...counters.always, ...counters.unlessZero].map((counter) => [counter, sumOf(members, counter)]))
  wanted.set(OBSERVED, items.every(isCurrent) ? generation : counterOf(old)(OBSERVED))
  if ([...wanted].every(([counter, value]) => counterOf(old)(counter) === value)) return template
  const others = Object.fromEntries(Object.entries(old).filter(([field]) => !wanted.has(field)))
  const shown = printedCounters((counter) => wanted.get(counter) ?? 0, counters.always, [OBSERVED, ...counters.unlessZero])
  return { ...template, status: { ...others, ...shown } }
}
