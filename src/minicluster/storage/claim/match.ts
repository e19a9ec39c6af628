/**
 * Which volume a claim gets: one that is reserved for it, else the smallest that fits among those with the fewest access
 * modes. Pure; equal input gives an equal choice, whatever the order of the lists.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kinds/kubernetes/types.ts'
import { compareQuantities, type Quantity, quantityOf, tryParseQuantity } from '../../../kube/quantity.ts'
import { type LabelSelectorObject, matchesLabels, selectorFromObject } from '../../../kube/selector.ts'
import { classOfClaim, classOfVolume, compareText } from '../names.ts'

/** The volume's reference names the claim: fully (with its uid) or as a person reserves it (without). */
export function isReservedFor(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const ref = volume.spec?.claimRef
  if (ref === undefined || ref.name !== claim.metadata.name || ref.namespace !== claim.metadata.namespace) return false
  return isEmpty(ref.uid) || ref.uid === claim.metadata.uid
}

export interface Candidates {
  /** Volumes whose reference names the claim. */
  reserved: readonly PersistentVolume[]
  /** Unclaimed volumes of the claim's class. */
  available: readonly PersistentVolume[]
  /** The claim waits for its first consumer: only reserved volumes count. */
  isDelayed: boolean
}

export function findVolume(claim: PersistentVolumeClaim, { reserved, available, isDelayed }: Candidates): PersistentVolume | undefined {
  const own = reserved.filter((volume) => isReservedFor(volume, claim) && couldHold(volume, claim)).sort(byReservation(claim))
  if (own[0] !== undefined || isDelayed) return own[0]
  const selector = selectorFromObject(claim.spec?.selector as LabelSelectorObject | undefined)
  if (selector.error !== undefined) return undefined
  const fits = available.filter(
    (volume) =>
      volume.spec?.claimRef === undefined &&
      volume.status?.phase === 'Available' &&
      classOfVolume(volume) === classOfClaim(claim) &&
      (claim.spec?.selector === undefined || (selector.value !== undefined && matchesLabels(selector.value, volume.metadata.labels))) &&
      couldHold(volume, claim),
  )
  return fits.sort(byFit)[0]
}

/** Large enough, with the right mode and access modes, and not being deleted. */
function couldHold(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (
    volume.metadata.deletionTimestamp === undefined &&
    compareQuantities(capacityOf(volume), requestOf(claim)) >= 0 &&
    hasSameMode(volume, claim) &&
    hasSameAttributesClass(volume, claim) &&
    hasAccessModes(volume, claim)
  )
}

/** Why a volume that a claim asks for by name does not fit; undefined when it does. */
export function whyUnfit(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) return `the volume is marked for deletion "${volume.metadata.name ?? ''}"`
  if (compareQuantities(capacityOf(volume), requestOf(claim)) < 0) return 'requested PV is too small'
  if (classOfVolume(volume) !== classOfClaim(claim)) return 'storageClassName does not match'
  if (!hasSameAttributesClass(volume, claim)) return 'volumeAttributesClassName does not match'
  if (!hasSameMode(volume, claim)) return 'incompatible volumeMode'
  return hasAccessModes(volume, claim) ? undefined : 'incompatible accessMode'
}

export const hasSameMode = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem')

const hasSameAttributesClass = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (volume.spec?.volumeAttributesClassName ?? '') === (claim.spec?.volumeAttributesClassName ?? '')

function hasAccessModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const offered = new Set(volume.spec?.accessModes ?? [])
  return (claim.spec?.accessModes ?? []).every((mode) => offered.has(mode))
}

export const capacityOf = (volume: PersistentVolume): Quantity => quantityIn(volume.spec?.capacity)
const requestOf = (claim: PersistentVolumeClaim): Quantity => quantityIn(claim.spec?.resources?.requests)

function quantityIn(amounts: Record<string, string | number> | undefined): Quantity {
  const text = amounts !== undefined && Object.hasOwn(amounts, 'storage') ? amounts.storage : undefined
  return (text === undefined ? undefined : tryParseQuantity(text).value) ?? quantityOf(0)
}

/** A volume already given to this very claim precedes one reserved by name: an interrupted binding is completed. */
const byReservation =
  (claim: PersistentVolumeClaim) =>
  (a: PersistentVolume, b: PersistentVolume): number => {
    const given = (volume: PersistentVolume): number => (volume.spec?.claimRef?.uid === claim.metadata.uid ? 0 : 1)
    return given(a) - given(b) || byFit(a, b)
  }

const byFit = (a: PersistentVolume, b: PersistentVolume): number =>
  modesOf(a) - modesOf(b) || compareQuantities(capacityOf(a), capacityOf(b)) || compareText(a.metadata.name ?? '', b.metadata.name ?? '')

const modesOf = (volume: PersistentVolume): number => new Set(volume.spec?.accessModes ?? []).size

const isEmpty = (text: string | undefined): boolean => text === undefined || text === ''
