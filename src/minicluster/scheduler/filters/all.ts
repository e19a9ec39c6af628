/** The filters, in the order in which they run: the first rejection of a node is the one that is reported. One line each. */
import type { Filter } from './filter.ts'
import { interPodAffinity } from './inter-pod-affinity.ts'
import { nodeAffinity } from './node-affinity.ts'
import { nodeName } from './node-name.ts'
import { nodePorts } from './node-ports.ts'
import { nodeResourcesFit } from './node-resources-fit.ts'
import { nodeUnschedulable } from './node-unschedulable.ts'
import { podTopologySpread } from './pod-topology-spread.ts'
import { taintToleration } from './taint-toleration.ts'
import { volumeBinding } from './volume-binding.ts'
import { volumeRestrictions } from './volume-restrictions.ts'
import { volumeZone } from './volume-zone.ts'

export const FILTERS: readonly Filter[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
]
