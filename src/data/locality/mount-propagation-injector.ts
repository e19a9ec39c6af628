/** Containers see it when a dataset is mounted on the node anew, as after the end of its client. Init containers do not live that long. */
import type { PodPlugin } from './pod-change.ts'

export const mountPropagationInjector: PodPlugin = {
  name: 'MountPropagationInjector',
  changeOf({ spec = {} }, datasets) {
    const claims = new Set(datasets.map(({ claim }) => claim))
    const volumes = (spec.volumes ?? []).filter(({ persistentVolumeClaim: claim }) => claims.has(claim?.claimName ?? ''))
    return { propagated: new Set(volumes.map(({ name = '' }) => name)) }
  },
}
