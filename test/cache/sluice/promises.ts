/** What part `sluice` proves, and what it counts for each. */
export const PROMISES = {
  reads: ['no read fails, and no pod reads a wrong or mixed byte', 'files read by pods'],
  quota: ['no quota is exceeded by a byte', 'looks'],
  blocks: ['no block is served with wrong bytes or a wrong CRC', 'blocks'],
  newest: ['at the end pods on every node read the newest content', 'pods'],
  alone: ['no program of the cache, and no Sluice, ends or fails by itself', 'starts'],
  deleted: ['a deleted dataset leaves nothing in the cluster and on its nodes', 'looks'],
  left: ['after down there is no process, mount or file outside the data directory', 'looks'],
} as const satisfies Record<string, readonly [name: string, unit: string]>

export type PromiseName = keyof typeof PROMISES
