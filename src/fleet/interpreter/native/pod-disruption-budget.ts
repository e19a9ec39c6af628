/** policy/v1 PodDisruptionBudget. */
import { isJsonObject, setOwn } from '../../../base/json.ts'
import { type Fields, fieldsAt, numberAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'
import { statusNumber } from './health.ts'
import { type MemberStatus, memberStatuses, printedCounters, sumOf, wholeStatus, withStatus } from './status.ts'

const COUNTERS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const

export const podDisruptionBudgetRules: KindRules = {
  aggregate: (template, items) => {
    const members = memberStatuses(items)
    const counters = printedCounters((counter) => sumOf(members, counter), COUNTERS, [])
    return withStatus(template, { ...counters, ...unlessEmpty(disruptedPods(members)) })
  },
  reflect,
  health: (budget) => statusNumber(budget, 'currentHealthy') >= statusNumber(budget, 'desiredHealthy'),
}

function reflect(budget: KubeObject): Fields | undefined {
  const status = wholeStatus(budget)
  if (status === undefined) return undefined
  const counters = printedCounters((counter) => numberAt(status, counter) ?? 0, COUNTERS, [])
  return { ...counters, ...unlessEmpty(fieldsAt(status, 'disruptedPods')) }
}

const unlessEmpty = (disruptedPods: Fields): Fields => (Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods })

/** Pods of different members may have the same name, so the cluster is prepended. */
function disruptedPods(members: readonly MemberStatus[]): Fields {
  const pods: Record<string, unknown> = {}
  for (const { cluster, status } of members) {
    const found = isJsonObject(status.disruptedPods) ? status.disruptedPods : {}
    for (const [pod, time] of Object.entries(found)) setOwn(pods, `${cluster}/${pod}`, time)
  }
  return pods
}
