/** The conditions a namespace shows while it is being emptied, worded as in Kubernetes. */
import { formatTime } from '../../../base/clock.ts'
import { deepEqual } from '../../../base/json.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'

export interface Remaining {
  resource: Resource
  objects: readonly KubeObject[]
}

interface Condition {
  type: string
  status: 'True' | 'False'
  reason: string
  message: string
  lastTransitionTime?: string
}

/** The conditions to write, or undefined when the namespace has them already. */
export function deletionConditions(namespace: KubeObject, remaining: readonly Remaining[], nowMs: number): Condition[] | undefined {
  const old = ((namespace.status as { conditions?: Condition[] } | undefined)?.conditions ?? []) as Condition[]
  const wanted = [
    holds('NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'),
    holds('NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'),
    holds('NamespaceDeletionContentFailure', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'),
    contentRemaining(remaining),
    finalizersRemaining(remaining),
  ]
  const next = wanted.map((condition) => {
    const before = old.find((candidate) => candidate.type === condition.type)
    return { ...condition, lastTransitionTime: before?.status === condition.status ? before.lastTransitionTime : formatTime(nowMs) }
  })
  const others = old.filter((condition) => !wanted.some((candidate) => candidate.type === condition.type))
  return deepEqual([...others, ...next], old) ? undefined : [...others, ...next]
}

const holds = (type: string, reason: string, message: string): Condition => ({ type, status: 'False', reason, message })

function contentRemaining(remaining: readonly Remaining[]): Condition {
  const parts = remaining.map(({ resource, objects }) => `${nameOf(resource)} has ${objects.length} resource instances`)
  if (parts.length === 0) return holds('NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed')
  return {
    type: 'NamespaceContentRemaining',
    status: 'True',
    reason: 'SomeResourcesRemain',
    message: `Some resources are remaining: ${parts.sort().join(', ')}`,
  }
}

function finalizersRemaining(remaining: readonly Remaining[]): Condition {
  const counts = new Map<string, number>()
  for (const { objects } of remaining)
    for (const object of objects)
      for (const finalizer of object.metadata.finalizers ?? []) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1)
  if (counts.size === 0)
    return holds('NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished')
  const parts = [...counts].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`)
  return {
    type: 'NamespaceFinalizersRemaining',
    status: 'True',
    reason: 'SomeFinalizersRemain',
    message: `Some content in the namespace has finalizers remaining: ${parts.sort().join(', ')}`,
  }
}

const nameOf = (resource: Resource): string => (resource.group === '' ? `${resource.plural}.` : `${resource.plural}.${resource.group}`)
