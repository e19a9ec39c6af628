/** The volume drivers of a process node, one line each, and what the volumes of a pod come to. Pure. */
import type { Pod, Volume } from '../../../kinds/kubernetes/types.ts'
import { configMap } from './config-map.ts'
import { csi } from './csi.ts'
import { downwardApi } from './downward-api.ts'
import type { Source, TokenOrder, VolumeContext, VolumeDriver, VolumePlan } from './driver.ts'
import { waiting } from './driver.ts'
import { emptyDir } from './empty-dir.ts'
import { ephemeral } from './ephemeral.ts'
import { hostPath } from './host-path.ts'
import { image } from './image.ts'
import { persistentVolumeClaim } from './persistent-volume-claim.ts'
import { projected } from './projected.ts'
import { secret } from './secret.ts'

const DRIVERS: readonly VolumeDriver[] = [
  emptyDir,
  hostPath,
  configMap,
  secret,
  downwardApi,
  projected,
  persistentVolumeClaim,
  ephemeral,
  csi,
  image,
]

export interface PlannedVolume {
  name: string
  plan: VolumePlan
}

const driverOf = (volume: Volume): VolumeDriver | undefined =>
  DRIVERS.find(({ field }) => volume[field] !== undefined && volume[field] !== null)

const volumesOf = (pod: Pod): readonly Volume[] => pod.spec?.volumes ?? []

export function planVolumes(context: VolumeContext): PlannedVolume[] {
  return volumesOf(context.pod).map((volume) => ({ name: volume.name ?? '', plan: planVolume(volume, context) }))
}

function planVolume(volume: Volume, context: VolumeContext): VolumePlan {
  const driver = driverOf(volume)
  // Nothing named is an emptyDir, as the API server makes of it.
  if (driver === undefined) {
    const type = Object.keys(volume).find((key) => key !== 'name')
    return type === undefined ? { kind: 'directory' } : waiting(`volumes of type ${type} are not supported on process nodes`)
  }
  return driver.plan(volume, context)
}

/** Objects that the volumes come from. */
export const volumeSources = (pod: Pod): Source[] =>
  volumesOf(pod).flatMap((volume) => [
    ...(driverOf(volume)?.sources?.(volume) ?? []),
    ...(volume.ephemeral === undefined
      ? []
      : [{ kind: 'PersistentVolumeClaim' as const, name: `${pod.metadata.name ?? ''}-${volume.name ?? ''}` }]),
  ])

export const tokenOrders = (pod: Pod): { volume: string; order: TokenOrder }[] =>
  volumesOf(pod).flatMap((volume) => (driverOf(volume)?.tokens?.(volume) ?? []).map((order) => ({ volume: volume.name ?? '', order })))
