/** The phases of members as one: the one that needs most attention. */
import { isJsonObject } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { textAt } from '../../../kube/fields.ts'

/** The phases that members reported; `untold` stands for a member without a status. */
export function phasesOf(items: readonly AggregatedStatusItem[], untold?: string): Set<string> {
  const phases = items.map(({ status }) => (isJsonObject(status) ? (textAt(status, 'phase') ?? '') : untold))
  return new Set(phases.filter((phase) => phase !== undefined))
}

export const firstPhase = (order: readonly string[], phases: ReadonlySet<string>): string | undefined =>
  order.find((phase) => phases.has(phase))
