/**
 * Removes what pods have kept on process nodes (`runtime/seams/node-data.ts`) when its owner is gone and nothing on the node uses it.
 * Writes nothing to the API. Runs again when an owner or a pod is gone, when a run ends, and when a CSI driver has done something. A
 * pass looks at what is kept on its node, and asks the server only where an owner seems to be gone.
 */
import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../../kube/object-reference.ts'
import {
  type Controller,
  defineController,
  type Effect,
  NOTHING_TO_DO,
  type PassReader,
  type Plan,
  request,
  via,
} from '../../../runtime/controller.ts'
import type { NodeData } from '../../../runtime/seams/node-data.ts'
import type { ContainerMachine } from '../container-machine.ts'
import type { NodeVolumes } from '../csi/node-volumes.ts'
import type { SharedDirectories } from '../volumes/shared-directories.ts'
import { directoriesOf } from './directories.ts'
import type { Kept, KeptRecords } from './records.ts'

export interface Observed {
  unwanted: readonly Kept[]
}

export interface KubeletDataOptions {
  nodeData: readonly NodeData[]
  records: KeptRecords
  shared: SharedDirectories
  machine: ContainerMachine
  csi: NodeVolumes
  isOurs(node: string): boolean
}

export function kubeletNodeData(options: KubeletDataOptions): Controller {
  const { nodeData, records, machine, csi, isOurs } = options
  const owners = [...new Set(nodeData.flatMap((data) => data.owners))]
  const remove = removeEffect(options)
  const nodes = (names: readonly string[]): ObjectRef[] => names.map((name) => ({ namespace: '', name }))
  const isThere = (owner: ObjectRef, read: PassReader): boolean =>
    owners.some((resource) => read.get(resource, owner.namespace, owner.name) !== undefined)
  return defineController<Observed>({
    name: 'minicluster.kubelet.node-data',
    needsHost: true,
    component: 'kubelet',
    for: NODES,
    isRelevantUpdate: (old, node) => old.metadata.uid !== node.metadata.uid,
    watches: [
      // Only their coming and going counts.
      ...owners.map((resource) =>
        via(resource, (owner: KubeObject) => nodes(records.nodesOf(refOf(owner))), { isRelevantUpdate: () => false }),
      ),
      via(PODS, (pod) => nodes(records.nodesOfPod(pod.metadata.uid ?? '')), { isRelevantUpdate: () => false }),
    ],
    signals: [
      {
        subscribe(enqueue) {
          const ends = [
            machine.onChange((uid) => {
              for (const node of nodes(records.nodesOfPod(uid))) enqueue(node)
            }),
            csi.onChange(({ node }) => {
              if (records.on(node).length > 0) enqueue({ namespace: '', name: node })
            }),
          ]
          return () => {
            for (const end of ends) end()
          }
        },
      },
    ],
    effects: [remove],
    reads: [{ resource: PODS, verbs: ['list'] }, ...owners.map((resource) => ({ resource, verbs: ['get'] }))],
    writes: [],
    async observe({ name }, _node, read, client) {
      if (!isOurs(name)) return { unwanted: [] }
      await records.load()
      const unwanted: Kept[] = []
      for (const kept of records.on(name))
        if (!isThere(kept.owner, read) && !isUsedHere(kept, options) && !(await isWanted(kept, { client, nodeData, owners })))
          unwanted.push(kept)
      return { unwanted }
    },
    plan: ({ unwanted }): Plan =>
      unwanted.length === 0
        ? NOTHING_TO_DO
        : { actions: [], effects: unwanted.map((kept) => request(remove, `${kept.node} ${kept.path} ${kept.pods.join(' ')}`, kept)) },
  })
}

/** By what runs, also for pods that were deleted by force, and by what CSI drivers have published for pods. */
function isUsedHere({ node, path, pods }: Kept, { machine, csi }: Pick<KubeletDataOptions, 'machine' | 'csi'>): boolean {
  const isRunning = (uid: string): boolean =>
    machine.runsOf(uid).some(({ state }) => state.phase === 'starting' || state.phase === 'running')
  const published = csi.on(node).flatMap(({ uses }) => [...uses.values()].flatMap((use) => use.published ?? []))
  const isInside = (other: string): boolean => `${other}/`.startsWith(`${path}/`)
  return pods.some(isRunning) || published.some((one) => isInside(one.path) || (one.mounts ?? []).some(({ source }) => isInside(source)))
}

interface Asking {
  client: Client
  nodeData: readonly NodeData[]
  owners: NodeData['owners']
}

/** A cache may be stale: the server knows whether its owner is there again, or a pod. */
async function isWanted({ node, path, owner }: Kept, { client, nodeData, owners }: Asking): Promise<boolean> {
  for (const resource of owners) if ((await ifFound(client.get(resource, owner))) !== undefined) return true
  const { items } = await client.list<Pod>(PODS, { namespace: owner.namespace })
  return items.some((pod) => pod.spec?.nodeName === node && directoriesOf(pod, nodeData).some((one) => one.path === path))
}

const REMOVE_MS = 600_000

function removeEffect({ records, shared, machine }: KubeletDataOptions): Effect<Kept, void> {
  return {
    name: 'minicluster.kubelet.node-data.remove',
    about: 'Removes a directory of a node that pods kept, after its owner is gone.',
    timeoutMs: REMOVE_MS,
    run: (kept) =>
      shared.alone(async () => {
        if (!records.isCurrent(kept)) return
        await machine.filesBelow(machine.nodeDirectory(kept.node)).remove(kept.path)
        await records.drop(kept)
      }),
  }
}
