/**
 * Keeps a deleted volume while it is bound, by the finalizer `kubernetes.io/pv-protection`. Sole writer of that finalizer
 * after creation, when admission adds it.
 */
import { PERSISTENT_VOLUMES } from '../../../../kinds/kubernetes/resources.ts'
import type { PersistentVolume } from '../../../../kinds/kubernetes/types.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan } from '../../../../runtime/controller.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../../../runtime/finalizer.ts'

const VOLUME_PROTECTION = 'kubernetes.io/pv-protection'

export interface Observed {
  volume: PersistentVolume | undefined
}

export function volumeProtection(): Controller {
  return defineController<Observed, PersistentVolume>({
    name: 'minicluster.storage.protection.volume',
    component: 'persistentvolume-protection-controller',
    for: PERSISTENT_VOLUMES,
    writes: [{ resource: PERSISTENT_VOLUMES, verbs: ['patch'] }],
    observe: (_ref, volume) => ({ volume }),
    plan,
  })
}

function plan({ volume }: Observed): Plan {
  if (volume === undefined) return NOTHING_TO_DO
  const isHeld = hasFinalizer(volume, VOLUME_PROTECTION)
  if (volume.metadata.deletionTimestamp === undefined)
    return isHeld ? NOTHING_TO_DO : { actions: [addFinalizer(PERSISTENT_VOLUMES, volume, VOLUME_PROTECTION)] }
  if (!isHeld || volume.status?.phase === 'Bound') return NOTHING_TO_DO
  return { actions: [removeFinalizer(PERSISTENT_VOLUMES, volume, VOLUME_PROTECTION)] }
}
