/**
 * Where a data operation ran, and how the next one is brought to the same place: the labels of its node become its
 * `status.nodeAffinity`, and the strategy of a successor chooses among them. Pure.
 */
import { deepEqual } from '../../base/json.ts'
import type { RunAfter } from '../../kinds/fluid/operation-parts.ts'
import type { Affinity, NodeAffinity, NodeSelectorTerm } from '../../kinds/kubernetes/types.ts'

const HOSTNAME = 'kubernetes.io/hostname'
/** Of every node; an operation can ask for more. */
const PLACE_LABELS = [HOSTNAME, 'topology.kubernetes.io/region', 'topology.kubernetes.io/zone']
/** On an operation: further labels of nodes, separated by commas. */
const MORE_LABELS = 'affinity.dataflow.fluid.io/labels'
const PREFERENCE = 100

/** The place of a node, as an affinity to it; undefined: its labels say nothing. */
export function placeOf(
  nodeLabels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>> = {},
): NodeAffinity | undefined {
  const more = (annotations[MORE_LABELS] ?? '').split(',').map((label) => label.trim())
  const keys = [...new Set([...PLACE_LABELS, ...more])].filter((key) => key !== '' && Object.hasOwn(nodeLabels, key))
  if (keys.length === 0) return undefined
  const matchExpressions = keys.map((key) => ({ key, operator: 'In', values: [nodeLabels[key] ?? ''] }))
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } }
}

type Strategy = NonNullable<RunAfter['affinityStrategy']>

/** What the strategy takes of the place of another operation; undefined: nothing. */
export function inheritedAffinity({ policy = '', requires, prefers }: Strategy, place: NodeAffinity | undefined): NodeAffinity | undefined {
  const known = (place?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).flatMap(
    ({ matchExpressions = [] }) => matchExpressions,
  )
  const expressions = (names: readonly string[]) => known.filter(({ key = '' }) => names.includes(key))
  if (policy === 'Require') {
    const matchExpressions = expressions((requires ?? []).length === 0 ? [HOSTNAME] : (requires ?? []).map(({ name }) => name))
    if (matchExpressions.length === 0) return undefined
    return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } }
  }
  if (policy !== 'Prefer') return undefined
  const wanted = (prefers ?? []).length === 0 ? [{ name: HOSTNAME, weight: PREFERENCE }] : (prefers ?? [])
  const preferred = wanted.flatMap(({ name, weight }) =>
    expressions([name]).map((expression) => ({ weight, preference: { matchExpressions: [expression] } })),
  )
  return preferred.length === 0 ? undefined : { preferredDuringSchedulingIgnoredDuringExecution: preferred }
}

/**
 * The affinity of a pod with that of its predecessor. Terms of a pod are alternatives, so a requirement is added to each of them:
 * beside them it would be one more way out.
 */
export function withNodeAffinity(affinity: Affinity | undefined, more: NodeAffinity | undefined): { affinity?: Affinity } {
  if (more === undefined) return affinity === undefined ? {} : { affinity }
  const own = affinity?.nodeAffinity ?? {}
  const required = crossed(
    own.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms,
    more.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms,
  )
  const preferred = [
    ...(own.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(more.preferredDuringSchedulingIgnoredDuringExecution ?? []),
  ]
  const nodeAffinity: NodeAffinity = {
    ...(required === undefined ? {} : { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required } }),
    ...(preferred.length === 0 ? {} : { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
  }
  return { affinity: { ...affinity, nodeAffinity } }
}

function crossed(own: NodeSelectorTerm[] | undefined, more: NodeSelectorTerm[] | undefined): NodeSelectorTerm[] | undefined {
  if (own === undefined || more === undefined) return own ?? more
  return own.flatMap((term) => more.map((one) => joined(term, one)))
}

/** What both demand is demanded once. A term without demands matches no node at all, and must go on doing so. */
function joined(term: NodeSelectorTerm, more: NodeSelectorTerm): NodeSelectorTerm {
  if ([term, more].some(({ matchExpressions = [], matchFields = [] }) => matchExpressions.length + matchFields.length === 0)) return {}
  const [mine, theirs] = [term.matchExpressions ?? [], more.matchExpressions ?? []]
  return { ...term, matchExpressions: [...mine, ...theirs.filter((one) => !mine.some((own) => deepEqual(own, one)))] }
}
