import { FINALIZER } from '../reference/greeting/plan.ts'
import { GREETINGS } from '../reference/kinds.ts'
import { greetingTwin, type Planted } from './planted.ts'

export const lateFinalizer: Planted = {
  name: 'late finalizer',
  differs: 'it adds its finalizer when the notice is up, not before',
  caughtBy: 'at rest',
  foundBy: { seed: 7 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const { greeting } = observed
      if (greeting === undefined || greeting.metadata.deletionTimestamp !== undefined) return right(observed)
      const { finalizers = [] } = greeting.metadata
      const planned = right({ ...observed, greeting: { ...greeting, metadata: { ...greeting.metadata, finalizers: [FINALIZER] } } })
      if (finalizers.includes(FINALIZER) || observed.put?.state !== 'done') return planned
      return { actions: [{ do: 'patch', resource: GREETINGS, of: greeting, patch: { metadata: { finalizers: [FINALIZER] } } }] }
    },
  })),
}
