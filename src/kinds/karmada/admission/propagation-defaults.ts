/**
 * Defaults of a propagation policy. Runs before the schema is checked, so a value of the wrong type
 * is left for the schema to refuse.
 */
import { defaultString, defaultValue, maybeObject, number, object, string, writableObjects } from '../../kubernetes/rules/fields.ts'
import { DEFAULT_GRACE_PERIOD_SECONDS } from '../well-known.ts'
import { renamePurgeModes } from './purge-modes.ts'

export function fillPropagationSpec(spec: unknown): void {
  const placement = object(spec, 'placement')
  for (const constraint of writableObjects(placement, 'spreadConstraints')) fillSpreadConstraint(constraint)
  if (selectsServiceImport(spec)) (spec as Record<string, unknown>).propagateDeps = true
  fillDivision(placement)
  renamePurgeModes(spec)
  const application = maybeObject(object(spec, 'failover'), 'application')
  if (application !== undefined && string(application, 'purgeMode') === 'Gracefully')
    defaultValue(application, 'gracePeriodSeconds', DEFAULT_GRACE_PERIOD_SECONDS)
}

function fillSpreadConstraint(constraint: Record<string, unknown>): void {
  const { minGroups } = constraint
  if (string(constraint, 'spreadByLabel') === '') defaultString(constraint, 'spreadByField', 'cluster')
  if (minGroups === undefined || minGroups === null || (typeof minGroups === 'number' && number(constraint, 'minGroups') === 0))
    constraint.minGroups = 1
}

/** An imported service is useless without the endpoints that it refers to. */
const selectsServiceImport = (spec: unknown): boolean =>
  writableObjects(spec, 'resourceSelectors').some(
    (selector) => string(selector, 'kind') === 'ServiceImport' && string(selector, 'apiVersion') === 'multicluster.x-k8s.io/v1alpha1',
  )

function fillDivision(placement: Record<string, unknown>): void {
  const strategy = maybeObject(placement, 'replicaScheduling')
  if (strategy !== undefined && string(strategy, 'replicaSchedulingType') === 'Divided')
    defaultString(strategy, 'replicaDivisionPreference', 'Weighted')
}
