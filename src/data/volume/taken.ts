/** What a user, or another dataset, has under a name that a dataset needs for its volume or its claim: it is never touched. Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../kinds/kubernetes/types.ts'
import { isOurClaim, isOurVolume } from './desired.ts'

export interface UnderItsNames {
  key: { namespace: string; name: string }
  volume: PersistentVolume | undefined
  claim: PersistentVolumeClaim | undefined
}

/** Undefined: nothing is in the way. */
export function takenBy({ key, volume, claim }: UnderItsNames): string | undefined {
  if (claim !== undefined && !isOurClaim(claim))
    return `a PersistentVolumeClaim ${key.name} exists that was not made for this dataset: delete it, or give the dataset another name`
  if (volume !== undefined && !isOurVolume(volume, key))
    return `a PersistentVolume ${volume.metadata.name ?? ''} exists that was not made for this dataset: give the dataset another name`
  return undefined
}
