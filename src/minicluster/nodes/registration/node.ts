/** The Node object of a simulated node, as a kubelet would have registered and reported it. Pure. */
import { formatTime } from '../../../base/clock.ts'
import type { Node, NodeCondition, NodeStatus } from '../../../kinds/kubernetes/types.ts'
import { KUBERNETES_VERSION } from '../../../kinds/kubernetes/version.ts'
import { type MemberShape, NODE_LABEL, SIMULATED_TAINT } from '../../shape.ts'

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
  }
}

/** Networks of the nodes of one member never meet; those of different members only when a member has thousands of nodes. */
function networkOf(shape: MemberShape, index: number): { podCIDR: string; podCIDRs: string[] } {
  const network = (shape.index * 4096 + index) % 65_536
  const podCIDR = `10.${network >> 8}.${network & 255}.0/24`
  return { podCIDR, podCIDRs: [podCIDR] }
}

/** What the node reports. Written once: a simulated node has no heartbeat. */
export function simulatedNodeStatus(node: Node, shape: MemberShape, nowMs: number): NodeStatus {
  const now = formatTime(nowMs)
  const { cpu, memory, pods } = shape.simulated.size
  const amounts = { cpu, memory, pods: String(pods), 'ephemeral-storage': '100Gi' }
  return {
    capacity: amounts,
    allocatable: amounts,
    addresses: [
      { type: 'InternalIP', address: (node.spec?.podCIDR ?? '10.0.0.0/24').replace(/0\/24$/, '1') },
      { type: 'Hostname', address: node.metadata.name },
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
      architecture: 'amd64',
      bootID: '',
      containerRuntimeVersion: 'sluice://simulated',
      kernelVersion: '',
      kubeProxyVersion: '',
      kubeletVersion: KUBERNETES_VERSION.gitVersion,
      machineID: '',
      operatingSystem: 'linux',
      osImage: 'Sluice, simulated',
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
