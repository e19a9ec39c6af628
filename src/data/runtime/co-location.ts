/**
 * Clients only beside workers. The volume requires the nodes of workers, so that readers come nowhere else, and clients follow the
 * workers: one that nobody uses goes with its worker. What a volume requires never changes, so a volume that is there decides, and
 * a change of the mode counts from the next volume. Pure.
 */

import { isFuseGlobal } from '../../kinds/fluid/fuse-global.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { commonLabel } from '../../kinds/fluid/names.ts'
import type { DaemonSet, PersistentVolume } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { refOf } from '../../kube/object-reference.ts'
import { isOurVolume, isVolumeCoLocated } from '../volume/desired.ts'

export const isCoLocated = (runtime: KubeObject, volume: PersistentVolume | undefined): boolean =>
  volume !== undefined && isOurVolume(volume, refOf(runtime)) ? isVolumeCoLocated(volume) : !isFuseGlobal(runtime)

/** Its pods run where workers are. */
export function besideWorkers(clients: DaemonSet, { metadata: { namespace = '', name = '', uid = '' } }: Dataset): DaemonSet {
  const { template = {}, ...spec } = clients.spec ?? {}
  const nodeSelector = { ...template.spec?.nodeSelector, [commonLabel({ namespace, name, uid })]: 'true' }
  return { ...clients, spec: { ...spec, template: { ...template, spec: { ...template.spec, nodeSelector } } } } as DaemonSet
}
