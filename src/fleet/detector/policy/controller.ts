/**
 * Deletion of a policy: it stays until no template and no binding carries its id any more, then its finalizer is removed.
 * Removing the claims is up to the detector; nothing that was propagated is deleted. Sole writer of the finalizer of
 * policies (admission adds it to new ones). Runs again when a binding or template that it had claimed changes.
 */

import type { Policy } from '../../../kinds/karmada/index.ts'
import {
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTER_RESOURCE_BINDINGS,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
} from '../../../kinds/karmada/resources.ts'
import {
  CLUSTER_PROPAGATION_POLICY_FINALIZER,
  CLUSTER_PROPAGATION_POLICY_ID,
  PROPAGATION_POLICY_FINALIZER,
  PROPAGATION_POLICY_ID,
} from '../../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Controller, defineController, indexOf, NOTHING_TO_DO, type Plan, type Signal, via } from '../../../runtime/controller.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../../runtime/finalizer.ts'
import type { Templates } from '../../../runtime/templates.ts'
import { type Claim, claimOf, isSameClaim, permanentIdOf } from '../claim.ts'

const CLAIMED = 'claimed'

export interface Observed {
  policies: Resource<Policy>
  policy: Policy | undefined
  finalizer: string
  /** Whether anything still carries its id, or may: also true while the policy is not being deleted, or not all templates are known. */
  isHeld: boolean
}

export const policyRelease = (templates: Templates): Controller =>
  release(PROPAGATION_POLICIES, PROPAGATION_POLICY_FINALIZER, templates, 'fleet.detector.policy')

export const clusterPolicyRelease = (templates: Templates): Controller =>
  release(CLUSTER_PROPAGATION_POLICIES, CLUSTER_PROPAGATION_POLICY_FINALIZER, templates, 'fleet.detector.policy.cluster-scoped')

function release(policies: Resource<Policy>, finalizer: string, templates: Templates, name: string): Controller {
  const label = policies.namespaced ? PROPAGATION_POLICY_ID : CLUSTER_PROPAGATION_POLICY_ID
  const idsOf = ({ metadata }: KubeObject): string[] => {
    const id = metadata.labels?.[label]
    return id === undefined || id === '' ? [] : [id]
  }
  const claimerOf = (object: KubeObject): ObjectRef[] => {
    const claim = claimOf(object)
    return claim !== undefined && isOf(policies, claim) ? [{ namespace: claim.namespace, name: claim.name }] : []
  }
  const uncertain = new Map<string, ObjectRef>()

  return defineController<Observed, Policy>({
    name,
    for: policies,
    watches: [via(RESOURCE_BINDINGS, claimerOf, onlyOtherClaims), via(CLUSTER_RESOURCE_BINDINGS, claimerOf, onlyOtherClaims)],
    signals: [lettingGo(templates, claimerOf), completion(templates, uncertain)],
    indexes: [indexOf(RESOURCE_BINDINGS, CLAIMED, idsOf), indexOf(CLUSTER_RESOURCE_BINDINGS, CLAIMED, idsOf)],
    writes: [{ resource: policies, verbs: ['patch'] }],
    observe(ref, policy, read) {
      const isComplete = templates.isComplete()
      const key = `${ref.namespace}/${ref.name}`
      if (isComplete || policy === undefined) uncertain.delete(key)
      else uncertain.set(key, ref)
      // Looked up only during deletion: nothing else needs it, and a policy may hold very many.
      const isGoing = policy?.metadata.deletionTimestamp !== undefined
      const id = policy === undefined ? '' : permanentIdOf(policy)
      const isHeld =
        !isGoing ||
        !isComplete ||
        hasAny(templates.claimedBy(id)) ||
        read.byIndex(RESOURCE_BINDINGS, CLAIMED, id).length > 0 ||
        read.byIndex(CLUSTER_RESOURCE_BINDINGS, CLAIMED, id).length > 0
      return { policies, policy, finalizer, isHeld }
    },
    plan,
  })
}

export function plan({ policies, policy, finalizer, isHeld }: Observed): Plan {
  if (policy === undefined) return NOTHING_TO_DO
  const isGoing = policy.metadata.deletionTimestamp !== undefined
  if (!isGoing) return hasFinalizer(policy, finalizer) ? NOTHING_TO_DO : { actions: [addFinalizer(policies, policy, finalizer)] }
  return isHeld || !hasFinalizer(policy, finalizer) ? NOTHING_TO_DO : { actions: [removeFinalizer(policies, policy, finalizer)] }
}

const hasAny = (found: Iterable<unknown>): boolean => found[Symbol.iterator]().next().done !== true

const onlyOtherClaims = { isRelevantUpdate: (old: KubeObject, object: KubeObject): boolean => !isSameClaim(claimOf(old), claimOf(object)) }

const isOf = ({ namespaced }: Resource, { namespace }: Claim): boolean => (namespace !== '') === namespaced

const lettingGo = (templates: Templates, claimerOf: (object: KubeObject) => ObjectRef[]): Signal => ({
  subscribe: (enqueue) =>
    templates.subscribe((_located, { type, object, old }) => {
      if (type === 'updated' && old !== undefined && isSameClaim(claimOf(old), claimOf(object))) return
      for (const ref of old === undefined ? [] : claimerOf(old)) enqueue(ref)
    }),
})

const completion = (templates: Templates, uncertain: ReadonlyMap<string, ObjectRef>): Signal => ({
  subscribe: (enqueue) =>
    templates.onComplete(() => {
      for (const ref of uncertain.values()) enqueue(ref)
    }),
})
