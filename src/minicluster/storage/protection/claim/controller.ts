/**
 * Keeps a deleted claim until no pod uses it, by the finalizer `kubernetes.io/pvc-protection`. Sole writer of that
 * finalizer after creation, when admission adds it. Before it removes the finalizer it asks the server for the pods of the
 * namespace: a pod that the cache does not show yet counts too.
 */

import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../../kinds/kubernetes/resources.ts'
import type { PersistentVolumeClaim, Pod } from '../../../../kinds/kubernetes/types.ts'
import { objectKey, refOfKey } from '../../../../kube/object-reference.ts'
import { type Controller, defineController, indexOf, NOTHING_TO_DO, type Plan, via } from '../../../../runtime/controller.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../../../runtime/finalizer.ts'
import { controllerOf } from '../../../../runtime/workloads/pod/ownership.ts'
import { claimNameOf, claimsOfPod } from '../../names.ts'

const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection'
const USERS = 'users'

export interface Observed {
  claim: PersistentVolumeClaim | undefined
  isUsed: boolean
}

export function claimProtection(): Controller {
  return defineController<Observed, PersistentVolumeClaim>({
    name: 'minicluster.storage.protection.claim',
    component: 'persistentvolumeclaim-protection-controller',
    for: PERSISTENT_VOLUME_CLAIMS,
    watches: [via(PODS, (pod) => claimsOfPod(pod).map(refOfKey))],
    indexes: [indexOf(PODS, USERS, claimsOfPod)],
    writes: [{ resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['patch'] }],
    reads: [{ resource: PODS, verbs: ['list'] }],
    observe: async ({ namespace, name }, claim, read, client) => {
      if (claim === undefined || !isCandidate(claim)) return { claim, isUsed: true }
      const uses = (pod: Pod): boolean => usesClaim(pod, claim)
      if (read.byIndex(PODS, USERS, objectKey(namespace, name)).some(uses)) return { claim, isUsed: true }
      const { items } = await client.list(PODS, { namespace })
      return { claim, isUsed: (items as Pod[]).some(uses) }
    },
    plan,
  })
}

function plan({ claim, isUsed }: Observed): Plan {
  if (claim === undefined) return NOTHING_TO_DO
  const isHeld = hasFinalizer(claim, CLAIM_PROTECTION)
  if (claim.metadata.deletionTimestamp === undefined)
    return isHeld ? NOTHING_TO_DO : { actions: [addFinalizer(PERSISTENT_VOLUME_CLAIMS, claim, CLAIM_PROTECTION)] }
  if (!isHeld || isUsed) return NOTHING_TO_DO
  return { actions: [removeFinalizer(PERSISTENT_VOLUME_CLAIMS, claim, CLAIM_PROTECTION)] }
}

const isCandidate = (claim: PersistentVolumeClaim): boolean =>
  claim.metadata.deletionTimestamp !== undefined && hasFinalizer(claim, CLAIM_PROTECTION)

/** A pod without a node uses nothing yet, and no kubelet starts a pod with a claim that is being deleted. */
export function usesClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if ((pod.spec?.nodeName ?? '') === '') return false
  const isOwner = controllerOf(claim)?.uid === pod.metadata.uid
  return (pod.spec?.volumes ?? []).some((volume) => {
    if (claimNameOf(pod, volume) !== claim.metadata.name) return false
    return volume.persistentVolumeClaim !== undefined || (isOwner && !isShutDown(pod))
  })
}

/** Its kubelet is done with it, or it was force-deleted: only finalizers still keep it. */
const isShutDown = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0
