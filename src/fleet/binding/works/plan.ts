/**
 * What to do about the Works of a binding: pure, from what was observed to writes and events. Works of clusters that are no
 * longer targets are deleted; under purge mode Directly none is created before they are gone. Every other Work is brought
 * into its desired shape, independently of the others.
 */

import { type BindingKind, permanentIdOf } from '../../../kinds/karmada/binding-kinds.ts'
import { overreachOf } from '../../../kinds/karmada/binding-reach.ts'
import type { Binding, Work } from '../../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace } from '../../../kinds/karmada/names.ts'
import { WORKS } from '../../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { refOf } from '../../../kube/object-reference.ts'
import { type Action, type Batch, type EventIntent, type KeyedEvent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { hasFinalizer, removeFinalizer } from '../../../runtime/finalizer.ts'
import { keptClusters, purgedFirst } from '../targets.ts'
import { newlyApplied, SYNC_WORK_FAILED, syncFailures, syncSucceeded } from './events.ts'
import { type Hindrance, isDue, type WantedWork } from './wanted.ts'

export interface Observed {
  kind: BindingKind
  /** Undefined when it is gone. */
  binding: Binding | undefined
  /** Works made for it, or for an earlier binding of the same name. */
  works: readonly Work[]
  /** Undefined while the template that the binding refers to does not exist, or is not yet in the cache. */
  template: KubeObject | undefined
  wanted: readonly WantedWork[]
  hindrances: readonly Hindrance[]
  /** Whether the server has the binding as it was observed; asked before anything that a stale binding must not cause. */
  isFresh: boolean
  retryAfterMs: number | undefined
}

export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

export const clusterOf = ({ metadata }: KubeObject): string => clusterOfExecutionNamespace(metadata.namespace ?? '') ?? ''

/** Works that have to be deleted, and are not being deleted yet. */
export function orphansOf({ binding, works }: Pick<Observed, 'binding' | 'works'>): Work[] {
  const staying = works.filter((work) => !isGoing(work))
  if (binding === undefined || isGoing(binding) || overreachOf(binding) !== undefined) return staying
  const kept = keptClusters(binding.spec)
  return staying.filter((work) => !kept.has(clusterOf(work)))
}

/** Whether a Work still exists that must be gone before the object goes anywhere else. */
export function isHeld(binding: Binding, works: readonly Work[]): boolean {
  const purged = new Set(purgedFirst(binding.spec))
  return purged.size > 0 && works.some((work) => purged.has(clusterOf(work)))
}

export function plan(observed: Observed): Plan {
  const { kind, binding } = observed
  if (!observed.isFresh) return NOTHING_TO_DO
  const orphans = orphansOf(observed)
  if (binding === undefined) return { actions: removals(kind, undefined, orphans) }
  if (isGoing(binding)) {
    const done = hasFinalizer(binding, kind.finalizer) ? [removeFinalizer(kind.resource, binding, kind.finalizer)] : []
    return { actions: [...removals(kind, binding, orphans), ...done] }
  }
  if (permanentIdOf(kind, binding) === '') return { actions: [], events: [withoutId(kind, binding)] }
  const overreach = overreachOf(binding)
  if (overreach !== undefined) return { actions: removals(kind, binding, orphans), events: [reachesTooFar(binding, overreach)] }
  const writes = isHeld(binding, observed.works) ? [] : writesOf(observed, binding)
  return {
    actions: [...removals(kind, binding, orphans), ...batch(writes)],
    events: syncFailures({ kind, binding, template: observed.template }, observed.hindrances),
    requeueAfterMs: observed.retryAfterMs,
  }
}

const batch = (actions: readonly Action[]): Batch[] => (actions.length === 0 ? [] : [{ do: 'batch', actions, areIndependent: true }])

/** A Work whose objects are to be preserved must say so before it is deleted: the Work is all that execution looks at. */
function removals(kind: BindingKind, binding: Binding | undefined, orphans: readonly Work[]): Batch[] {
  const preserve = binding?.spec.preserveResourcesOnDeletion === true
  const unsaid = orphans.filter(({ spec }) => preserve && spec.preserveResourcesOnDeletion !== true)
  const say = (of: Work): Action => ({ do: 'patch', resource: WORKS, of, patch: { spec: { preserveResourcesOnDeletion: true } } })
  const remove = (of: Work): Action => ({
    do: 'delete',
    resource: WORKS,
    of,
    eventOnFailure: (why) => cleanupFailed(kind, { binding, of, why }),
  })
  return [...batch(unsaid.map(say)), ...batch(orphans.map(remove))]
}

function writesOf({ kind, template, wanted, hindrances }: Observed, binding: Binding): Action[] {
  if (template === undefined) return []
  const due = wanted.filter(isDue)
  let left = due.length
  return due.map((of) => ({
    ...writeOf(of),
    events(): EventIntent[] {
      left--
      const isLast = left === 0 && hindrances.length === 0
      return [...newlyApplied(template, of), ...(isLast ? syncSucceeded({ kind, binding, template }) : [])]
    },
    eventOnFailure: (why) => ({ of: binding, type: 'Warning', reason: SYNC_WORK_FAILED, message: `cluster(${of.cluster}): ${why}` }),
  }))
}

function writeOf({ work, live, patch }: WantedWork): Action {
  if (live === undefined) return { do: 'create', resource: WORKS, object: work }
  return { do: 'patch', resource: WORKS, of: live, patch: patch ?? {} }
}

function cleanupFailed(
  kind: BindingKind,
  { binding, of, why }: { binding: Binding | undefined; of: Work; why: string },
): EventIntent | undefined {
  if (binding === undefined) return undefined
  const message = `cluster(${clusterOf(of)}): the Work of ${kind.display(refOf(binding))} cannot be removed: ${why}`
  return { of: binding, type: 'Warning', reason: 'CleanupWorkFailed', message }
}

const reachesTooFar = (binding: Binding, why: string): KeyedEvent => ({
  key: 'reaches too far',
  of: binding,
  type: 'Warning',
  reason: SYNC_WORK_FAILED,
  message: `spec.resource.namespace: ${why}`,
})

function withoutId(kind: BindingKind, binding: Binding): KeyedEvent {
  const message = `${kind.display(refOf(binding))} has no label ${kind.idLabel}: the admission that gives it did not run when it was created`
  return { key: 'no permanent id', of: binding, type: 'Warning', reason: SYNC_WORK_FAILED, message }
}
