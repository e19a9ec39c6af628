/** Nodes, pods and snapshots of them for the scheduler's tests. */

import type {
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PodSpec,
  ReplicaSet,
  Service,
  StorageClass,
} from '../../kinds/kubernetes/types.ts'
import { objectKey } from '../../kube/object-reference.ts'
import { FILTERS } from './filters/all.ts'
import { isRefusal } from './filters/filter.ts'
import type { Lookups, Snapshot } from './snapshot.ts'
import { ClusterState } from './state/cluster-state.ts'
import { podInfo } from './state/pod-info.ts'
import { classOf } from './volumes/claims.ts'

export interface NodeSpec {
  cpu?: string
  memory?: string
  pods?: number
  labels?: Record<string, string>
  taints?: { key: string; value?: string; effect: string }[]
  unschedulable?: boolean
  extended?: Record<string, string>
}

export function aNode(
  name: string,
  { cpu = '4', memory = '8Gi', pods = 110, labels, taints, unschedulable, extended }: NodeSpec = {},
): Node {
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

export interface Objects {
  nodes?: readonly Node[]
  pods?: readonly Pod[]
  claims?: readonly PersistentVolumeClaim[]
  volumes?: readonly PersistentVolume[]
  classes?: readonly StorageClass[]
  namespaces?: readonly Namespace[]
  budgets?: readonly PodDisruptionBudget[]
  services?: readonly Service[]
  replicaSets?: readonly ReplicaSet[]
}

export const NOW_MS = Date.UTC(2026, 0, 1)

export function lookupsIn(objects: Objects): Lookups {
  const find = <T extends { metadata: { namespace?: string; name?: string } }>(
    list: readonly T[] | undefined,
    key: string,
  ): T | undefined => list?.find(({ metadata }) => objectKey(metadata.namespace, metadata.name) === key)
  return {
    claim: (namespace, name) => find(objects.claims, objectKey(namespace, name)),
    volume: (name) => find(objects.volumes, objectKey('', name)),
    volumesOfClass: (name) => (objects.volumes ?? []).filter((volume) => classOf(volume) === name),
    storageClass: (name) => find(objects.classes, objectKey('', name)),
    namespaceLabels: (name) => find(objects.namespaces, objectKey('', name))?.metadata.labels,
    budgets: () => objects.budgets ?? [],
    servicesFor: (namespace) => (objects.services ?? []).filter(({ metadata }) => metadata.namespace === namespace),
    replicaSet: (namespace, name) => find(objects.replicaSets, objectKey(namespace, name)),
    statefulSet: () => undefined,
  }
}

export function aSnapshot(objects: Objects): Snapshot {
  const cluster = new ClusterState()
  for (const node of objects.nodes ?? []) cluster.setNode(node.metadata.name ?? '', node)
  for (const pod of objects.pods ?? []) cluster.setPod(objectKey(pod.metadata.namespace, pod.metadata.name), pod)
  return { cluster, objects: lookupsIn(objects), nowMs: NOW_MS }
}

/** A pod on a node. */
export const on = (node: string, pod: Pod): Pod => ({
  ...pod,
  metadata: { uid: `uid-${pod.metadata.name}`, ...pod.metadata },
  spec: { ...pod.spec, nodeName: node },
})

/** The answer of one filter for each node: `yes`, or its reasons, marked where removing pods would not help. */
export function verdicts(filterName: string, pod: Pod, objects: Objects): Record<string, string> | string {
  const snapshot = aSnapshot(objects)
  const filter = FILTERS.find(({ name }) => name === filterName)
  if (filter === undefined) throw new Error(`no filter ${filterName}`)
  const prepared = filter.prepare(podInfo(pod), snapshot)
  if (prepared === undefined) return 'indifferent'
  if (isRefusal(prepared)) return `refused: ${prepared.refused.reasons.join(', ')}`
  return Object.fromEntries(
    snapshot.cluster.nodes.map((node) => {
      const rejection = prepared.check(node)
      return [node.name, rejection === undefined ? 'yes' : `${rejection.reasons.join(', ')}${rejection.isFinal ? ' (final)' : ''}`]
    }),
  )
}
