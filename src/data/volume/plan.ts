/** What to do about the volume and the claim of a dataset: pure. The volume comes first and goes last, so that no claim dangles. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type Action, type EventIntent, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { claimOf, isOurClaim, isOurVolume, type VolumeSource, volumeOf } from './desired.ts'

export interface Observed {
  key: { namespace: string; name: string }
  dataset: Dataset | undefined
  /** What the volume is made from; undefined: there is to be none. */
  source: VolumeSource | undefined
  volume: PersistentVolume | undefined
  claim: PersistentVolumeClaim | undefined
}

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

export function plan(observed: Observed): Plan {
  const { source, key, volume, claim } = observed
  const ours = {
    volume: volume !== undefined && isOurVolume(volume, key) ? volume : undefined,
    claim: claim !== undefined && isOurClaim(claim) ? claim : undefined,
  }
  if (source === undefined) return { actions: removal(ours) }
  const problem = problemOf(observed)
  if (problem !== undefined) return { actions: [], events: [{ key: problem, ...warning(source.dataset, problem) }] }
  // One that is on its way out is waited for: what is made anew must not be taken for the old one.
  if ((volume !== undefined && isGoing(volume)) || (claim !== undefined && isGoing(claim))) return NOTHING_TO_DO
  // What is there stays as it was made, so only a new one needs to know.
  if (source.mount.type === undefined && ours.volume === undefined) return NOTHING_TO_DO
  return { actions: creation(source, ours) }
}

/** What a user has under a name that the dataset needs; it is never touched. */
function problemOf({ key, volume, claim }: Pick<Observed, 'key' | 'volume' | 'claim'>): string | undefined {
  if (claim !== undefined && !isOurClaim(claim))
    return `a PersistentVolumeClaim ${key.name} exists that was not made for this dataset: delete it, or give the dataset another name`
  if (volume !== undefined && !isOurVolume(volume, key))
    return `a PersistentVolume ${volume.metadata.name ?? ''} exists that was not made for this dataset: give the dataset another name`
  return undefined
}

function creation(source: VolumeSource, ours: Pick<Observed, 'volume' | 'claim'>): Action[] {
  return [
    { do: 'apply', resource: PERSISTENT_VOLUMES, object: asMade(volumeOf(source), ours.volume) },
    { do: 'apply', resource: PERSISTENT_VOLUME_CLAIMS, object: asMade(claimOf(source), ours.claim) },
  ]
}

/** Only the metadata of volumes and claims can change: the rest stays as it was made, whatever the dataset says by now. */
function asMade<T extends PersistentVolume | PersistentVolumeClaim>(wanted: T, live: T | undefined): T {
  if (live === undefined) return wanted
  const [desired, made] = [wanted.spec ?? {}, live.spec ?? {}] as [Record<string, unknown>, Record<string, unknown>]
  // The binder completes the reference to the claim.
  const spec = Object.fromEntries(Object.entries(desired).map(([key, value]) => [key, key === 'claimRef' ? value : (made[key] ?? value)]))
  return { ...wanted, spec }
}

/** The claim first: pods that use it keep it, and with it the volume. */
function removal({ volume, claim }: Pick<Observed, 'volume' | 'claim'>): Action[] {
  if (claim !== undefined) return isGoing(claim) ? [] : [{ do: 'delete', resource: PERSISTENT_VOLUME_CLAIMS, of: claim }]
  return volume === undefined || isGoing(volume) ? [] : [{ do: 'delete', resource: PERSISTENT_VOLUMES, of: volume }]
}

const warning = (of: KubeObject, message: string): EventIntent => ({ of, type: 'Warning', reason: 'ErrorProcessRuntime', message })
