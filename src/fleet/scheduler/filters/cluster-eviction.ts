/** A cluster that a binding is being evicted from is not chosen again meanwhile. */
import type { Filter } from './filter.ts'

const REASON = 'cluster(s) is in the process of eviction'

export const clusterEviction: Filter = {
  name: 'ClusterEviction',
  prepare({ evicting }) {
    return evicting.size === 0 ? undefined : ({ name }) => (evicting.has(name) ? REASON : undefined)
  },
}
