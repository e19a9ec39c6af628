/** What users set on joined clusters: labels that policies select by, and taints that keep workloads away or evict them. */

import { CLUSTERS } from '../../../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import type { Generator } from '../../../../runtime/seams/seeded.ts'
import { oneOf } from '../../script.ts'
import { joinedCluster } from '../../worlds/fleet/joined.ts'

interface Said {
  tier: 'gold' | 'plain'
  taint: 'NoSchedule' | 'NoExecute' | null
}

interface Taint {
  key: string
  effect: string
}

const REPAIRS = 'repairs'

export const clusters: Generator = {
  name: 'cluster',
  resource: CLUSTERS,
  names: ['member1', 'member2', 'member3'],
  isLasting: true,
  draw: (random): Said => ({ tier: oneOf(random, ['gold', 'plain']), taint: oneOf(random, [null, null, 'NoSchedule', 'NoExecute']) }),
  object: (where): KubeObject => joinedCluster(where),
  change(object, desired) {
    const { tier, taint } = desired as Said
    const spec = (object.spec ?? {}) as { taints?: Taint[] }
    object.metadata.labels = { ...object.metadata.labels, tier }
    const taints = (spec.taints ?? []).filter(({ key }) => key !== REPAIRS)
    object.spec = { ...spec, taints: taint === null ? taints : [...taints, { key: REPAIRS, value: 'yes', effect: taint }] }
  },
}
