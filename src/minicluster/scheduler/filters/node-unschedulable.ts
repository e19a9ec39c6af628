/** NodeUnschedulable: a cordoned node accepts only pods that tolerate it. */

import { isTolerated } from '../../../kinds/kubernetes/taints.ts'
import type { Node } from '../../../kinds/kubernetes/types.ts'
import type { PodInfo } from '../state/pod-info.ts'
import { type Filter, rejection } from './filter.ts'

const NAME = 'NodeUnschedulable'
const REJECTION = rejection(NAME, 'node(s) were unschedulable', true)
const TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

const isOpen = (node: Node, pod: PodInfo): boolean => node.spec?.unschedulable !== true || isTolerated(TAINT, pod.tolerations)

export const nodeUnschedulable: Filter = {
  name: NAME,
  prepare(pod) {
    const isIndifferent = isTolerated(TAINT, pod.tolerations)
    return { check: (node) => (node.isUnschedulable && !isIndifferent ? REJECTION : undefined) }
  },
  listens: ['node'],
  isHelpedBy: (change, pod) =>
    change.kind === 'node' && change.now !== undefined && isOpen(change.now, pod) && (change.old === undefined || !isOpen(change.old, pod)),
}
