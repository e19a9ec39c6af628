/** What a quota's status has to become. Pure. */
import { setOwn } from '../../../base/json.ts'
import { quantitiesOf } from '../../../kinds/kubernetes/pod-amounts.ts'
import { RESOURCE_QUOTAS } from '../../../kinds/kubernetes/resources.ts'
import type { ResourceQuota } from '../../../kinds/kubernetes/types.ts'
import type { Amounts } from '../../../kube/amounts.ts'
import { formatQuantity, type Quantity } from '../../../kube/quantity.ts'
import { NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { hardOf, sameAmount } from './usage.ts'

/**
 * Names of a quota and what is used of them. `behind`: one cache knows of something that another has yet to show.
 * `unsure`: the quota is newer than what the cache has seen; the next bookmark settles it.
 */
export type Counted = { names: readonly string[] } & ({ state: 'counted'; used: Amounts<Quantity> } | { state: 'behind' | 'unsure' })

export interface Observed {
  quota: ResourceQuota | undefined
  counted: readonly Counted[]
}

const CATCH_UP_MS = 100
const BOOKMARK_MS = 10_000

export function plan({ quota, counted }: Observed): Plan {
  if (quota === undefined || quota.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const hard = hardOf(quota)
  const [statedHard, statedUsed] = [quantitiesOf(quota.status, 'hard'), quantitiesOf(quota.status, 'used')]
  const used: Amounts<Quantity> = new Map([...statedUsed].filter(([name]) => hard.has(name)))
  for (const one of counted) if (one.state === 'counted') for (const [name, amount] of one.used) used.set(name, amount)
  const isBehind = counted.some(({ state }) => state === 'behind')
  const requeueAfterMs = isBehind ? CATCH_UP_MS : counted.some(({ state }) => state === 'unsure') ? BOOKMARK_MS : undefined
  const isFirst = quota.status?.hard === undefined || quota.status.used === undefined
  if (!isFirst && sameAmounts(hard, statedHard) && sameAmounts(used, statedUsed)) return { actions: [], requeueAfterMs }
  const status = { hard: changes(hard, statedHard), used: changes(used, statedUsed) }
  return {
    actions: [{ do: 'patch', resource: RESOURCE_QUOTAS, of: quota, patch: { status }, subresource: 'status' }],
    requeueAfterMs,
  }
}

const sameAmounts = (a: Amounts<Quantity>, b: Amounts<Quantity>): boolean =>
  a.size === b.size && [...a].every(([name, amount]) => sameAmount(amount, b.get(name)))

/** As a merge patch: removed entries are null. */
function changes(next: Amounts<Quantity>, before: Amounts<Quantity>): Record<string, string | null> {
  const patch: Record<string, string | null> = {}
  for (const name of before.keys()) if (!next.has(name)) setOwn(patch, name, null)
  for (const [name, amount] of next) setOwn(patch, name, formatQuantity(amount))
  return patch
}
