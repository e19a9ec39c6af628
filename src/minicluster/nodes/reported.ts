/** What every node of a member reports about itself, whether simulated or a process node: size, conditions, versions. Pure. */
import { formatTime } from '../../base/clock.ts'
import type { NodeCondition, NodeStatus, NodeSystemInfo } from '../../kinds/kubernetes/types.ts'
import { KUBERNETES_VERSION } from '../../kinds/kubernetes/version.ts'
import type { NodeSize } from '../shape.ts'

export interface Reporting {
  name: string | undefined
  /** InternalIP. */
  address: string
  size: NodeSize
  /** Architecture, system, runtime. */
  info: NodeSystemInfo
  nowMs: number
}

export function reportedStatus({ name, address, size, info, nowMs }: Reporting): NodeStatus {
  const now = formatTime(nowMs)
  const amounts = { cpu: size.cpu, memory: size.memory, pods: String(size.pods), 'ephemeral-storage': '100Gi' }
  return {
    capacity: amounts,
    allocatable: amounts,
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    conditions: CONDITIONS.map((condition): NodeCondition => ({ ...condition, lastHeartbeatTime: now, lastTransitionTime: now })),
    nodeInfo: { bootID: '', kubeProxyVersion: '', kubeletVersion: KUBERNETES_VERSION.gitVersion, machineID: '', systemUUID: '', ...info },
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  }
}

const CONDITIONS: readonly NodeCondition[] = [
  { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory', message: 'kubelet has sufficient memory available' },
  { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure' },
  { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID', message: 'kubelet has sufficient PID available' },
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
]
