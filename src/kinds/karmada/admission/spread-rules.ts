/** Validation of spread constraints. */
import { type FieldError, index, invalid } from '../../../kube/field-error.ts'
import type { SpreadConstraint } from '../placement.ts'

export function spreadErrors(path: string, constraints: readonly SpreadConstraint[]): FieldError[] {
  return [...constraints.flatMap((constraint, i) => constraintErrors(index(path, i), constraint)), ...fieldErrors(path, constraints)]
}

function constraintErrors(path: string, constraint: SpreadConstraint): FieldError[] {
  const { spreadByField, spreadByLabel = '', minGroups = 0, maxGroups = 0 } = constraint
  const errors: FieldError[] = []
  const refuse = (why: string): void => void errors.push(invalid(path, constraint, why))
  if (spreadByField !== undefined && spreadByLabel !== '') refuse('spreadByLabel should not co-exist with spreadByField')
  if (minGroups < 0) refuse('minGroups lower than 0 is not allowed')
  if (maxGroups < 0) refuse('maxGroups lower than 0 is not allowed')
  if (maxGroups > 0 && maxGroups < minGroups) refuse('maxGroups lower than minGroups is not allowed')
  return errors
}

/** Each field once; and spreading by any field requires a constraint on the number of clusters. */
function fieldErrors(path: string, constraints: readonly SpreadConstraint[]): FieldError[] {
  const fields = constraints.flatMap(({ spreadByField }) => spreadByField ?? [])
  const repeated = new Set(fields.filter((field, i) => fields.indexOf(field) < i))
  const errors = [...repeated].map((field) => invalid(path, constraints, `multiple ${field} spread constraints are not allowed`))
  if (fields.length > 0 && !fields.includes('cluster'))
    errors.push(
      invalid(
        path,
        constraints,
        'the cluster spread constraint must be enabled in one of the constraints in case of SpreadByField is enabled',
      ),
    )
  return errors
}
