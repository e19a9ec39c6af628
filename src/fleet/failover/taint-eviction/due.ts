/** When NoExecute taints drive a binding away from a cluster. Pure. */
import type { Binding, Placement, Taint, Toleration } from '../../../kinds/karmada/index.ts'
import { APPLIED_PLACEMENT } from '../../../kinds/karmada/well-known.ts'
import { tolerates } from '../../cluster-taints.ts'

export const noExecuteTaints = (taints: readonly Taint[] | undefined): readonly Taint[] =>
  (taints ?? []).filter(({ effect }) => effect === 'NoExecute')

const NOW = Number.NEGATIVE_INFINITY
export const NEVER = Number.POSITIVE_INFINITY

/** The moment in milliseconds: at once for a taint that is not tolerated, never where all are tolerated for ever. */
export function evictionDue(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  const used = taints.map((taint) => tolerations.find((toleration) => tolerates(toleration, taint)))
  if (used.includes(undefined)) return NOW
  const ends = used.flatMap((toleration) => {
    const seconds = toleration?.tolerationSeconds
    if (toleration === undefined || seconds === undefined || seconds === null) return []
    return taints.filter((taint) => tolerates(toleration, taint)).map(({ timeAdded }) => endOf(timeAdded, seconds))
  })
  return ends.reduce((first, end) => Math.min(first, end), NEVER)
}

/** A taint that nobody knows the age of has not come of age. */
function endOf(timeAdded: string | undefined, seconds: number): number {
  const addedMs = timeAdded === undefined ? Number.NaN : Date.parse(timeAdded)
  return Number.isNaN(addedMs) ? NEVER : addedMs + seconds * 1000
}

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
