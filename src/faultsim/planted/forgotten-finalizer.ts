import { FINALIZER } from '../reference/greeting/plan.ts'
import { greetingTwin, type Planted } from './planted.ts'

export const forgottenFinalizer: Planted = {
  name: 'forgotten finalizer',
  differs: 'it puts the notice up without a finalizer',
  caughtBy: 'at rest',
  foundBy: { seed: 1 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const { greeting } = observed
      if (greeting === undefined || greeting.metadata.deletionTimestamp !== undefined) return right(observed)
      return right({ ...observed, greeting: { ...greeting, metadata: { ...greeting.metadata, finalizers: [FINALIZER] } } })
    },
  })),
}
