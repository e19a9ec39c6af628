/** Limits how many requests may be in progress at once, per cluster and in total. */

export interface SlotLimits {
  perCluster: number
  inAll: number
}

export interface Slots {
  /** Returns the function that releases the slot, which may be called more than once; undefined when none is free. */
  take(cluster: string): (() => void) | undefined
}

export function createSlots(limits: SlotLimits): Slots {
  const taken = new Map<string, number>()
  let all = 0
  return {
    take(cluster) {
      const here = taken.get(cluster) ?? 0
      if (here >= limits.perCluster || all >= limits.inAll) return undefined
      taken.set(cluster, here + 1)
      all++
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        all--
        const left = (taken.get(cluster) ?? 1) - 1
        if (left === 0) taken.delete(cluster)
        else taken.set(cluster, left)
      }
    },
  }
}
