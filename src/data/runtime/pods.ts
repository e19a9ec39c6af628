/** What the pods of a set say about it: why they are not ready, or that nothing really runs in them. Pure. */
import type { AdvancedStatefulSet } from '../../kinds/fluid/index.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { ordinalsOf } from '../../runtime/workloads/stateful-set/ordinals.ts'

/** On a pod that is simulated: why. */
const SIMULATED_BECAUSE = 'sluice.dev/simulated-because'
/** More need not be looked at to find one that is in trouble. */
const MOST_PODS = 32
/** Reasons of waiting containers that do not pass by themselves. */
const TROUBLE = new Set(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'CrashLoopBackOff', 'CreateContainerConfigError'])

export interface Reason {
  reason: string
  message: string
}

/** The names of its first pods. */
export function podNamesOf(set: AdvancedStatefulSet): string[] {
  const names: string[] = []
  for (const ordinal of ordinalsOf(set)) {
    if (names.length >= MOST_PODS) break
    names.push(`${set.metadata.name ?? ''}-${ordinal}`)
  }
  return names
}

export function troubleOf({ metadata, status }: Pod): Reason | undefined {
  const { name = '' } = metadata
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status === 'False')
    return { reason: scheduled.reason ?? 'Unschedulable', message: `pod ${name}: ${scheduled.message ?? 'it has no node yet'}` }
  for (const { name: container = '', state } of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const { reason = '' } = state?.waiting ?? {}
    // Texts of repeated attempts name the time until the next one, which changes: they are not repeated here.
    if (TROUBLE.has(reason)) return { reason, message: `container ${container} of pod ${name} does not start: see the events of the pod` }
  }
  return undefined
}

export function simulationOf({ metadata }: Pod): Reason | undefined {
  const because = metadata.annotations?.[SIMULATED_BECAUSE]
  return because === undefined ? undefined : { reason: 'Simulated', message: because }
}

/** Since when a pod has a node and none of its containers has started; undefined when that is not so. */
export function startingSinceMs({ metadata, spec, status }: Pod): number | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const isStarting = (spec?.nodeName ?? '') !== '' && status?.phase === 'Pending' && all.every(({ state }) => state?.waiting !== undefined)
  if (!isStarting || metadata.deletionTimestamp !== undefined) return undefined
  return Date.parse(status.startTime ?? metadata.creationTimestamp ?? '')
}
