import { ifFound } from '../../client/errors.ts'
import { refOf } from '../../kube/object-reference.ts'
import { CARDS } from '../reference/kinds.ts'
import { cardTwin, type Planted } from './planted.ts'

export const reReadAndOverwrite: Planted = {
  name: 're-read and overwrite',
  differs: 'it fetches the newest version of the card before it writes what it decided on an older one',
  caughtBy: 'invariant',
  foundBy: { seed: 29 },
  cast: cardTwin((right) => ({
    also: { reads: [...(right.reads ?? []), { resource: CARDS, verbs: ['get'] }] },
    async observe(observed, { client }) {
      const { card } = observed
      if (card === undefined) return observed
      const live = await ifFound(client.get(CARDS, refOf(card)))
      if (live === undefined) return observed
      return { ...observed, card: { ...card, metadata: { ...card.metadata, resourceVersion: live.metadata.resourceVersion } } }
    },
  })),
}
