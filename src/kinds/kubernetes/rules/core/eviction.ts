/**
 * Whether a pod may be evicted: the arithmetic of disruption budgets, without the writes. The caller reads pod and
 * budgets, calls `decideEviction`, and if a budget is to be charged writes the result of `chargeEviction` before the
 * pod is deleted.
 */
import { setOwn } from '../../../../base/json.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { type LabelSelectorObject, matchesLabels, selectorFromObject } from '../../../../kube/selector.ts'
import { failure, forbiddenError, type StatusError } from '../../../../kube/status.ts'
import { ensureObject, type Fields, maybeObject, number, object, objects, string } from '../fields.ts'

export interface EvictionDecision {
  /** The budget to charge before the pod is deleted; absent: none applies. */
  budget?: KubeObject
  /** Delete only the pod as it was read: the decision depends on its state. */
  guardsRevision: boolean
}

const MESSAGE = "Cannot evict pod as it would violate the pod's disruption budget."
const BUDGETS = { group: 'policy', resource: 'poddisruptionbudget' }
const MAX_UNCONFIRMED = 2000
const RETRY_SECONDS = 10

const cause = (message: string): { reason: string; message: string } => ({ reason: 'DisruptionBudget', message })

/** Too early to decide: the budget's controller has not caught up, or the pod changed in the meantime. */
export const evictionPendingError = (budgetName: string): StatusError =>
  failure(429, 'TooManyRequests', MESSAGE, {
    causes: [cause(`The disruption budget ${budgetName} is still being processed by the server.`)],
    retryAfterSeconds: RETRY_SECONDS,
  })

function covers(budget: KubeObject, pod: KubeObject): boolean {
  if (budget.metadata.namespace !== pod.metadata.namespace) return false
  const selector = selectorFromObject(maybeObject(object(budget, 'spec'), 'selector') as LabelSelectorObject | undefined)
  // An absent selector matches nothing, an empty one everything.
  return selector.value !== undefined && matchesLabels(selector.value, pod.metadata.labels)
}

const isReady = (pod: KubeObject): boolean =>
  objects(object(pod, 'status'), 'conditions').some((one) => string(one, 'type') === 'Ready' && string(one, 'status') === 'True')

/** `budgets` are those of the pod's namespace. Throws when more than one budget covers the pod. */
export function decideEviction(pod: KubeObject, budgets: readonly KubeObject[]): EvictionDecision {
  const phase = string(object(pod, 'status'), 'phase')
  const isGoing = pod.metadata.deletionTimestamp !== undefined
  if (isGoing || phase === 'Succeeded' || phase === 'Failed') return { guardsRevision: false }
  if (phase === 'Pending') return { guardsRevision: true }
  const covering = budgets.filter((budget) => covers(budget, pod))
  if (covering.length > 1)
    throw failure(500, '', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.')
  const budget = covering[0]
  if (budget === undefined) return { guardsRevision: false }
  if (!isReady(pod) && mayLoseUnready(budget)) return { guardsRevision: true }
  return { budget, guardsRevision: false }
}

/** Unhealthy pods do not count, as long as enough others are healthy. */
function mayLoseUnready(budget: KubeObject): boolean {
  if (string(object(budget, 'spec'), 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true
  const status = object(budget, 'status')
  const desired = number(status, 'desiredHealthy')
  return desired > 0 && number(status, 'currentHealthy') >= desired
}

/** Takes one disruption from a private copy of the budget, or throws the reason why none is available. */
export function chargeEviction(budget: KubeObject, podName: string, now: string): void {
  const name = budget.metadata.name ?? ''
  const status = ensureObject(budget, 'status')
  const allowed = number(status, 'disruptionsAllowed')
  if (number(status, 'observedGeneration') < (budget.metadata.generation ?? 0)) throw evictionPendingError(name)
  if (allowed < 0) throw forbiddenError(BUDGETS, name, 'pdb disruptions allowed is negative')
  if (Object.keys(object(status, 'disruptedPods')).length > MAX_UNCONFIRMED)
    throw forbiddenError(BUDGETS, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  if (allowed === 0) throw failure(429, 'TooManyRequests', MESSAGE, { causes: [cause(refusal(name, status))] })
  status.disruptionsAllowed = allowed - 1
  if (allowed === 1) setDisallowed(budget, status, now)
  setOwn(ensureObject(status, 'disruptedPods'), podName, now)
}

function refusal(name: string, status: Fields): string {
  const condition = objects(status, 'conditions').find((one) => string(one, 'type') === 'DisruptionAllowed')
  const why = condition !== undefined && string(condition, 'status') === 'False' ? string(condition, 'message') : ''
  const reason = string(condition, 'reason')
  const [desired, current] = [number(status, 'desiredHealthy'), number(status, 'currentHealthy')]
  if (why !== '' && reason === 'SyncFailed')
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${why}`
  if (current <= desired) return `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`
  if (why !== '') return `The disruption budget ${name} does not allow evicting pods currently (${reason}): ${why}`
  return `The disruption budget ${name} does not allow evicting pods currently`
}

function setDisallowed(budget: KubeObject, status: Fields, now: string): void {
  const others = objects(status, 'conditions').filter((one) => string(one, 'type') !== 'DisruptionAllowed')
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: number(status, 'observedGeneration') || (budget.metadata.generation ?? 0),
    lastTransitionTime: now,
    reason: 'InsufficientPods',
    message: '',
  }
  status.conditions = [...others, condition]
}

/** Records on the pod why it is deleted. */
export function markEvicted(pod: KubeObject, now: string): void {
  const status = ensureObject(pod, 'status')
  const conditions = objects(status, 'conditions')
  const known = conditions.find((one) => string(one, 'type') === 'DisruptionTarget')
  const since = string(known, 'status') === 'True' ? (known?.lastTransitionTime ?? now) : now
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: since,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  }
  status.conditions = known === undefined ? [...conditions, condition] : conditions.map((one) => (one === known ? condition : one))
}
