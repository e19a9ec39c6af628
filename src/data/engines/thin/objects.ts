/** The objects of a ThinRuntime: the configuration of its fuse, the fuse of each node that needs it, and workers. All belong to the runtime. */
import { AdvancedStatefulSet, type AdvancedStatefulSetSpec } from '../../../kinds/fluid/index.ts'
import type { ConfigMap, DaemonSet } from '../../../kinds/kubernetes/types.ts'
import type { ObjectMeta } from '../../../kube/meta.ts'
import type { EngineObjects } from '../engine.ts'
import { configText } from './config.ts'
import { CONFIG_FILE, fuseTemplate, labelsOf, type Role, selectorLabels, workerTemplate } from './pods.ts'
import type { ThinWorker } from './spec.ts'
import { configMapName, fuseName, type Thin, workerName } from './thin.ts'

/** The runtime must have no problem (`problemOf`). */
export function thinObjects(thin: Thin): EngineObjects {
  const { worker } = thin.spec
  return {
    configMaps: [configMapOf(thin)],
    services: [],
    sets: worker === undefined ? [] : [workersOf(thin, worker)],
    daemonSets: [fuseOf(thin)],
  }
}

function metadataOf(thin: Thin, role: Role, name: string): ObjectMeta {
  const { apiVersion, kind, metadata } = thin.runtime
  return {
    namespace: thin.dataset.metadata.namespace,
    name,
    labels: labelsOf(thin, role),
    ownerReferences: [{ apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '', controller: true, blockOwnerDeletion: true }],
  }
}

const nameOf = ({ dataset }: Thin): string => dataset.metadata.name ?? ''

const configMapOf = (thin: Thin): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadataOf(thin, 'fuse', configMapName(nameOf(thin))),
  data: { [CONFIG_FILE]: configText(thin) },
})

/** A fuse that is replaced takes the mounts of its readers with it, so that is for whoever deletes its pod. */
const fuseOf = (thin: Thin): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: metadataOf(thin, 'fuse', fuseName(nameOf(thin))),
  spec: {
    selector: { matchLabels: selectorLabels(thin, 'fuse') },
    template: fuseTemplate(thin),
    updateStrategy: { type: 'OnDelete' },
  },
})

function workersOf(thin: Thin, worker: ThinWorker): AdvancedStatefulSet {
  const spec: AdvancedStatefulSetSpec = {
    replicas: thin.spec.replicas,
    selector: { matchLabels: selectorLabels(thin, 'worker') },
    template: workerTemplate(thin, worker),
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, podUpdatePolicy: 'InPlaceIfPossible' } },
  }
  const { group, storageVersion, kind } = AdvancedStatefulSet
  return { apiVersion: `${group}/${storageVersion}`, kind, metadata: metadataOf(thin, 'worker', workerName(nameOf(thin))), spec }
}
