/**
 * The attached binding of an object that others depend on: pure. It goes wherever one of them goes. If a policy selects the
 * object too, the binding is shared and the policy decides the rest; otherwise conflict resolution and preservation come
 * from the bindings that need it: the more protective setting wins.
 */
import type { BindingSpec, ResourceBinding } from '../../../kinds/karmada/index.ts'
import { RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import { BINDING_FINALIZER, DEPENDED_BY_LABEL_PREFIX } from '../../../kinds/karmada/well-known.ts'
import { groupVersion, type KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { type Action, type EventIntent, type KeyedEvent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { controllerUidOf, ownerOf } from '../../detector/binding/desired.ts'
import { claimOf, type MetadataChanges, neededChanges } from '../../detector/claim.ts'
import { CONTENT_ANNOTATION, type Content, contentText } from '../../detector/content.ts'
import { fieldDifference } from '../../detector/difference.ts'
import { labelsOf, snapshotOf } from './referrers.ts'

export interface Observed {
  ref: ObjectRef
  binding: ResourceBinding | undefined
  /** The object that others depend on; undefined while it does not exist. */
  object: KubeObject | undefined
  content: Content | undefined
  referrers: readonly ResourceBinding[]
  /** Whether the binding belongs to another object, which exists. */
  isTaken: boolean
}

export function plan(observed: Observed): Plan {
  const { binding, object, content } = observed
  // A missing object proves nothing: it may not be known yet, or its binding is deleted with it.
  if (object === undefined || content === undefined || binding?.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  if (binding === undefined) {
    if (observed.referrers.length === 0 || object.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
    return {
      actions: [{ do: 'create', resource: RESOURCE_BINDINGS, object: newAttached(observed, object, content), ...events(observed) }],
    }
  }
  const isOthers = isOfAnother(binding, object)
  // The binding belongs to another object, which is not needed here: what it says about referrers is removed.
  const seen = isOthers ? { ...observed, referrers: [] } : observed
  const patch = attachedPatch(seen, binding)
  return {
    actions: patch === undefined ? [] : [changeOf(seen, binding, patch)],
    events: observed.isTaken ? observed.referrers.map((referrer) => collision(referrer, binding, object)) : [],
  }
}

const isOfAnother = (binding: KubeObject, { metadata }: KubeObject): boolean => {
  const owner = controllerUidOf(binding)
  return owner !== undefined && owner !== metadata.uid
}

const collision = (of: ResourceBinding, binding: ResourceBinding, { kind, metadata }: KubeObject): KeyedEvent => ({
  key: `${of.metadata.uid} ${metadata.uid}`,
  of,
  type: 'Warning',
  reason: 'SyncScheduleResultToDependenciesFailed',
  message: `${kind} ${metadata.name} cannot follow: its binding would have the same name as that of ${binding.spec?.resource.apiVersion} ${binding.spec?.resource.kind} ${binding.spec?.resource.name}`,
})

function newAttached(observed: Observed, object: KubeObject, content: Content): KubeObject {
  const { ref, referrers } = observed
  return {
    apiVersion: groupVersion(RESOURCE_BINDINGS.group, RESOURCE_BINDINGS.version),
    kind: RESOURCE_BINDINGS.kind,
    metadata: {
      namespace: ref.namespace,
      name: ref.name,
      labels: labelsOf(referrers),
      annotations: { [CONTENT_ANNOTATION]: contentText(content) },
      ownerReferences: [ownerOf(object)],
      finalizers: [BINDING_FINALIZER],
    },
    spec: withoutAbsent({
      resource: referenceOf(object, content, undefined),
      requiredBy: referrers.map(snapshotOf),
      ...opinionOf(referrers),
    }),
  }
}

function attachedPatch({ object, content, referrers }: Observed, binding: ResourceBinding): Record<string, unknown> | undefined {
  const isPure = isAttachedOnly(binding)
  const isEmpty = referrers.length === 0 && (binding.spec?.requiredBy ?? []).length === 0
  const wanted = labelsOf(referrers)
  const before = Object.keys(binding.metadata.labels ?? {}).filter((key) => key.startsWith(DEPENDED_BY_LABEL_PREFIX))
  if (isEmpty && before.length === 0) return undefined
  const isKept = isPure && object !== undefined && content !== undefined && referrers.length > 0
  const finalizers = binding.metadata.finalizers ?? []
  const texts = neededChanges(binding, {
    labels: { ...Object.fromEntries(before.map((key) => [key, null])), ...wanted },
    ...(isKept ? { annotations: { [CONTENT_ANNOTATION]: contentText(content) } } : {}),
  })
  const lists = isKept && !finalizers.includes(BINDING_FINALIZER) ? { finalizers: [...finalizers, BINDING_FINALIZER] } : undefined
  const spec = fieldDifference(binding.spec, {
    requiredBy: referrers.length === 0 ? undefined : referrers.map(snapshotOf),
    ...(isPure ? opinionOf(referrers) : {}),
    ...(isKept ? { resource: referenceOf(object, content, binding) } : {}),
  })
  const metadata = texts === undefined && lists === undefined ? undefined : { ...texts, ...lists }
  if (metadata === undefined && spec === undefined) return undefined
  return { ...(metadata === undefined ? {} : { metadata }), ...(spec === undefined ? {} : { spec }) }
}

/** Whether no policy controls it. */
const isAttachedOnly = (binding: ResourceBinding): boolean => binding.spec?.placement === undefined && claimOf(binding) === undefined

/** Always written, as in Karmada: readers need not know the default. */
function opinionOf(
  referrers: readonly ResourceBinding[],
): Pick<Partial<BindingSpec>, 'conflictResolution' | 'preserveResourcesOnDeletion'> {
  const overwrites = referrers.some(({ spec }) => spec?.conflictResolution === 'Overwrite')
  const preserves = referrers.some(({ spec }) => spec?.preserveResourcesOnDeletion === true)
  return {
    conflictResolution: overwrites ? 'Overwrite' : 'Abort',
    preserveResourcesOnDeletion: referrers.length === 0 ? undefined : preserves,
  }
}

/** The resource version is that of the last content change, as in every binding. */
function referenceOf(
  { apiVersion, kind, metadata }: KubeObject,
  content: Content,
  binding: ResourceBinding | undefined,
): BindingSpec['resource'] {
  const { namespace, name = '', uid, resourceVersion } = metadata
  const known = binding?.spec?.resource
  const isKnown = known?.uid === uid && binding?.metadata.annotations?.[CONTENT_ANNOTATION] === contentText(content)
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    uid,
    resourceVersion: isKnown ? known?.resourceVersion : resourceVersion,
  }
}

function changeOf(observed: Observed, binding: ResourceBinding, patch: Record<string, unknown>): Action {
  return { do: 'patch', resource: RESOURCE_BINDINGS, of: binding, patch, ...events(observed, patch) }
}

/** Recorded on the bindings whose clusters were passed on, and on the attached binding when they disagree. */
function events(observed: Observed, patch?: Record<string, unknown>): Pick<Action, 'events' | 'eventOnFailure'> {
  const { binding, referrers } = observed
  const spec = (patch?.spec ?? {}) as Record<string, unknown>
  const before = new Map((binding?.spec?.requiredBy ?? []).map((one) => [one.name, JSON.stringify(one.clusters ?? [])]))
  const passedOn = referrers.filter(({ metadata, spec: own }) => before.get(metadata.name ?? '') !== JSON.stringify(own?.clusters ?? []))
  const synced = (of: KubeObject): EventIntent => ({
    of,
    type: 'Normal',
    reason: 'SyncScheduleResultToDependenciesSucceed',
    message: 'Sync schedule results to dependencies succeed.',
  })
  const labels = ((patch?.metadata ?? {}) as MetadataChanges).labels
  const isNewOpinion = patch === undefined || labels !== undefined || 'conflictResolution' in spec || 'preserveResourcesOnDeletion' in spec
  const conflict = isNewOpinion && (binding === undefined || isAttachedOnly(binding)) ? conflictOf(referrers) : undefined
  return {
    events: (written) => [
      ...passedOn.map(synced),
      ...(conflict === undefined || written === undefined
        ? []
        : [{ of: written, type: 'Warning', reason: 'DependencyPolicyConflict', message: conflict } as const]),
    ],
    eventOnFailure: (why) => {
      const [of] = passedOn
      return of === undefined ? undefined : { of, type: 'Warning', reason: 'SyncScheduleResultToDependenciesFailed', message: why }
    },
  }
}

function conflictOf(referrers: readonly ResourceBinding[]): string | undefined {
  const differs = (values: readonly unknown[]): boolean => new Set(values).size > 1
  const hints = [
    ...(differs(referrers.map(({ spec }) => spec?.conflictResolution ?? 'Abort'))
      ? ['ConflictResolution conflicted (Overwrite vs Abort)']
      : []),
    ...(differs(referrers.map(({ spec }) => spec?.preserveResourcesOnDeletion === true))
      ? ['PreserveResourcesOnDeletion conflicted (true vs false)']
      : []),
  ]
  return hints.length === 0 ? undefined : `Dependency policy conflict detected: ${hints.join('; ')}.`
}

const withoutAbsent = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
