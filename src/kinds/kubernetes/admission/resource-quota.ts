/**
 * ResourceQuota: an object that would take a namespace over one of its quotas is refused; one that fits is charged to
 * `status.used` of every matching quota before it is stored. Only resources with known usage are limited: a
 * quota without `status.hard` limits nothing yet.
 */

import type { Amounts } from '../../../kube/amounts.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
  quantitySign,
  subtractQuantities,
} from '../../../kube/quantity.ts'
import { type Admission, type AdmissionContext, type AdmissionRequest, defineAdmission } from '../../admission.ts'
import { quantitiesOf } from '../pod-amounts.ts'
import { ensureObject, type Fields, maybeObject, object, objects, strings } from '../rules/fields.ts'
import { forbidden } from './forbid.ts'
import { evaluatorFor, printedAmounts, type QuotaEvaluator, withoutZeros } from './quota-usage.ts'

const QUOTAS = { group: '', resource: 'resourcequotas' }

const hardOf = (quota: KubeObject): Amounts<Quantity> => quantitiesOf(object(quota, 'status'), 'hard')
const usedOf = (quota: KubeObject): Amounts<Quantity> => quantitiesOf(object(quota, 'status'), 'used')

function scopesOf(quota: KubeObject): Fields[] {
  const spec = object(quota, 'spec')
  const selector = maybeObject(spec, 'scopeSelector')
  return [
    ...strings(spec, 'scopes').map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(selector === undefined ? [] : objects(selector, 'matchExpressions')),
  ]
}

const matches = (quota: KubeObject, evaluator: QuotaEvaluator, subject: KubeObject): boolean =>
  evaluator.matching([...hardOf(quota).keys()]).length > 0 && scopesOf(quota).every((scope) => evaluator.matchesScope(scope, subject))

function requireKnownUse(request: AdmissionRequest, quota: KubeObject, names: readonly string[]): void {
  const used = usedOf(quota)
  if (names.every((name) => used.has(name))) return
  throw forbidden(request, `status unknown for quota: ${quota.metadata.name}, resources: ${[...names].sort().join(',')}`)
}

interface Charge {
  quota: KubeObject
  added: Amounts<Quantity>
}

/** What each matching quota is charged; refuses objects that do not specify what they use. */
function chargesOf(request: AdmissionRequest, evaluator: QuotaEvaluator, context: AdmissionContext): Charge[] {
  const { object: subject, oldObject: old } = request
  if (subject === undefined) return []
  const quotas = context.read.list(QUOTAS, request.namespace).filter((quota) => matches(quota, evaluator, subject))
  for (const quota of quotas) {
    const names = evaluator.matching([...hardOf(quota).keys()])
    const missing = evaluator.missing(names, subject)
    if (missing !== undefined) throw forbidden(request, `failed quota: ${quota.metadata.name}: ${missing}`)
    requireKnownUse(request, quota, names)
  }
  if (quotas.length === 0) return []
  const usage = evaluator.usage(subject, context.nowMs)
  const negative = [...usage].filter(([, amount]) => quantitySign(amount) < 0).map(([name]) => name)
  if (negative.length > 0) throw forbidden(request, `quota usage is negative for resource(s): ${negative.sort().join(',')}`)
  const change = request.operation === 'UPDATE' && old !== undefined ? difference(usage, evaluator.usage(old, context.nowMs)) : usage
  return quotas
    .map((quota) => ({ quota, added: withoutZeros(old !== undefined && matches(quota, evaluator, old) ? change : usage) }))
    .filter(({ added }) => added.size > 0)
}

/** The increase in usage; a decrease is only released when the quota is recalculated, never here. */
function difference(usage: Amounts<Quantity>, before: Amounts<Quantity>): Amounts<Quantity> {
  return new Map(
    [...usage].map(([name, amount]) => {
      const known = before.get(name)
      const rest = known === undefined ? amount : subtractQuantities(amount, known)
      return [name, quantitySign(rest) < 0 ? { ...rest, unscaled: 0n } : rest]
    }),
  )
}

const listed = (names: readonly string[], amounts: Amounts<Quantity>): string =>
  [...names]
    .sort()
    .flatMap((name) => {
      const amount = amounts.get(name)
      return amount === undefined ? [] : [`${name}=${formatQuantity(amount)}`]
    })
    .join(',')

/** The usage after the charge, or a refusal. */
function charged(request: AdmissionRequest, quota: KubeObject, added: Amounts<Quantity>): Amounts<Quantity> {
  const [hard, used] = [hardOf(quota), usedOf(quota)]
  const asked: Amounts<Quantity> = new Map([...added].filter(([name]) => hard.has(name)))
  const next: Amounts<Quantity> = new Map(used)
  for (const [name, amount] of asked) {
    const known = used.get(name)
    next.set(name, known === undefined ? amount : addQuantities(known, amount))
  }
  const exceeded = [...asked.keys()].filter((name) => {
    const [limit, total] = [hard.get(name), next.get(name)]
    return limit !== undefined && total !== undefined && compareQuantities(total, limit) > 0
  })
  if (exceeded.length > 0 && request.subresource !== 'status')
    throw forbidden(
      request,
      `exceeded quota: ${quota.metadata.name}, requested: ${listed(exceeded, asked)}, used: ${listed(exceeded, used)}, limited: ${listed(exceeded, hard)}`,
    )
  return next
}

async function validate(request: AdmissionRequest, context: AdmissionContext): Promise<undefined> {
  if (request.namespace === '' || (request.group === '' && request.kind === 'Namespace')) return undefined
  const evaluator = evaluatorFor(request.group, request.resource)
  if (evaluator === undefined || !evaluator.handles(request)) return undefined
  const charges = chargesOf(request, evaluator, context)
  // All are checked before any is charged, and each again when it is charged: another request may have come in between.
  for (const { quota, added } of charges) charged(request, quota, added)
  if (request.dryRun) return undefined
  for (const { quota, added } of charges)
    await context.adjust(QUOTAS, request.namespace, quota.metadata.name ?? '', (live) => {
      const next = charged(request, live, added)
      const before = usedOf(live)
      const same = [...next].every(([name, amount]) => {
        const known = before.get(name)
        return known !== undefined && compareQuantities(known, amount) === 0
      })
      if (same) return false
      ensureObject(live, 'status').used = printedAmounts(next, (name) => {
        const amount = next.get(name)
        return amount === undefined ? '0' : formatQuantity(amount)
      })
      return true
    })
  return undefined
}

export const resourceQuota: Admission = defineAdmission({
  name: 'ResourceQuota',
  about: 'Counts what a request would add to the quotas of the namespace, and refuses what exceeds them.',
  resources: [
    { group: '*', resource: '*' },
    { group: '', resource: 'pods/resize' },
    { group: '', resource: 'persistentvolumeclaims/status' },
  ],
  operations: ['CREATE', 'UPDATE'],
  validate,
})
