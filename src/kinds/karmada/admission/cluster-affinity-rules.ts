/** The cluster fields that can be selected by, and how. */
import { child, type FieldError, invalid } from '../../../kube/field-error.ts'
import { goQuote } from '../../../kube/go-print.ts'
import type { ClusterAffinity } from '../cluster-affinity.ts'

const KEYS: readonly string[] = ['provider', 'region', 'zone']
const OPERATORS: readonly string[] = ['In', 'NotIn']

export function clusterAffinityErrors(path: string, affinity: ClusterAffinity | undefined): FieldError[] {
  const problem = (affinity?.fieldSelector?.matchExpressions ?? []).map(problemOf).find((found) => found !== undefined)
  return problem === undefined ? [] : [invalid(child(path, 'fieldSelector'), affinity?.fieldSelector, problem)]
}

function problemOf({ key, operator }: { key: string; operator: string }): string | undefined {
  if (!KEYS.includes(key)) return `unsupported key ${goQuote(key)}, must be provider, region, or zone`
  return OPERATORS.includes(operator) ? undefined : `unsupported operator ${goQuote(operator)}, must be In or NotIn`
}

/** Whether the affinity selects clusters by nothing at all. */
export const isEmptyAffinity = ({ labelSelector, fieldSelector, clusterNames = [], exclude = [] }: ClusterAffinity): boolean =>
  labelSelector === undefined && fieldSelector === undefined && clusterNames.length === 0 && exclude.length === 0
