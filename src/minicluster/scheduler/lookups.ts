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
import type { PersistentVolume, Service } from '../../kinds/kubernetes/types.ts'
import { objectKey } from '../../kube/object-reference.ts'
import type { Reader } from '../../runtime/controller.ts'
import type { Lookups } from './snapshot.ts'

/** Index of volumes by their class. */
export const BY_CLASS = 'class'

/** Index of services by namespace and the first label of their selector. */
export const BY_SELECTED = 'selected'

const selectedBy = (namespace: string | undefined, label: string, value: string): string => `${objectKey(namespace, label)}=${value}`

/** Not of services that select nothing, or everything. */
export const selectedKeys = ({ metadata, spec }: Service): string[] =>
  Object.entries(spec?.selector ?? {})
    .slice(0, 1)
    .map(([label, value]) => selectedBy(metadata.namespace, label, value))

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
    servicesFor: (namespace, labels = {}) =>
      Object.entries(labels).flatMap(([label, value]) => read.byIndex(SERVICES, BY_SELECTED, selectedBy(namespace, label, value))),
    replicaSet: (namespace, name) => read.get(REPLICA_SETS, namespace, name),
    statefulSet: (namespace, name) => read.get(STATEFUL_SETS, namespace, name),
  }
}
