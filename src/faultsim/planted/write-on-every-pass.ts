import { GREETINGS } from '../reference/kinds.ts'
import { greetingTwin, type Planted } from './planted.ts'

export const writeOnEveryPass: Planted = {
  name: 'write on every pass',
  differs: 'it writes its status whether or not it differs',
  caughtBy: 'quiet when settled',
  foundBy: { seed: 1 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const planned = right(observed)
      const { greeting } = observed
      if (planned.actions.length === 0 || greeting?.status === undefined) return planned
      if (planned.actions.some((action) => 'subresource' in action && action.subresource === 'status')) return planned
      const again = { do: 'patch' as const, resource: GREETINGS, of: greeting, patch: { status: greeting.status }, subresource: 'status' }
      return { ...planned, actions: [...planned.actions, again] }
    },
  })),
}
