import { greetingTwin, type Planted } from './planted.ts'

export const staleDeletion: Planted = {
  name: 'acting on a stale cache',
  differs: 'it takes ConfigMaps away without asking whether the wish it saw still stands',
  caughtBy: 'invariant',
  foundBy: { seed: 10096 },
  cast: greetingTwin(() => ({ plan: (observed, right) => right({ ...observed, isFresh: true }) })),
}
