/** The phase of a pod, from the states of its containers, as the kubelet computes it. Pure. */
import type { ContainerStatus, Pod } from '../../kinds/kubernetes/types.ts'
import { type ContainerView, shouldRestart } from './containers.ts'

export interface PhaseInput {
  pod: Pod
  views: readonly ContainerView[]
  /** By name of container. */
  statuses: ReadonlyMap<string, ContainerStatus>
  /** Nothing is restarted, whatever the policy: the pod is being deleted. */
  isTerminal: boolean
  isInitialized: boolean
}

interface Counts {
  waiting: number
  running: number
  stopped: number
  stoppedForGood: number
  succeeded: number
}

export function phaseOf({ pod, views, statuses, isTerminal, isInitialized }: PhaseInput): string {
  const policy = pod.spec?.restartPolicy
  const init = views.filter((view) => view.role === 'init').map((view) => initState(view, statuses.get(view.name), policy))
  if (init.includes('failed')) return 'Failed'
  const sidecars = views.filter((view) => view.role === 'sidecar').map(({ name }) => statuses.get(name))
  const isPendingSidecar = (status: ContainerStatus | undefined): boolean =>
    status?.state?.running !== undefined ? status.started !== true : isUnbegun(status)
  const counts = count(views, statuses, policy)
  counts.running += sidecars.filter((status) => status?.state?.running !== undefined).length
  counts.waiting += sidecars.filter(isUnbegun).length
  if (init.includes('pending') || (!isInitialized && sidecars.some(isPendingSidecar)) || counts.waiting > 0) return 'Pending'
  if (counts.running > 0) return 'Running'
  if (counts.stopped === 0) return 'Pending'
  if (!isTerminal && counts.stopped !== counts.stoppedForGood) return 'Running'
  return counts.stopped === counts.succeeded ? 'Succeeded' : 'Failed'
}

const isUnbegun = (status: ContainerStatus | undefined): boolean =>
  status?.state?.running === undefined && status?.state?.terminated === undefined && status?.lastState?.terminated === undefined

function initState(
  view: ContainerView,
  status: ContainerStatus | undefined,
  policy: string | undefined,
): 'pending' | 'failed' | 'retrying' | 'done' {
  const end = status?.state?.terminated ?? (status?.state?.running === undefined ? status?.lastState?.terminated : undefined)
  if (end === undefined) return 'pending'
  if ((end.exitCode ?? 0) === 0) return 'done'
  return shouldRestart(view, policy, end.exitCode ?? 0) ? 'retrying' : 'failed'
}

function count(views: readonly ContainerView[], statuses: PhaseInput['statuses'], policy: string | undefined): Counts {
  const counts: Counts = { waiting: 0, running: 0, stopped: 0, stoppedForGood: 0, succeeded: 0 }
  for (const view of views) {
    if (view.role !== 'main') continue
    const { state, lastState } = statuses.get(view.name) ?? {}
    const end = state?.terminated ?? (state?.running === undefined ? lastState?.terminated : undefined)
    if (state?.running !== undefined) counts.running++
    else if (end === undefined) counts.waiting++
    else {
      counts.stopped++
      if (!shouldRestart(view, policy, end.exitCode ?? 0)) counts.stoppedForGood++
      if (state?.terminated !== undefined && (end.exitCode ?? 0) === 0) counts.succeeded++
    }
  }
  return counts
}
