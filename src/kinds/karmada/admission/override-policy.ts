/** Admission of OverridePolicy and ClusterOverridePolicy. */
import { type Admission, defineAdmission } from '../../admission.ts'
import { GROUPS } from '../kube-schemas.ts'
import type { OverridePolicy } from '../override-policy.ts'
import { isBeingDeleted } from './metadata.ts'
import { overrideErrors } from './override-rules.ts'
import { fillNamespaces } from './selector-rules.ts'

export const overridePolicyAdmission: Admission = defineAdmission({
  name: 'OverridePolicy',
  about: 'Keeps the selectors of an override policy to its namespace and refuses changes that could never be made.',
  resources: ['overridepolicies', 'clusteroverridepolicies'].map((resource) => ({ group: GROUPS.policy, resource })),
  operations: ['CREATE', 'UPDATE'],
  mutate({ object, namespace }) {
    if (object !== undefined) fillNamespaces(object.spec, namespace)
  },
  validate: ({ object, namespace }) =>
    object === undefined || isBeingDeleted(object) ? undefined : overrideErrors((object as OverridePolicy).spec, namespace),
})
