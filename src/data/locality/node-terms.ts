/**
 * Required node affinity that only ever gets narrower. Terms are alternatives, so a further demand is joined with each of them;
 * a term that meets a demand already stays as it is, and demanding the same twice changes nothing.
 */
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../kinds/kubernetes/types.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { both } from '../placement/worker-affinity.ts'

/** Alternatives multiply: beyond this many, a scheduler would spend its time on one pod. */
export const MOST_TERMS = 1000
const TOO_MANY = `its required node affinity would have more than ${MOST_TERMS} alternatives; give the pod fewer nodeSelectorTerms, or require fewer datasets`

/** Undefined: no demands at all. Each demand is a list of alternatives; one without any demands nothing. */
export function narrowedTerms(
  existing: readonly NodeSelectorTerm[] | undefined,
  demands: readonly (readonly NodeSelectorTerm[])[],
): Parsed<NodeSelectorTerm[] | undefined> {
  let terms = existing === undefined ? undefined : [...existing]
  for (const demand of demands.map((alternatives) => distinctTerms(alternatives.filter((term) => !isEmpty(term))))) {
    if (demand.length === 0) continue
    if (demand.length > MOST_TERMS) return unparsed(TOO_MANY)
    if (terms === undefined) {
      terms = demand
      continue
    }
    const missing = terms.map((term) => missingIn(term, demand))
    const count = missing.reduce((sum, alternatives) => sum + Math.max(1, alternatives.length), 0)
    if (count > Math.max(MOST_TERMS, terms.length)) return unparsed(TOO_MANY)
    terms = distinctTerms(terms.flatMap((term, i) => joined(term, missing[i] ?? [])))
  }
  return parsed(terms)
}

const joined = (term: NodeSelectorTerm, missing: readonly NodeSelectorTerm[]): NodeSelectorTerm[] =>
  missing.length === 0 ? [term] : both([term], missing)

/**
 * What a term lacks of each alternative; nothing if it meets one of them. Nor does a term lack anything that has no expression: it
 * matches no node, and nothing may make it match one.
 */
function missingIn(term: NodeSelectorTerm, demand: readonly NodeSelectorTerm[]): NodeSelectorTerm[] {
  if (isEmpty(term)) return []
  const [expressions, fields] = [term.matchExpressions, term.matchFields].map((known) => new Set((known ?? []).map(keyOf)))
  const missing = demand.map(({ matchExpressions = [], matchFields = [] }) => ({
    matchExpressions: matchExpressions.filter((one) => expressions?.has(keyOf(one)) === false),
    matchFields: matchFields.filter((one) => fields?.has(keyOf(one)) === false),
  }))
  return missing.some(isEmpty) ? [] : missing
}

const isEmpty = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean =>
  matchExpressions.length === 0 && matchFields.length === 0

/** Equal for requirements that say the same, in whatever order a server has written their fields. */
const keyOf = ({ key, operator, values = [] }: NodeSelectorRequirement): string => JSON.stringify([key, operator, values])

export const keyOfTerm = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): string =>
  JSON.stringify([matchExpressions.map(keyOf), matchFields.map(keyOf)])

/** Each once, at its first place. */
export function distinctTerms(terms: readonly NodeSelectorTerm[]): NodeSelectorTerm[] {
  const seen = new Set<string>()
  return terms.filter((term) => {
    const key = keyOfTerm(term)
    return !seen.has(key) && seen.add(key)
  })
}

/** Nodes on which the label is true. */
export const labelled = (key: string): NodeSelectorTerm => ({ matchExpressions: [{ key, operator: 'In', values: ['true'] }] })
