/** TaintToleration: rejects nodes with a taint that the pod does not tolerate. */
import { isKeptAway } from '../../../kinds/kubernetes/taints.ts'
import { type Filter, rejection } from './filter.ts'

const NAME = 'TaintToleration'
const REJECTION = rejection(NAME, 'node(s) had untolerated taint(s)', true)

export const taintToleration: Filter = {
  name: NAME,
  prepare: ({ tolerations }) => ({ check: (node) => (isKeptAway(node.taints, tolerations) ? REJECTION : undefined) }),
  listens: ['node'],
  isHelpedBy: (change, { tolerations }) =>
    change.kind === 'node' &&
    change.now !== undefined &&
    !isKeptAway(change.now.spec?.taints, tolerations) &&
    (change.old === undefined || isKeptAway(change.old.spec?.taints, tolerations)),
}
