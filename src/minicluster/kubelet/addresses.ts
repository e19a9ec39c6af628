/**
 * Addresses of pods: each process node has a /24, each pod keeps its address for life. The status is the record; what is
 * held here only bridges the time until the status shows it, so that two pods never get the same one.
 */
import type { Pod } from '../../kinds/kubernetes/types.ts'

export const HOST_ADDRESS = '127.0.0.1'

export interface Addresses {
  /** Undefined when the node's network is used up. `others` are the pods of the node. */
  addressOf(pod: Pod, podCIDR: string, others: () => readonly Pod[]): string | undefined
  release(podUid: string): void
}

export function createAddresses(): Addresses {
  const held = new Map<string, string>()
  return {
    addressOf(pod, podCIDR, others) {
      const uid = pod.metadata.uid ?? ''
      const reported = pod.status?.podIP
      if (reported !== undefined && reported !== '') {
        held.delete(uid)
        return reported
      }
      if (pod.spec?.hostNetwork === true) return HOST_ADDRESS
      const known = held.get(uid)
      if (known !== undefined) return known
      const free = freeAddress(
        podCIDR,
        new Set([
          ...held.values(),
          ...others()
            .filter(isAlive)
            .flatMap(({ status }) => status?.podIP ?? []),
        ]),
      )
      if (free !== undefined) held.set(uid, free)
      return free
    },
    release: (podUid) => void held.delete(podUid),
  }
}

const isAlive = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

/** The lowest one; .0 and .255 are not used, and .1 is the node's. */
function freeAddress(podCIDR: string, taken: ReadonlySet<string>): string | undefined {
  const prefix = podCIDR.slice(0, podCIDR.lastIndexOf('.') + 1)
  for (let host = 2; host < 255; host++) if (!taken.has(`${prefix}${host}`)) return `${prefix}${host}`
  return undefined
}
