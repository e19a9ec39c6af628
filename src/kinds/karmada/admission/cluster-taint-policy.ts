/** Taints added by a policy must be distinguishable, and those that evict must be allowed. */
import { duplicate, type FieldError, forbidden, index } from '../../../kube/field-error.ts'
import { type Admission, defineAdmission } from '../../admission.ts'
import type { ClusterTaintPolicy } from '../cluster-taint-policy.ts'
import { GROUPS } from '../kube-schemas.ts'
import { isBeingDeleted } from './metadata.ts'

export interface ClusterTaintPolicyOptions {
  /** Whether a policy may add taints that evict running work. */
  allowNoExecute: boolean
}

export const clusterTaintPolicyAdmission = (options: ClusterTaintPolicyOptions): Admission =>
  defineAdmission({
    name: 'ClusterTaintPolicy',
    about: 'Refuses the same taint twice, and taints that evict where that is not allowed.',
    resources: [{ group: GROUPS.policy, resource: 'clustertaintpolicies' }],
    operations: ['CREATE', 'UPDATE'],
    validate: ({ object }) =>
      object === undefined || isBeingDeleted(object) ? undefined : taintErrors((object as ClusterTaintPolicy).spec.taints, options),
  })

function taintErrors(taints: ClusterTaintPolicy['spec']['taints'], { allowNoExecute }: ClusterTaintPolicyOptions): FieldError[] {
  const lastOf = new Map(taints.map(({ key, effect }, i) => [`${effect}\0${key}`, i]))
  return taints.flatMap(({ key, effect }, i) => {
    const path = index('spec.taints', i)
    const errors: FieldError[] = []
    if (effect === 'NoExecute' && !allowNoExecute)
      errors.push(
        forbidden(
          path,
          'Configuring taint with NoExecute effect is not allowed, this capability must be explicitly enabled by administrators through command-line flags',
        ),
      )
    if (lastOf.get(`${effect}\0${key}`) !== i)
      errors.push(duplicate(path, `Duplicate taint with the same key(${key}) and effect(${effect}) is not allowed`))
    return errors
  })
}
