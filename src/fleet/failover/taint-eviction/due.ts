/** What a binding tolerates. `evictionDue` of cluster-taints.ts computes when that ends. Pure. */
import type { Binding, Placement, Toleration } from '../../../kinds/karmada/index.ts'
import { APPLIED_PLACEMENT, NOT_READY_TAINT, UNREACHABLE_TAINT } from '../../../kinds/karmada/well-known.ts'

/** Default tolerations for a cluster that is not ready or unreachable, for bindings that say nothing about it. */
export const byDefault = (tolerationSeconds: number): readonly Toleration[] =>
  tolerationSeconds > 0
    ? [NOT_READY_TAINT, UNREACHABLE_TAINT].map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }))
    : []

/** Those of the placement it was scheduled with: later changes of the policy have not been decided on yet. */
export function tolerationsOf({ metadata, spec }: Binding): readonly Toleration[] {
  return (appliedPlacement(metadata.annotations?.[APPLIED_PLACEMENT]) ?? spec.placement)?.clusterTolerations ?? []
}

function appliedPlacement(text: string | undefined): Placement | undefined {
  if (text === undefined || text === '') return undefined
  try {
    const placement = JSON.parse(text) as unknown
    return typeof placement === 'object' && placement !== null ? (placement as Placement) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
