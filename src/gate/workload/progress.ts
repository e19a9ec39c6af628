/**
 * How a workload is doing as a whole, from its binding alone: pure, and the same in whatever order members report. Only the
 * clusters that it is scheduled to count, and of those only reports about what was applied: anything else may be about
 * another place, or about a former object of the same name. When in doubt, it still runs.
 */
import type { Binding } from '../../kinds/karmada/index.ts'
import { fieldAt, listAt, textAt } from '../../kube/fields.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { HELD_BECAUSE } from '../../runtime/seams/narrowing.ts'
import type { MemberState, WorkloadKind } from './workload.ts'

export interface Progress {
  state: 'not-scheduled' | 'held' | 'running' | 'succeeded' | 'failed'
  /** Clusters in which it has succeeded, sorted. */
  succeededIn: readonly string[]
  /** Clusters in which it has failed, sorted. */
  failedIn: readonly string[]
  /**
   * Identifies what succeeded, once it has: the uid of the template and, for kinds that run again and again, the newest run.
   * The same run is the same text, after a restart too.
   */
  run: string | undefined
}

const HOLDS = [HELD_BECAUSE, 'sluice.dev/held-reason'] as const

export function progressOf(kind: WorkloadKind, binding: Binding): Progress {
  const targets = targetsOf(binding)
  if (targets.length === 0) return { state: isHeld(binding) ? 'held' : 'not-scheduled', succeededIn: [], failedIn: [], run: undefined }
  const reports = reportsOf(binding)
  const succeededIn: string[] = []
  const failedIn: string[] = []
  for (const cluster of targets) {
    const state = together((reports.get(cluster) ?? []).map((status) => kind.stateOf(status)))
    if (state === 'succeeded') succeededIn.push(cluster)
    if (state === 'failed') failedIn.push(cluster)
  }
  const state = whole({ isDivided: isDivided(binding), targets: targets.length, succeeded: succeededIn.length, failed: failedIn.length })
  if (state !== 'succeeded') return { state, succeededIn, failedIn, run: undefined }
  const successes = succeededIn.flatMap((cluster) => reports.get(cluster) ?? [])
  return { state, succeededIn, failedIn, run: runOf(kind, binding, successes) }
}

interface Counts {
  isDivided: boolean
  targets: number
  succeeded: number
  failed: number
}

/** Pieces make the whole only together; of copies, each is the whole. */
function whole({ isDivided, targets, succeeded, failed }: Counts): 'running' | 'succeeded' | 'failed' {
  if (failed >= (isDivided ? 1 : targets)) return 'failed'
  return succeeded >= (isDivided ? targets : 1) ? 'succeeded' : 'running'
}

const isDivided = (binding: Binding): boolean =>
  fieldAt(binding, 'spec', 'placement', 'replicaScheduling', 'replicaSchedulingType') === 'Divided'

const isHeld = (binding: Binding): boolean => HOLDS.some((hold) => textAt(binding, 'metadata', 'annotations', hold) !== undefined)

/** Each once, sorted. */
function targetsOf(binding: Binding): string[] {
  const names = new Set<string>()
  for (const { name } of listAt(binding, 'spec', 'clusters')) if (typeof name === 'string') names.add(name)
  return [...names].sort(compareStrings)
}

/** What was reported by each cluster about the object that was applied there. */
function reportsOf(binding: Binding): Map<string, unknown[]> {
  const reports = new Map<string, unknown[]>()
  for (const { clusterName, applied, status } of listAt(binding, 'status', 'aggregatedStatus')) {
    if (typeof clusterName !== 'string' || applied !== true) continue
    const known = reports.get(clusterName)
    if (known === undefined) reports.set(clusterName, [status])
    else known.push(status)
  }
  return reports
}

/** A cluster reports once. If somebody wrote several items, it has succeeded only if all of them say so. */
function together(states: readonly MemberState[]): MemberState {
  if (states.includes('failed')) return 'failed'
  return states.length > 0 && states.every((state) => state === 'succeeded') ? 'succeeded' : 'running'
}

/** Without the uid of the template, two objects of one name could not be told apart. */
function runOf(kind: WorkloadKind, binding: Binding, statuses: readonly unknown[]): string | undefined {
  const uid = textAt(binding, 'spec', 'resource', 'uid')
  if (uid === undefined || uid === '') return undefined
  let newest: string | undefined
  for (const status of statuses) {
    const run = kind.runOf?.(status)
    if (run !== undefined && (newest === undefined || compareStrings(run, newest) > 0)) newest = run
  }
  return newest === undefined ? uid : `${uid}/${newest}`
}
