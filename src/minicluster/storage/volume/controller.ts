/**
 * Keeps the phase of every volume current: Available, Bound, Released when its claim is gone, Failed when nothing can
 * reclaim it. Sole writer of PersistentVolume.status. Only its provisioner removes a volume's content, when it is Released
 * and its policy is Delete. A volume becomes Released only when the server itself has no such claim.
 */

import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kinds/kubernetes/types.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import {
  type Action,
  type Controller,
  defineController,
  type EventIntent,
  NOTHING_TO_DO,
  type Plan,
  type Reader,
  via,
} from '../../../runtime/controller.ts'
import { hasSameMode } from '../claim/match.ts'
import { COMPONENT, isReclaimed } from '../claim/plan.ts'
import { annotationOf, PROVISIONED_BY } from '../names.ts'
import { eventIndex, eventWatch, type RecordedEvents, recordedEventsOf, recordOnce, WRITES_EVENTS } from '../recorded-events.ts'

export interface Observed {
  volume: PersistentVolume | undefined
  /** The very claim its reference means; undefined when it is gone. */
  claim: PersistentVolumeClaim | undefined
  recorded: RecordedEvents
  recordedOfClaim: RecordedEvents
  nowMs: number
}

export function volumePhases(): Controller {
  return defineController<Observed, PersistentVolume>({
    name: 'minicluster.storage.volume',
    component: COMPONENT,
    for: PERSISTENT_VOLUMES,
    watches: [via(PERSISTENT_VOLUME_CLAIMS, volumesOfClaim), eventWatch('PersistentVolume')],
    indexes: [{ resource: PERSISTENT_VOLUMES, name: CLAIM, of: (volume) => claimUidOf(volume as PersistentVolume) }, eventIndex],
    writes: [{ resource: PERSISTENT_VOLUMES, subresource: 'status', verbs: ['patch'] }, WRITES_EVENTS],
    reads: [{ resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['get'] }],
    concurrency: 4,
    observe: async (_ref, volume, read, client) => {
      const claim = await claimOf(volume, read, client)
      return {
        volume,
        claim,
        recorded: recordedEventsOf(read, volume),
        recordedOfClaim: recordedEventsOf(read, claim),
        nowMs: read.nowMs(),
      }
    },
    plan,
  })
}

const CLAIM = 'claim'

function claimUidOf(volume: PersistentVolume): string[] {
  const uid = volume.spec?.claimRef?.uid ?? ''
  return uid === '' ? [] : [uid]
}

const volumesOfClaim = (claim: PersistentVolumeClaim, read: Reader): ObjectRef[] =>
  read.byIndex(PERSISTENT_VOLUMES, CLAIM, claim.metadata.uid ?? '').map((volume) => ({ namespace: '', name: volume.metadata.name ?? '' }))

async function claimOf(volume: PersistentVolume | undefined, read: Reader, client: Client): Promise<PersistentVolumeClaim | undefined> {
  const { namespace = '', name = '', uid = '' } = volume?.spec?.claimRef ?? {}
  if (uid === '') return undefined
  const isSame = (claim: PersistentVolumeClaim | undefined): boolean => claim?.metadata.uid === uid
  const cached = read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name)
  if (isSame(cached)) return cached
  // Both phases are final with regard to the claim; otherwise the server would be asked forever.
  if (volume?.status?.phase === 'Released' || volume?.status?.phase === 'Failed') return undefined
  const live = await ifFound(client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, { namespace, name }))
  return isSame(live) ? live : undefined
}

export function plan(observed: Observed): Plan {
  const { volume, claim } = observed
  if (volume === undefined) return NOTHING_TO_DO
  const uid = volume.spec?.claimRef?.uid ?? ''
  if (uid === '') return { actions: toPhase(volume, 'Available') }
  if (claim === undefined) return { actions: released(volume) }
  const taken = claim.spec?.volumeName ?? ''
  if (taken === volume.metadata.name) return { actions: toPhase(volume, 'Bound') }
  // The claim took another volume: it makes this one available itself, unless it was provisioned for the claim and is deleted.
  if (taken !== '') return { actions: isReclaimed(volume) ? released(volume) : [] }
  return { actions: hasSameMode(volume, claim) ? [] : recordMismatch(volume, claim, observed) }
}

function released(volume: PersistentVolume): Action[] {
  const { phase } = volume.status ?? {}
  if (phase === 'Failed') return []
  if (phase !== 'Released') return toPhase(volume, 'Released')
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case 'Retain':
      return []
    case 'Delete':
      return isProvisionersMatter(volume) ? [] : failed(volume, 'VolumeFailedDelete', whyNotDeletable(volume))
    case 'Recycle':
      return failed(volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!')
    default:
      return failed(volume, 'VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy')
  }
}

function isProvisionersMatter(volume: PersistentVolume): boolean {
  const provisioner = annotationOf(volume, PROVISIONED_BY) ?? ''
  return provisioner !== '' && !provisioner.startsWith('kubernetes.io/')
}

const whyNotDeletable = (volume: PersistentVolume): string =>
  `error getting deleter volume plugin for volume "${volume.metadata.name ?? ''}": no deletable volume plugin matched`

const failed = (volume: PersistentVolume, reason: string, message: string): Action[] =>
  toPhase(volume, 'Failed', { of: volume, type: 'Warning', reason, message })

function toPhase(volume: PersistentVolume, phase: string, events?: EventIntent): Action[] {
  if (volume.status?.phase === phase) return []
  const status = { phase, message: events?.message ?? null }
  return [{ do: 'patch', resource: PERSISTENT_VOLUMES, of: volume, patch: { status }, subresource: 'status', events }]
}

function recordMismatch(volume: PersistentVolume, claim: PersistentVolumeClaim, { recorded, recordedOfClaim, nowMs }: Observed): Action[] {
  const why = 'due to incompatible volumeMode.'
  const warning = { type: 'Warning', reason: 'VolumeMismatch' } as const
  const toVolume = `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name ?? ''}" ${why}`
  const toClaim = `Cannot bind PersistentVolume "${volume.metadata.name ?? ''}" to requested PersistentVolumeClaim ${why}`
  return [
    ...recordOnce({ of: volume, ...warning, message: toVolume }, { recorded, component: COMPONENT, nowMs }),
    ...recordOnce({ of: claim, ...warning, message: toClaim }, { recorded: recordedOfClaim, component: COMPONENT, nowMs }),
  ]
}
