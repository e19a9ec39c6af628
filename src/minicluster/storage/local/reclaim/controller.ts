/**
 * Deletes volumes of the provisioner `sluice.dev/local`: a released volume with policy Delete first loses its directory, then
 * its object; the finalizer keeps the object until then, whoever deletes it. Sole writer of that finalizer, which volumes
 * with other policies do not have. A path that this provisioner would not have created is never touched.
 */
import { PERSISTENT_VOLUMES } from '../../../../kinds/kubernetes/resources.ts'
import type { PersistentVolume } from '../../../../kinds/kubernetes/types.ts'
import {
  type Action,
  type Controller,
  defineController,
  type Effect,
  NOTHING_TO_DO,
  type Outcome,
  type Plan,
  request,
} from '../../../../runtime/controller.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../../../runtime/finalizer.ts'
import { annotationOf, PROVISIONED_BY } from '../../names.ts'
import { eventIndex, eventWatch, type RecordedEvents, recordedEventsOf, recordOnce, WRITES_EVENTS } from '../../recorded-events.ts'
import { LOCAL_FINALIZER, LOCAL_PROVISIONER, type LocalVolumes, ownPathOf } from '../volume.ts'

export interface Observed {
  volume: PersistentVolume | undefined
  removed: Outcome<void> | undefined
  recorded: RecordedEvents
  nowMs: number
  root: string
  remove: Effect<string, void>
}

const NAME = 'minicluster.storage.local.reclaim'

export function localReclaim({ root, directories }: LocalVolumes): Controller {
  const remove: Effect<string, void> = {
    name: `${NAME}.remove`,
    about: 'Removes the directory of a released volume, with everything in it.',
    timeoutMs: 10 * 60_000,
    run: (path) => directories.remove(path),
  }
  return defineController<Observed, PersistentVolume>({
    name: NAME,
    component: LOCAL_PROVISIONER,
    for: PERSISTENT_VOLUMES,
    watches: [eventWatch('PersistentVolume')],
    indexes: [eventIndex],
    effects: [remove as Effect],
    writes: [{ resource: PERSISTENT_VOLUMES, verbs: ['patch', 'delete'] }, WRITES_EVENTS],
    observe: (_ref, volume, read) => ({
      volume,
      removed: volume === undefined ? undefined : read.outcome(remove, volume.metadata.uid ?? ''),
      recorded: recordedEventsOf(read, volume),
      nowMs: read.nowMs(),
      root,
      remove,
    }),
    plan,
  })
}

function plan(observed: Observed): Plan {
  const { volume } = observed
  if (volume === undefined || annotationOf(volume, PROVISIONED_BY) !== LOCAL_PROVISIONER) return NOTHING_TO_DO
  const isTerminating = volume.metadata.deletionTimestamp !== undefined
  const isHeld = hasFinalizer(volume, LOCAL_FINALIZER)
  if (volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') return isHeld ? { actions: [withoutFinalizer(volume)] } : NOTHING_TO_DO
  if (!isHeld) return isTerminating ? NOTHING_TO_DO : { actions: [withFinalizer(volume)] }
  return isOver(volume, isTerminating) ? reclaim(volume, observed, isTerminating) : NOTHING_TO_DO
}

/** Its claim is gone; or it is being deleted and never had one. */
function isOver(volume: PersistentVolume, isTerminating: boolean): boolean {
  const { phase } = volume.status ?? {}
  if (phase === 'Released' || phase === 'Failed') return true
  return isTerminating && (volume.spec?.claimRef?.uid ?? '') === '' && phase !== 'Bound'
}

function reclaim(volume: PersistentVolume, { removed, remove, root, recorded, nowMs }: Observed, isTerminating: boolean): Plan {
  const failed = (why: string): Action[] =>
    recordOnce(
      { of: volume, type: 'Warning', reason: 'VolumeFailedDelete', message: why },
      { recorded, component: LOCAL_PROVISIONER, nowMs },
    )
  const path = ownPathOf(volume, root)
  if (path === undefined) {
    // If a person deleted the object it may go; what is at its path is not ours to remove.
    if (isTerminating) return { actions: [withoutFinalizer(volume)] }
    return {
      actions: failed(`the path of this volume is not its own directory in ${root}: remove what it holds and delete the volume yourself`),
    }
  }
  if (removed?.state !== 'done')
    return {
      actions: removed?.state === 'failed' ? failed(removed.message) : [],
      effects: [request(remove, volume.metadata.uid ?? '', path)],
    }
  return { actions: [isTerminating ? withoutFinalizer(volume) : { do: 'delete', resource: PERSISTENT_VOLUMES, of: volume }] }
}

const withFinalizer = (volume: PersistentVolume): Action => addFinalizer(PERSISTENT_VOLUMES, volume, LOCAL_FINALIZER)
const withoutFinalizer = (volume: PersistentVolume): Action => removeFinalizer(PERSISTENT_VOLUMES, volume, LOCAL_FINALIZER)
