/**
 * The next step of the workers towards the number that is asked for: one leaves after another, each led out first where the engine
 * can. What was begun is found again by the mark on the set, so a restart goes on with the same worker. Pure.
 */
import { type Choice, choose, free, isReportNeeded, type Worker } from './choose.ts'
import type { HandedOver, Leaving } from './handover.ts'
import { grownTo } from './ordinals.ts'
import type { WorkerReport } from './worker-report.ts'

/** How far something is that a program in the cache does. */
export type Progress<T> =
  /** Nobody can do it. */
  | { is: 'impossible' }
  /** Somebody can, but not now. */
  | { is: 'later' }
  | { is: 'due' }
  | { is: 'running' }
  | { is: 'done'; value: T }

export interface HandoverEnd {
  amounts: HandedOver | undefined
  /** Why it did not end by itself. */
  problem: string | undefined
}

export interface Scaling {
  asked: number
  /** Those that the set has by its spec, by ordinal. */
  workers: readonly Worker[]
  /** No pod is there beyond those. */
  isSettled: boolean
  isCoLocated: boolean
  leaving: Leaving | undefined
}

/** How far the programs are; each answers for what it is asked about. */
export interface Programs {
  report(candidates: readonly Worker[]): Progress<WorkerReport | undefined>
  handOver(leaving: Leaving): Progress<HandoverEnd>
  takeBack(leaving: Leaving): Progress<true>
  /** Whether a worker could be led out at all. */
  canHandOver(worker: Worker): boolean
  /** Whether nobody new is sent to its node to read there. */
  isKeptFree(worker: Worker): boolean
}

export type Step =
  /** As it is: nothing is to be done, or something comes by itself. */
  | { do: 'stay' }
  | { do: 'grow'; ordinals: readonly number[] }
  | { do: 'ask'; candidates: readonly Worker[] }
  | { do: 'mark'; choice: Choice }
  | { do: 'hand-over'; leaving: Leaving; worker: Worker }
  | { do: 'take-back'; leaving: Leaving }
  /** It is to serve again, and nobody is there who could be told. */
  | { do: 'await-master'; leaving: Leaving }
  | { do: 'unmark' }
  | { do: 'let-go'; ordinals: readonly number[]; choice: Choice; end: HandoverEnd | undefined }
  | { do: 'hold'; surplus: number; held: readonly Worker[] }

const STAY: Step = Object.freeze({ do: 'stay' })

export function decideStep(scaling: Scaling, programs: Programs): Step {
  const { asked, workers, leaving, isSettled } = scaling
  const ordinals = workers.map(({ ordinal }) => ordinal)
  if (asked > workers.length) return { do: 'grow', ordinals: grownTo(asked, ordinals) }
  const marked = leaving === undefined ? undefined : workers.find(({ pod, uid }) => pod === leaving.pod && uid === leaving.uid)
  if (leaving !== undefined && marked === undefined) return { do: 'unmark' }
  const candidates = free(workers, scaling.isCoLocated)
  const surplus = workers.length - asked
  if (leaving !== undefined && marked !== undefined)
    return surplus > 0 && candidates.includes(marked) ? leadOut(scaling, { leaving, marked }, programs) : takenBack(leaving, programs)
  if (surplus === 0) return STAY
  if (candidates.length === 0) return { do: 'hold', surplus, held: workers }
  // One after another: what the next one holds is known when this one is gone.
  if (!isSettled) return STAY
  return chooseNext(scaling, candidates, programs)
}

function chooseNext({ workers, isCoLocated }: Scaling, candidates: readonly Worker[], programs: Programs): Step {
  const report: Progress<WorkerReport | undefined> = isReportNeeded(candidates) ? programs.report(candidates) : { is: 'impossible' }
  if (report.is === 'due') return { do: 'ask', candidates }
  if (report.is === 'running') return STAY
  const choice = choose(candidates, report.is === 'done' ? report.value : undefined)
  if (choice === undefined) return STAY
  // The mark keeps new readers away from its node, before it is looked once more who reads there.
  if (isCoLocated && choice.worker.node !== undefined) return { do: 'mark', choice }
  const hasHeirs = workers.some((worker) => worker !== choice.worker && worker.isReady)
  if (hasHeirs && choice.worker.isReady && programs.canHandOver(choice.worker)) return { do: 'mark', choice }
  return { do: 'let-go', ordinals: without(workers, choice.worker), choice, end: undefined }
}

function leadOut({ workers, isCoLocated }: Scaling, { leaving, marked }: { leaving: Leaving; marked: Worker }, programs: Programs): Step {
  if (isCoLocated && !programs.isKeptFree(marked)) return STAY
  const handover = programs.handOver(leaving)
  const hasHeirs = workers.some((worker) => worker !== marked && worker.isReady)
  if (handover.is === 'due' && hasHeirs && programs.canHandOver(marked)) return { do: 'hand-over', leaving, worker: marked }
  if (handover.is === 'running') return STAY
  const because = handover.is === 'done' ? 'leaving' : (leaving.because ?? 'leaving')
  const choice: Choice = { worker: marked, because, cachedBytes: undefined }
  return { do: 'let-go', ordinals: without(workers, marked), choice, end: handover.is === 'done' ? handover.value : undefined }
}

/** It stays after all, and must serve as before. */
function takenBack(leaving: Leaving, programs: Programs): Step {
  const { is } = programs.takeBack(leaving)
  if (is === 'due') return { do: 'take-back', leaving }
  if (is === 'later') return { do: 'await-master', leaving }
  return is === 'done' || is === 'impossible' ? { do: 'unmark' } : STAY
}

const without = (workers: readonly Worker[], gone: Worker): number[] =>
  workers.filter((worker) => worker !== gone).map(({ ordinal }) => ordinal)
