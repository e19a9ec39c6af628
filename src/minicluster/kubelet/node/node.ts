/** The Node object of a process node, and what it reports of this machine. Pure. */
import { formatTime } from '../../../base/clock.ts'
import type { Node, NodeCondition, NodeStatus } from '../../../kinds/kubernetes/types.ts'
import { KUBERNETES_VERSION } from '../../../kinds/kubernetes/version.ts'
import { type MemberShape, NODE_LABEL, POD_NETWORKS } from '../../shape.ts'
import { HOST_ADDRESS } from '../addresses.ts'
import type { NodeFacts } from '../options.ts'

export interface ProcessNode {
  name: string
  /** A /24 inside 127.64.0.0/10. */
  podCIDR: string
}

/** Nodes that the shape may take away again carry it; nodes that people made do not. */
export const POOL_LABEL = 'sluice.dev/pool'

/** How many networks one member has. */
const PER_MEMBER = 64

export function processNodes(shape: MemberShape): ProcessNode[] {
  return Array.from({ length: shape.process.count }, (_, index) => {
    const network = ((shape.network ?? 0) + shape.index * PER_MEMBER + index) % POD_NETWORKS
    return { name: `${shape.name}-process-${index + 1}`, podCIDR: `127.${64 + (network >> 8)}.${network & 255}.0/24` }
  })
}

const DEFAULT_FACTS: NodeFacts = {
  architecture: 'amd64',
  operatingSystem: 'linux',
  kernelVersion: '',
  osImage: 'Sluice, processes of this machine',
}

export function processNode(shape: MemberShape, name: string, facts: NodeFacts = DEFAULT_FACTS): Node {
  const index = processNodes(shape).findIndex((node) => node.name === name)
  const podCIDR = processNodes(shape)[index]?.podCIDR ?? ''
  const labels = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': facts.operatingSystem,
    'kubernetes.io/arch': facts.architecture,
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

export function processNodeStatus(shape: MemberShape, name: string, nowMs: number, facts: NodeFacts = DEFAULT_FACTS): NodeStatus {
  const now = formatTime(nowMs)
  const { cpu, memory, pods } = shape.process.size
  const amounts = { cpu, memory, pods: String(pods), 'ephemeral-storage': '100Gi' }
  return {
    capacity: amounts,
    allocatable: amounts,
    addresses: [
      { type: 'InternalIP', address: HOST_ADDRESS },
      { type: 'Hostname', address: name },
    ],
    conditions: CONDITIONS.map(
      ([type, status, reason, message]): NodeCondition => ({
        type,
        status,
        reason,
        message,
        lastHeartbeatTime: now,
        lastTransitionTime: now,
      }),
    ),
    nodeInfo: {
      ...facts,
      bootID: '',
      containerRuntimeVersion: 'sluice://process',
      kubeProxyVersion: '',
      kubeletVersion: KUBERNETES_VERSION.gitVersion,
      machineID: '',
      systemUUID: '',
    },
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  }
}

const CONDITIONS: readonly (readonly [string, string, string, string])[] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
]
