/** A module with this controller and that of the sets whose pods it looks at, and verbs for stories about labels of nodes. */
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { type AdvancedStatefulSet, fluidKinds } from '../../kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS, DATASETS } from '../../kinds/fluid/resources.ts'
import { NODES } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { refOfKey } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { defineModule, type Module } from '../../runtime/module/module.ts'
import { advancedStatefulSet } from '../advanced-stateful-set/controller.ts'
import { otherModules } from '../testing.ts'
import { type NodeDeps, nodeController } from './controller.ts'
import { isOwnLabel } from './labels.ts'

const FLUID = 'data.fluid.io/v1alpha1'

/** The controllers of datasets and runtimes stay out of these stories, which write what those would. */
export function modulesWith(deps: NodeDeps = {}): readonly Module[] {
  const dataForTests = defineModule<Record<string, never>, object>({
    name: 'data-for-tests',
    roles: ['member'],
    upstreamLeases: [],
    kinds: { member: fluidKinds },
    defaults: {},
    services: () => ({}),
    controllers: () => [advancedStatefulSet, nodeController(deps)],
  })
  return [...otherModules, dataForTests]
}

const aDataset = (where: string): KubeObject => ({
  apiVersion: FLUID,
  kind: 'Dataset',
  metadata: refOfKey(where),
  spec: { mounts: [{ mountPoint: 'https://example.com/data', name: 'data' }] },
})

export const aCacheRuntime = (where: string, levels: object[] = []): KubeObject => ({
  apiVersion: FLUID,
  kind: 'CacheRuntime',
  metadata: refOfKey(where),
  spec: { runtimeClassName: 'builtin', worker: { tieredStore: { levels } } },
})

export const anAlluxioRuntime = (where: string, levels: object[]): KubeObject => ({
  apiVersion: FLUID,
  kind: 'AlluxioRuntime',
  metadata: refOfKey(where),
  spec: { replicas: 1, tieredstore: { levels } },
})

export const memory = (quota: string): object => ({ processMemory: { quota } })
export const disk = (quota: string): object => ({ hostPath: { paths: ['/mnt/cache'], quotas: [quota] } })

/** The workers of a runtime, as its controller makes them. */
function workersOf(runtime: KubeObject, { replicas = 1, placement = 'Exclusive', node = '' } = {}): AdvancedStatefulSet {
  const { namespace = '', name = '', uid = '' } = runtime.metadata
  const labels = { 'cacheruntime.fluid.io/name': name, 'cacheruntime.fluid.io/component-name': `${name}-worker` }
  const ofWorkers = { 'fluid.io/dataset': `${namespace}-${name}`, 'fluid.io/dataset-placement': placement }
  return {
    apiVersion: 'workload.fluid.io/v1alpha1',
    kind: 'AdvancedStatefulSet',
    metadata: {
      namespace,
      name: `${name}-worker`,
      ownerReferences: [{ apiVersion: runtime.apiVersion, kind: runtime.kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      replicas,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...labels, ...ofWorkers } },
        spec: {
          ...(node === '' ? {} : { nodeSelector: { 'kubernetes.io/hostname': node } }),
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 30,
          containers: [{ name: 'worker', image: 'cache' }],
        },
      },
    },
  }
}

/** Dataset, runtime and workers, each belonging to the one before. */
export async function cached(
  cluster: WorldCluster,
  runtime: KubeObject,
  workers: { replicas?: number; placement?: string; node?: string } = {},
): Promise<void> {
  const { namespace, name } = runtime.metadata
  const dataset = await cluster.create(aDataset(`${namespace}/${name}`))
  const { apiVersion, kind, metadata } = dataset
  const ownerReferences = [{ apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '' }]
  const created = await cluster.create({ ...runtime, metadata: { ...runtime.metadata, ownerReferences } })
  await cluster.create(workersOf(created, workers))
}

export const scaled = (cluster: WorldCluster, where: string, replicas: number): Promise<unknown> =>
  cluster.patch(ADVANCED_STATEFUL_SETS, `${where}-worker`, { spec: { replicas } })

export const forgotten = (cluster: WorldCluster, where: string): Promise<unknown> => cluster.delete(DATASETS, where)

/** The labels of a node that this controller writes. */
export async function labelsOf(cluster: WorldCluster, node: string): Promise<Record<string, string>> {
  const found = await cluster.get(NODES as Resource, node)
  return Object.fromEntries(Object.entries(found?.metadata.labels ?? {}).filter(([key]) => isOwnLabel(key)))
}
