import { greetingTwin, type Planted } from './planted.ts'

export const statusBeforeBackReference: Planted = {
  name: 'status before back-reference',
  differs: 'it is ready as soon as its card exists, before the card counts it',
  caughtBy: 'invariant',
  foundBy: { seed: 10 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const { greeting, card } = observed
      if (greeting === undefined || card === undefined) return right(observed)
      const { name = '', uid = '', generation = 0 } = greeting.metadata
      return right({ ...observed, card: { ...card, status: { usedBy: [{ name, uid, generation }] } } })
    },
  })),
}
