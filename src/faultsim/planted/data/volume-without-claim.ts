import { PERSISTENT_VOLUME_CLAIMS } from '../../../kinds/kubernetes/resources.ts'
import type { PlantedInMember } from './planted.ts'

export const volumeWithoutClaim: PlantedInMember = {
  name: 'volume without claim',
  differs: 'a dataset that is bound gets a volume, and its claim is forgotten',
  caughtBy: 'at rest',
  foundBy: { seed: 4 },
  of: 'data.volume',
  twin: (right) => ({
    ...right,
    plan(observed) {
      const planned = right.plan(observed)
      const isKept = (action: (typeof planned.actions)[number]): boolean =>
        action.do !== 'create' || action.resource !== PERSISTENT_VOLUME_CLAIMS
      return { ...planned, actions: planned.actions.filter(isKept) }
    },
  }),
}
