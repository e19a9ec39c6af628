/** ephemeral: the volume of a claim that is made for this pod and named after it. */
import { type VolumeDriver, waiting } from '../../../runtime/seams/volume-driver.ts'
import { claimPlan } from './persistent-volume-claim.ts'

export const ephemeral: VolumeDriver = {
  field: 'ephemeral',
  plan(volume, context) {
    const { pod } = context
    const name = `${pod.metadata.name ?? ''}-${volume.name ?? ''}`
    const claim = context.claim(name)
    if (claim !== undefined && !(claim.metadata.ownerReferences ?? []).some((owner) => owner.uid === pod.metadata.uid))
      return waiting(
        `PVC ${pod.metadata.namespace ?? ''}/${name} was not created for pod ${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''} (pod is not owner)`,
      )
    return claimPlan(name, false, context)
  },
}
