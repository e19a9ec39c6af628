/**
 * What to do about one claim. A binding has two halves, and the order is always the same: the volume's reference first,
 * on the version it was seen at, so that no two claims ever get the same volume; then the claim's. A binding interrupted
 * in between is found by the reference on the volume and completed. A volume that was given to a claim which then took
 * another is made available again. Pure.
 */

import { deepEqual } from '../../../base/json.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../kinds/kubernetes/resources.ts'
import type { ObjectReference, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../kinds/kubernetes/types.ts'
import { compareQuantities, tryParseQuantity } from '../../../kube/quantity.ts'
import { type Action, type EventIntent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import {
  annotationOf,
  BETA_STORAGE_PROVISIONER,
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  classAskedBy,
  classOfClaim,
  PROVISIONED_BY,
  SELECTED_NODE,
  STORAGE_PROVISIONER,
} from '../names.ts'
import { type RecordedEvents, recordOnce } from '../recorded-events.ts'
import { capacityOf, findVolume, isReservedFor, whyUnfit } from './match.ts'

export const COMPONENT = 'persistentvolume-controller'
const YES = 'yes'

export interface Observed {
  claim: PersistentVolumeClaim | undefined
  /** The class the claim asks for. */
  storageClass: StorageClass | undefined
  /** The class for claims that ask for none. */
  defaultClass: StorageClass | undefined
  /** The volume that the claim names. */
  named: PersistentVolume | undefined
  /** Volumes whose reference names the claim. */
  reserved: readonly PersistentVolume[]
  /** Unclaimed volumes of the claim's class. */
  available: readonly PersistentVolume[]
  /** Names of pods that use the claim and have no node yet. */
  waitingPods: readonly string[]
  recorded: RecordedEvents
  nowMs: number
}

type Bound = Observed & { claim: PersistentVolumeClaim }

export function plan(observed: Observed): Plan {
  const { claim } = observed
  if (claim === undefined) return NOTHING_TO_DO
  const with_: Bound = { ...observed, claim }
  const actions = annotationOf(claim, BIND_COMPLETED) === undefined ? unboundActions(with_) : boundActions(with_)
  return { actions: [...setFree(with_), ...actions] }
}

function unboundActions(observed: Bound): Action[] {
  const { claim, named } = observed
  // Being deleted and not bound: nothing is started for it any more.
  if (claim.metadata.deletionTimestamp !== undefined) return []
  if (hasName(claim)) return namedActions(observed, named)
  const isDelayed = observed.storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
  const volume = findVolume(claim, { reserved: observed.reserved, available: observed.available, isDelayed })
  if (volume !== undefined) return bind(volume, claim)
  if (classAskedBy(claim) === undefined && observed.defaultClass !== undefined)
    return [patchClaim(claim, { spec: { storageClassName: observed.defaultClass.metadata.name } })]
  if (isDelayed && annotationOf(claim, SELECTED_NODE) === undefined) return pending(observed, waitingEvent(observed))
  if (classOfClaim(claim) !== '') return provisionActions(observed)
  const message = 'no persistent volumes available for this claim and no storage class is set'
  return pending(observed, { of: claim, type: 'Normal', reason: 'FailedBinding', message })
}

/** The claim asks for a particular volume. */
function namedActions(observed: Bound, volume: PersistentVolume | undefined): Action[] {
  const { claim } = observed
  if (volume === undefined) return pending(observed)
  if (isReservedFor(volume, claim)) return bind(volume, claim)
  const name = volume.metadata.name ?? ''
  if (volume.spec?.claimRef !== undefined) {
    const message = `volume "${name}" already bound to a different claim.`
    return pending(observed, { of: claim, type: 'Warning', reason: 'FailedBinding', message })
  }
  const why = whyUnfit(volume, claim)
  if (why === undefined) return bind(volume, claim)
  return pending(observed, {
    of: claim,
    type: 'Warning',
    reason: 'VolumeMismatch',
    message: `Cannot bind to requested volume "${name}": ${why}`,
  })
}

function waitingEvent({ claim, waitingPods }: Bound): EventIntent {
  const [first, ...others] = waitingPods
  if (first === undefined) {
    const message = 'waiting for first consumer to be created before binding'
    return { of: claim, type: 'Normal', reason: 'WaitForFirstConsumer', message }
  }
  const who = others.length === 0 ? `pod ${first}` : `pods ${waitingPods.join(',')}`
  return { of: claim, type: 'Normal', reason: 'WaitForPodScheduled', message: `waiting for ${who} to be scheduled` }
}

/** Names the provisioner that is to create the volume; creating it is up to the provisioner. */
function provisionActions(observed: Bound): Action[] {
  const { claim, storageClass } = observed
  const failed = (message: string): Action[] => pending(observed, { of: claim, type: 'Warning', reason: 'ProvisioningFailed', message })
  if (storageClass === undefined) return failed(`storageclass.storage.k8s.io "${classOfClaim(claim)}" not found`)
  const provisioner = storageClass.provisioner ?? ''
  if (provisioner.startsWith('kubernetes.io/')) return failed(`no volume plugin matched name: ${provisioner}`)
  if (annotationOf(claim, STORAGE_PROVISIONER) === provisioner) return pending(observed)
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`
  const annotations = { [BETA_STORAGE_PROVISIONER]: provisioner, [STORAGE_PROVISIONER]: provisioner }
  const event: EventIntent = { of: claim, type: 'Normal', reason: 'ExternalProvisioning', message }
  return [patchClaim(claim, { metadata: { annotations } }, event)]
}

function boundActions({ claim, named }: Bound): Action[] {
  const lost = (reason: string, message: string): Action[] =>
    claim.status?.phase === 'Lost' ? [] : [writeStatus(claim, statusWithout('Lost'), { of: claim, type: 'Warning', reason, message })]
  if (!hasName(claim)) return lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!')
  if (named === undefined) return lost('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
  const ref = named.spec?.claimRef
  if (ref === undefined || ref.uid === claim.metadata.uid) return bind(named, claim)
  return lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')
}

/** Both halves, then the status; the second write to the claim waits until the first is visible. */
function bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Action[] {
  const actions: Action[] = []
  const ref = volume.spec?.claimRef
  const wanted = referenceTo(claim)
  const isGiven = ref !== undefined && ref.name === wanted.name && ref.namespace === wanted.namespace && ref.uid === wanted.uid
  const needsMark = !isReservedFor(volume, claim) && annotationOf(volume, BOUND_BY_CONTROLLER) === undefined
  if (!isGiven) {
    const metadata = needsMark ? { annotations: { [BOUND_BY_CONTROLLER]: YES } } : {}
    actions.push({ do: 'patch', resource: PERSISTENT_VOLUMES, of: volume, patch: { metadata, spec: { claimRef: wanted } } })
  }
  const isNamed = claim.spec?.volumeName === volume.metadata.name
  const marks = [...(isNamed ? [] : [BOUND_BY_CONTROLLER]), BIND_COMPLETED].filter((mark) => annotationOf(claim, mark) === undefined)
  if (!isNamed || marks.length > 0) {
    const annotations = Object.fromEntries(marks.map((mark) => [mark, YES]))
    return [
      ...actions,
      patchClaim(claim, { metadata: { annotations }, ...(isNamed ? {} : { spec: { volumeName: volume.metadata.name } }) }),
    ]
  }
  const status = boundStatus(volume, claim)
  return status === undefined ? actions : [...actions, writeStatus(claim, status)]
}

function boundStatus(volume: PersistentVolume, claim: PersistentVolumeClaim): Record<string, unknown> | undefined {
  const { phase, accessModes, capacity, currentVolumeAttributesClassName: current } = claim.status ?? {}
  const status: Record<string, unknown> = {}
  if (phase !== 'Bound') status.phase = 'Bound'
  const modes = volume.spec?.accessModes ?? []
  if (!deepEqual(accessModes ?? [], modes)) status.accessModes = modes
  // Only while it becomes bound: a difference later on may be intended.
  if (phase !== 'Bound') {
    const held = capacity === undefined || !Object.hasOwn(capacity, 'storage') ? undefined : tryParseQuantity(capacity.storage ?? '').value
    if (held === undefined || compareQuantities(held, capacityOf(volume)) !== 0) status.capacity = volume.spec?.capacity
    const attributes = volume.spec?.volumeAttributesClassName
    if (phase === 'Pending' && attributes !== current) status.currentVolumeAttributesClassName = attributes ?? null
  }
  return Object.keys(status).length === 0 ? undefined : status
}

/** Volumes this claim was given besides the one it took: after a crash, with a stale view, or with two binders at work. */
function setFree({ claim, reserved }: Bound): Action[] {
  if (!hasName(claim)) return []
  const others = reserved.filter(
    (volume) =>
      volume.spec?.claimRef?.uid === claim.metadata.uid && volume.metadata.name !== claim.spec?.volumeName && !isReclaimed(volume),
  )
  return others.map((volume) => {
    const isOurs = annotationOf(volume, BOUND_BY_CONTROLLER) !== undefined
    const patch = isOurs
      ? { metadata: { annotations: { [BOUND_BY_CONTROLLER]: null } }, spec: { claimRef: null } }
      : { spec: { claimRef: { uid: null } } }
    return { do: 'patch', resource: PERSISTENT_VOLUMES, of: volume, patch }
  })
}

/** Provisioned for this claim but of no use to it: it is not made available but released, and deleted. */
export const isReclaimed = (volume: PersistentVolume): boolean =>
  annotationOf(volume, PROVISIONED_BY) !== undefined && volume.spec?.persistentVolumeReclaimPolicy === 'Delete'

function pending({ claim, recorded, nowMs }: Bound, event?: EventIntent): Action[] {
  const { phase, accessModes, capacity } = claim.status ?? {}
  const isPending = phase === 'Pending' && accessModes === undefined && capacity === undefined
  const recording = event === undefined ? [] : recordOnce(event, { recorded, component: COMPONENT, nowMs })
  return [...(isPending ? [] : [writeStatus(claim, statusWithout('Pending'))]), ...recording]
}

const statusWithout = (phase: string): Record<string, unknown> => ({
  phase,
  accessModes: null,
  capacity: null,
  currentVolumeAttributesClassName: null,
})

const hasName = (claim: PersistentVolumeClaim): boolean => (claim.spec?.volumeName ?? '') !== ''

const patchClaim = (of: PersistentVolumeClaim, patch: Record<string, unknown>, event?: EventIntent): Action => ({
  do: 'patch',
  resource: PERSISTENT_VOLUME_CLAIMS,
  of,
  patch,
  events: event,
})

const writeStatus = (of: PersistentVolumeClaim, status: Record<string, unknown>, event?: EventIntent): Action => ({
  do: 'patch',
  resource: PERSISTENT_VOLUME_CLAIMS,
  of,
  patch: { status },
  subresource: 'status',
  events: event,
})

/** As Kubernetes writes references. */
export function referenceTo(claim: PersistentVolumeClaim): ObjectReference {
  const { namespace, name, uid, resourceVersion } = claim.metadata
  return { kind: 'PersistentVolumeClaim', namespace, name, uid, apiVersion: 'v1', resourceVersion }
}
