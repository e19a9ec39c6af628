/**
 * Ends sidecars in the old form when everything else in their pod has ended, so that Jobs complete. Writes nothing to the API.
 * Runs again when the status of such a pod changes. A failure is tried again, and said on the pod. Deletion: nothing is left.
 */
import type { Clock } from '../../../base/clock.ts'
import { volumeName } from '../../../kinds/fluid/names.ts'
import { PERSISTENT_VOLUMES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Container, PersistentVolume, Pod } from '../../../kinds/kubernetes/types.ts'
import { type Controller, defineController, type Effect, NOTHING_TO_DO, type PassReader, via } from '../../../runtime/controller.ts'
import { isOurVolume } from '../../volume/desired.ts'
import { sidecarsOf } from '../labels.ts'
import { type EndInput, endSidecar } from './effects.ts'
import { type Ending, hasOldSidecar, leftSidecars, type Observed, plan } from './plan.ts'

export function sidecarEnd({ clock }: { clock: Clock }): Controller {
  const effect = endSidecar(clock)
  return defineController<Observed | undefined, Pod>({
    name: 'data.sidecar.end',
    for: PODS,
    isRelevant: hasOldSidecar,
    isRelevantUpdate: (old, pod) => leftText(old) !== leftText(pod),
    // Read for where a client mounts; what it says of that never changes.
    watches: [via(PERSISTENT_VOLUMES, () => [], { isRelevantUpdate: () => false })],
    effects: [effect as Effect],
    writes: [],
    observe: (_key, pod, read) => (pod === undefined || !hasOldSidecar(pod) ? undefined : { pod, endings: endingsOf(pod, read, effect) }),
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed, effect)),
  })
}

const leftText = (pod: Pod): string =>
  leftSidecars(pod)
    .map(({ container, starts }) => `${container.name} ${starts}`)
    .join()

function endingsOf(pod: Pod, read: PassReader, effect: Effect<EndInput, true>): Ending[] {
  const { namespace = '', name = '', uid = '' } = pod.metadata
  return leftSidecars(pod).flatMap(({ container, starts }) => {
    const command = commandOf(container, pod, read)
    if (command === undefined) return []
    const key = `${uid} ${container.name ?? ''} ${starts}`
    const input = { namespace, pod: name, container: container.name ?? '', command }
    return [{ key, input, outcome: read.outcome(effect, key) }]
  })
}

/** Its own, or what ends every client: its mount is gone. Undefined: nobody knows where it mounts. */
function commandOf({ name, lifecycle }: Container, pod: Pod, read: PassReader): readonly string[] | undefined {
  const own = lifecycle?.preStop?.exec?.command ?? []
  if (own.length > 0) return own
  const dataset = sidecarsOf(pod).find(({ container }) => container === name)
  const volume: PersistentVolume | undefined = dataset === undefined ? undefined : read.get(PERSISTENT_VOLUMES, '', volumeName(dataset))
  // Names of two datasets can lead to one name of a volume.
  if (dataset === undefined || volume === undefined || !isOurVolume(volume, dataset)) return undefined
  const path = volume.spec?.csi?.volumeAttributes?.fluid_path
  return path === undefined ? undefined : ['umount', path]
}
