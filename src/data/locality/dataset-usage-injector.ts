/** An annotation that names the datasets which a pod uses, sorted, together with those that it named before. */
import type { PodPlugin } from './pod-change.ts'

const IN_USE = 'fluid.io/datasets-in-use'

export const datasetUsageInjector: PodPlugin = {
  name: 'DatasetUsageInjector',
  changeOf({ metadata: { annotations = {} } }, datasets) {
    const known = (annotations[IN_USE] ?? '').split(',').map((name) => name.trim())
    const names = new Set([...known, ...datasets.map(({ name }) => name)])
    return {
      annotations: {
        [IN_USE]: [...names]
          .filter((name) => name !== '')
          .sort()
          .join(','),
      },
    }
  },
}
