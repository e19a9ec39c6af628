/** NodeSelector as in the API: terms of which one must hold, over labels and the name of a node. Used by pods and volumes. */
import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod } from '../../../kinds/kubernetes/types.ts'
import { type LabelOperator, type LabelRequirement, type Labels, matchesLabels } from '../../../kube/selector.ts'

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
  ['Gt', 'gt'],
  ['Lt', 'lt'],
])
const NAME_FIELD = 'metadata.name'

export interface SelectableNode {
  /** Empty where only labels count: volumes select nodes by their labels. */
  name: string
  labels: Labels
}

export const selectableOf = (node: Node): SelectableNode => ({ name: node.metadata.name ?? '', labels: node.metadata.labels })

type NodeMatcher = (node: SelectableNode) => boolean

/** Undefined when a requirement cannot be read: such a term never holds. */
function labelRequirement({ key = '', operator = '', values }: NodeSelectorRequirement): LabelRequirement | undefined {
  const known = OPERATORS.get(operator)
  return known === undefined ? undefined : { key, operator: known, values: values ?? [] }
}

function matchesField({ key, operator, values }: NodeSelectorRequirement, name: string): boolean {
  if (key !== NAME_FIELD || values?.length !== 1) return false
  return operator === 'In' ? values[0] === name : operator === 'NotIn' && values[0] !== name
}

export function termMatcher(term: NodeSelectorTerm | undefined): NodeMatcher {
  const expressions = term?.matchExpressions ?? []
  const fields = term?.matchFields ?? []
  const requirements = expressions.map(labelRequirement)
  const isReadable = requirements.every((requirement) => requirement !== undefined)
  // An empty term selects nothing.
  if (!isReadable || (expressions.length === 0 && fields.length === 0)) return () => false
  return ({ name, labels }) =>
    matchesLabels(requirements as LabelRequirement[], labels) &&
    (name === '' || fields.every((requirement) => matchesField(requirement, name)))
}

export function selectorMatcher(selector: NodeSelector): NodeMatcher {
  const terms = (selector.nodeSelectorTerms ?? []).map(termMatcher)
  return (node) => terms.some((matches) => matches(node))
}

/** What a pod requires of the labels and the name of its node; undefined when nothing. */
export function requiredNodeMatcher(pod: Pod): NodeMatcher | undefined {
  const plain = pod.spec?.nodeSelector
  const affinity = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (plain === undefined && affinity === undefined) return undefined
  const requirements = Object.entries(plain ?? {}).map(([key, value]): LabelRequirement => ({ key, operator: '=', values: [value] }))
  const matchesAffinity = affinity === undefined ? undefined : selectorMatcher(affinity)
  return (node) => matchesLabels(requirements, node.labels) && (matchesAffinity === undefined || matchesAffinity(node))
}

/** The nodes a pod names itself, when every term of its affinity does: no others need be checked. */
export function namedNodes(pod: Pod): ReadonlySet<string> | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  if (terms.length === 0) return undefined
  const names = new Set<string>()
  for (const term of terms) {
    let ofTerm: string[] | undefined
    for (const { key, operator, values } of term.matchFields ?? []) {
      if (key !== NAME_FIELD || operator !== 'In') continue
      const said: readonly string[] = values ?? []
      ofTerm = ofTerm === undefined ? [...said] : ofTerm.filter((name) => said.includes(name))
    }
    if (ofTerm === undefined) return undefined
    for (const name of ofTerm) names.add(name)
  }
  return names
}
