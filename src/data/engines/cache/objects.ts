/** The objects of a cache: its configuration, the Services and the workloads of its components. All belong to the runtime. */
import { AdvancedStatefulSet, type AdvancedStatefulSetSpec } from '../../../kinds/fluid/index.ts'
import type { ConfigMap, DaemonSet, Service } from '../../../kinds/kubernetes/types.ts'
import type { ObjectMeta } from '../../../kube/meta.ts'
import { CONFIG_FILE, configMapName, extraConfigMapName, podTemplate, selectorLabels } from './pod-template.ts'
import { runtimeConfigText } from './runtime-config.ts'
import { type Cache, type Component, componentsOf } from './topology.ts'

export interface CacheObjects {
  configMaps: readonly ConfigMap[]
  services: readonly Service[]
  /** Masters and workers. */
  sets: readonly AdvancedStatefulSet[]
  /** Clients. */
  daemonSets: readonly DaemonSet[]
}

/** The cache must have no problem (`problemOf`). */
export function cacheObjects(cache: Cache): CacheObjects {
  const components = componentsOf(cache)
  const sets = components.filter(({ type }) => type !== 'client')
  return {
    configMaps: configMapsOf(cache),
    services: components.flatMap((component) => (component.service === undefined ? [] : [serviceOf(cache, component, component.service)])),
    sets: sets.map((component) => setOf(cache, component)),
    daemonSets: components.filter(({ type }) => type === 'client').map((component) => daemonSetOf(cache, component)),
  }
}

function metadataOf({ runtime, dataset }: Cache, name: string, labels?: Record<string, string>): ObjectMeta {
  const { apiVersion, kind, metadata } = runtime
  return {
    namespace: dataset.metadata.namespace,
    name,
    ...(labels === undefined ? {} : { labels }),
    ownerReferences: [{ apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '', controller: true, blockOwnerDeletion: true }],
  }
}

function configMapsOf(cache: Cache): ConfigMap[] {
  const { name = '' } = cache.dataset.metadata
  const of = (configMap: string, data: Record<string, string>): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadataOf(cache, configMap),
    data,
  })
  const extras = cache.runtimeClass.extraResources?.configMaps ?? []
  return [
    of(configMapName(name), { [CONFIG_FILE]: runtimeConfigText(cache) }),
    ...extras.map((extra) => of(extraConfigMapName(name, extra.name ?? ''), extra.data ?? {})),
  ]
}

/** Names must be known before the pods behind them are ready: masters find each other by them. */
const serviceOf = (cache: Cache, component: Component, name: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadataOf(cache, name, selectorLabels(cache, component)),
  spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: selectorLabels(cache, component) },
})

function setOf(cache: Cache, component: Component): AdvancedStatefulSet {
  const labels = selectorLabels(cache, component)
  const spec: AdvancedStatefulSetSpec = {
    replicas: component.replicas,
    selector: { matchLabels: labels },
    template: podTemplate(cache, component),
    ...(component.service === undefined ? {} : { serviceName: component.service }),
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, podUpdatePolicy: 'InPlaceIfPossible' } },
  }
  const { group, storageVersion, kind } = AdvancedStatefulSet
  return { apiVersion: `${group}/${storageVersion}`, kind, metadata: metadataOf(cache, component.name, labels), spec }
}

function daemonSetOf(cache: Cache, component: Component): DaemonSet {
  const labels = selectorLabels(cache, component)
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: metadataOf(cache, component.name, labels),
    spec: { selector: { matchLabels: labels }, template: podTemplate(cache, component), updateStrategy: { type: 'RollingUpdate' } },
  }
}
