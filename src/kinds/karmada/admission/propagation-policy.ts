/**
 * Admission of PropagationPolicy and ClusterPropagationPolicy: defaults are filled in, each gets its permanent
 * id and its finalizer, and invalid policies are refused. One declaration for both, as they differ only in scope.
 */
import { type FieldError, invalid, required } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Admission, defineAdmission } from '../../admission.ts'
import { GROUPS } from '../kube-schemas.ts'
import type { PropagationPolicy } from '../propagation-policy.ts'
import {
  CLUSTER_PROPAGATION_POLICY_FINALIZER,
  CLUSTER_PROPAGATION_POLICY_ID,
  PROPAGATION_POLICY_FINALIZER,
  PROPAGATION_POLICY_ID,
} from '../well-known.ts'
import { addFinalizer, isBeingDeleted, setLabel } from './metadata.ts'
import { fillPropagationSpec } from './propagation-defaults.ts'
import { propagationErrors } from './propagation-rules.ts'
import { fillNamespaces } from './selector-rules.ts'

interface Marks {
  id: string
  finalizer: string
}

const MARKS: Readonly<Record<string, Marks>> = {
  propagationpolicies: { id: PROPAGATION_POLICY_ID, finalizer: PROPAGATION_POLICY_FINALIZER },
  clusterpropagationpolicies: { id: CLUSTER_PROPAGATION_POLICY_ID, finalizer: CLUSTER_PROPAGATION_POLICY_FINALIZER },
}

export const propagationPolicyAdmission: Admission = defineAdmission({
  name: 'PropagationPolicy',
  about: 'Fills in propagation policies, gives each its permanent id and its finalizer, and refuses what contradicts itself.',
  resources: Object.keys(MARKS).map((resource) => ({ group: GROUPS.policy, resource })),
  operations: ['CREATE', 'UPDATE'],
  mutate({ object, operation, resource, namespace }, { newUid }) {
    const marks = MARKS[resource]
    if (object === undefined || marks === undefined) return
    fillNamespaces(object.spec, namespace)
    fillPropagationSpec(object.spec)
    if (operation !== 'CREATE') return
    // Whatever a manifest contains, perhaps copied from another policy: an id is never assigned twice.
    setLabel(object, marks.id, newUid())
    addFinalizer(object, marks.finalizer)
  },
  validate({ object, oldObject, resource, namespace }) {
    const marks = MARKS[resource]
    if (object === undefined || marks === undefined) return undefined
    const identity = [...fixedErrors(object, oldObject, marks.id), ...missingErrors(object, marks.id)]
    // An object being deleted must be able to go, even if the rules have become stricter since it was created.
    return isBeingDeleted(object) ? identity : [...identity, ...propagationErrors((object as PropagationPolicy).spec, namespace)]
  },
})

const labelPath = (label: string): string => `metadata.labels[${label}]`

function fixedErrors(object: KubeObject, old: KubeObject | undefined, label: string): FieldError[] {
  if (old === undefined) return []
  const errors: FieldError[] = []
  const { schedulerName } = (object as PropagationPolicy).spec
  if (schedulerName !== (old as PropagationPolicy).spec?.schedulerName)
    errors.push(invalid('spec.schedulerName', schedulerName, 'the schedulerName should not be updated'))
  const id = object.metadata.labels?.[label]
  if (id !== old.metadata.labels?.[label])
    errors.push(invalid(labelPath(label), id, `label ${label} is immutable, it can only be set by the system during creation`))
  return errors
}

const missingErrors = (object: KubeObject, label: string): FieldError[] =>
  object.metadata.labels?.[label] === undefined
    ? [required(labelPath(label), `label ${label} is required, it should be set by the mutating admission webhook during creation`)]
    : []
