/** What a binding tolerates. When that is over, `evictionDue` of cluster-taints.ts says. Pure. */
import type { Binding, Placement, Toleration } from '../../../kinds/karmada/index.ts'
import { APPLIED_PLACEMENT, NOT_READY_TAINT, UNREACHABLE_TAINT } from '../../../kinds/karmada/well-known.ts'

/** What is put up with for so long by whoever says nothing about it himself: that a cluster is away. */
export const byDefault = (tolerationSeconds: number): readonly Toleration[] =>
  tolerationSeconds > 0
    ? [NOT_READY_TAINT, UNREACHABLE_TAINT].map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }))
    : []

/** What it was scheduled with counts: what a policy says since then has not been decided about yet. */
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
