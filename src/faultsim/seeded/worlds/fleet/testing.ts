/** A fleet made by hand, write by write, for tests of the fleet oracles. */

import { utf8Of } from '../../../../base/byte-text.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { Invariant } from '../../../../runtime/seams/seeded.ts'
import { createMemoryStore } from '../../../../store/index.ts'
import { type InvariantMonitor, monitorInvariants, viewOf } from '../../../prover/invariant-monitor.ts'
import type { Fleet } from './at-rest.ts'
import { BINDINGS, KINDS, WORKS } from './marks.ts'

const PLURALS: Readonly<Record<string, string>> = {
  ...KINDS,
  Pod: 'pods',
  ReplicaSet: 'replicasets.apps',
  Work: WORKS,
  ResourceBinding: BINDINGS[0],
  ClusterResourceBinding: BINDINGS[1],
  PropagationPolicy: 'propagationpolicies.policy.karmada.io',
  Cluster: 'clusters.cluster.karmada.io',
  Node: 'nodes',
  Secret: 'secrets',
  PersistentVolume: 'persistentvolumes',
  PersistentVolumeClaim: 'persistentvolumeclaims',
  Dataset: 'datasets.data.fluid.io',
  CacheRuntime: 'cacheruntimes.data.fluid.io',
  ThinRuntime: 'thinruntimes.data.fluid.io',
  ReferenceGrant: 'referencegrants.gateway.networking.k8s.io',
  DaemonSet: 'daemonsets.apps',
  AdvancedStatefulSet: 'advancedstatefulsets.workload.fluid.io',
  DataSource: 'datasources.datadependency.volcano.sh',
  DataSourceClaim: 'datasourceclaims.datadependency.volcano.sh',
}

export interface HandMade extends Fleet {
  put(cluster: string, object: KubeObject): Promise<void>
  remove(cluster: string, object: KubeObject): Promise<void>
  /** The same, done by users. */
  peopleRemove(cluster: string, object: KubeObject): Promise<void>
  broken(): string | undefined
}

/** A hub and two members, monitored by these invariants. */
export function handMade(invariants: readonly Invariant[] = []): HandMade {
  const store = createMemoryStore({ clock: { now: () => 0, after: () => () => undefined } })
  const names = ['hub', 'member1', 'member2']
  const others = new Map(names.map((name) => [name, viewOf(store.cluster(name))]))
  let arePeople = false
  const ledgers = names.map(
    (cluster): InvariantMonitor => monitorInvariants(store.cluster(cluster), invariants, { cluster, others, isPeoples: () => arePeople }),
  )
  const commit = async (cluster: string, type: 'put' | 'delete', object: KubeObject): Promise<void> => {
    const { namespace = '', name = '' } = object.metadata
    const key = `${PLURALS[object.kind]}/${namespace}/${name}`
    const result = await store
      .cluster(cluster)
      .commit({ key, type, expect: 'any', encode: () => ({ text: utf8Of(JSON.stringify(object)) }) })
    if (!result.ok) throw new Error(`${key} was not written`)
  }
  const [hub, member1, member2] = [...others.values()]
  if (hub === undefined || member1 === undefined || member2 === undefined) throw new Error('there are no views')
  return {
    hub,
    members: new Map([
      ['member1', member1],
      ['member2', member2],
    ]),
    put: (cluster, object) => commit(cluster, 'put', object),
    remove: (cluster, object) => commit(cluster, 'delete', object),
    async peopleRemove(cluster, object) {
      arePeople = true
      await commit(cluster, 'delete', object)
      arePeople = false
    },
    broken: () => ledgers.find((monitor) => monitor.broken !== undefined)?.broken,
  }
}

type Fields = Record<string, unknown>

const WORK = 'shop-abc'
const BY_BINDING = {
  'resourcebinding.karmada.io/name': 'shop-deployment',
  'resourcebinding.karmada.io/namespace': 'default',
}

export const aTemplate = (): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'default', name: 'shop', uid: 'shop' },
  spec: { replicas: 3 },
})

/** As it is in a member. */
export const aCopy = (cluster: string, replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    namespace: 'default',
    name: 'shop',
    uid: `shop in ${cluster}`,
    generation: 1,
    labels: { 'karmada.io/managed': 'true' },
    annotations: { 'work.karmada.io/namespace': `karmada-es-${cluster}`, 'work.karmada.io/name': WORK },
  },
  spec: { replicas },
  status: { observedGeneration: 1, replicas, updatedReplicas: replicas, readyReplicas: replicas },
})

/** An object of the member's own, under the name of the template. */
export const foreign = (replicas = 1): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'default', name: 'shop', uid: 'theirs' },
  spec: { replicas },
})

export const aWork = (cluster: string, { overwrite = false, going = false, ...spec }: Fields = {}): KubeObject => ({
  apiVersion: 'work.karmada.io/v1alpha1',
  kind: 'Work',
  metadata: {
    namespace: `karmada-es-${cluster}`,
    name: WORK,
    annotations: BY_BINDING,
    ...(going === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: {
    workload: {
      manifests: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: {
            namespace: 'default',
            name: 'shop',
            annotations: overwrite === true ? { 'work.karmada.io/conflict-resolution': 'overwrite' } : {},
          },
        },
      ],
    },
    ...spec,
  },
  status: { conditions: [{ type: 'Applied', status: 'True' }] },
})

/** Divided over these clusters. */
export const aBinding = (shares: Readonly<Record<string, number>>, spec: Fields = {}): KubeObject => ({
  apiVersion: 'work.karmada.io/v1alpha2',
  kind: 'ResourceBinding',
  metadata: {
    namespace: 'default',
    name: 'shop-deployment',
    uid: 'binding',
    labels: { 'propagationpolicy.karmada.io/permanent-id': 'near' },
  },
  spec: {
    resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'shop', uid: 'shop' },
    replicas: 3,
    replicaRequirements: {},
    placement: { replicaScheduling: { replicaSchedulingType: 'Divided' } },
    clusters: Object.entries(shares).map(([name, replicas]) => ({ name, replicas })),
    ...spec,
  },
  status: { conditions: [{ type: 'Scheduled', status: 'True' }] },
})
