/** ephemeral: the volume of a claim that is made for this pod and named after it. */
import type { Volume } from '../../../kinds/kubernetes/types.ts'
import { type VolumeDriver, type VolumePlan, waiting } from '../../../runtime/seams/volume-driver.ts'
import { type ClaimContext, claimPlan } from './persistent-volume-claim.ts'

export const ephemeral: VolumeDriver = { field: 'ephemeral', plan: ephemeralPlan }

export function ephemeralPlan(volume: Volume, context: ClaimContext): VolumePlan {
  const { pod } = context
  const { name: podName = '', namespace = '' } = pod.metadata
  const name = `${podName}-${volume.name ?? ''}`
  const claim = context.claim(name)
  if (claim !== undefined && !(claim.metadata.ownerReferences ?? []).some((owner) => owner.uid === pod.metadata.uid))
    return waiting(`PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`)
  return claimPlan(name, false, context)
}
