/**
 * Which run of which workload made a version of a source, and which of two runs is the later one. A source remembers its
 * latest run only, so there must be an order over the runs of all workloads of a namespace: without one, two finished
 * workloads that make data of one name would take turns for ever. It is the time at which a run succeeded, then the text
 * that identifies it. Pure.
 */
import { formatTime } from '../../base/clock.ts'
import type { ResourceBinding } from '../../kinds/karmada/index.ts'
import { fieldAt, listAt } from '../../kube/fields.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { timeToMs } from '../../kube/go-time.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Progress } from '../workload/index.ts'

export interface Run {
  /** The uid of the workload, and for kinds that run again and again which run it was. */
  id: string
  /** When it succeeded, to the second. */
  at: string
}

/** The value of the annotation `sluice.dev/run`. */
export const runText = ({ id, at }: Run): string => `${id}@${at}`

/** Undefined when there is no annotation, or somebody has changed it to what we never write. */
export function parseRun(text: string | undefined): Run | undefined {
  const cut = text?.lastIndexOf('@') ?? -1
  if (text === undefined || cut <= 0) return undefined
  const ms = timeToMs(text.slice(cut + 1))
  return ms === undefined ? undefined : { id: text.slice(0, cut), at: formatTime(ms) }
}

export const isLater = (run: Run, than: Run): boolean => (compareStrings(run.at, than.at) || compareStrings(run.id, than.id)) > 0

/** Of the workload. */
export const uidOf = ({ id }: Run): string => id.split('/', 1)[0] ?? ''

export interface Succeeded {
  template: KubeObject
  binding: ResourceBinding
  progress: Progress
  nowMs: number
}

/** The run that succeeded; undefined while none has. */
export function runOf({ template, binding, progress, nowMs }: Succeeded): Run | undefined {
  if (progress.run === undefined) return undefined
  const createdMs = timeToMs(template.metadata.creationTimestamp) ?? 0
  const reportedMs = timeInId(progress.run) ?? earliestEnd(binding, progress.succeededIn)
  // Members have clocks of their own. A time that cannot be right must not decide, least of all one that no later run could beat.
  const isCredible = reportedMs !== undefined && reportedMs >= createdMs && reportedMs <= nowMs
  return { id: progress.run, at: formatTime(isCredible ? reportedMs : createdMs) }
}

/** Kinds that run again and again are told apart by when they succeeded. */
const timeInId = (id: string): number | undefined => timeToMs(id.slice(id.indexOf('/') + 1))

/** Where the kinds that we know say when they ended. */
const ENDED: readonly (readonly string[])[] = [['completionTime'], ['endTime'], ['state', 'lastTransitionTime']]

/** Of several copies, the first that succeeded made the data; a later one is not another run. */
function earliestEnd(binding: ResourceBinding, clusters: readonly string[]): number | undefined {
  const among = new Set(clusters)
  const times = listAt(binding, 'status', 'aggregatedStatus')
    .filter(({ clusterName }) => typeof clusterName === 'string' && among.has(clusterName))
    .flatMap(({ status }) => ENDED.map((path) => timeToMs(fieldAt(status, ...path))).find((ms) => ms !== undefined) ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}
