/** A cluster must serve the kind. One that has the object already is kept, in case its list of kinds was read incompletely. */
import type { Filter } from './filter.ts'

const REASON = 'cluster(s) did not have the API resource'

export const apiEnablement: Filter = {
  name: 'APIEnablement',
  prepare({ api, current }) {
    return ({ name, apis }) => (apis.has(api) || current.has(name) ? undefined : REASON)
  },
}
