/** Clusters and bindings for tests of the scheduler, in a form short enough for tables. */
import type { Binding, BindingSpec, BindingStatus, Cluster, ClusterSpec, Placement } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { type ClusterInfo, infoOf } from './cluster-info.ts'
import type { Decision } from './decision.ts'
import { demandOf } from './demand.ts'
import { type ScheduleOptions, type Snapshot, schedule } from './schedule.ts'

export interface ClusterOptions extends Partial<Omit<ClusterSpec, 'syncMode'>> {
  labels?: Record<string, string>
  /** Free pods (default 100). */
  pods?: number
  cpu?: string
  memory?: string
  /** Kinds it serves (default Deployment and ConfigMap). */
  kinds?: readonly string[]
  isDeleting?: boolean
  /** It has not reported its resources. */
  isSilent?: boolean
}

const GROUP_VERSIONS: Readonly<Record<string, string>> = { ConfigMap: 'v1', ClusterRole: 'rbac.authorization.k8s.io/v1' }
const groupVersionOf = (kind: string): string => GROUP_VERSIONS[kind] ?? 'apps/v1'

export function statusOf({
  pods = 100,
  cpu = '100',
  memory = '400Gi',
  kinds = ['Deployment', 'ConfigMap'],
  isSilent,
}: ClusterOptions): Cluster['status'] {
  return {
    apiEnablements: kinds.map((kind) => ({ groupVersion: groupVersionOf(kind), resources: [{ kind, name: `${kind.toLowerCase()}s` }] })),
    ...(isSilent === true ? {} : { resourceSummary: { allocatable: { pods, cpu, memory } } }),
  }
}

export function aClusterOf(name: string, wanted: ClusterOptions = {}): Cluster {
  const { labels, pods, cpu, memory, kinds, isDeleting, isSilent, ...spec } = wanted
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels, ...(isDeleting === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    spec: { syncMode: 'Push', ...spec },
    status: statusOf({ pods, cpu, memory, kinds, isSilent }),
  }
}

/** In the order of names, as a snapshot has them. */
export const fleetOf = (wantedByName: Readonly<Record<string, ClusterOptions>>): ClusterInfo[] =>
  Object.entries(wantedByName)
    .map(([name, wanted]) => infoOf(aClusterOf(name, wanted)))
    .sort((a, b) => compareStrings(a.name, b.name))

export interface BindingOptions extends Partial<Omit<BindingSpec, 'resource' | 'clusters' | 'placement'>> {
  name?: string
  resource?: string
  uid?: string
  placement?: Placement
  /** Its current clusters, with replicas. */
  on?: Readonly<Record<string, number>>
  status?: BindingStatus
  generation?: number
  annotations?: Record<string, string>
}

export function aBindingOf(wanted: BindingOptions = {}): Binding {
  const { name = 'web-deployment', resource = 'Deployment', uid, placement = {}, on, status, generation = 1, annotations, ...spec } = wanted
  const clusters = Object.entries(on ?? {}).map(([cluster, replicas]) => (replicas === 0 ? { name: cluster } : { name: cluster, replicas }))
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid of ${name}`,
      generation,
      annotations,
      labels: { 'propagationpolicy.karmada.io/permanent-id': 'p' },
    },
    spec: {
      resource: {
        apiVersion: groupVersionOf(resource),
        kind: resource,
        namespace: 'default',
        name: 'web',
        ...(uid === undefined ? {} : { uid }),
      },
      placement,
      conflictResolution: 'Abort',
      ...(clusters.length === 0 ? {} : { clusters }),
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  }
}

export const decide = (
  clusters: readonly ClusterInfo[],
  wanted: BindingOptions,
  { inFlight, nowMs, ...options }: Pick<Snapshot, 'inFlight' | 'nowMs'> & ScheduleOptions = {},
): Decision => {
  const binding = aBindingOf(wanted)
  return schedule({ clusters, inFlight, nowMs }, demandOf(binding, binding.spec.placement ?? {}), options)
}

/** `m1:2, m2:1`, or why it failed. */
export function inShort({ reason, message, clusters }: Decision): string {
  if (reason !== 'Success') return `${reason}: ${message}`
  return (clusters ?? []).map(({ name, replicas = 0 }) => `${name}:${replicas}`).join(', ')
}

export const DUPLICATED: Placement['replicaScheduling'] = { replicaSchedulingType: 'Duplicated' }
export const AGGREGATED: Placement['replicaScheduling'] = { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' }
export const DYNAMIC: Placement['replicaScheduling'] = {
  replicaSchedulingType: 'Divided',
  replicaDivisionPreference: 'Weighted',
  weightPreference: { dynamicWeight: 'AvailableReplicas' },
}
export const EVEN: Placement['replicaScheduling'] = { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' }

export const weightsOf = (weights: Readonly<Record<string, number>>): Placement['replicaScheduling'] => ({
  replicaSchedulingType: 'Divided',
  replicaDivisionPreference: 'Weighted',
  weightPreference: {
    staticWeightList: Object.entries(weights).map(([name, weight]) => ({ targetCluster: { clusterNames: [name] }, weight })),
  },
})
