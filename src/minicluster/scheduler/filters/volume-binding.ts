/** VolumeBinding: bound volumes must be reachable from the node, and unbound claims must be able to get one there. */
import { deepEqual } from '../../../base/json.ts'
import type { StorageClass } from '../../../kinds/kubernetes/types.ts'
import { claimsOf } from '../volumes/claims.ts'
import { findVolumes } from '../volumes/find-volumes.ts'
import { type Filter, rejection } from './filter.ts'
import { usesClaim } from './volume-restrictions.ts'

const NAME = 'VolumeBinding'

export const volumeBinding: Filter = {
  name: NAME,
  prepare(pod, snapshot) {
    if (pod.claims.length === 0) return undefined
    const claims = claimsOf(pod, snapshot)
    if ('problem' in claims) return { refused: rejection(NAME, claims.problem, true) }
    return {
      isWide: true,
      check(node) {
        const found = findVolumes(claims, node, snapshot)
        return 'reasons' in found ? rejection(NAME, found.reasons, true) : undefined
      },
    }
  },
  listens: ['node', 'claim', 'volume', 'storage-class'],
  isHelpedBy(change, pod) {
    switch (change.kind) {
      case 'node':
        return change.now !== undefined && !deepEqual(change.old?.metadata.labels, change.now.metadata.labels)
      case 'claim':
        return change.now !== undefined && usesClaim(pod, change.now.metadata)
      case 'volume':
        return change.now !== undefined
      case 'storage-class':
        return change.now !== undefined && !deepEqual(topologiesOf(change.old), topologiesOf(change.now))
      default:
        return false
    }
  },
}

/** A new class helps whatever it allows. */
const topologiesOf = (object: unknown): unknown =>
  object === undefined ? 'none' : ((object as StorageClass).allowedTopologies ?? 'anywhere')
