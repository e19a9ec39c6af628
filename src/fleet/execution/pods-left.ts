/**
 * Pods of a workload that is gone from a member: they end after it, and until then it still runs there. Found by its
 * selector and by the name of their controller, because the workload itself can no longer be read.
 */
import { isJsonObject } from '../../base/json.ts'
import type { Client } from '../../client/client.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject, OwnerReference } from '../../kube/meta.ts'
import { formatLabelSelector, type LabelSelectorObject, selectorFromObject } from '../../kube/selector.ts'

interface PodsOfKind {
  selectorOf(workload: KubeObject): LabelSelectorObject | undefined
  /** Whether a pod controlled by this owner belongs to a workload of this name. */
  isController(controller: OwnerReference, name: string): boolean
}

const ownSelector = (workload: KubeObject): LabelSelectorObject | undefined => {
  const spec = (workload as { spec?: unknown }).spec
  return isJsonObject(spec) && isJsonObject(spec.selector) ? (spec.selector as LabelSelectorObject) : undefined
}

const controlledAs = (kind: string): PodsOfKind => ({
  selectorOf: ownSelector,
  isController: (controller, name) => controller.kind === kind && controller.name === name,
})

const PODS_OF: Readonly<Record<string, PodsOfKind>> = {
  'apps/v1 Deployment': {
    selectorOf: ownSelector,
    // The ReplicaSet between a Deployment and its pods may be gone as well.
    isController: ({ kind, name }, deployment) => kind === 'ReplicaSet' && name.slice(0, name.lastIndexOf('-')) === deployment,
  },
  'apps/v1 ReplicaSet': controlledAs('ReplicaSet'),
  'apps/v1 StatefulSet': controlledAs('StatefulSet'),
  'apps/v1 DaemonSet': controlledAs('DaemonSet'),
  // The member generates the selector; the label with the name is always there.
  'batch/v1 Job': {
    ...controlledAs('Job'),
    selectorOf: ({ metadata }) => ({ matchLabels: { 'batch.kubernetes.io/job-name': metadata.name ?? '' } }),
  },
}

/** How many pods of these workloads have not ended in the member. */
export async function podsLeft(member: Client, workloads: readonly KubeObject[]): Promise<number> {
  let left = 0
  for (const workload of workloads) {
    const kind = `${workload.apiVersion} ${workload.kind}`
    const pods = Object.hasOwn(PODS_OF, kind) ? PODS_OF[kind] : undefined
    const selector = selectorFromObject(pods?.selectorOf(workload))
    if (pods === undefined || selector.value === undefined || selector.value.length === 0) continue
    const { namespace = '', name = '' } = workload.metadata
    const { items } = await member.list(PODS, { namespace, labelSelector: formatLabelSelector(selector.value) })
    left += items.filter((pod) => isControlledBy(pod, (controller) => pods.isController(controller, name)) && !hasEnded(pod)).length
  }
  return left
}

const isControlledBy = ({ metadata }: KubeObject, isIt: (controller: OwnerReference) => boolean): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.controller === true && isIt(owner))

function hasEnded(pod: KubeObject): boolean {
  const phase = (pod as { status?: { phase?: string } }).status?.phase
  return phase === 'Succeeded' || phase === 'Failed'
}
