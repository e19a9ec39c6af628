/** Spreading by a property needs clusters that have it. */
import { constraintOn } from '../demand.ts'
import type { Filter } from './filter.ts'

export const spreadConstraint: Filter = {
  name: 'SpreadConstraint',
  prepare({ placement }) {
    const byProvider = constraintOn(placement, 'provider') !== undefined
    const byRegion = constraintOn(placement, 'region') !== undefined
    const byZone = constraintOn(placement, 'zone') !== undefined
    if (!byProvider && !byRegion && !byZone) return undefined
    return ({ provider, region, hasZones }) => {
      if (byProvider && provider === '') return 'cluster(s) did not have provider property'
      if (byRegion && region === '') return 'cluster(s) did not have region property'
      if (byZone && !hasZones) return 'cluster(s) did not have zones property'
      return undefined
    }
  },
}
