import { cardTwin, type Planted } from './planted.ts'

export const noPrecondition: Planted = {
  name: 'no precondition',
  differs: 'it writes the status of the card whatever version it has by now',
  caughtBy: 'invariant',
  foundBy: { seed: 29 },
  cast: cardTwin(() => ({
    plan(observed, right) {
      const { card } = observed
      if (card === undefined) return right(observed)
      return right({ ...observed, card: { ...card, metadata: { ...card.metadata, resourceVersion: undefined } } })
    },
  })),
}
