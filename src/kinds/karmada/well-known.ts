/**
 * The names on the wire that tie Karmada's objects together: labels, annotations, finalizers, taints, namespaces and the
 * fixed words of conditions. Users' scripts and dashboards look for exactly these.
 */

// Labels: permanent ids, assigned once at creation and copied to whatever is made from the object.
export const PROPAGATION_POLICY_ID = 'propagationpolicy.karmada.io/permanent-id'
export const CLUSTER_PROPAGATION_POLICY_ID = 'clusterpropagationpolicy.karmada.io/permanent-id'
export const RESOURCE_BINDING_ID = 'resourcebinding.karmada.io/permanent-id'
export const CLUSTER_RESOURCE_BINDING_ID = 'clusterresourcebinding.karmada.io/permanent-id'
export const WORK_ID = 'work.karmada.io/permanent-id'

/** `true` on every object of ours in a member: marks what may be updated and deleted there. */
export const MANAGED_LABEL = 'karmada.io/managed'
export const MANAGED_VALUE = 'true'
/** `true` on what joining a cluster creates on either side. */
export const SYSTEM_LABEL = 'karmada.io/system'
/** `true` on a namespace that is not to be copied to members. */
export const SKIP_NAMESPACE_LABEL = 'namespace.karmada.io/skip-auto-propagation'
/** `true` on a template whose replicas the members decide. */
export const RETAIN_REPLICAS_LABEL = 'resourcetemplate.karmada.io/retain-replicas'
/** On a template that belongs to another controller: the detector leaves it alone. */
export const CLAIMED_BY_LABEL = 'resourcetemplate.karmada.io/claimed-by'
export const DELETION_PROTECTED_LABEL = 'resourcetemplate.karmada.io/deletion-protected'
export const DELETION_PROTECTED_ALWAYS = 'Always'
/** On a binding that was not made by a policy but is to be scheduled all the same. */
export const BINDING_MANAGED_BY_LABEL = 'binding.karmada.io/managed-by'
/** On an attached binding, followed by the reference key of the binding that depends on it; the value is the latter's id. */
export const DEPENDED_BY_LABEL_PREFIX = 'resourcebinding.karmada.io/depended-by-'

// Annotations.
export const PROPAGATION_POLICY_NAMESPACE = 'propagationpolicy.karmada.io/namespace'
export const PROPAGATION_POLICY_NAME = 'propagationpolicy.karmada.io/name'
export const CLUSTER_PROPAGATION_POLICY_NAME = 'clusterpropagationpolicy.karmada.io/name'
export const RESOURCE_BINDING_NAMESPACE = 'resourcebinding.karmada.io/namespace'
export const RESOURCE_BINDING_NAME = 'resourcebinding.karmada.io/name'
export const CLUSTER_RESOURCE_BINDING_NAME = 'clusterresourcebinding.karmada.io/name'
export const WORK_NAMESPACE = 'work.karmada.io/namespace'
export const WORK_NAME = 'work.karmada.io/name'
/** `overwrite` or `abort`, on the template (by users), the Work and the manifest. */
export const CONFLICT_RESOLUTION_ANNOTATION = 'work.karmada.io/conflict-resolution'
export const CONFLICT_OVERWRITE = 'overwrite'
export const CONFLICT_ABORT = 'abort'
export const TEMPLATE_UID = 'resourcetemplate.karmada.io/uid'
export const TEMPLATE_GENERATION = 'resourcetemplate.karmada.io/generation'
/** Sorted keys joined by commas: what we manage on the member's object, so that a key the template dropped is dropped there. */
export const MANAGED_ANNOTATIONS = 'resourcetemplate.karmada.io/managed-annotations'
export const MANAGED_LABELS = 'resourcetemplate.karmada.io/managed-labels'
/** On a binding: JSON of the placement of the last schedule. */
export const APPLIED_PLACEMENT = 'policy.karmada.io/applied-placement'
/** On a Work: JSON of the overrides that were applied. */
export const APPLIED_OVERRIDES = 'policy.karmada.io/applied-overrides'
export const APPLIED_CLUSTER_OVERRIDES = 'policy.karmada.io/applied-cluster-overrides'
/** On a binding: JSON of the objects it depends on. */
export const DEPENDENCIES_ANNOTATION = 'resourcebinding.karmada.io/dependencies'

// Finalizers.
export const CLUSTER_FINALIZER = 'karmada.io/cluster-controller'
export const EXECUTION_FINALIZER = 'karmada.io/execution-controller'
export const BINDING_FINALIZER = 'karmada.io/binding-controller'
export const CLUSTER_BINDING_FINALIZER = 'karmada.io/cluster-resource-binding-controller'
export const PROPAGATION_POLICY_FINALIZER = 'karmada.io/propagation-policy-controller'
export const CLUSTER_PROPAGATION_POLICY_FINALIZER = 'karmada.io/cluster-propagation-policy-controller'
export const DEPENDENCIES_FINALIZER = 'karmada.io/binding-dependencies-distributor'

// Taints of clusters.
export const NOT_READY_TAINT = 'cluster.karmada.io/not-ready'
export const UNREACHABLE_TAINT = 'cluster.karmada.io/unreachable'

// Namespaces: nothing in these three kinds of namespace is propagated.
export const SYSTEM_NAMESPACE = 'karmada-system'
export const CLUSTER_NAMESPACE = 'karmada-cluster'
export const EXECUTION_NAMESPACE_PREFIX = 'karmada-es-'

export const DEFAULT_SCHEDULER = 'default-scheduler'

// Conditions of bindings.
export const SCHEDULED = 'Scheduled'
export const FULLY_APPLIED = 'FullyApplied'
export const BINDING_REASONS = Object.freeze({
  success: 'Success',
  schedulerError: 'SchedulerError',
  noClusterFit: 'NoClusterFit',
  unschedulable: 'Unschedulable',
  quotaExceeded: 'QuotaExceeded',
  fullyAppliedSuccess: 'FullyAppliedSuccess',
  fullyAppliedFailed: 'FullyAppliedFailed',
})
export const SCHEDULED_MESSAGE = 'Binding has been scheduled successfully.'
export const FULLY_APPLIED_MESSAGE = 'All works have been successfully applied'
export const NOT_FULLY_APPLIED_MESSAGE = 'Failed to apply all works, see status.aggregatedStatus for details'

// Conditions of Works.
export const WORK_APPLIED = 'Applied'
export const WORK_DISPATCHING = 'Dispatching'

// Conditions of clusters.
export const CLUSTER_READY = 'Ready'
export const COMPLETE_API_ENABLEMENTS = 'CompleteAPIEnablements'

// Why a binding leaves a cluster, and who decided it.
export const EVICTION_REASONS = Object.freeze({ taintUntolerated: 'TaintUntolerated', applicationFailure: 'ApplicationFailure' })
export const EVICTION_PRODUCERS = Object.freeze({
  taintManager: 'TaintManager',
  applicationFailover: 'resource-binding-application-failover-controller',
  clusterApplicationFailover: 'cluster-resource-binding-application-failover-controller',
})

/** Defaults for what a policy does not set. */
export const DEFAULT_GRACE_PERIOD_SECONDS = 600
