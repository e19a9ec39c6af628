import type { Action, Together } from '../../runtime/controller.ts'
import { greetingTwin, type Planted } from './planted.ts'

const byName = (action: Action | Together): Action | Together =>
  action.do === 'delete' ? { ...action, of: { ...action.of, metadata: { ...action.of.metadata, uid: undefined } } } : action

export const staleDeletion: Planted = {
  name: 'acting on a stale cache',
  differs: 'it deletes a ConfigMap by name, whichever one has the name by now',
  caughtBy: 'invariant',
  foundBy: { fault: 'restart at the end with caches of 44 revisions ago', of: 'greeting' },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const planned = right(observed)
      return { ...planned, actions: planned.actions.map(byName) }
    },
  })),
}
