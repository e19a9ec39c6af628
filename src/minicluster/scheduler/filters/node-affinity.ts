/** NodeAffinity: nodeSelector and required node affinity, by labels and by name. */
import { namedNodes, requiredNodeMatcher, selectableOf } from '../state/node-selector.ts'
import { type Filter, rejection } from './filter.ts'

const NAME = 'NodeAffinity'
const REJECTION = rejection(NAME, "node(s) didn't match Pod's node affinity/selector", true)
const CONFLICT = { refused: rejection(NAME, 'pod affinity terms conflict', true) }

export const nodeAffinity: Filter = {
  name: NAME,
  prepare({ pod }) {
    const matches = requiredNodeMatcher(pod)
    if (matches === undefined) return undefined
    const only = namedNodes(pod)
    if (only?.size === 0) return CONFLICT
    return { only, check: (node) => (matches(node) ? undefined : REJECTION) }
  },
  listens: ['node'],
  isHelpedBy(change, { pod }) {
    if (change.kind !== 'node' || change.now === undefined) return false
    const matches = requiredNodeMatcher(pod) ?? (() => true)
    return matches(selectableOf(change.now)) && (change.old === undefined || !matches(selectableOf(change.old)))
  },
}
