/** POST pods/eviction: deletes a pod if its disruption budget allows it, charging the budget first. */
import { chargeEviction, decideEviction, evictionPendingError, markEvicted } from '../../kinds/kubernetes/rules/core/eviction.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { notFoundError, StatusError, staleConflictError } from '../../kube/status.ts'
import { mutableCopy } from '../objects.ts'
import { type DeleteOptions, parseDeleteOptions } from '../options.ts'
import { nowOf, type Scope } from '../scope.ts'
import { checkPreconditions, deleteObject } from '../write/delete.ts'

const PODS = { group: '', resource: 'pods' }
const MAX_TRIES = 20

export async function evictPod(scope: Scope, name: string, eviction: KubeObject): Promise<void> {
  const options = deleteOptionsOf(scope, eviction)
  for (let attempt = 1; ; attempt++) {
    const pod = podOf(scope, name)
    checkPreconditions(scope, pod, options)
    const decision = decideEviction(pod, budgetsOf(scope))
    if (decision.budget !== undefined) await charge(scope, decision.budget, name, options.dryRun)
    const revision = decision.guardsRevision ? pod.metadata.resourceVersion : undefined
    try {
      await markAndDelete(scope, name, {
        ...options,
        preconditions: { ...options.preconditions, resourceVersion: options.preconditions.resourceVersion ?? revision },
      })
      return
    } catch (error) {
      const isRace =
        error instanceof StatusError &&
        error.reason === 'Conflict' &&
        revision !== undefined &&
        options.preconditions.resourceVersion === undefined
      if (!isRace) throw error
      // The pod changed after the decision: decide again, a bounded number of times.
      if (attempt >= MAX_TRIES) throw evictionPendingError(decision.budget?.metadata.name ?? '')
    }
  }
}

function deleteOptionsOf(scope: Scope, eviction: KubeObject): DeleteOptions {
  const sent = (eviction.deleteOptions ?? {}) as Record<string, unknown>
  const dryRun = scope.info.query.getAll('dryRun')
  return parseDeleteOptions(new URLSearchParams(), dryRun.length > 0 && sent.dryRun === undefined ? { ...sent, dryRun } : sent)
}

function podOf(scope: Scope, name: string): KubeObject {
  const stored = scope.server.objects.get(scope.served, scope.info.namespace, name)
  if (stored === undefined) throw notFoundError(PODS, name)
  return stored.object
}

function budgetsOf(scope: Scope): readonly KubeObject[] {
  const served = scope.server.catalog.findStored('policy', 'poddisruptionbudgets')
  return served === undefined ? [] : scope.server.objects.list(served, scope.info.namespace)
}

async function charge(scope: Scope, budget: KubeObject, podName: string, isDryRun: boolean): Promise<void> {
  const { objects, catalog } = scope.server
  const served = catalog.findStored('policy', 'poddisruptionbudgets')
  const name = budget.metadata.name ?? ''
  if (served === undefined) return
  await objects.exclusively(served, scope.info.namespace, name, async () => {
    const stored = objects.get(served, scope.info.namespace, name)
    if (stored === undefined) return
    const next = mutableCopy(stored.object)
    chargeEviction(next, podName, nowOf(scope))
    if (isDryRun) return
    const result = await objects.put(served, next, stored.version)
    if (!result.ok) throw staleConflictError(served.groupResource, name)
  })
}

async function markAndDelete(scope: Scope, name: string, options: DeleteOptions): Promise<void> {
  const { objects } = scope.server
  let preconditions = options.preconditions
  if (!options.dryRun)
    await objects.exclusively(scope.served, scope.info.namespace, name, async () => {
      const stored = objects.get(scope.served, scope.info.namespace, name)
      if (stored === undefined) throw notFoundError(PODS, name)
      checkPreconditions(scope, stored.object, { preconditions })
      const pod = mutableCopy(stored.object)
      markEvicted(pod, nowOf(scope))
      const result = await objects.put(scope.served, pod, stored.version)
      if (!result.ok) throw staleConflictError(PODS, name)
      if (preconditions.resourceVersion !== undefined)
        preconditions = { ...preconditions, resourceVersion: String(result.version.revision) }
    })
  // The pod itself is deleted, not its subresource.
  const asPod: Scope = { ...scope, info: { ...scope.info, subresource: '', verb: 'delete' } }
  await deleteObject(asPod, name, { ...options, preconditions })
}
