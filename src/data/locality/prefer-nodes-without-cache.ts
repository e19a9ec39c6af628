/** A pod that uses no dataset should rather leave nodes with caches to pods that do. */
import type { PodPlugin } from './pod-change.ts'

export const preferNodesWithoutCache: PodPlugin = {
  name: 'PreferNodesWithoutCache',
  changeOf: (_pod, datasets) =>
    datasets.length > 0
      ? {}
      : {
          preferred: [{ weight: 100, preference: { matchExpressions: [{ key: 'fluid.io/dataset-num', operator: 'DoesNotExist' }] } }],
        },
}
