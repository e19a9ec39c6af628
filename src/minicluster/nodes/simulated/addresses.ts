/**
 * Addresses of simulated pods: each node has a /24 of 10.0.0.0/8, each pod the lowest free address of its node. The
 * pod's status is the record; a reservation only bridges the time until it is written.
 */
import type { Pod } from '../../../kinds/kubernetes/types.ts'

export interface Addresses {
  /** The pod's address: that of its status, or a free one of the node's network. */
  reserve(pod: Pod, podCIDR: string, others: readonly Pod[]): string
  release(uid: string): void
}

export function createAddresses(): Addresses {
  const reserved = new Map<string, string>()
  return {
    reserve(pod, podCIDR, others) {
      const uid = pod.metadata.uid ?? ''
      const known = pod.status?.podIP ?? reserved.get(uid)
      if (known !== undefined && known !== '') return known
      const prefix = podCIDR.slice(0, podCIDR.lastIndexOf('.') + 1)
      const taken = new Set(others.flatMap((other) => [other.status?.podIP, reserved.get(other.metadata.uid ?? '')]))
      let host = 2
      while (taken.has(`${prefix}${host}`) && host < 254) host++
      const address = `${prefix}${host}`
      reserved.set(uid, address)
      return address
    },
    release: (uid) => void reserved.delete(uid),
  }
}
