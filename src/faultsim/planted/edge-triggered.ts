import { keyOfObject } from '../../kube/object-reference.ts'
import { via, type Watch } from '../../runtime/controller.ts'
import { CARDS, type Card } from '../reference/kinds.ts'
import { greetingTwin, type Planted } from './planted.ts'

/** Passes a card on only when it counts more greetings than before. */
function growthOf(watch: Watch): Watch {
  const before = new Map<string, number>()
  return via(CARDS, (card: Card, read) => {
    const [known, now] = [before.get(keyOfObject(card)) ?? 0, card.status?.usedBy?.length ?? 0]
    before.set(keyOfObject(card), now)
    return now > known ? watch.keysFor(card, read) : []
  })
}

export const edgeTriggered: Planted = {
  name: 'edge-triggered only',
  differs: 'it looks again when a card counts one greeting more, not whenever the card has changed',
  caughtBy: 'quiet when settled',
  foundBy: { seed: 26 },
  cast: greetingTwin((right) => ({
    also: { watches: right.watches?.map((watch) => (watch.resource.plural === CARDS.plural ? growthOf(watch) : watch)) },
  })),
}
