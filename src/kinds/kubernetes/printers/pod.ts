/**
 * The row of a pod. Its STATUS is not a field: it is the most telling reason among phase, init containers, containers
 * and deletion, in the order kubectl users know.
 */
import { humanDuration } from '../../../kube/go-duration.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { ageOf, at, count, list, nameOf, text } from './fields.ts'

interface Progress {
  reason: string
  ready: number
  restarts: number
  /** Of the latest termination that led to a restart; 0 when there was none. */
  lastRestartMs: number
}

export function podRow(pod: KubeObject, nowMs: number): { cells: unknown[]; conditions?: unknown[] } {
  const { reason, ready, restarts, lastRestartMs } = progressOf(pod)
  const restartText = restarts !== 0 && lastRestartMs !== 0 ? `${restarts} (${humanDuration(nowMs - lastRestartMs)} ago)` : `${restarts}`
  const total = list(at(pod, 'spec', 'containers')).length + list(at(pod, 'spec', 'initContainers')).filter(isSidecar).length
  const cells = [
    nameOf(pod),
    `${ready}/${total}`,
    reason,
    restartText,
    ageOf(pod, nowMs),
    text(at(list(at(pod, 'status', 'podIPs'))[0], 'ip'), '<none>'),
    text(at(pod, 'spec', 'nodeName'), '<none>'),
    text(at(pod, 'status', 'nominatedNodeName'), '<none>'),
    readinessGates(pod),
  ]
  const conditions = COMPLETED.get(text(at(pod, 'status', 'phase')))
  return conditions === undefined ? { cells } : { cells, conditions }
}

const completed = (reason: string, message: string): unknown[] => [{ type: 'Completed', status: 'True', reason, message }]
const COMPLETED: ReadonlyMap<string, unknown[]> = new Map([
  ['Succeeded', completed('Succeeded', 'The pod has completed successfully.')],
  ['Failed', completed('Failed', 'The pod failed.')],
])

const isSidecar = (container: unknown): boolean => at(container, 'restartPolicy') === 'Always'

function progressOf(pod: KubeObject): Progress {
  const initial = initialReason(pod)
  const init = initProgress(pod, initial)
  const initialized = hasTrueCondition(pod, 'Initialized')
  const progress = !init.initializing || initialized ? containerProgress(pod, init) : init
  return { ...progress, reason: finalReason(pod, progress.reason) }
}

function initialReason(pod: KubeObject): string {
  const gated = conditionsOf(pod).some((c) => at(c, 'type') === 'PodScheduled' && at(c, 'reason') === 'SchedulingGated')
  return gated ? 'SchedulingGated' : text(at(pod, 'status', 'reason'), text(at(pod, 'status', 'phase')))
}

interface InitProgress extends Progress {
  initializing: boolean
  /** What sidecars alone contribute, counted on once the pod is initialized. */
  sidecars: { restarts: number; lastRestartMs: number }
}

function initProgress(pod: KubeObject, reason: string): InitProgress {
  const specs = list(at(pod, 'spec', 'initContainers'))
  const progress: InitProgress = {
    reason,
    ready: 0,
    restarts: 0,
    lastRestartMs: 0,
    initializing: false,
    sidecars: { restarts: 0, lastRestartMs: 0 },
  }
  for (const [i, status] of list(at(pod, 'status', 'initContainerStatuses')).entries()) {
    const sidecar = isSidecar(specs.find((spec) => at(spec, 'name') === at(status, 'name')))
    countRestarts(progress, status)
    if (sidecar) countRestarts(progress.sidecars, status)
    const terminated = at(status, 'state', 'terminated')
    if (terminated !== undefined && count(at(terminated, 'exitCode')) === 0) continue
    if (sidecar && at(status, 'started') === true) {
      if (at(status, 'ready') === true) progress.ready++
      continue
    }
    progress.initializing = true
    progress.reason = `Init:${initReason(status, `${i}/${specs.length}`)}`
    break
  }
  return progress
}

function initReason(status: unknown, position: string): string {
  const terminated = at(status, 'state', 'terminated')
  if (terminated !== undefined) return terminationReason(terminated)
  const waiting = text(at(status, 'state', 'waiting', 'reason'))
  return waiting !== '' && waiting !== 'PodInitializing' ? waiting : position
}

function terminationReason(terminated: unknown): string {
  const signal = count(at(terminated, 'signal'))
  return text(at(terminated, 'reason'), signal !== 0 ? `Signal:${signal}` : `ExitCode:${count(at(terminated, 'exitCode'))}`)
}

function countRestarts(into: { restarts: number; lastRestartMs: number }, status: unknown): void {
  into.restarts += count(at(status, 'restartCount'))
  into.lastRestartMs = Math.max(into.lastRestartMs, timeToMs(at(status, 'lastState', 'terminated', 'finishedAt')) ?? 0)
}

function containerProgress(pod: KubeObject, init: InitProgress): Progress {
  const progress: Progress = { reason: init.reason, ready: init.ready, ...init.sidecars }
  let hasRunning = false
  let errorReason = ''
  for (const status of list(at(pod, 'status', 'containerStatuses')).toReversed()) {
    countRestarts(progress, status)
    const waiting = text(at(status, 'state', 'waiting', 'reason'))
    const terminated = at(status, 'state', 'terminated')
    if (waiting !== '') progress.reason = waiting
    else if (terminated !== undefined) {
      progress.reason = terminationReason(terminated)
      if (count(at(terminated, 'exitCode')) !== 0) errorReason = progress.reason
    } else if (at(status, 'ready') === true && at(status, 'state', 'running') !== undefined) {
      hasRunning = true
      progress.ready++
    }
  }
  // One container that completed does not complete a pod whose others still run.
  if (progress.reason === 'Completed') {
    if (hasRunning && hasTrueCondition(pod, 'Ready')) progress.reason = 'Running'
    else if (errorReason !== '') progress.reason = errorReason
    else if (hasRunning) progress.reason = 'NotReady'
  }
  return progress
}

function finalReason(pod: KubeObject, reason: string): string {
  if (pod.metadata.deletionTimestamp === undefined) return reason
  if (at(pod, 'status', 'reason') === 'NodeLost') return 'Unknown'
  return COMPLETED.has(text(at(pod, 'status', 'phase'))) ? reason : 'Terminating'
}

const conditionsOf = (pod: KubeObject): readonly unknown[] => list(at(pod, 'status', 'conditions'))

const hasTrueCondition = (pod: KubeObject, type: string): boolean =>
  conditionsOf(pod).some((c) => at(c, 'type') === type && at(c, 'status') === 'True')

function readinessGates(pod: KubeObject): string {
  const gates = list(at(pod, 'spec', 'readinessGates'))
  if (gates.length === 0) return '<none>'
  const met = gates.filter((gate) => {
    const condition = conditionsOf(pod).find((c) => at(c, 'type') === at(gate, 'conditionType'))
    return at(condition, 'status') === 'True'
  })
  return `${met.length}/${gates.length}`
}
