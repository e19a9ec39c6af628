/** Grades of nodes by their free resources: in order, without gaps, from zero to infinity. */
import { type FieldError, invalid } from '../../../kube/field-error.ts'
import { compareQuantities, tryParseQuantity } from '../../../kube/quantity.ts'
import { items, number, writableObjects } from '../../kubernetes/rules/fields.ts'
import type { ResourceModel } from '../cluster.ts'

/** What stands for infinity on the wire. */
const WITHOUT_END = '9223372036854775807'

/** Sorts the grades of a spec and opens both ends. Wrong types are left for the schema to refuse. */
export function sortModels(spec: Record<string, unknown>): void {
  const models = writableObjects(spec, 'resourceModels')
  if (models.length === 0 || models.length !== items(spec, 'resourceModels').length) return
  models.sort((a, b) => number(a, 'grade') - number(b, 'grade'))
  for (const range of writableObjects(models[0], 'ranges')) range.min = '0'
  for (const range of writableObjects(models[models.length - 1], 'ranges')) range.max = WITHOUT_END
  spec.resourceModels = models
}

/** Only the first error: those that follow from it would be confusing. */
export function modelErrors(path: string, models: readonly ResourceModel[]): FieldError[] {
  for (const [i, model] of models.entries()) {
    const problem = problemOf(model, models[i - 1])
    if (problem !== undefined) return [invalid(path, models, problem)]
  }
  return []
}

function problemOf(model: ResourceModel, before: ResourceModel | undefined): string | undefined {
  if (model.grade === before?.grade) return 'The grade of each models should not be the same'
  if (before !== undefined && model.ranges.length !== before.ranges.length) return 'The number of resource types should be the same'
  for (const [i, { name, min, max }] of model.ranges.entries()) {
    if (compare(max, min) <= 0) return 'The max value of each resource must be greater than the min value'
    const lower = before?.ranges[i]
    if (lower === undefined) continue
    if (lower.name !== name) return 'The resource types of each models should be the same'
    if (compare(lower.max, min) !== 0) return 'Model intervals for resources must be contiguous and non-overlapping'
  }
  return undefined
}

/** The schema has checked the pattern; what still cannot be parsed equals nothing, and is so refused. */
function compare(a: number | string, b: number | string): number {
  const [left, right] = [tryParseQuantity(a), tryParseQuantity(b)]
  return left.error !== undefined || right.error !== undefined ? -1 : compareQuantities(left.value, right.value)
}
