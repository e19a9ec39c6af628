/**
 * How many workers there are, and which: `replicas` and `reserveOrdinals` of their set change in one write, because together
 * they say which pods go. That write, and the mark of a worker that is led out, hold only for the set that was seen. Pure.
 */
import type { AdvancedStatefulSet } from '../../kinds/fluid/index.ts'
import type { Step } from '../scaling/decide.ts'
import { LEAVING_WORKER, leavingText } from '../scaling/handover.ts'
import { type Chosen, exactly } from '../scaling/ordinals.ts'

type Reserved = NonNullable<AdvancedStatefulSet['spec']['reserveOrdinals']>
const NONE: Reserved = []

/** Where nobody chooses: the highest ordinals leave, and ordinals that were left out are used again with more workers. */
export function withOrdinals(wanted: AdvancedStatefulSet, live: AdvancedStatefulSet | undefined): AdvancedStatefulSet {
  const isMore = (wanted.spec.replicas ?? 1) > (live?.spec.replicas ?? 0)
  return withPods(wanted, { replicas: wanted.spec.replicas ?? 1, reserveOrdinals: isMore ? NONE : (live?.spec.reserveOrdinals ?? NONE) })
}

const withPods = (set: AdvancedStatefulSet, chosen: Chosen): AdvancedStatefulSet => ({ ...set, spec: { ...set.spec, ...chosen } })

/** The set as a step leaves it. */
export function withStep(
  wanted: AdvancedStatefulSet,
  live: AdvancedStatefulSet,
  { step, nowMs }: { step: Step; nowMs: number },
): AdvancedStatefulSet {
  const { replicas = 1, reserveOrdinals = NONE } = live.spec
  const same = withPods(wanted, { replicas, reserveOrdinals })
  const marked = live.metadata.annotations?.[LEAVING_WORKER]
  switch (step.do) {
    case 'let-go':
      return asSeen(withPods(wanted, exactly(step.ordinals)), live)
    case 'unmark':
      return asSeen(same, live)
    case 'mark': {
      const { worker, because } = step.choice
      const { pod, uid = '' } = worker
      return asSeen(annotated(same, leavingText({ pod, uid, sinceMs: nowMs, because })), live)
    }
    case 'grow':
      return annotated(withPods(wanted, exactly(step.ordinals)), marked)
    default:
      return annotated(same, marked)
  }
}

function annotated(set: AdvancedStatefulSet, text: string | undefined): AdvancedStatefulSet {
  if (text === undefined) return set
  return { ...set, metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, [LEAVING_WORKER]: text } } }
}

/** An old cache chooses nobody: the server refuses what was decided from another state of the set. */
const asSeen = (set: AdvancedStatefulSet, { metadata: { uid, resourceVersion } }: AdvancedStatefulSet): AdvancedStatefulSet => ({
  ...set,
  metadata: { ...set.metadata, uid, resourceVersion },
})
