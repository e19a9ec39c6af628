/** Karmada's kinds, which only a hub serves: one line per kind, and the types that other code uses. */
import type { OwnKind } from '../schema/define-kind.ts'
import { Cluster } from './cluster.ts'
import { ClusterOverridePolicy } from './cluster-override-policy.ts'
import { ClusterPropagationPolicy } from './cluster-propagation-policy.ts'
import { ClusterResourceBinding } from './cluster-resource-binding.ts'
import { ClusterTaintPolicy } from './cluster-taint-policy.ts'
import { OverridePolicy } from './override-policy.ts'
import { PropagationPolicy } from './propagation-policy.ts'
import { ResourceBinding } from './resource-binding.ts'
import { ResourceInterpreterCustomization } from './resource-interpreter-customization.ts'
import { ResourceInterpreterWebhookConfiguration } from './resource-interpreter-webhook-configuration.ts'
import { Work } from './work.ts'

export type * from './binding-schema.ts'
export type { ApiEnablement, ClusterSpec, ClusterStatus, ResourceSummary } from './cluster.ts'
export type { ClusterAffinity } from './cluster-affinity.ts'
export type { MatchCondition } from './cluster-taint-policy.ts'
export type * from './failover.ts'

export type * from './kube-schemas.ts'
export type * from './override-spec.ts'
export type * from './placement.ts'
export type { PropagationSpec } from './propagation-spec.ts'
export type { CustomizationRules } from './resource-interpreter-customization.ts'
export type { ResourceInterpreterWebhook, WebhookClientConfig } from './resource-interpreter-webhook-configuration.ts'
export type { ResourceSelector } from './resource-selector.ts'
export type { ManifestStatus, WorkStatus } from './work.ts'
export {
  Cluster,
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  ClusterTaintPolicy,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
  Work,
}

/** One code path for namespaced and cluster-scoped objects: spec and status are the same. */
export type Binding = ResourceBinding | ClusterResourceBinding
export type Policy = PropagationPolicy | ClusterPropagationPolicy

export const karmadaKinds: readonly OwnKind[] = Object.freeze([
  Cluster,
  PropagationPolicy,
  ClusterPropagationPolicy,
  OverridePolicy,
  ClusterOverridePolicy,
  ClusterTaintPolicy,
  ResourceBinding,
  ClusterResourceBinding,
  Work,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
])
