/** Which volumes of a pod come from CSI drivers, found through its claims. For nodes of both kinds. Pure. */
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../kinds/kubernetes/resources.ts'
import type { Pod, Volume } from '../../../kinds/kubernetes/types.ts'
import type { Reader } from '../../../runtime/controller.ts'
import type { CsiVolume } from '../../../runtime/seams/csi-driver.ts'
import type { VolumePlan } from '../../../runtime/seams/volume-driver.ts'
import { ephemeralPlan } from '../volumes/ephemeral.ts'
import { type ClaimContext, claimPlan } from '../volumes/persistent-volume-claim.ts'

export interface PodCsiVolume {
  /** In the pod. */
  name: string
  volume: CsiVolume
  readOnly: boolean
}

export function csiVolumesOf(pod: Pod, read: Pick<Reader, 'get'>, hasCsiDriver: (name: string) => boolean): PodCsiVolume[] {
  const namespace = pod.metadata.namespace ?? ''
  const context: ClaimContext = {
    pod,
    claim: (name) => read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name),
    persistentVolume: (name) => read.get(PERSISTENT_VOLUMES, '', name),
    volumesRoot: undefined,
    nodeDirectory: '',
    hasCsiDriver,
  }
  return (pod.spec?.volumes ?? []).flatMap((volume): PodCsiVolume[] => {
    const plan = planOf(volume, context)
    return plan?.kind === 'csi' ? [{ name: volume.name ?? '', volume: plan.volume, readOnly: plan.readOnly }] : []
  })
}

function planOf(volume: Volume, context: ClaimContext): VolumePlan | undefined {
  const { persistentVolumeClaim: claim, ephemeral } = volume
  if (claim !== undefined) return claimPlan(claim.claimName ?? '', claim.readOnly === true, context)
  return ephemeral === undefined ? undefined : ephemeralPlan(volume, context)
}

/** The claims that a pod names, as `namespace/name`. */
export function claimKeysOf({ spec, metadata }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim: claim, ephemeral }) => {
    if (claim !== undefined) return [`${metadata.namespace}/${claim.claimName ?? ''}`]
    return ephemeral === undefined ? [] : [`${metadata.namespace}/${metadata.name}-${name ?? ''}`]
  })
}

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'
