import { greetingTwin, type Planted } from './planted.ts'

export const lostRequeue: Planted = {
  name: 'lost requeue',
  differs: 'it remembers the end of its time only when it has just written something',
  caughtBy: 'at rest',
  foundBy: { seed: 1 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const planned = right(observed)
      const hasWrite = planned.actions.some((action) => action.do === 'patch' || action.do === 'delete')
      return hasWrite ? planned : { ...planned, requeueAfterMs: undefined }
    },
  })),
}
