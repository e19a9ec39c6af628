/** How far a volume of a CSI driver is for a pod: what it waits for, and what is to be done next. */
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import type { PassReader } from '../../../runtime/controller.ts'
import type { CsiVolume } from '../../../runtime/seams/csi-driver.ts'
import type { KubeletEffects } from '../effects.ts'
import type { ReadyVolume } from '../run-spec.ts'
import type { NodeVolumes } from './node-volumes.ts'
import { keyOfUse, keyOfVolume, type UseRecord } from './records.ts'

export interface Publish {
  key: string
  node: string
  volume: CsiVolume
  use: UseRecord
}

export interface CsiStep {
  ready?: ReadyVolume
  publish?: Publish
  /** What went wrong; it is tried again. */
  problem?: string
  /** What the driver says about its progress. */
  message?: string
}

interface Wanted {
  pod: Pod
  /** Of the volume in the pod. */
  name: string
  volume: CsiVolume
  readOnly: boolean
}

interface State {
  csi: NodeVolumes
  effects: Pick<KubeletEffects, 'publish'>
  read: Pick<PassReader, 'outcome'>
}

export function csiStep({ pod, name, volume, readOnly }: Wanted, { csi, effects, read }: State): CsiStep {
  const { uid: podUid = '', namespace = '', name: podName = '' } = pod.metadata
  const node = pod.spec?.nodeName ?? ''
  const ready = csi.published(node, volume, { podUid, name })
  if (ready !== undefined) return { ready }
  const staging = csi.lookFor(node, volume, podUid)
  if (staging?.isStaged !== true) {
    // A driver that speaks again has overcome its failure.
    if (staging?.failure !== undefined && staging.message === undefined)
      return { problem: `MountVolume.MountDevice failed for volume "${volume.name}" : ${staging.failure}` }
    return { message: staging?.message }
  }
  const { attempt, message } = csi.publishing(node, volume, { podUid, name })
  const key = `${keyOfUse(podUid, name)}/${keyOfVolume(volume)}/${attempt}`
  const serviceAccount = pod.spec?.serviceAccountName ?? 'default'
  const publish = { key, node, volume, use: { pod: { namespace, name: podName, uid: podUid, serviceAccount }, name, readOnly } }
  const outcome = read.outcome(effects.publish, key)
  if (outcome?.state === 'failed') return { publish, problem: `MountVolume.SetUp failed for volume "${name}" : ${outcome.message}` }
  return { publish, message }
}
