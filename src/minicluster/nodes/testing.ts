/** Objects and verbs for stories about nodes: a test plays the kubelet. */
import { formatTime } from '../../base/clock.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { LEASES, NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Lease, Node, NodeCondition, Pod, Taint, Toleration } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'

const LEASE_NAMESPACE = 'kube-node-lease'

export async function startNode(cluster: WorldCluster, name: string, status = 'True'): Promise<void> {
  const labels = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' }
  await cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })
  await markReady(cluster, name, status)
}

const READY: NodeCondition = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }

export const markReady = (cluster: WorldCluster, name: string, status: string): Promise<KubeObject> =>
  report(cluster, name, { ...READY, status })

/** Ready, with the time of the report. */
export const reportReady = (cluster: WorldCluster, name: string, nowMs: number): Promise<KubeObject> =>
  report(cluster, name, { ...READY, lastHeartbeatTime: formatTime(nowMs) })

const report = (cluster: WorldCluster, name: string, ready: NodeCondition): Promise<KubeObject> =>
  cluster.patch(NODES, name, { status: { conditions: [ready] } }, 'status')

const microTime = (ms: number): string => formatTime(ms).replace('Z', '.000000Z')

export const startLease = (cluster: WorldCluster, name: string, nowMs: number): Promise<KubeObject> =>
  cluster.create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: LEASE_NAMESPACE },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime(nowMs) },
  } satisfies Lease)

export const renewLease = (cluster: WorldCluster, name: string, nowMs: number): Promise<KubeObject> =>
  cluster.patch(LEASES, `${LEASE_NAMESPACE}/${name}`, { spec: { renewTime: microTime(nowMs) } })

export const aPodOn = (nodeName: string | undefined, name: string, tolerations: Toleration[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'one' }],
    tolerations,
    ...(nodeName === undefined ? { schedulingGates: [{ name: 'example.com/never' }] } : { nodeName }),
  },
})

export const runPod = (cluster: WorldCluster, name: string): Promise<KubeObject> =>
  cluster.patch(PODS, `default/${name}`, { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }, 'status')

export async function taintsOf(cluster: WorldCluster, name: string): Promise<string[]> {
  const node = (await cluster.get(NODES, name)) as Node | undefined
  return (node?.spec?.taints ?? []).map(({ key, effect }: Taint) => `${key?.split('/').pop()}:${effect}`).sort()
}
