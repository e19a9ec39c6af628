/** Only clusters that the current term of the placement matches; for workloads also those that take overflow. */
import type { Filter } from './filter.ts'

const REASON = 'cluster(s) did not match the placement cluster affinity constraint'

export const clusterAffinity: Filter = {
  name: 'ClusterAffinity',
  prepare(_demand, { isPrimary, overflow = [] }) {
    if (overflow.length === 0) return (info) => (isPrimary(info) ? undefined : REASON)
    return (info) => (isPrimary(info) || overflow.some((matches) => matches(info)) ? undefined : REASON)
  },
}
