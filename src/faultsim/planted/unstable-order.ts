import { deepEqual } from '../../base/json.ts'
import { NOTHING_TO_DO } from '../../runtime/controller.ts'
import { CARDS } from '../reference/kinds.ts'
import { cardTwin, type Planted } from './planted.ts'

export const unstableOrder: Planted = {
  name: 'unstable order',
  differs: 'it lists the greetings of a card in the order in which its cache happens to hold them',
  caughtBy: 'quiet after restart',
  foundBy: { seed: 24 },
  cast: cardTwin(() => ({
    plan({ card, greetings }) {
      if (card === undefined || card.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
      const usedBy = greetings.map(({ metadata: { name = '', uid = '', generation = 0 } }) => ({ name, uid, generation }))
      if (deepEqual(usedBy, card.status?.usedBy)) return NOTHING_TO_DO
      return { actions: [{ do: 'patch', resource: CARDS, of: card, patch: { status: { usedBy } }, subresource: 'status' }] }
    },
  })),
}
