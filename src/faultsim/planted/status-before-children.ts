import { greetingTwin, type Planted } from './planted.ts'

export const statusBeforeChildren: Planted = {
  name: 'status before children',
  differs: 'it says that everybody has it, and then sees to it',
  caughtBy: 'invariant',
  within: 100,
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const planned = right(observed)
      return { ...planned, actions: [...planned.actions].sort((a, b) => Number(b.do === 'patch') - Number(a.do === 'patch')) }
    },
  })),
}
