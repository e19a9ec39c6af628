/** What the scheduler looks up besides nodes and pods, from the caches. One set of look-ups serves one decision. */
import {
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  POD_DISRUPTION_BUDGETS,
  REPLICA_SETS,
  SERVICES,
  STATEFUL_SETS,
  STORAGE_CLASSES,
} from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolume } from '../../kinds/kubernetes/types.ts'
import type { Reader } from '../../runtime/controller.ts'
import type { Lookups } from './snapshot.ts'

/** Index of volumes by their class. */
export const BY_CLASS = 'class'

const byName = (a: PersistentVolume, b: PersistentVolume): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)

export function lookupsOf(read: Reader): Lookups {
  const volumes = new Map<string, PersistentVolume[]>()
  return {
    claim: (namespace, name) => read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name),
    volume: (name) => read.get(PERSISTENT_VOLUMES, '', name),
    // Used for every node, so sorted only once.
    volumesOfClass(storageClass) {
      const known = volumes.get(storageClass) ?? [...read.byIndex(PERSISTENT_VOLUMES, BY_CLASS, storageClass)].sort(byName)
      volumes.set(storageClass, known)
      return known
    },
    storageClass: (name) => read.get(STORAGE_CLASSES, '', name),
    namespaceLabels: (namespace) => read.get(NAMESPACES, '', namespace)?.metadata.labels,
    budgets: () => read.list(POD_DISRUPTION_BUDGETS),
    services: (namespace) => read.list(SERVICES, namespace),
    replicaSet: (namespace, name) => read.get(REPLICA_SETS, namespace, name),
    statefulSet: (namespace, name) => read.get(STATEFUL_SETS, namespace, name),
  }
}
