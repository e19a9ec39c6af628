/**
 * Which clusters an affinity selects. All set fields must match; an empty affinity selects every cluster, and an invalid
 * selector none. Compile once (`clusterMatcher`) to match many clusters.
 */

import { type LabelRequirement, type LabelSelector, type Labels, matchesLabels, selectorFromObject } from '../../kube/selector.ts'
import type { Cluster, ClusterAffinity } from './index.ts'

/** What an affinity looks at. */
export type ClusterTraits = Pick<Cluster, 'metadata'> & { spec?: Pick<Cluster['spec'], 'provider' | 'region' | 'zones'> }

type Matcher = (cluster: ClusterTraits) => boolean

const matchAll: Matcher = () => true
const nothing: Matcher = () => false

export const matchesCluster = (affinity: ClusterAffinity | undefined, cluster: ClusterTraits): boolean => clusterMatcher(affinity)(cluster)

export function clusterMatcher(affinity: ClusterAffinity | undefined): Matcher {
  if (affinity === undefined) return matchAll
  return both(
    nameMatcher(affinity.exclude ?? [], affinity.clusterNames ?? []),
    both(labelMatcher(affinity.labelSelector), fieldMatcher(affinity.fieldSelector?.matchExpressions ?? [])),
  )
}

/** Fields that an affinity does not use are not looked up. */
function both(one: Matcher, other: Matcher): Matcher {
  if (one === matchAll) return other
  return other === matchAll ? one : (cluster) => one(cluster) && other(cluster)
}

function nameMatcher(exclude: readonly string[], clusterNames: readonly string[]): Matcher {
  if (exclude.length === 0 && clusterNames.length === 0) return matchAll
  const excluded = new Set(exclude)
  const named = new Set(clusterNames)
  return ({ metadata: { name = '' } }) => !excluded.has(name) && (named.size === 0 || named.has(name))
}

function labelMatcher(object: ClusterAffinity['labelSelector']): Matcher {
  const selector = selectorFromObject(object)
  if (selector.error !== undefined) return nothing
  const requirements = selector.value
  return requirements === undefined ? matchAll : (cluster) => matchesLabels(requirements, cluster.metadata.labels)
}

interface Expression {
  key: string
  operator: string
  values?: string[]
}

const ZONE = 'zone'

function fieldMatcher(expressions: readonly Expression[]): Matcher {
  if (expressions.length === 0) return matchAll
  const selector = fieldsSelector(expressions.filter(({ key }) => key !== ZONE))
  if (selector === undefined) return nothing
  const zones = expressions.filter(({ key }) => key === ZONE)
  return (cluster) =>
    zones.every((expression) => matchesZones(expression, cluster.spec?.zones ?? [])) && matchesLabels(selector, fieldsOf(cluster))
}

/** Provider and region of a cluster as if they were labels; empty ones are absent. */
function fieldsOf({ spec }: ClusterTraits): Labels {
  return { ...(spec?.provider ? { provider: spec.provider } : {}), ...(spec?.region ? { region: spec.region } : {}) }
}

/** Undefined when an expression is malformed. */
function fieldsSelector(expressions: readonly Expression[]): LabelSelector | undefined {
  const selector: LabelRequirement[] = []
  for (const expression of expressions) {
    const { operator } = expression
    const part =
      operator === 'Gt' || operator === 'Lt' ? comparison(expression) : selectorFromObject({ matchExpressions: [expression] }).value
    if (part === undefined) return undefined
    selector.push(...part)
  }
  return selector
}

/** A value must be a number and also a valid label value, which has no sign. */
function comparison({ key, operator, values = [] }: Expression): LabelSelector | undefined {
  if (values.length !== 1 || !/^[0-9]{1,63}$/.test(values[0] ?? '')) return undefined
  return [{ key, operator: operator === 'Gt' ? 'gt' : 'lt', values }]
}

/** A cluster may lie in several zones: In needs one of them listed, NotIn none. */
function matchesZones({ operator, values = [] }: Expression, zones: readonly string[]): boolean {
  switch (operator) {
    case 'In':
      return zones.some((zone) => values.includes(zone))
    case 'NotIn':
      return !zones.some((zone) => values.includes(zone))
    case 'Exists':
      return zones.length > 0
    case 'DoesNotExist':
      return zones.length === 0
    default:
      return false
  }
}
