/** Names of volumes in the pods of a cache by which others know them again. */

const TIER_PREFIX = 'tiered-store-'

export const tierVolumeName = (level: number, rest: string): string => `${TIER_PREFIX}level-${level}-${rest}`

/** Whether a volume of a worker holds what it caches. */
export const isTier = (volume: string): boolean => volume.startsWith(TIER_PREFIX)

/** Where the client of a node and other pods of that node meet. */
export const SHARED_PATH_VOLUME = 'fluid-cache-runtime-shared-path'
