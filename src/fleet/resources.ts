/** Karmada's resources as our controllers name them, each with the type of its objects. */
import type { Resource } from '../client/resource.ts'
import * as kinds from '../kinds/karmada/index.ts'
import type { OwnKind } from '../kinds/schema/define-kind.ts'
import type { KubeObject } from '../kube/meta.ts'

const resourceOf = <T extends KubeObject>({ group, storageVersion, plural, kind, scope }: OwnKind): Resource<T> =>
  Object.freeze({ group, version: storageVersion, plural, kind, namespaced: scope === 'Namespaced' })

export const CLUSTERS = resourceOf<kinds.Cluster>(kinds.Cluster)
export const PROPAGATION_POLICIES = resourceOf<kinds.PropagationPolicy>(kinds.PropagationPolicy)
export const CLUSTER_PROPAGATION_POLICIES = resourceOf<kinds.ClusterPropagationPolicy>(kinds.ClusterPropagationPolicy)
export const OVERRIDE_POLICIES = resourceOf<kinds.OverridePolicy>(kinds.OverridePolicy)
export const CLUSTER_OVERRIDE_POLICIES = resourceOf<kinds.ClusterOverridePolicy>(kinds.ClusterOverridePolicy)
export const CLUSTER_TAINT_POLICIES = resourceOf<kinds.ClusterTaintPolicy>(kinds.ClusterTaintPolicy)
export const RESOURCE_BINDINGS = resourceOf<kinds.ResourceBinding>(kinds.ResourceBinding)
export const CLUSTER_RESOURCE_BINDINGS = resourceOf<kinds.ClusterResourceBinding>(kinds.ClusterResourceBinding)
export const WORKS = resourceOf<kinds.Work>(kinds.Work)
export const RESOURCE_INTERPRETER_CUSTOMIZATIONS = resourceOf<kinds.ResourceInterpreterCustomization>(
  kinds.ResourceInterpreterCustomization,
)
export const RESOURCE_INTERPRETER_WEBHOOK_CONFIGURATIONS = resourceOf<kinds.ResourceInterpreterWebhookConfiguration>(
  kinds.ResourceInterpreterWebhookConfiguration,
)
