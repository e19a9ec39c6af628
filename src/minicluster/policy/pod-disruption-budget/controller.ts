/**
 * Keeps the status of every PodDisruptionBudget current, so that the server knows how many evictions it may grant. Sole
 * writer of that status, together with the server's eviction, which decrements it. Runs again when the budget, a pod it
 * covers or the owner of such pods changes, and when an eviction should have become visible.
 */
import {
  DEPLOYMENTS,
  EVERY_RESOURCE,
  POD_DISRUPTION_BUDGETS,
  PODS,
  REPLICA_SETS,
  STATEFUL_SETS,
} from '../../../kinds/kubernetes/resources.ts'
import type { Pod, PodDisruptionBudget, PodTemplateSpec } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { type LabelSelector, matchesLabels } from '../../../kube/selector.ts'
import { defineController, indexOf, NOTHING_TO_DO, type Reader, via } from '../../../runtime/controller.ts'
import { bySelector, readSelector, type Selecting, selecting } from '../../../runtime/workloads/pod/indexes.ts'
import { expectedScale } from './owners.ts'
import { needsScale, type Observed, plan } from './plan.ts'

const BUDGETS: Selecting<PodDisruptionBudget> = {
  resource: POD_DISRUPTION_BUDGETS,
  selectorOf: (budget) => readSelector(budget.spec?.selector),
}
const LABEL = 'label'

export const podDisruptionBudget = defineController<Observed | undefined, PodDisruptionBudget>({
  name: 'minicluster.policy.pod-disruption-budget',
  component: 'controllermanager',
  for: POD_DISRUPTION_BUDGETS,
  watches: [
    via(PODS, (pod, read) => covering(read, pod)),
    via(REPLICA_SETS, (set, read) => coveringPodsOf(read, set, set.spec?.template)),
    via(DEPLOYMENTS, (deployment, read) => coveringPodsOf(read, deployment, deployment.spec?.template)),
    via(STATEFUL_SETS, (set, read) => coveringPodsOf(read, set, set.spec?.template)),
  ],
  indexes: [
    bySelector(BUDGETS),
    indexOf(PODS, LABEL, ({ metadata }) =>
      Object.entries(metadata.labels ?? {}).map(([key, value]) => `${metadata.namespace ?? ''} ${key}=${value}`),
    ),
  ],
  writes: [{ resource: POD_DISRUPTION_BUDGETS, subresource: 'status', verbs: ['patch'] }],
  // Owners of any other kind are asked for their scale.
  reads: [{ resource: EVERY_RESOURCE, subresource: 'scale', verbs: ['get'] }],
  async observe(_key, budget, read, client) {
    const selector = budget === undefined ? undefined : BUDGETS.selectorOf(budget)
    if (budget === undefined) return undefined
    const pods = selector === undefined ? [] : coveredBy(read, budget.metadata.namespace ?? '', selector)
    const owners = needsScale(budget) ? await expectedScale(pods, read, client) : undefined
    return { budget, pods, owners, nowMs: read.nowMs() }
  },
  plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
})

const covering = (read: Reader, pod: KubeObject): ObjectRef[] =>
  selecting(read, BUDGETS, pod).map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }))

/** Matched by the pod labels in the owner's template. */
const coveringPodsOf = (read: Reader, { metadata }: KubeObject, template: PodTemplateSpec | undefined): ObjectRef[] =>
  covering(read, { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: metadata.namespace, labels: template?.metadata?.labels } })

/** Found by one label that all of them must have; only a selector that requires none has to scan the whole namespace. */
function coveredBy(read: Reader, namespace: string, selector: LabelSelector): Pod[] {
  const exact = selector.find(({ operator }) => operator === '=' || operator === '==' || operator === 'in')
  const candidates =
    exact === undefined
      ? read.list(PODS, namespace)
      : [...new Set(exact.values)].flatMap((value) => read.byIndex(PODS, LABEL, `${namespace} ${exact.key}=${value}`))
  return candidates.filter((pod) => matchesLabels(selector, pod.metadata.labels))
}
