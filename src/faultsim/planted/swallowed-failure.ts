import { greetingTwin, type Planted } from './planted.ts'

export const swallowedFailure: Planted = {
  name: 'swallowed failure',
  differs: 'a notice that could not be put up counts as put up',
  caughtBy: 'at rest',
  foundBy: { seed: 33 },
  cast: greetingTwin(() => ({
    plan: (observed, right) => right(observed.put?.state === 'failed' ? { ...observed, put: { state: 'done', value: 'up' } } : observed),
  })),
}
