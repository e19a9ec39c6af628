/** The Node object of a process node, and what it reports about this machine. Pure. */
import type { Node, NodeStatus } from '../../../kinds/kubernetes/types.ts'
import { reportedStatus } from '../../nodes/reported.ts'
import { type MemberShape, NODE_LABEL, POD_NETWORKS, POOL_LABEL } from '../../shape.ts'
import { HOST_ADDRESS } from '../addresses.ts'
import type { NodeSystemInfo } from '../options.ts'

export interface ProcessNode {
  name: string
  /** A /24 inside 127.64.0.0/10. */
  podCIDR: string
}

/** How many networks one member has. */
const PER_MEMBER = 64

export function processNodes(shape: MemberShape): ProcessNode[] {
  return Array.from({ length: shape.process.count }, (_, index) => {
    const network = ((shape.network ?? 0) + shape.index * PER_MEMBER + index) % POD_NETWORKS
    return { name: `${shape.name}-process-${index + 1}`, podCIDR: `127.${64 + (network >> 8)}.${network & 255}.0/24` }
  })
}

const DEFAULT_SYSTEM_INFO: NodeSystemInfo = {
  architecture: 'amd64',
  operatingSystem: 'linux',
  kernelVersion: '',
  osImage: 'Sluice, processes of this machine',
}

export function processNode(shape: MemberShape, name: string, systemInfo: NodeSystemInfo = DEFAULT_SYSTEM_INFO): Node {
  const index = processNodes(shape).findIndex((node) => node.name === name)
  const podCIDR = processNodes(shape)[index]?.podCIDR ?? ''
  const labels = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': systemInfo.operatingSystem,
    'kubernetes.io/arch': systemInfo.architecture,
    'node.kubernetes.io/instance-type': 'process',
    'topology.kubernetes.io/region': shape.region,
    'topology.kubernetes.io/zone': shape.zones[Math.max(0, index) % Math.max(1, shape.zones.length)] ?? shape.region,
    [NODE_LABEL]: 'process',
    [POOL_LABEL]: 'process',
  }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, annotations: { 'node.alpha.kubernetes.io/ttl': '0' } },
    spec: { podCIDR, podCIDRs: [podCIDR] },
  }
}

export function processNodeStatus(
  shape: MemberShape,
  name: string,
  nowMs: number,
  systemInfo: NodeSystemInfo = DEFAULT_SYSTEM_INFO,
): NodeStatus {
  const info = { ...systemInfo, containerRuntimeVersion: 'sluice://process' }
  return reportedStatus({ name, address: HOST_ADDRESS, size: shape.process.size, info, nowMs })
}
