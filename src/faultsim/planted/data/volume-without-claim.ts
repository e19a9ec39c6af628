import { PERSISTENT_VOLUME_CLAIMS } from '../../../kinds/kubernetes/resources.ts'
import type { PlantedInMember } from './planted.ts'

export const volumeWithoutClaim: PlantedInMember = {
  name: 'volume without claim',
  differs: 'a claim is made only together with its volume, not when it alone is missing',
  caughtBy: 'at rest',
  foundBy: { seed: 1 },
  of: 'data.volume',
  twin: (right) => ({
    ...right,
    plan(observed) {
      const planned = right.plan(observed)
      const [first] = planned.actions
      const isAlone = first?.do === 'create' && first.resource === PERSISTENT_VOLUME_CLAIMS
      return isAlone ? { ...planned, actions: [] } : planned
    },
  }),
}
