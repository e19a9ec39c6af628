/** What part `programs` proves, and what it counts for each. */
export const PROMISES = {
  files: ['no completed file has a wrong or mixed byte', 'files'],
  kept: ['generations that pods use are kept', 'looks'],
  quota: ['no quota is exceeded by a byte', 'looks'],
  blocks: ['no block is served with wrong bytes or a wrong CRC', 'blocks'],
  access: ['nobody gets what was not granted', 'looks'],
  newest: ['every volume has the newest content at the end', 'volumes'],
  alone: ['no program ends or fails by itself', 'starts'],
  left: ['nothing is left after the end', 'looks'],
} as const satisfies Record<string, readonly [name: string, unit: string]>

export type PromiseName = keyof typeof PROMISES
