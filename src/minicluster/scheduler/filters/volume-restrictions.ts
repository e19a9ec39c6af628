/** VolumeRestrictions: a claim with access mode ReadWriteOncePod serves one pod in the whole cluster. */
import type { PersistentVolumeClaim } from '../../../kinds/kubernetes/types.ts'
import type { PodInfo } from '../state/pod-info.ts'
import { type Filter, rejection } from './filter.ts'

const NAME = 'VolumeRestrictions'
const REJECTION = rejection(
  NAME,
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
  false,
)

const isForOnePod = (claim: PersistentVolumeClaim | undefined): boolean => claim?.spec?.accessModes?.includes('ReadWriteOncePod') === true

export const volumeRestrictions: Filter = {
  name: NAME,
  prepare(pod, { cluster, objects }) {
    const named = pod.claims.filter(({ isEphemeral }) => !isEphemeral)
    for (const { name } of named)
      if (objects.claim(pod.namespace, name) === undefined)
        return { refused: rejection(NAME, `persistentvolumeclaim "${name}" not found`, true) }
    const alone = new Set(named.map(({ name }) => name).filter((name) => isForOnePod(objects.claim(pod.namespace, name))))
    let conflicts = [...alone].filter((name) => cluster.isClaimUsed(pod.namespace, name)).length
    if (conflicts === 0) return undefined
    return {
      isWide: true,
      check: () => (conflicts > 0 ? REJECTION : undefined),
      simulate(other, _node, sign) {
        if (other.namespace === pod.namespace) conflicts += sign * other.claims.filter(({ name }) => alone.has(name)).length
      },
    }
  },
  listens: ['node', 'pod-removed', 'claim'],
  isHelpedBy(change, pod) {
    if (change.kind === 'node') return change.old === undefined
    if (change.kind === 'claim') return change.old === undefined && usesClaim(pod, change.now?.metadata)
    if (change.kind !== 'pod' || change.now !== undefined || change.old?.namespace !== pod.namespace) return false
    return change.old.claims.some(({ name }) => pod.claims.some((claim) => claim.name === name))
  },
}

export const usesClaim = (pod: PodInfo, claim: { namespace?: string; name?: string } | undefined): boolean =>
  claim?.namespace === pod.namespace && pod.claims.some(({ name }) => name === claim.name)
