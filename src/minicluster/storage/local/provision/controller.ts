/**
 * Creates volumes for claims of the provisioner `sluice.dev/local`: first the directory, then the object, so
 * that every visible volume is usable. A claim whose class waits for a consumer is served when the scheduler has written
 * its node; if the node is gone, it goes back to the scheduler. Creates PersistentVolumes `pvc-<uid of the claim>`.
 */

import type { Client } from '../../../../client/client.ts'
import { ifFound } from '../../../../client/errors.ts'
import { NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '../../../../kinds/kubernetes/resources.ts'
import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../../kinds/kubernetes/types.ts'
import {
  type Action,
  type Controller,
  defineController,
  type Effect,
  type EffectRequest,
  NOTHING_TO_DO,
  type Outcome,
  type Plan,
  type Reader,
  request,
  via,
} from '../../../../runtime/controller.ts'
import { mayAdopt } from '../../../../runtime/workloads/pod/ownership.ts'
import { isSimulated } from '../../../shape.ts'
import { annotationOf, classOfClaim, SELECTED_NODE, STORAGE_PROVISIONER } from '../../names.ts'
import { eventIndex, eventWatch, type RecordedEvents, recordedEventsOf, recordOnce, WRITES_EVENTS } from '../../recorded-events.ts'
import { LOCAL_PROVISIONER, type LocalVolumes, localVolume, pathOf, type VolumeDirectories, volumeNameOf } from '../volume.ts'

type DirectoryEffect = Effect<string, void>

export interface Observed {
  claim: PersistentVolumeClaim | undefined
  storageClass: StorageClass | undefined
  /** The node the scheduler chose, if it exists. */
  node: Node | undefined
  volume: PersistentVolume | undefined
  made: Outcome<void> | undefined
  recorded: RecordedEvents
  nowMs: number
  root: string
  effects: { make: DirectoryEffect; remove: DirectoryEffect }
}

export function localProvisioning({ root, directories }: LocalVolumes): Controller {
  const effects = effectsOf(directories)
  return defineController<Observed, PersistentVolumeClaim>({
    name: 'minicluster.storage.local.provision',
    component: LOCAL_PROVISIONER,
    for: PERSISTENT_VOLUME_CLAIMS,
    watches: [via(PERSISTENT_VOLUMES, () => []), via(STORAGE_CLASSES, () => []), via(NODES, () => []), eventWatch('PersistentVolumeClaim')],
    indexes: [eventIndex],
    effects: [effects.make as Effect, effects.remove as Effect],
    writes: [{ resource: PERSISTENT_VOLUMES, verbs: ['create'] }, { resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['patch'] }, WRITES_EVENTS],
    reads: [
      { resource: NODES, verbs: ['get'] },
      { resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['get'] },
    ],
    observe: async (_ref, claim, read, client) => ({
      claim: claim === undefined || (await isWanted(claim, read, client)) ? claim : undefined,
      storageClass: claim === undefined ? undefined : read.get(STORAGE_CLASSES, '', classOfClaim(claim)),
      node: claim === undefined || !isOurs(claim) ? undefined : await nodeOf(claim, read, client),
      volume: claim === undefined ? undefined : read.get(PERSISTENT_VOLUMES, '', volumeNameOf(claim)),
      made: claim === undefined ? undefined : read.outcome(effects.make, volumeNameOf(claim)),
      recorded: recordedEventsOf(read, claim),
      nowMs: read.nowMs(),
      root,
      effects,
    }),
    plan,
  })
}

function effectsOf(directories: VolumeDirectories): Observed['effects'] {
  const name = 'minicluster.storage.local.provision'
  return {
    make: {
      name: `${name}.make`,
      about: 'Makes the directory of a volume.',
      timeoutMs: 30_000,
      run: (path) => directories.make(path),
    },
    remove: {
      name: `${name}.remove`,
      about: 'Removes the directory that was made for a claim which went before it got its volume.',
      timeoutMs: 30_000,
      run: (path) => directories.remove(path),
    },
  }
}

const isOurs = (claim: PersistentVolumeClaim): boolean => annotationOf(claim, STORAGE_PROVISIONER) === LOCAL_PROVISIONER

/** Nothing is created for a claim that exists only in a stale cache. */
async function isWanted(claim: PersistentVolumeClaim, read: Reader, client: Client): Promise<boolean> {
  const isServed =
    !isOurs(claim) || (claim.spec?.volumeName ?? '') !== '' || read.get(PERSISTENT_VOLUMES, '', volumeNameOf(claim)) !== undefined
  return isServed || claim.metadata.deletionTimestamp !== undefined || (await mayAdopt(client, PERSISTENT_VOLUME_CLAIMS, claim))
}

/** A stale cache must not send the claim back to the scheduler. */
async function nodeOf(claim: PersistentVolumeClaim, read: Reader, client: Client): Promise<Node | undefined> {
  const name = annotationOf(claim, SELECTED_NODE)
  if (name === undefined) return undefined
  const cached = read.get(NODES, '', name)
  if (cached !== undefined) return cached
  return ifFound(client.get<Node>(NODES, { name }))
}

function plan(observed: Observed): Plan {
  const { claim, storageClass, volume, made, effects, root } = observed
  if (claim === undefined || volume !== undefined || !isOurs(claim)) return NOTHING_TO_DO
  const path = pathOf(root, volumeNameOf(claim))
  if (claim.metadata.deletionTimestamp !== undefined)
    return made === undefined ? NOTHING_TO_DO : { actions: [], effects: [request(effects.remove, volumeNameOf(claim), path)] }
  const isTaken = (claim.spec?.volumeName ?? '') !== ''
  if (isTaken || storageClass?.provisioner !== LOCAL_PROVISIONER) return NOTHING_TO_DO
  const refusal = whyRefused(claim)
  if (refusal !== undefined) return { actions: recordFailure(observed, claim, refusal) }
  return provisionFor(claim, storageClass, observed)
}

function provisionFor(claim: PersistentVolumeClaim, storageClass: StorageClass, observed: Observed): Plan {
  const { node, made, effects, root } = observed
  const chosen = annotationOf(claim, SELECTED_NODE)
  if (chosen === undefined && storageClass.volumeBindingMode === 'WaitForFirstConsumer') return NOTHING_TO_DO
  if (chosen !== undefined && node === undefined) return { actions: [backToScheduler(claim, chosen)] }
  const name = volumeNameOf(claim)
  const isReady = made?.state === 'done' || (node !== undefined && isSimulated(node))
  if (!isReady) {
    const effect: EffectRequest = request(effects.make, name, pathOf(root, name))
    const failureEvents = made?.state === 'failed' ? recordFailure(observed, claim, made.message) : []
    return { actions: failureEvents, effects: [effect] }
  }
  const events = { of: claim, type: 'Normal', reason: 'ProvisioningSucceeded', message: `Successfully provisioned volume ${name}` } as const
  return { actions: [{ do: 'create', resource: PERSISTENT_VOLUMES, object: localVolume({ claim, storageClass, node, root }), events }] }
}

function whyRefused(claim: PersistentVolumeClaim): string | undefined {
  if (claim.spec?.volumeMode === 'Block') return 'volumes of this class are directories: volumeMode Block cannot be had'
  if (claim.spec?.dataSource !== undefined || claim.spec?.dataSourceRef !== undefined)
    return 'volumes of this class begin empty: dataSource cannot be had'
  return undefined
}

function recordFailure({ recorded, nowMs }: Observed, claim: PersistentVolumeClaim, why: string): Action[] {
  const message = `failed to provision volume with StorageClass "${classOfClaim(claim)}": ${why}`
  return recordOnce(
    { of: claim, type: 'Warning', reason: 'ProvisioningFailed', message },
    { recorded, component: LOCAL_PROVISIONER, nowMs },
  )
}

const backToScheduler = (claim: PersistentVolumeClaim, node: string): Action => ({
  do: 'patch',
  resource: PERSISTENT_VOLUME_CLAIMS,
  of: claim,
  patch: { metadata: { annotations: { [SELECTED_NODE]: null } } },
  events: { of: claim, type: 'Warning', reason: 'ProvisioningFailed', message: `failed to get target node: nodes "${node}" not found` },
})
