/**
 * What the data operations share: their progress on a port of the pod, and one last line that says how they ended, in the log and
 * as the termination message of the container, which the status of the pod then shows.
 */
import { writeFileSync } from 'node:fs'
import { messageOf } from '../../base/error-text.ts'
import { ConfigError } from '../config/fields.ts'
import { Progress } from '../operations/progress.ts'
import { serveProgress } from '../operations/serve-progress.ts'
import { type Deps, listenAt } from './deps.ts'

/** Complete; failed, and another attempt may help; refused as it is configured; ended, but something of it was left out. */
export const EXIT_CODES = { complete: 0, failed: 1, refused: 2, incomplete: 3 } as const

export interface OperationEnd {
  result: keyof typeof EXIT_CODES
  reason?: string
  /** What it did, in numbers and a few bounded texts. */
  figures?: object
}

const OPERATION_PORT = 19453
/** What Kubernetes keeps of a termination message. */
const LONGEST_LINE = 4096
const LONGEST_REASON = 1000

/** Resolves to the exit code. Never rejects. */
export async function runOperation(deps: Deps, name: string, work: (progress: Progress) => Promise<OperationEnd>): Promise<number> {
  const { clock, log, signal } = deps
  const progress = new Progress(name, clock)
  const beganMs = clock.now()
  const stopServing = await serveProgress({ progress, ...listenAt(deps, OPERATION_PORT), log })
  const end = await work(progress).catch((error: unknown): OperationEnd => {
    if (signal.aborted) return { result: 'failed', reason: 'ended before everything was done: run it again, it goes on where it was' }
    return { result: error instanceof ConfigError ? 'refused' : 'failed', reason: messageOf(error) }
  })
  await stopServing()
  const { result, reason, figures } = end
  const { bytesDone, bytesTotal, filesDone, filesTotal } = progress.report()
  const seconds = Math.round((clock.now() - beganMs) / 100) / 10
  const line = lineOf({
    ...{ operation: name, result, seconds, bytesDone, bytesTotal, filesDone, filesTotal },
    ...(reason === undefined ? {} : { reason: reason.slice(0, LONGEST_REASON) }),
    ...figures,
  })
  deps.print(line)
  leaveMessage(deps, line)
  return EXIT_CODES[result]
}

/** Names of problems are the first to go when it is too long. */
function lineOf(end: Record<string, unknown>): string {
  const line = JSON.stringify(end)
  return Buffer.byteLength(line) <= LONGEST_LINE ? line : JSON.stringify({ ...end, problems: undefined, missing: undefined })
}

function leaveMessage({ env, log }: Deps, line: string): void {
  const file = env.get('SLUICE_TERMINATION_LOG') ?? '/dev/termination-log'
  try {
    writeFileSync(file, line, { flag: 'r+' })
  } catch (error) {
    // There is none outside pods: the log has the line.
    log.write('debug', 'the last line cannot be left for the pod', { file, error: messageOf(error) })
  }
}
