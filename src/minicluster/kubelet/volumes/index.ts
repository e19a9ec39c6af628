/**
 * The volume drivers of a process node for Kubernetes' own types, one line each, and the plan for a pod's volumes. Drivers
 * from other modules take precedence. Pure.
 */
import type { Pod, Volume } from '../../../kinds/kubernetes/types.ts'
import type { Source, TokenOrder, VolumeContext, VolumeDriver, VolumePlan } from '../../../runtime/seams/volume-driver.ts'
import { waiting } from '../../../runtime/seams/volume-driver.ts'
import { configMap } from './config-map.ts'
import { csi } from './csi.ts'
import { downwardApi } from './downward-api.ts'
import { emptyDir } from './empty-dir.ts'
import { ephemeral } from './ephemeral.ts'
import { hostPath } from './host-path.ts'
import { image } from './image.ts'
import { persistentVolumeClaim } from './persistent-volume-claim.ts'
import { projected } from './projected.ts'
import { secret } from './secret.ts'

const BUILTIN: readonly VolumeDriver[] = [
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

export interface PodVolumes {
  plan(context: VolumeContext): PlannedVolume[]
  /** Objects that the volumes of a pod come from. */
  sources(pod: Pod): Source[]
  /** Service account tokens that they need. */
  tokenOrders(pod: Pod): { volume: string; order: TokenOrder }[]
}

export function createPodVolumes(more: readonly VolumeDriver[] = []): PodVolumes {
  const drivers = [...more, ...BUILTIN]
  const driversOf = (volume: Volume): readonly VolumeDriver[] =>
    drivers.filter(({ field }) => volume[field] !== undefined && volume[field] !== null)
  return {
    plan: (context) =>
      volumesOf(context.pod).map((volume) => ({ name: volume.name ?? '', plan: planOf(volume, driversOf(volume), context) })),
    sources: (pod) =>
      volumesOf(pod).flatMap((volume) => [
        ...driversOf(volume).flatMap((driver) => driver.sources?.(volume) ?? []),
        ...(volume.ephemeral === undefined
          ? []
          : [{ kind: 'PersistentVolumeClaim' as const, name: `${pod.metadata.name ?? ''}-${volume.name ?? ''}` }]),
      ]),
    tokenOrders: (pod) =>
      volumesOf(pod).flatMap((volume) =>
        driversOf(volume)
          .flatMap((driver) => driver.tokens?.(volume) ?? [])
          .map((order) => ({ volume: volume.name ?? '', order })),
      ),
  }
}

const volumesOf = (pod: Pod): readonly Volume[] => pod.spec?.volumes ?? []

function planOf(volume: Volume, drivers: readonly VolumeDriver[], context: VolumeContext): VolumePlan {
  for (const driver of drivers) {
    const plan = driver.plan(volume, context)
    if (plan !== undefined) return plan
  }
  // A volume without a source is an emptyDir, as the API server defaults it.
  const type = Object.keys(volume).find((key) => key !== 'name')
  return type === undefined ? { kind: 'directory' } : waiting(`volumes of type ${type} are not supported on process nodes`)
}
