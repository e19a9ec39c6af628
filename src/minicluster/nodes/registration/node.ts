/** The Node object of a simulated node, as a kubelet would have registered and reported it. Pure. */
import type { Node, NodeStatus } from '../../../kinds/kubernetes/types.ts'
import { type MemberShape, NODE_LABEL, POOL_LABEL, SIMULATED_TAINT } from '../../shape.ts'
import { reportedStatus } from '../reported.ts'

export const simulatedNodeName = (shape: MemberShape, index: number): string => `${shape.name}-simulated-${index + 1}`

export function simulatedNode(shape: MemberShape, index: number): Node {
  const name = simulatedNodeName(shape, index)
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: labelsOf(shape, index), annotations: { 'node.alpha.kubernetes.io/ttl': '0' } },
    spec: { ...networkOf(shape, index), taints: [{ key: SIMULATED_TAINT, effect: 'NoSchedule' }] },
  }
}

function labelsOf(shape: MemberShape, index: number): Record<string, string> {
  return {
    'kubernetes.io/hostname': simulatedNodeName(shape, index),
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'node.kubernetes.io/instance-type': 'simulated',
    'topology.kubernetes.io/region': shape.region,
    'topology.kubernetes.io/zone': shape.zones[index % Math.max(1, shape.zones.length)] ?? shape.region,
    [NODE_LABEL]: 'simulated',
    [POOL_LABEL]: 'simulated',
  }
}

/** Networks of the nodes of one member never overlap; those of different members only when a member has thousands of nodes. */
function networkOf(shape: MemberShape, index: number): { podCIDR: string; podCIDRs: string[] } {
  const network = (shape.index * 4096 + index) % 65_536
  const podCIDR = `10.${network >> 8}.${network & 255}.0/24`
  return { podCIDR, podCIDRs: [podCIDR] }
}

/** What the node reports. Written once: a simulated node has no heartbeat. */
export function simulatedNodeStatus(node: Node, shape: MemberShape, nowMs: number): NodeStatus {
  const address = (node.spec?.podCIDR ?? '10.0.0.0/24').replace(/0\/24$/, '1')
  return reportedStatus({ name: node.metadata.name, address, size: shape.simulated.size, info: INFO, nowMs })
}

const INFO = {
  architecture: 'amd64',
  containerRuntimeVersion: 'sluice://simulated',
  kernelVersion: '',
  operatingSystem: 'linux',
  osImage: 'Sluice, simulated',
}
