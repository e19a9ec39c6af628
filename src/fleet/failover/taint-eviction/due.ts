/** When NoExecute taints drive a binding away from a cluster. Pure. */
import type { Binding, Placement, Taint, Toleration } from '../../../kinds/karmada/index.ts'
import { APPLIED_PLACEMENT, NOT_READY_TAINT, UNREACHABLE_TAINT } from '../../../kinds/karmada/well-known.ts'
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
