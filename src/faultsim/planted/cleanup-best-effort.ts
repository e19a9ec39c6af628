import { greetingTwin, type Planted } from './planted.ts'

export const cleanupBestEffort: Planted = {
  name: 'cleanup best effort',
  differs: 'it lets the greeting go while the notice is being taken down, whatever comes of that',
  caughtBy: 'at rest',
  foundBy: { seed: 87 },
  cast: greetingTwin(() => ({
    plan(observed, right) {
      const { greeting, takenDown } = observed
      if (greeting?.metadata.deletionTimestamp === undefined || takenDown !== undefined) return right(observed)
      return { ...right(observed), actions: right({ ...observed, takenDown: { state: 'done', value: 'down' } }).actions }
    },
  })),
}
