/**
 * What people do around datasets: claims of their own under the name of a dataset, pods of the cache that
 * are killed, nodes that take no pods, and caches whose commands fail or answer something else for a while.
 */
import { CONFIG_MAPS, NODES, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { ANSWERS, CLAIMED, DEMO, isFor, metadataOf, oneOf } from './drawing.ts'

/** It may be the dataset's own that is deleted, which is then made again. */
const claims: Generator = {
  name: 'claim with the name of a dataset',
  resource: PERSISTENT_VOLUME_CLAIMS,
  names: [`${CLAIMED}/${DEMO}`],
  isFor,
  isContested: true,
  draw: () => ({}),
  object: (where): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: metadataOf(where),
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  change: () => undefined,
}

/** Only ever deleted: its set makes it again. */
const killed: Generator = {
  name: 'pod of a cache',
  resource: PODS,
  names: ['default/demo-worker-0', 'default/demo-worker-1', 'default/demo-master-0', 'lab/demo-worker-0', 'default/asked-worker-0'],
  isFor,
  isContested: true,
  draw: () => null,
  object: (where): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: metadataOf(where), spec: {} }),
}

/** One of those that a member has, so that there is always room. */
const nodesOf = (cluster: string): Generator => ({
  name: `node of ${cluster}`,
  resource: NODES,
  names: [`${cluster}-simulated-1`],
  isFor: (one) => one === cluster,
  isLasting: true,
  draw: (random) => ({ unschedulable: random.next() < 0.5 }),
  object: (where): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: where } }),
  change(object, desired) {
    const { unschedulable } = desired as { unschedulable: boolean }
    object.spec = { ...(object.spec as object | undefined), unschedulable }
  },
})

const answers: Generator = {
  name: 'answers of caches',
  resource: CONFIG_MAPS,
  names: [ANSWERS],
  isFor,
  isLasting: true,
  draw: (random) => ({
    mountFails: String(oneOf(random, [0, 0, 1, 3])),
    mountDiffers: String(oneOf(random, [0, 0, 0, 1])),
    reportFails: String(oneOf(random, [0, 0, 1, 3])),
    leaveFails: String(oneOf(random, [0, 0, 0, 1])),
    leaveMs: String(oneOf(random, [0, 0, 5000, 15_000])),
  }),
  object: (where, desired): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf(where), data: desired as object }),
  change(object, desired) {
    object.data = desired
  },
}

export const disturbances: readonly Generator[] = [claims, killed, nodesOf('member1'), nodesOf('member2'), answers]
