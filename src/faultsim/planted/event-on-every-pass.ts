import { greetingTwin, type Planted } from './planted.ts'

export const eventOnEveryPass: Planted = {
  name: 'event on every pass',
  differs: 'it tells of every look at a greeting',
  caughtBy: 'quiet when settled',
  foundBy: { seed: 1 },
  cast: greetingTwin(() => {
    let looks = 0
    return {
      plan(observed, right) {
        const { greeting } = observed
        if (greeting === undefined) return right(observed)
        const event = { of: greeting, type: 'Normal' as const, reason: 'Seen', message: 'looked at it', key: String(++looks) }
        return { ...right(observed), events: [event] }
      },
    }
  }),
}
