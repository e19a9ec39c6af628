import { greetingTwin, type Planted } from './planted.ts'

export const effectWithoutKey: Planted = {
  name: 'effect without idempotency key',
  differs: 'every attempt to put up a notice puts up another one, and only the last is remembered',
  caughtBy: 'at rest',
  foundBy: { seed: 1 },
  cast: greetingTwin(
    () => ({}),
    (board, cluster) => {
      const last = cluster.effects.thing('last notices', () => new Map<string, string>())
      return {
        async put(notice) {
          const known = last.get(notice.id)
          const next = known === undefined ? notice.id : `${known}+`
          last.set(notice.id, next)
          if (known !== undefined && notice.generation > 1) await board.takeDown(known)
          await board.put({ ...notice, id: next })
        },
        takeDown: (id) => board.takeDown(last.get(id) ?? id),
      }
    },
  ),
}
