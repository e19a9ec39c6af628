/**
 * What a pod means to its Job: which index it works on, whether it counts as failed, what the Job's failure policy makes of
 * that, and when it ended. Pure; annotations may come from anyone and are not trusted.
 */
import type { ContainerStatus, Job, Pod, PodFailurePolicyOnExitCodesRequirement } from '../../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import type { KubeObject } from '../../../kube/meta.ts'

/** On every pod of a Job until its end is on record in the Job's status. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking'
/** An annotation and a label of pods of Indexed Jobs. */
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index'
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count'
export const IGNORED_INDEX_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count'
const MAX_INT32 = 2 ** 31 - 1

export const isTracked = (pod: KubeObject): boolean => pod.metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false

export const isIndexed = (job: Job): boolean => job.spec?.completionMode === 'Indexed'

function annotationOf(pod: KubeObject, key: string): string | undefined {
  const { annotations } = pod.metadata
  return annotations !== undefined && Object.hasOwn(annotations, key) ? annotations[key] : undefined
}

/** Undefined when the pod names none. */
export function completionIndexOf(pod: KubeObject): number | undefined {
  const text = annotationOf(pod, COMPLETION_INDEX)
  return text !== undefined && /^\+?\d{1,15}$/.test(text) ? Number(text) : undefined
}

function countOf(pod: KubeObject, key: string): number {
  const text = annotationOf(pod, key)
  const count = text !== undefined && /^\+?\d{1,15}$/.test(text) ? Number(text) : 0
  return count <= MAX_INT32 ? count : 0
}

export interface IndexFailures {
  counted: number
  ignored: number
}

/** Failures of the pod's index before this pod. */
export const indexFailuresBefore = (pod: KubeObject): IndexFailures => ({
  counted: countOf(pod, INDEX_FAILURES),
  ignored: countOf(pod, IGNORED_INDEX_FAILURES),
})

/** Whether only pods that have really ended are replaced; otherwise a terminating one already counts as failed. */
export const replacesOnlyFailed = (job: Job): boolean =>
  job.spec?.podReplacementPolicy === 'Failed' || job.spec?.podFailurePolicy !== undefined

export function isPodFailed(pod: Pod, job: Job): boolean {
  if (pod.status?.phase === 'Failed') return true
  return !replacesOnlyFailed(job) && pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== 'Succeeded'
}

export interface FailureVerdict {
  /** Whether the failure counts towards the limits. */
  counts: boolean
  action?: string
  /** Why the whole Job fails; only for FailJob. */
  failJob?: string
}

/** What the first rule of the failure policy that matches a failed pod says. */
export function judgeFailure(job: Job, pod: Pod): FailureVerdict {
  const where = `${pod.metadata.namespace}/${pod.metadata.name}`
  for (const [i, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    if (rule.onExitCodes !== undefined) {
      const found = containerMatching(pod, rule.onExitCodes)
      if (found === undefined) continue
      const exitCode = found.state?.terminated?.exitCode
      return verdictOf(
        rule.action,
        `Container ${found.name} for pod ${where} failed with exit code ${exitCode} matching ${rule.action} rule at index ${i}`,
      )
    }
    const condition = pod.status?.conditions?.find((one) =>
      (rule.onPodConditions ?? []).some((pattern) => pattern.type === one.type && pattern.status === one.status),
    )
    if (condition === undefined) continue
    return verdictOf(rule.action, `Pod ${where} has condition ${condition.type} matching ${rule.action} rule at index ${i}`)
  }
  return { counts: true }
}

function verdictOf(action: string | undefined, message: string): FailureVerdict {
  return { counts: action !== 'Ignore', action, ...(action === 'FailJob' ? { failJob: message } : {}) }
}

function containerMatching(pod: Pod, requirement: PodFailurePolicyOnExitCodesRequirement): ContainerStatus | undefined {
  const { containerName, operator, values = [] } = requirement
  return [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].find(({ name, state }) => {
    const code = state?.terminated?.exitCode ?? 0
    if (code === 0 || (containerName !== undefined && containerName !== name)) return false
    return operator === 'In' ? values.includes(code) : operator === 'NotIn' && !values.includes(code)
  })
}

/**
 * When it ended: when its last container (or sidecar) ended; else when it stopped being ready; else when its deletion
 * was requested; else when it was created.
 */
export function finishedMs(pod: Pod): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata
  const unready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False')
  const deleted = timeToMs(deletionTimestamp)
  return (
    containersFinishedMs(pod) ??
    timeToMs(unready?.lastTransitionTime) ??
    (deleted === undefined ? undefined : deleted - deletionGracePeriodSeconds * 1000) ??
    timeToMs(creationTimestamp) ??
    0
  )
}

function containersFinishedMs(pod: Pod): number | undefined {
  const sidecars = new Set((pod.spec?.initContainers ?? []).filter((one) => one.restartPolicy === 'Always').map((one) => one.name))
  const statuses = [
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.initContainerStatuses ?? []).filter((status) => sidecars.has(status.name)),
  ]
  const times = statuses.map((status) => timeToMs(status.state?.terminated?.finishedAt))
  if (times.length === 0 || times.includes(undefined)) return undefined
  return Math.max(...times.map((time) => time ?? 0))
}
