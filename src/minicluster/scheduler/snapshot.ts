/** What a decision is based on: nodes with their pods, and the objects needed for claims, spreading and budgets. */
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  ReplicaSet,
  Service,
  StatefulSet,
  StorageClass,
} from '../../kinds/kubernetes/types.ts'
import type { Labels } from '../../kube/selector.ts'
import type { ClusterState } from './state/cluster-state.ts'

/** Look-ups of single objects, from caches. */
export interface Lookups {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  /** Sorted by name. */
  volumesOfClass(storageClass: string): readonly PersistentVolume[]
  storageClass(name: string): StorageClass | undefined
  namespaceLabels(namespace: string): Labels
  /** Of all namespaces. */
  budgets(): readonly PodDisruptionBudget[]
  /** Those that may select pods with these labels. */
  servicesFor(namespace: string, labels: Labels): readonly Service[]
  replicaSet(namespace: string, name: string): ReplicaSet | undefined
  statefulSet(namespace: string, name: string): StatefulSet | undefined
}

export interface Snapshot {
  readonly cluster: ClusterState
  readonly objects: Lookups
  readonly nowMs: number
}
