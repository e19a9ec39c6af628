/**
 * The binding as the detector wants it: the template it stands for, what the template needs, and what the policy says,
 * within what narrowings allow. Fields that others write (clusters, eviction tasks, requiredBy, rescheduleTriggeredAt) are
 * left out, so that a patch does not touch them.
 */

import type { Binding, BindingSpec, BindingSuspension, Policy } from '../../../kinds/karmada/index.ts'
import { bindingName } from '../../../kinds/karmada/names.ts'
import { BINDING_FINALIZER, CLUSTER_BINDING_FINALIZER } from '../../../kinds/karmada/well-known.ts'
import { groupVersion, type KubeObject, type OwnerReference } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { Needs } from '../../../runtime/needs.ts'
import { type Hold, holdMarks, isHeldByUs, NARROWED_BY, type Narrowed, narrowPlacement } from '../../../runtime/seams/narrowing.ts'
import { type Claim, claimChanges, neededChanges } from '../claim.ts'
import { CONTENT_ANNOTATION, type Content, contentText } from '../content.ts'
import { fieldDifference } from '../difference.ts'
import { WAITING_BECAUSE } from './annotations.ts'

export interface DesiredBinding {
  bindings: Resource<Binding>
  template: KubeObject
  content: Content
  policy: Policy
  claim: Claim
  needs: Needs
  /** Value of the policy's PriorityClass. */
  priority: number | undefined
  narrowing: Narrowed
  hasAffinityGroups: boolean
}

export const ownerOf = (template: KubeObject): OwnerReference => ({
  apiVersion: template.apiVersion,
  kind: template.kind,
  name: template.metadata.name ?? '',
  uid: template.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
})

export const controllerUidOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid

const finalizerOf = ({ namespaced }: Resource): string => (namespaced ? BINDING_FINALIZER : CLUSTER_BINDING_FINALIZER)

/** For a template that has no binding yet. */
export function newBinding(desired: DesiredBinding): KubeObject {
  const { bindings, template } = desired
  const { labels, annotations } = claimChanges(desired.claim)
  const { namespace, name = '' } = template.metadata
  return withoutAbsent({
    apiVersion: groupVersion(bindings.group, bindings.version),
    kind: bindings.kind,
    metadata: {
      name: bindingName(template.kind, name),
      ...(namespace === undefined ? {} : { namespace }),
      labels: withoutNulls(labels),
      annotations: withoutNulls({ ...annotations, ...notes(desired, undefined) }),
      ownerReferences: [ownerOf(template)],
      finalizers: [finalizerOf(bindings)],
    },
    spec: desiredSpec(desired, undefined),
  })
}

/** The patch that brings a binding to the desired state; undefined when it is there already. */
export function bindingPatch(desired: DesiredBinding, binding: Binding): Record<string, unknown> | undefined {
  const { labels, annotations } = claimChanges(desired.claim)
  const { finalizers = [], ownerReferences } = binding.metadata
  const finalizer = finalizerOf(desired.bindings)
  const texts = neededChanges(binding, { labels, annotations: { ...annotations, ...notes(desired, binding) } })
  const lists = fieldDifference(
    { ownerReferences, finalizers },
    {
      ownerReferences: [ownerOf(desired.template)],
      finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer],
    },
  )
  const metadata = texts === undefined && lists === undefined ? undefined : { ...texts, ...lists }
  const spec = fieldDifference(binding.spec, { ...desiredSpec(desired, binding) })
  if (metadata === undefined && spec === undefined) return undefined
  return { ...(metadata === undefined ? {} : { metadata }), ...(spec === undefined ? {} : { spec }) }
}

/**
 * What changes on a binding whose policy cannot be applied yet, or is lazy and waits for its template to change: what it
 * waits for, and what narrowings say. Clusters are only taken away, because the policy that would give others is not applied.
 */
export function waitingPatch(binding: Binding, narrowing: Narrowed, wait: string | undefined): Record<string, unknown> | undefined {
  const placement = narrowPlacement(binding.spec?.placement, narrowing.allow)
  const suspension = mergedSuspension(binding.spec?.suspension, binding, narrowing.hold)
  const spec = fieldDifference(binding.spec, { placement, suspension })
  const metadata = neededChanges(binding, { annotations: { ...narrowingNotes(narrowing, binding), [WAITING_BECAUSE]: wait ?? null } })
  if (metadata === undefined && spec === undefined) return undefined
  return { ...(metadata === undefined ? {} : { metadata }), ...(spec === undefined ? {} : { spec }) }
}

/** Annotations of our own. */
const notes = (desired: DesiredBinding, binding: Binding | undefined): Record<string, string | null> => ({
  [CONTENT_ANNOTATION]: contentText(desired.content),
  ...narrowingNotes(desired.narrowing, binding),
  [WAITING_BECAUSE]: null,
})

