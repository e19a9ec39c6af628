import { greetingTwin, type Planted } from './planted.ts'

export const machineTime: Planted = {
  name: 'time from the machine',
  differs: 'it asks the machine for the time instead of its clock',
  caughtBy: 'no ambient use',
  foundBy: { seed: 1 },
  cast: greetingTwin(() => ({ observe: (observed) => ({ ...observed, nowMs: Date.now() }) })),
}
