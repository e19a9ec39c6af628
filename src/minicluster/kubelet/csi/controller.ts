/**
 * Stages the volumes of CSI drivers on process nodes, once per node and volume, and takes back what is no longer used: a
 * volume is unpublished when its pod is gone or has ended, and unstaged when no pod of the node needs it. Publishing is part
 * of the pod's own start (kubelet/controller.ts). Writes nothing to the API. Runs again when a pod of the node, its claims or
 * their volumes change, and when a driver has done something.
 */
import type { Client } from '../../../client/client.ts'
import { NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import {
  type Controller,
  defineController,
  type Effect,
  indexOf,
  NOTHING_TO_DO,
  type Plan,
  type Reader,
  request,
  via,
} from '../../../runtime/controller.ts'
import type { CsiVolume } from '../../../runtime/seams/csi-driver.ts'
import type { ContainerMachine } from '../container-machine.ts'
import type { NodeVolume, NodeVolumes } from './node-volumes.ts'
import { keyOfUse, keyOfVolume, type UseRecord } from './records.ts'
import { claimKeysOf, csiVolumesOf, hasEnded } from './volumes-of.ts'

export interface Observed {
  node: string
  stage: readonly NodeVolume[]
  unstage: readonly NodeVolume[]
  unpublish: readonly { volume: CsiVolume; use: UseRecord }[]
  client: Client
}

export interface KubeletCsiOptions {
  volumes: NodeVolumes
  machine: ContainerMachine
  isOurs(node: string): boolean
}

export function kubeletCsi({ volumes, machine, isOurs }: KubeletCsiOptions): Controller {
  const effects = csiEffects(volumes)
  const nodeOf = (pod: Pod): ObjectRef[] => {
    const name = pod.spec?.nodeName ?? ''
    return isOurs(name) && claimKeysOf(pod).length > 0 ? [{ namespace: '', name }] : []
  }
  const nodesOfClaim = (namespace: string | undefined, name: string | undefined, read: Reader): ObjectRef[] =>
    read.byIndex(PODS, 'claim', `${namespace}/${name}`).flatMap(nodeOf)
  return defineController<Observed | undefined>({
    name: 'minicluster.kubelet.csi',
    needsHost: true,
    component: 'kubelet',
    for: NODES,
    isRelevantUpdate: (old, node) => old.metadata.uid !== node.metadata.uid,
    watches: [
      via(PODS, nodeOf, { isRelevantUpdate: isRelevantPod }),
      via(PERSISTENT_VOLUME_CLAIMS, ({ metadata }, read) => nodesOfClaim(metadata.namespace, metadata.name, read)),
      via(PERSISTENT_VOLUMES, ({ spec }, read) => nodesOfClaim(spec?.claimRef?.namespace, spec?.claimRef?.name, read)),
    ],
    indexes: [
      indexOf(PODS, 'node', (pod) => nodeOf(pod).map(({ name }) => name)),
      indexOf(PODS, 'claim', (pod) => (isOurs(pod.spec?.nodeName ?? '') ? claimKeysOf(pod) : [])),
    ],
    signals: [
      {
        subscribe(enqueue) {
          const ends = [
            volumes.onChange(({ node }) => enqueue({ namespace: '', name: node })),
            // What runs for a pod that is gone keeps its volumes until it has ended.
            machine.onChange((uid) => {
              for (const node of volumes.nodesOf(uid)) enqueue({ namespace: '', name: node })
            }),
          ]
          return () => {
            for (const end of ends) end()
          }
        },
      },
    ],
    effects: Object.values(effects),
    reads: [
      { resource: PODS, verbs: ['list'] },
      ...[...volumes.drivers.values()].flatMap(({ reads = [] }) => reads.map((resource) => ({ resource, verbs: ['get'] }))),
    ],
    writes: [],
    async observe({ name }, node, read, client) {
      if (!isOurs(name)) return undefined
      await volumes.load()
      const pods = read.byIndex(PODS, 'node', name)
      const starting = node === undefined ? [] : pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !hasEnded(pod))
      const wanted = starting.flatMap((pod) => csiVolumesOf(pod, read, volumes.hasDriver).map(({ volume }) => volume))
      volumes.want(name, wanted)
      const keys = new Set(wanted.map(keyOfVolume))
      const here = volumes.on(name)
      return {
        node: name,
        stage: here.filter((one) => keys.has(keyOfVolume(one.volume)) && !one.isStaged),
        unstage: here.filter((one) => !keys.has(keyOfVolume(one.volume)) && one.isRecorded && one.uses.size === 0),
        unpublish: await released(here, { pods, machine, client }),
        client,
      }
    },
    plan: (observed) => planOf(observed, effects),
  })
}

