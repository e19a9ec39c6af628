/**
 * The commands that are run in the pods of a cache: mounting its sources and asking how much it holds. Both may be run again at
 * any time. Their time and output are bounded, and what they print is checked.
 */
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { isJsonObject } from '../../base/json.ts'
import { type ExecOutput, execInPod } from '../../client/exec-in-pod.ts'
import { type Effect, type EffectContext, EXEC_IN_PODS } from '../../runtime/controller.ts'
import type { PodEntry } from '../engines/engine.ts'
import { type Asked, heardProblem, heardReport, type Pace, parseReport, REPORT_BYTES } from './report.ts'
import { shown } from './text.ts'

export interface MountInput {
  namespace: string
  entry: PodEntry
  /** Sorted. */
  mountPaths: readonly string[]
}

export interface ReportInput {
  namespace: string
  entry: PodEntry
  /** Those that there are. */
  workers: string
  previous: Asked | undefined
}

export interface DatasetEffects {
  mountUfs: Effect<MountInput, true>
  reportSummary: Effect<ReportInput, Asked>
}

/** However long a class allows: a command that hangs must not hold up a dataset for ever. */
const MOUNT_MS = 300_000
const REPORT_MS = 60_000
/** Longer than the command may take, so that its own message is seen. */
const SLACK_MS = 5000
export const LONGEST_REPORT_MS = REPORT_MS + SLACK_MS
const MOUNTED_BYTES = 256 * 1024
const LONGEST_COMPLAINT = 400
const MOST_PATHS = 5

export function datasetEffects(clock: Clock, pace: Pace): DatasetEffects {
  const run = (
    { namespace, entry }: Omit<ReportInput, 'workers' | 'previous'>,
    { client, signal }: EffectContext,
    most: { ms: number; bytes: number },
  ) =>
    execInPod(
      client,
      { namespace, pod: entry.pod, container: entry.container, command: entry.command },
      { clock, timeoutMs: Math.min(entry.timeoutMs, most.ms), maxBytes: most.bytes, signal },
    )
  return {
    mountUfs: {
      name: 'data.dataset.mount-ufs',
      about: 'Runs the command in a master that mounts the sources of a dataset, and checks which it says are mounted.',
      timeoutMs: MOUNT_MS + SLACK_MS,
      access: [EXEC_IN_PODS],
      async run(input, context) {
        checkMounted(await run(input, context, { ms: MOUNT_MS, bytes: MOUNTED_BYTES }), input.mountPaths)
        return true
      },
    },
    reportSummary: {
      name: 'data.dataset.report-summary',
      about: 'Runs the command in a pod of a cache that prints how much it holds.',
      timeoutMs: LONGEST_REPORT_MS,
      access: [EXEC_IN_PODS],
      // Never fails: what was known before, and since when nothing was heard, is part of the outcome.
      async run(input, context) {
        const { previous, workers } = input
        try {
          const output = await run(input, context, { ms: REPORT_MS, bytes: REPORT_BYTES })
          checkExit(output)
          if (output.isTruncated) throw new Error(`the report has more than ${REPORT_BYTES} bytes`)
          return heardReport(parseReport(output.stdout), previous, { atMs: clock.now(), pace, workers })
        } catch (error) {
          return heardProblem(shown(messageOf(error), LONGEST_COMPLAINT), previous, { atMs: clock.now(), pace, workers })
        }
      },
    },
  }
}

function checkExit({ exitCode, stderr, stdout }: ExecOutput): void {
  if (exitCode === 0) return
  const complaint = shown(stderr.trim() === '' ? stdout : stderr, LONGEST_COMPLAINT)
  throw new Error(`exit code ${exitCode}${complaint === '' ? '' : `: ${complaint}`}`)
}

/** Throws what is wrong, in Fluid's words where it has them. */
export function checkMounted(output: ExecOutput, expected: readonly string[]): void {
  checkExit(output)
  if (output.isTruncated) throw new Error(`it prints more than ${MOUNTED_BYTES} bytes`)
  const mounted = new Set(mountedIn(output.stdout))
  const missing = expected.find((path) => !mounted.has(path))
  if (missing !== undefined) throw new Error(`mount point ${shown(missing, LONGEST_COMPLAINT)} is not yet mounted`)
  const wanted = new Set(expected)
  const surplus = [...mounted].filter((path) => !wanted.has(path)).sort()
  if (surplus.length === 0) return
  const more = surplus.length > MOST_PATHS ? ` and ${surplus.length - MOST_PATHS} more` : ''
  throw new Error(`unexpected mounted paths remain: ${shown(surplus.slice(0, MOST_PATHS).join(' '), LONGEST_COMPLAINT)}${more}`)
}

function mountedIn(text: string): string[] {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw new Error(`it prints no JSON: ${shown(text, 100)}`)
  }
  const paths = isJsonObject(answer) && Object.hasOwn(answer, 'mounted') ? answer.mounted : undefined
  if (!Array.isArray(paths) || !paths.every((path): path is string => typeof path === 'string'))
    throw new Error('it prints no {"mounted":["/path",…]}')
  return paths
}
