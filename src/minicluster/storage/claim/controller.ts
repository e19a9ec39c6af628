/**
 * Binds claims to volumes. Sole writer of PersistentVolumeClaim.spec.volumeName, the default class of claims that name
 * none, their binding annotations and status, and of PersistentVolume.spec.claimRef (a provisioner creates its volumes with
 * it; the scheduler writes it for volumes it chose). The phases of volumes are `minicluster.storage.volume`'s.
 * Runs again when the claim, its volume, a volume it could have, its class or a pod that waits for it changes.
 */

import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES } from '../../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../kinds/kubernetes/types.ts'
import { type ObjectRef, objectKey, refOf, refOfKey } from '../../../kube/object-reference.ts'
import { type Controller, defineController, indexOf, type Reader, via } from '../../../runtime/controller.ts'
import { mayAdopt } from '../../../runtime/workloads/pod/ownership.ts'
import { isPodTerminal } from '../../../runtime/workloads/pod/state.ts'
import {
  annotationOf,
  BIND_COMPLETED,
  claimsOfPod,
  classAskedBy,
  classOfClaim,
  classOfVolume,
  compareText,
  defaultClassOf,
  isDefaultClass,
} from '../names.ts'
import { eventIndex, eventWatch, recordedEventsOf, WRITES_EVENTS } from '../recorded-events.ts'
import { COMPONENT, type Observed, plan } from './plan.ts'

const RESERVED = 'reserved'
const AVAILABLE = 'available'
const NAMING = 'naming'
const WAITING = 'waiting'
const DEFAULT = 'default'
const USERS = 'users'
/** No class name contains a slash. */
const NO_CLASS = 'no/class'

export function claimBinding(): Controller {
  return defineController<Observed, PersistentVolumeClaim>({
    name: 'minicluster.storage.claim',
    component: COMPONENT,
    for: PERSISTENT_VOLUME_CLAIMS,
    watches: [
      via(PERSISTENT_VOLUMES, claimsConcernedBy),
      via(STORAGE_CLASSES, claimsOfClass),
      via(PODS, (pod) => claimsOfPod(pod).map(refOfKey)),
      eventWatch('PersistentVolumeClaim'),
    ],
    indexes: [
      indexOf(PERSISTENT_VOLUMES, RESERVED, ({ spec }) =>
        spec?.claimRef === undefined ? [] : [objectKey(spec.claimRef.namespace, spec.claimRef.name)],
      ),
      indexOf(PERSISTENT_VOLUMES, AVAILABLE, (volume) => (isAvailable(volume) ? [classOfVolume(volume)] : [])),
      indexOf(PERSISTENT_VOLUME_CLAIMS, NAMING, ({ spec }) => (spec?.volumeName === undefined ? [] : [spec.volumeName])),
      indexOf(PERSISTENT_VOLUME_CLAIMS, WAITING, (claim) => (isWaiting(claim) ? [classAskedBy(claim) ?? NO_CLASS] : [])),
      indexOf(STORAGE_CLASSES, DEFAULT, (one) => (isDefaultClass(one) ? [DEFAULT] : [])),
      indexOf(PODS, USERS, claimsOfPod),
      eventIndex,
    ],
    writes: [
      { resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['patch'] },
      { resource: PERSISTENT_VOLUME_CLAIMS, subresource: 'status', verbs: ['patch'] },
      { resource: PERSISTENT_VOLUMES, verbs: ['patch'] },
      WRITES_EVENTS,
    ],
    reads: [
      { resource: PERSISTENT_VOLUMES, verbs: ['get'] },
      { resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['get'] },
    ],
    concurrency: 4,
    observe,
    plan,
  })
}

async function observe(ref: ObjectRef, claim: PersistentVolumeClaim | undefined, read: Reader, client: Client): Promise<Observed> {
  const key = objectKey(ref.namespace, ref.name)
  const className = claim === undefined ? '' : classOfClaim(claim)
  const reserved = read.byIndex(PERSISTENT_VOLUMES, RESERVED, key)
  const named = await namedVolume(claim, read, client)
  const available = claim === undefined || !isWaiting(claim) ? [] : read.byIndex(PERSISTENT_VOLUMES, AVAILABLE, className)
  const waiting = read.byIndex(PODS, USERS, key).filter((pod) => !isPodTerminal(pod) && (pod.spec?.nodeName ?? '') === '')
  // A volume given to a claim that exists only in a stale cache would be lost to others.
  const mayTake = claim !== undefined && isWaiting(claim) && (named !== undefined || reserved.length + available.length > 0)
  const isGone = mayTake && !(await mayAdopt(client, PERSISTENT_VOLUME_CLAIMS, claim))
  return {
    claim: isGone ? undefined : claim,
    storageClass: className === '' ? undefined : read.get(STORAGE_CLASSES, '', className),
    defaultClass: defaultClassOf(read.byIndex(STORAGE_CLASSES, DEFAULT, DEFAULT)),
    named,
    reserved,
    available,
    waitingPods: waiting.map((pod) => pod.metadata.name ?? '').sort(compareText),
    recorded: recordedEventsOf(read, claim),
    nowMs: read.nowMs(),
  }
}

/** A claim is set to Lost only when the server itself has no such volume: the cache may be behind. */
async function namedVolume(claim: PersistentVolumeClaim | undefined, read: Reader, client: Client): Promise<PersistentVolume | undefined> {
  const name = claim?.spec?.volumeName ?? ''
  if (claim === undefined || name === '') return undefined
  const cached = read.get(PERSISTENT_VOLUMES, '', name)
  if (cached !== undefined || isWaiting(claim) || claim.status?.phase === 'Lost') return cached
  return ifFound(client.get<PersistentVolume>(PERSISTENT_VOLUMES, { name }))
}

const isAvailable = ({ spec, status, metadata }: PersistentVolume): boolean =>
  spec?.claimRef === undefined && status?.phase === 'Available' && metadata.deletionTimestamp === undefined

const isWaiting = (claim: PersistentVolumeClaim): boolean => annotationOf(claim, BIND_COMPLETED) === undefined

function claimsConcernedBy(volume: PersistentVolume, read: Reader): ObjectRef[] {
  const { namespace, name } = volume.spec?.claimRef ?? {}
  const reserved = name === undefined ? [] : [{ namespace: namespace ?? '', name }]
  const naming = read.byIndex(PERSISTENT_VOLUME_CLAIMS, NAMING, volume.metadata.name ?? '').map(refOf)
  if (!isAvailable(volume)) return [...reserved, ...naming]
  const className = classOfVolume(volume)
  const waiting = [className, ...(className === '' ? [NO_CLASS] : [])].flatMap((of) => read.byIndex(PERSISTENT_VOLUME_CLAIMS, WAITING, of))
  return [...reserved, ...naming, ...waiting.map(refOf)]
}

const claimsOfClass = (one: StorageClass, read: Reader): ObjectRef[] =>
  [one.metadata.name ?? '', ...(isDefaultClass(one) ? [NO_CLASS] : [])]
    .flatMap((of) => read.byIndex(PERSISTENT_VOLUME_CLAIMS, WAITING, of))
    .map(refOf)
