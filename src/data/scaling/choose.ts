/**
 * Which worker leaves next. Beside the workers of a co-located runtime somebody may read: those stay. Of the others the one that
 * is missed least goes first: one without a node, one that is leaving already, the one that holds the fewest bytes. Pure.
 */
import type { DatasetReader } from './readers.ts'
import type { WorkerReport } from './worker-report.ts'

export interface Worker {
  ordinal: number
  pod: string
  /** Undefined: there is no such pod now. */
  uid: string | undefined
  /** Undefined: it was not placed yet. */
  node: string | undefined
  isReady: boolean
  /** Who reads the dataset on its node. */
  readers: readonly DatasetReader[]
}

/** Those that may leave. */
export const free = (workers: readonly Worker[], isCoLocated: boolean): Worker[] =>
  isCoLocated ? workers.filter(({ readers }) => readers.length === 0) : [...workers]

/** Whether what they hold decides: those without a node hold nothing, and go first. */
export const isReportNeeded = (candidates: readonly Worker[]): boolean =>
  candidates.length > 1 && candidates.every(({ node }) => node !== undefined)

export const REASONS = ['not-placed', 'leaving', 'least', 'only', 'highest'] as const
export type Because = (typeof REASONS)[number]

export interface Choice {
  worker: Worker
  because: Because
  /** Undefined: nobody says it. */
  cachedBytes: number | undefined
}

/** Undefined: there is none to choose from. The same candidates in any order lead to the same choice. */
export function choose(candidates: readonly Worker[], report: WorkerReport | undefined): Choice | undefined {
  const [worker] = [...candidates].sort((a, b) => compare(a, b, report))
  if (worker === undefined) return undefined
  const figures = report?.get(worker.pod)
  const because: Because =
    worker.node === undefined
      ? 'not-placed'
      : figures?.isLeaving === true
        ? 'leaving'
        : candidates.length === 1
          ? 'only'
          : report === undefined
            ? 'highest'
            : 'least'
  return { worker, because, cachedBytes: figures?.cachedBytes }
}

function compare(a: Worker, b: Worker, report: WorkerReport | undefined): number {
  const [first, second] = [rankOf(a, report), rankOf(b, report)]
  const at = first.findIndex((value, i) => value !== second[i])
  return at < 0 ? b.ordinal - a.ordinal : (first[at] ?? 0) - (second[at] ?? 0)
}

/** A worker that the cache does not know serves nobody. */
function rankOf({ pod, node, readers }: Worker, report: WorkerReport | undefined): number[] {
  const figures = report?.get(pod)
  return [node === undefined ? 0 : 1, figures?.isLeaving === true ? 0 : 1, figures?.cachedBytes ?? 0, readers.length]
}
