import { greetingTwin, type Planted } from './planted.ts'

export const missingOwner: Planted = {
  name: 'missing owner reference',
  differs: 'its ConfigMaps do not say whom they belong to',
  caughtBy: 'invariant',
  foundBy: { seed: 1 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const planned = right(observed)
      const actions = planned.actions.map((action) =>
        action.do === 'apply'
          ? { ...action, object: { ...action.object, metadata: { ...action.object.metadata, ownerReferences: undefined } } }
          : action,
      )
      return { ...planned, actions }
    },
  })),
}
