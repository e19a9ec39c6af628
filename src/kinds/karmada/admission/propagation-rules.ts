/** Validation of propagation policies. Runs after the schema was checked, so the types are right. */
import { child, type FieldError, index, invalid } from '../../../kube/field-error.ts'
import { checkQualifiedName } from '../../../kube/names.ts'
import { invalidEach } from '../../kubernetes/rules/pod/errors.ts'
import type { ApplicationFailoverBehavior, FailoverBehavior, StatePreservation } from '../failover.ts'
import type { PropagationSpec, Suspension } from '../propagation-spec.ts'
import { placementErrors } from './placement-rules.ts'
import { selectorErrors } from './selector-rules.ts'

/** `namespace` is empty for policies without one. */
export function propagationErrors(spec: PropagationSpec, namespace: string): FieldError[] {
  return [
    ...placementErrors('spec.placement', spec.placement ?? {}),
    ...dependencyErrors(spec),
    ...failoverErrors('spec.failover', spec.failover),
    ...selectorErrors('spec.resourceSelectors', spec.resourceSelectors, namespace),
    ...preemptionErrors('spec.resourceSelectors', spec),
    ...suspensionErrors('spec.suspension', spec.suspension),
  ]
}

/** An application that moves without what it refers to would not start. */
function dependencyErrors({ failover, propagateDeps = false }: PropagationSpec): FieldError[] {
  if (failover?.application === undefined || propagateDeps) return []
  return [invalid('spec.propagateDeps', propagateDeps, 'application failover is set, propagateDeps must be true')]
}

function failoverErrors(path: string, failover: FailoverBehavior | undefined): FieldError[] {
  const application = failover?.application
  return [
    ...(application === undefined ? [] : applicationErrors(child(path, 'application'), application)),
    ...preservationErrors(child(path, 'cluster', 'statePreservation'), failover?.cluster?.statePreservation),
  ]
}

function applicationErrors(path: string, application: ApplicationFailoverBehavior): FieldError[] {
  const { decisionConditions, purgeMode, gracePeriodSeconds, statePreservation } = application
  const errors: FieldError[] = []
  const { tolerationSeconds } = decisionConditions
  if (tolerationSeconds < 0)
    errors.push(invalid(child(path, 'decisionConditions', 'tolerationSeconds'), tolerationSeconds, 'must be greater than or equal to 0'))
  const grace = child(path, 'gracePeriodSeconds')
  if (purgeMode !== 'Gracefully' && gracePeriodSeconds !== undefined)
    errors.push(invalid(grace, gracePeriodSeconds, 'only takes effect when purgeMode is gracefully'))
  if (purgeMode === 'Gracefully' && gracePeriodSeconds === undefined)
    errors.push(invalid(grace, undefined, 'should not be empty when purgeMode is gracefully'))
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds <= 0) errors.push(invalid(grace, gracePeriodSeconds, 'must be greater than 0'))
  return [...errors, ...preservationErrors(child(path, 'statePreservation'), statePreservation)]
}

/** The values are stored as labels. */
const preservationErrors = (path: string, preservation: StatePreservation | undefined): FieldError[] =>
  (preservation?.rules ?? []).flatMap(({ aliasLabelName }, i) =>
    invalidEach(child(index(child(path, 'rules'), i), 'aliasLabelName'), aliasLabelName, checkQualifiedName(aliasLabelName)),
  )

function preemptionErrors(path: string, { preemption, resourceSelectors }: PropagationSpec): FieldError[] {
  if (preemption !== 'Always') return []
  return resourceSelectors.flatMap(({ name = '' }, i) =>
    name === ''
      ? [
          invalid(
            child(index(path, i), 'name'),
            name,
            'name cannot be empty if preemption is Always, the empty name may cause unexpected resources preemption',
          ),
        ]
      : [],
  )
}

function suspensionErrors(path: string, suspension: Suspension | undefined): FieldError[] {
  const clusters = suspension?.dispatchingOnClusters?.clusterNames ?? []
  if (suspension?.dispatching !== true || clusters.length === 0) return []
  return [invalid(path, suspension, 'suspension dispatching cannot co-exist with dispatchingOnClusters.clusterNames')]
}
