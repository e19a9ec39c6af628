/**
 * Required node affinity that only ever gets narrower. Terms are alternatives, so a further demand is joined with each of them;
 * a term that meets a demand already stays as it is, and demanding the same twice changes nothing.
 */
import { deepEqual } from '../../base/json.ts'
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../kinds/kubernetes/types.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { both } from '../placement/worker-affinity.ts'

/** Alternatives multiply: beyond this many, a scheduler would spend its time on one pod. */
export const MOST_TERMS = 1000

/** Undefined: no demands at all. Each demand is a list of alternatives; one without any demands nothing. */
export function narrowedTerms(
  existing: readonly NodeSelectorTerm[] | undefined,
  demands: readonly (readonly NodeSelectorTerm[])[],
): Parsed<NodeSelectorTerm[] | undefined> {
  // Terms without any expression match no node. Nothing may make them match one.
  if (existing?.every(isEmpty) === true) return parsed([...existing])
  let terms = existing === undefined ? undefined : [...existing]
  for (const demand of demands.map((alternatives) => alternatives.filter((term) => !isEmpty(term)))) {
    if (demand.length === 0) continue
    if ((terms?.length ?? 1) * demand.length > MOST_TERMS)
      return unparsed(
        `its required node affinity would have more than ${MOST_TERMS} alternatives; give the pod fewer nodeSelectorTerms, or require fewer datasets`,
      )
    terms = distinct(terms === undefined ? demand : terms.flatMap((term) => narrowed(term, demand)))
  }
  return parsed(terms)
}

function narrowed(term: NodeSelectorTerm, demand: readonly NodeSelectorTerm[]): NodeSelectorTerm[] {
  const missing = demand.map((alternative) => without(alternative, term))
  return isEmpty(term) || missing.some(isEmpty) ? [term] : both([term], missing)
}

/** What a term does not demand yet. */
const without = (term: NodeSelectorTerm, known: NodeSelectorTerm): NodeSelectorTerm => ({
  matchExpressions: except(term.matchExpressions, known.matchExpressions),
  matchFields: except(term.matchFields, known.matchFields),
})

const except = (all: readonly NodeSelectorRequirement[] = [], known: readonly NodeSelectorRequirement[] = []): NodeSelectorRequirement[] =>
  all.filter((one) => !known.some((other) => deepEqual(one, other)))

const isEmpty = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean =>
  matchExpressions.length === 0 && matchFields.length === 0

export function distinct<T>(items: readonly T[]): T[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const text = JSON.stringify(item)
    return !seen.has(text) && seen.add(text)
  })
}

/** Nodes on which the label is true. */
export const labelled = (key: string): NodeSelectorTerm => ({ matchExpressions: [{ key, operator: 'In', values: ['true'] }] })
