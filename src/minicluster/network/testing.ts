/** Objects and verbs for stories about services: a test plays the node, and its pods have addresses when it says so. */
import { formatTime } from '../../base/clock.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { ENDPOINT_SLICES, NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { EndpointSlice, Node, Pod, PodStatus, Service, ServiceSpec } from '../../kinds/kubernetes/types.ts'
import type { ObjectMeta } from '../../kube/meta.ts'

export const aService = (name: string, spec: ServiceSpec = {}, metadata: ObjectMeta = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default', ...metadata },
  spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
})

const aNode = (name: string, zone: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
})

export const aPodOf = (app: string, name: string, more: Pod['spec'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app } },
  spec: {
    automountServiceAccountToken: false,
    nodeName: 'node',
    containers: [{ name: 'main', image: 'one', ports: [{ name: 'web', containerPort: 9090, protocol: 'TCP' }] }],
    ...more,
  },
})

/** Reports an address and readiness, as the pod's kubelet would. */
export const report = (cluster: WorldCluster, name: string, ip: string): Promise<unknown> => writeStatus(cluster, name, running(ip, 'True'))

export const reportUnready = (cluster: WorldCluster, name: string, ip: string): Promise<unknown> =>
  writeStatus(cluster, name, running(ip, 'False'))

const writeStatus = (cluster: WorldCluster, name: string, status: PodStatus): Promise<unknown> =>
  cluster.patch(PODS, `default/${name}`, { status }, 'status')

const running = (ip: string, ready: string): PodStatus => ({
  phase: 'Running',
  podIP: ip,
  podIPs: [{ ip }],
  conditions: [{ type: 'Ready', status: ready, lastTransitionTime: formatTime(Date.UTC(2026, 0, 1, 12)) }],
})

/** A node that is ready and has no heartbeat to miss. */
export async function startNode(cluster: WorldCluster, name = 'node', zone = 'east-a'): Promise<void> {
  await cluster.create(aNode(name, zone))
  await cluster.patch(NODES, name, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, 'status')
}

export async function slicesOf(cluster: WorldCluster, service: string): Promise<EndpointSlice[]> {
  const found = await cluster.list(ENDPOINT_SLICES, { namespace: 'default', labelSelector: `kubernetes.io/service-name=${service}` })
  return found as EndpointSlice[]
}

/** `address` if it gets traffic, `address!` if it does not. */
export const addressesIn = (slices: readonly EndpointSlice[]): string[] =>
  slices
    .flatMap(({ endpoints }) => endpoints ?? [])
    .map(({ addresses, conditions }) => `${addresses?.join()}${conditions?.ready === true ? '' : '!'}`)
    .sort()
