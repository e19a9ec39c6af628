/** Removes what marks an object in a member as ours: afterwards it belongs to the member alone. */
import {
  CLUSTER_PROPAGATION_POLICY_ID,
  CLUSTER_PROPAGATION_POLICY_NAME,
  CLUSTER_RESOURCE_BINDING_ID,
  CLUSTER_RESOURCE_BINDING_NAME,
  MANAGED_ANNOTATIONS,
  MANAGED_LABEL,
  MANAGED_LABELS,
  PROPAGATION_POLICY_ID,
  PROPAGATION_POLICY_NAME,
  PROPAGATION_POLICY_NAMESPACE,
  RESOURCE_BINDING_ID,
  RESOURCE_BINDING_NAME,
  RESOURCE_BINDING_NAMESPACE,
  TEMPLATE_GENERATION,
  TEMPLATE_UID,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
} from '../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'

export const OUR_LABELS: readonly string[] = [
  MANAGED_LABEL,
  WORK_ID,
  RESOURCE_BINDING_ID,
  CLUSTER_RESOURCE_BINDING_ID,
  PROPAGATION_POLICY_ID,
  CLUSTER_PROPAGATION_POLICY_ID,
]

export const OUR_ANNOTATIONS: readonly string[] = [
  WORK_NAMESPACE,
  WORK_NAME,
  RESOURCE_BINDING_NAMESPACE,
  RESOURCE_BINDING_NAME,
  CLUSTER_RESOURCE_BINDING_NAME,
  TEMPLATE_UID,
  TEMPLATE_GENERATION,
  MANAGED_ANNOTATIONS,
  MANAGED_LABELS,
  PROPAGATION_POLICY_NAMESPACE,
  PROPAGATION_POLICY_NAME,
  CLUSTER_PROPAGATION_POLICY_NAME,
]

/** A merge patch that removes our labels and annotations and touches nothing else. */
export function releasePatch({ metadata }: KubeObject): Record<string, unknown> {
  return { metadata: { labels: removed(OUR_LABELS, metadata.labels), annotations: removed(OUR_ANNOTATIONS, metadata.annotations) } }
}

const removed = (keys: readonly string[], from: Readonly<Record<string, string>> = {}): Record<string, null> =>
  Object.fromEntries(keys.filter((key) => Object.hasOwn(from, key)).map((key) => [key, null]))
