/** How much of a quota is used, counted from what exists, with the same formulas by which admission charges it. Pure. */

import { evaluatorFor, type QuotaEvaluator } from '../../../kinds/kubernetes/admission/quota-usage.ts'
import { quantitiesOf } from '../../../kinds/kubernetes/pod-amounts.ts'
import type { ResourceQuota } from '../../../kinds/kubernetes/types.ts'
import { type Amounts, addAmounts } from '../../../kube/amounts.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { compareQuantities, type Quantity, quantityOf } from '../../../kube/quantity.ts'

export interface GroupResource {
  group: string
  plural: string
}

/** Resources that are measured by more than their number. */
const MEASURED: readonly GroupResource[] = ['pods', 'services', 'persistentvolumeclaims'].map((plural) => ({ group: '', plural }))
/** Kinds that could be counted before counting was general have a short name. */
const SHORT_NAMES = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']
const COUNT = 'count/'

/** The resources whose objects use up one of these names, each with the names it uses. */
export function countedBy(names: readonly string[]): { resource: GroupResource; names: string[]; evaluator: QuotaEvaluator }[] {
  const resources = new Map([...MEASURED, ...names.flatMap(namedBy)].map((resource) => [`${resource.plural}.${resource.group}`, resource]))
  return [...resources.values()].flatMap((resource) => {
    const evaluator = evaluatorFor(resource.group, resource.plural)
    const own = evaluator?.matching(names) ?? []
    return evaluator === undefined || own.length === 0 ? [] : [{ resource, names: own, evaluator }]
  })
}

/** `count/deployments.apps` names deployments of the group apps. */
function namedBy(name: string): GroupResource[] {
  if (SHORT_NAMES.includes(name)) return [{ group: '', plural: name }]
  if (!name.startsWith(COUNT)) return []
  const [plural = '', ...group] = name.slice(COUNT.length).split('.')
  return plural === '' ? [] : [{ group: group.join('.'), plural }]
}

export interface UsageInput {
  quota: ResourceQuota
  names: readonly string[]
  evaluator: QuotaEvaluator
  objects: readonly KubeObject[]
  nowMs: number
}

/** All of `names`; those that are not used with zero. */
export function usageOf({ quota, names, evaluator, objects, nowMs }: UsageInput): Amounts<Quantity> {
  const scopes = scopesOf(quota)
  const total: Amounts<Quantity> = new Map()
  for (const object of objects)
    if (scopes.every((scope) => evaluator.matchesScope(scope, object))) addAmounts(total, evaluator.usage(object, nowMs))
  return new Map(names.map((name) => [name, total.get(name) ?? quantityOf(0)]))
}

function scopesOf({ spec }: ResourceQuota): Record<string, unknown>[] {
  return [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []).map((expression) => ({ ...expression })),
  ]
}

export const hardOf = (quota: ResourceQuota): Amounts<Quantity> => quantitiesOf(quota.spec, 'hard')

/** Whether the status lacks one of these names, or has another limit for it. */
export function isNewTo(quota: ResourceQuota, names: readonly string[]): boolean {
  const [wanted, hard, used] = [hardOf(quota), quantitiesOf(quota.status, 'hard'), quantitiesOf(quota.status, 'used')]
  return names.some((name) => !used.has(name) || !sameAmount(wanted.get(name), hard.get(name)))
}

export const sameAmount = (a: Quantity | undefined, b: Quantity | undefined): boolean =>
  a === undefined || b === undefined ? a === b : compareQuantities(a, b) === 0