const isRelevantPod = (old: Pod, pod: Pod): boolean =>
  old.spec?.nodeName !== pod.spec?.nodeName ||
  old.metadata.deletionTimestamp !== pod.metadata.deletionTimestamp ||
  hasEnded(old) !== hasEnded(pod)

/** Uses of pods that have ended or are gone. A cache may be stale, so the server is asked before anything is taken from a pod. */
async function released(
  here: readonly NodeVolume[],
  { pods, machine, client }: { pods: readonly Pod[]; machine: ContainerMachine; client: Client },
): Promise<Observed['unpublish']> {
  const known = new Map(pods.map((pod) => [pod.metadata.uid ?? '', pod]))
  const isStill = (uid: string): boolean => machine.runsOf(uid).every(({ state }) => state.phase === 'exited' || state.phase === 'failed')
  const suspects = here.flatMap(({ volume, uses }) =>
    [...uses.values()].flatMap((use) => {
      const pod = known.get(use.pod.uid)
      return (pod === undefined || hasEnded(pod)) && isStill(use.pod.uid) ? [{ volume, use, isGone: pod === undefined }] : []
    }),
  )
  if (!suspects.some(({ isGone }) => isGone)) return suspects
  const live = await client.list<Pod>(PODS)
  const alive = new Set(live.items.filter((pod) => !hasEnded(pod)).map(({ metadata }) => metadata.uid))
  return suspects.filter(({ use }) => !alive.has(use.pod.uid))
}

type VolumeInput = { of: Pick<NodeVolume, 'node' | 'volume'>; client: Client }

interface CsiEffects {
  stage: Effect<VolumeInput, void>
  unstage: Effect<VolumeInput, void>
  unpublish: Effect<VolumeInput & { use: UseRecord }, void>
}

/** Longer than an effect follows a driver (SLICE_MS). */
const EFFECT_MS = 120_000

function csiEffects(volumes: NodeVolumes): CsiEffects {
  const name = (what: string): string => `minicluster.kubelet.csi.${what}`
  return {
    stage: {
      name: name('stage'),
      about: 'Lets a CSI driver stage a volume on a node.',
      timeoutMs: EFFECT_MS,
      run: ({ of, client }, { signal }) => volumes.stage(of, { client, signal }),
    },
    unstage: {
      name: name('unstage'),
      about: 'Lets a CSI driver take back a volume that no pod of the node uses.',
      timeoutMs: EFFECT_MS,
      run: ({ of, client }, { signal }) => volumes.unstage(of, { client, signal }),
    },
    unpublish: {
      name: name('unpublish'),
      about: 'Lets a CSI driver take back what it published for a pod that is gone.',
      timeoutMs: EFFECT_MS,
      run: ({ of, use, client }, { signal }) => volumes.unpublish(of.node, of.volume, { use, client, signal }),
    },
  }
}

function planOf(observed: Observed | undefined, effects: CsiEffects): Plan {
  if (observed === undefined) return NOTHING_TO_DO
  const { client, node } = observed
  const key = ({ volume, attempt }: NodeVolume): string => `${keyOfVolume(volume)}/${attempt}`
  return {
    actions: [],
    effects: [
      ...observed.stage.map((of) => request(effects.stage, key(of), { of, client })),
      ...observed.unstage.map((of) => request(effects.unstage, key(of), { of, client })),
      ...observed.unpublish.map(({ volume, use }) =>
        request(effects.unpublish, `${keyOfVolume(volume)}/${keyOfUse(use.pod.uid, use.name)}`, { of: { node, volume }, use, client }),
      ),
    ],
  }
}
