/** Nodes and pods for the scheduler's tests. */
import type { Node, Pod, PodSpec } from '../../kinds/kubernetes/types.ts'

export interface NodeSpec {
  cpu?: string
  memory?: string
  pods?: number
  labels?: Record<string, string>
  taints?: { key: string; value?: string; effect: string }[]
  unschedulable?: boolean
  extended?: Record<string, string>
}

export function aNode(name: string, { cpu = '4', memory = '8Gi', pods = 110, labels, taints, unschedulable, extended }: NodeSpec = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: { ...(taints && { taints }), ...(unschedulable && { unschedulable }) },
    status: {
      allocatable: { cpu, memory, pods: String(pods), ...extended },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  }
}

export interface PodAsked {
  cpu?: string
  memory?: string
  namespace?: string
  labels?: Record<string, string>
  spec?: PodSpec
  status?: Pod['status']
  uid?: string
  owner?: { kind: string; name: string }
}

export function aPod(name: string, { cpu, memory, namespace = 'default', labels, spec, status, uid, owner }: PodAsked = {}): Pod {
  const requests = { ...(cpu && { cpu }), ...(memory && { memory }) }
  const ownerReferences = owner && [{ apiVersion: 'apps/v1', ...owner, uid: owner.name, controller: true }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, ...(uid && { uid }), ...(labels && { labels }), ...(ownerReferences && { ownerReferences }) },
    spec: { containers: [{ name: 'main', image: 'example.com/app', resources: { requests } }], ...spec },
    ...(status && { status }),
  }
}
