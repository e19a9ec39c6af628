import { CARDS, type Use } from '../reference/kinds.ts'
import { greetingTwin, type Planted } from './planted.ts'

export const twoWriters: Planted = {
  name: 'two writers',
  differs: 'the greeting puts itself first on its card, whose list another controller keeps in order',
  caughtBy: 'settles',
  foundBy: { seed: 24 },
  cast: greetingTwin((right) => ({
    also: { writes: [...right.writes, { resource: CARDS, subresource: 'status', verbs: ['patch'] }] },
    plan(observed, planRight) {
      const planned = planRight(observed)
      const { greeting, card } = observed
      if (greeting === undefined || card === undefined || greeting.metadata.deletionTimestamp !== undefined) return planned
      const { name = '', uid = '', generation = 0 } = greeting.metadata
      const usedBy = card.status?.usedBy ?? []
      if (usedBy[0]?.uid === uid) return planned
      const first: Use[] = [{ name, uid, generation }, ...usedBy.filter((use) => use.uid !== uid)]
      const write = { do: 'patch' as const, resource: CARDS, of: card, patch: { status: { usedBy: first } }, subresource: 'status' }
      return { ...planned, actions: [...planned.actions, write] }
    },
  })),
}
