/** Karmada's resources by the names that controllers use; each has the type of its objects. */
import * as kinds from './index.ts'

export const CLUSTERS = kinds.Cluster.resource
export const PROPAGATION_POLICIES = kinds.PropagationPolicy.resource
export const CLUSTER_PROPAGATION_POLICIES = kinds.ClusterPropagationPolicy.resource
export const OVERRIDE_POLICIES = kinds.OverridePolicy.resource
export const CLUSTER_OVERRIDE_POLICIES = kinds.ClusterOverridePolicy.resource
export const CLUSTER_TAINT_POLICIES = kinds.ClusterTaintPolicy.resource
export const RESOURCE_BINDINGS = kinds.ResourceBinding.resource
export const CLUSTER_RESOURCE_BINDINGS = kinds.ClusterResourceBinding.resource
export const WORKS = kinds.Work.resource
export const RESOURCE_INTERPRETER_CUSTOMIZATIONS = kinds.ResourceInterpreterCustomization.resource
export const RESOURCE_INTERPRETER_WEBHOOK_CONFIGURATIONS = kinds.ResourceInterpreterWebhookConfiguration.resource
