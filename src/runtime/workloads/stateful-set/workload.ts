/**
 * What the shared parts read of a set whose pods have an identity: StatefulSet, and AdvancedStatefulSet, which can leave out
 * ordinals. Whatever one of the two kinds alone has stays with its controller.
 */
import type { StatefulSetSpec } from '../../../kinds/kubernetes/types.ts'
import type { IntOrString } from '../../../kube/int-or-string.ts'
import type { KubeObject } from '../../../kube/meta.ts'

export interface StatefulWorkload extends KubeObject {
  spec?: Pick<
    StatefulSetSpec,
    | 'ordinals'
    | 'persistentVolumeClaimRetentionPolicy'
    | 'podManagementPolicy'
    | 'replicas'
    | 'revisionHistoryLimit'
    | 'selector'
    | 'serviceName'
    | 'template'
    | 'volumeClaimTemplates'
  > & {
    /** Ordinals that no pod has: 3, or the range `5-7`. A StatefulSet has none. */
    reserveOrdinals?: readonly IntOrString[]
  }
  status?: { currentRevision?: string; collisionCount?: number }
}