/** If others have suspended scheduling already, it is up to them to resume it, and the hold is not recorded as ours. */
function narrowingNotes(narrowing: Narrowed, binding: Binding | undefined): Record<string, string | null> {
  const isTheirs = isSuspendedByOthers(binding)
  const names = isTheirs ? narrowing.narrowedBy.filter((name) => !narrowing.heldOnlyBy.includes(name)) : narrowing.narrowedBy
  return {
    ...narrowing.annotations,
    ...holdMarks(isTheirs ? undefined : narrowing.hold),
    [NARROWED_BY]: names.length === 0 ? null : names.join(','),
  }
}

const isSuspendedByOthers = (binding: Binding | undefined): boolean =>
  binding !== undefined && binding.spec?.suspension?.scheduling === true && !isHeldByUs(binding)

/** Every field the detector writes; undefined for those to be removed. */
function desiredSpec(desired: DesiredBinding, binding: Binding | undefined): Partial<BindingSpec> {
  const { policy, needs, bindings, narrowing } = desired
  const { spec } = policy
  const common = {
    resource: referenceOf(desired, binding),
    // Zero is omitted, as Go does.
    replicas: needs.replicas === 0 ? undefined : needs.replicas,
    replicaRequirements: needs.replicaRequirements,
    components: needs.components,
    schedulerName: spec?.schedulerName,
    // Always present: a binding without a placement is for someone else to place.
    placement: narrowPlacement(spec?.placement ?? {}, narrowing.allow),
    failover: spec?.failover,
    conflictResolution: spec?.conflictResolution,
    preserveResourcesOnDeletion: spec?.preserveResourcesOnDeletion,
    suspension: mergedSuspension(spec?.suspension, binding, narrowing.hold),
  }
  const propagateDeps = spec?.propagateDeps === true ? true : undefined
  // Dependencies of cluster-scoped templates are not followed: the policy's setting is only recorded at creation.
  if (!bindings.namespaced) return { ...common, propagateDeps: binding === undefined ? propagateDeps : binding.spec?.propagateDeps }
  return {
    ...common,
    propagateDeps,
    workloadAffinityGroups: desired.hasAffinityGroups ? affinityGroupsOf(desired) : undefined,
    schedulePriority: desired.priority === undefined ? undefined : { priority: desired.priority },
  }
}

/** The resource version is that of the last content change: a status that comes back to a template is no reason to write. */
function referenceOf({ template, content }: DesiredBinding, binding: Binding | undefined): BindingSpec['resource'] {
  const { namespace, name = '', uid, resourceVersion } = template.metadata
  const known = binding?.spec?.resource
  const isKnown = known?.uid === uid && binding?.metadata.annotations?.[CONTENT_ANNOTATION] === contentText(content)
  return {
    apiVersion: template.apiVersion,
    kind: template.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    uid,
    resourceVersion: isKnown ? known?.resourceVersion : resourceVersion,
  }
}

/** Dispatching comes from the policy; scheduling is resumed by whoever suspended it, unless that was us. */
function mergedSuspension(
  wanted: BindingSuspension | undefined,
  binding: Binding | undefined,
  hold: Hold | undefined,
): BindingSuspension | undefined {
  const { dispatching, dispatchingOnClusters } = wanted ?? {}
  const ofOthers = binding !== undefined && isHeldByUs(binding) ? undefined : binding?.spec?.suspension?.scheduling
  const scheduling = hold === undefined ? ofOthers : true
  const suspension = {
    ...(dispatching === undefined ? {} : { dispatching }),
    ...(dispatchingOnClusters === undefined ? {} : { dispatchingOnClusters }),
    ...(scheduling === undefined ? {} : { scheduling }),
  }
  return Object.keys(suspension).length === 0 ? undefined : suspension
}

function affinityGroupsOf({ policy, template }: DesiredBinding): BindingSpec['workloadAffinityGroups'] {
  const { affinity, antiAffinity } = policy.spec?.placement?.workloadAffinity ?? {}
  const groupOf = (key: string | undefined): string | undefined => {
    const value = key === undefined ? undefined : template.metadata.labels?.[key]
    return value === undefined ? undefined : `${key}=${value}`
  }
  const affinityGroup = groupOf(affinity?.groupByLabelKey)
  const antiAffinityGroup = groupOf(antiAffinity?.groupByLabelKey)
  if (affinityGroup === undefined && antiAffinityGroup === undefined) return undefined
  return { ...(affinityGroup === undefined ? {} : { affinityGroup }), ...(antiAffinityGroup === undefined ? {} : { antiAffinityGroup }) }
}

const withoutNulls = (texts: Record<string, string | null>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== null))

function withoutAbsent(object: KubeObject): KubeObject {
  const spec = object.spec as Record<string, unknown>
  return { ...object, spec: Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)) }
}
