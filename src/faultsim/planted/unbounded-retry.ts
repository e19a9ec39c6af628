import { greetingTwin, type Planted } from './planted.ts'

export const unboundedRetry: Planted = {
  name: 'unbounded retry',
  differs: 'it asks again every half second, however long its card is missing',
  caughtBy: 'settles',
  foundBy: { seed: 2 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const planned = right(observed)
      const isWaiting = observed.greeting?.spec?.card !== undefined && observed.card === undefined
      return isWaiting ? { ...planned, requeueAfterMs: 500 } : planned
    },
  })),
}
