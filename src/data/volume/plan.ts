/** What to do about the volume and the claim of a dataset: pure. The volume comes first and goes last, so that no claim dangles. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfRef, type ObjectRef } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Action, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { hasFinalizer, removeFinalizer } from '../../runtime/finalizer.ts'
import { datasetOfVolume } from '../scaling/readers.ts'
import { claimOf, isOurClaim, isOurVolume, type VolumeSource, volumeOf } from './desired.ts'
import { isOurKey } from './metadata.ts'
import { canBeMade, isOutdated, type ReferenceSource, referenceClaim, referenceVolume } from './reference.ts'
import { takenBy } from './taken.ts'

export const VOLUME_CONTROLLER = 'data.volume'

export interface Observed {
  key: ObjectRef
  dataset: Dataset | undefined
  /** What the volume is made from; undefined: there is to be none. */
  source: VolumeSource | ReferenceSource | undefined
  /** A pod uses the claim; known of references only. */
  isUsed?: boolean
  /** The dataset or its runtime are not what the source says any more. */
  isStale: boolean
  volume: PersistentVolume | undefined
  claim: PersistentVolumeClaim | undefined
  /** The claim is to be deleted, and a pod that has not ended uses it. */
  isHeld: boolean
  nowMs: number
}

/** By what Kubernetes keeps a claim while there are pods that mount it, also if they have ended. */
const PROTECTION = 'kubernetes.io/pvc-protection'
/** How long pods that have ended keep a claim: as long as in Fluid. */
const ENDED_PODS_HOLD_MS = 30_000

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

export function plan(observed: Observed): Plan {
  const { source, isStale, key, volume, claim } = observed
  if (isStale) return NOTHING_TO_DO
  const ours = {
    volume: volume !== undefined && isOurVolume(volume, key) ? volume : undefined,
    claim: claim !== undefined && isOurClaim(claim) ? claim : undefined,
  }
  // What is made anew must not be taken for the old one, so that is waited for.
  if (ours.claim !== undefined && isGoing(ours.claim)) return leaving(ours.claim, observed)
  if (source === undefined) return { actions: removal(ours) }
  // The dataset says so.
  if (takenBy(observed) !== undefined) return NOTHING_TO_DO
  if ((volume !== undefined && isGoing(volume)) || (claim !== undefined && isGoing(claim))) return NOTHING_TO_DO
  // A volume that was bound to a claim which is gone takes no other one.
  if (ours.claim === undefined && ours.volume?.spec?.claimRef?.uid !== undefined) return { actions: removal(ours) }
  // It was a reference, and has sources of its own now: what is left would still show those of the other dataset.
  if (!('referred' in source) && ours.volume !== undefined && leadsElsewhere(ours.volume, key)) return { actions: removal(ours) }
  const wanted = wantedOf(source, ours.volume)
  if (wanted === undefined) return NOTHING_TO_DO
  // What pods use stays as it is; what follows is made when it is gone.
  if ('referred' in source && ours.volume !== undefined && isOutdated(ours.volume, wanted.volume))
    return observed.isUsed === true ? NOTHING_TO_DO : { actions: removal(ours) }
  return {
    actions: [...making(PERSISTENT_VOLUMES, wanted.volume, ours.volume), ...making(PERSISTENT_VOLUME_CLAIMS, wanted.claim, ours.claim)],
  }
}

function leadsElsewhere(volume: PersistentVolume, key: ObjectRef): boolean {
  const dataset = datasetOfVolume(volume)
  return dataset !== undefined && dataset !== keyOfRef(key)
}

interface Wanted {
  volume: PersistentVolume
  claim: PersistentVolumeClaim
}

/** Undefined: not enough is known to make anything. What is there stays as it was made, so only a new one needs to know. */
function wantedOf(source: VolumeSource | ReferenceSource, live: PersistentVolume | undefined): Wanted | undefined {
  if ('referred' in source) return canBeMade(source) ? { volume: referenceVolume(source), claim: referenceClaim(source) } : undefined
  if (source.mount.type === undefined && live === undefined) return undefined
  return { volume: volumeOf(source), claim: claimOf(source) }
}

type Made = PersistentVolume | PersistentVolumeClaim

/**
 * What is new is created, never applied: a user may have come first in this very moment, and what is theirs stays theirs. What the
 * runtime wants beside is applied afterwards, so that it can be taken back.
 */
function making<T extends Made>(resource: Resource<T>, wanted: T, live: T | undefined): Action[] {
  if (live === undefined) return [{ do: 'create', resource, object: bare(wanted), mustBeNew: true }]
  const isApplied = (live.metadata.managedFields ?? []).some(({ manager }) => manager === VOLUME_CONTROLLER)
  if (!isApplied && hasTexts(live, wanted)) return []
  return [{ do: 'apply', resource, object: asMade(wanted, live) }]
}

/** Only with what every volume and claim has. */
function bare<T extends Made>(wanted: T): T {
  const { labels, annotations, ...metadata } = wanted.metadata
  const own = (texts: Record<string, string> | undefined): Record<string, string> =>
    Object.fromEntries(Object.entries(texts ?? {}).filter(([key]) => isOurKey(key)))
  return { ...wanted, metadata: { ...metadata, labels: own(labels), annotations: own(annotations) } }
}

const hasTexts = (live: Made, wanted: Made): boolean =>
  (['labels', 'annotations'] as const).every((field) =>
    Object.entries(wanted.metadata[field] ?? {}).every(([key, value]) => live.metadata[field]?.[key] === value),
  )

/**
 * Only the metadata of volumes and claims can change: the rest stays as it was made, whatever the dataset says by now. The uid
 * keeps one that is gone from being made again.
 */
function asMade<T extends Made>(wanted: T, live: T): T {
  const [desired, made] = [wanted.spec ?? {}, live.spec ?? {}] as [Record<string, unknown>, Record<string, unknown>]
  // The binder completes the reference to the claim.
  const spec = Object.fromEntries(Object.entries(desired).map(([key, value]) => [key, key === 'claimRef' ? value : (made[key] ?? value)]))
  return { ...wanted, metadata: { ...wanted.metadata, uid: live.metadata.uid }, spec }
}

/** The claim first: pods that use it keep it, and with it the volume. */
function removal({ volume, claim }: Pick<Observed, 'volume' | 'claim'>): Action[] {
  if (claim !== undefined) return [{ do: 'delete', resource: PERSISTENT_VOLUME_CLAIMS, of: claim }]
  return volume === undefined || isGoing(volume) ? [] : [{ do: 'delete', resource: PERSISTENT_VOLUMES, of: volume }]
}

function leaving(claim: PersistentVolumeClaim, { isHeld, nowMs }: Observed): Plan {
  if (isHeld || !hasFinalizer(claim, PROTECTION)) return NOTHING_TO_DO
  const leftMs = Date.parse(claim.metadata.deletionTimestamp ?? '') + ENDED_PODS_HOLD_MS - nowMs
  return leftMs > 0 ? { actions: [], requeueAfterMs: leftMs } : { actions: [removeFinalizer(PERSISTENT_VOLUME_CLAIMS, claim, PROTECTION)] }
}
