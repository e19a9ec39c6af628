/**
 * The commands that are run in the pod of a master while workers leave: what each worker holds, leading one out, and taking it
 * back. All may be run again at any time. Their time and output are bounded, and what they print is checked.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { execInPod } from '../../client/exec-in-pod.ts'
import type { RuntimeType } from '../../kinds/fluid/well-known.ts'
import { type Effect, EXEC_IN_PODS } from '../../runtime/controller.ts'
import { shown } from '../dataset/text.ts'
import type { PodEntry } from '../engines/engine.ts'
import type { HandoverEnd } from '../scaling/decide.ts'
import { handedOverIn, MOST_HANDOVER_SECONDS } from '../scaling/handover.ts'
import { parseWorkerReport, type ReportedPod, WORKER_REPORT_BYTES, type WorkerReport } from '../scaling/worker-report.ts'

export interface ReportInput {
  namespace: string
  entry: PodEntry
  pods: readonly (ReportedPod & { isReady: boolean })[]
}

export interface WorkersAsked {
  atMs: number
  /** Undefined: the cache does not say what each worker holds. */
  report: WorkerReport | undefined
}

export interface LeadInput {
  namespace: string
  entry: PodEntry
  pod: string
  /** Of the pod. */
  uid: string
}

export interface ScalingEffects {
  report: Effect<ReportInput, WorkersAsked>
  handOver: Effect<LeadInput & { untilMs: number }, HandoverEnd>
  takeBack: Effect<LeadInput, true>
}

const REPORT_MS = 20_000
/** A worker is heard of every few seconds: one that is missing is waited for, but not for long. */
const TRIES = 3
const PAUSE_MS = 2000
const TAKE_BACK_MS = 60_000
const SLACK_MS = 5000
const LONGEST_COMPLAINT = 200
const OUTPUT_BYTES = 64 * 1024
/** Enough for the last line. */
const TAIL_CHARACTERS = 8 * 1024

export function scalingEffects(type: RuntimeType, clock: Clock): ScalingEffects {
  /** Leading out ends when the worker is to stay. By the uid of its pod. */
  const leading = new Map<string, AbortController>()
  return {
    report: {
      name: `data.runtime.${type}.worker-report`,
      about: 'Runs the command in a pod of a cache that prints how much each of its workers holds.',
      timeoutMs: TRIES * (REPORT_MS + PAUSE_MS) + SLACK_MS,
      access: [EXEC_IN_PODS],
      // Never fails: a cache that does not answer must not keep its workers for ever.
      async run({ namespace, entry, pods }, { client, signal }) {
        const of = { namespace, pod: entry.pod, container: entry.container, command: entry.command }
        let report: WorkerReport | undefined
        for (let tried = 0; tried < TRIES && !signal.aborted; tried++) {
          if (tried > 0) await sleep(clock, PAUSE_MS, signal)
          try {
            const output = await execInPod(client, of, { clock, timeoutMs: REPORT_MS, maxBytes: WORKER_REPORT_BYTES, signal })
            if (output.exitCode !== 0 || output.isTruncated) continue
            report = parseWorkerReport(output.stdout, pods) ?? report
          } catch {
            // The next try may tell more; without any, nobody says what workers hold.
            continue
          }
          if (pods.every(({ pod, isReady }) => !isReady || report === undefined || report.has(pod))) break
        }
        return { atMs: clock.now(), report }
      },
    },
    handOver: {
      name: `data.runtime.${type}.hand-over`,
      about: 'Runs the command in a master that leads a worker out, until the worker has handed over what it holds or its time is over.',
      timeoutMs: MOST_HANDOVER_SECONDS * 1000 + SLACK_MS,
      timeoutFor: ({ untilMs }) => Math.max(0, untilMs - clock.now()) + SLACK_MS,
      access: [EXEC_IN_PODS],
      // Never fails: the worker goes all the same, and what is known of it is told.
      async run({ untilMs, ...input }, { client, signal }) {
        const stop = new AbortController()
        leading.set(input.uid, stop)
        let tail = ''
        const onStdout = (text: string): void => {
          tail = `${tail}${text}`.slice(-TAIL_CHARACTERS)
        }
        try {
          const timeoutMs = untilMs - clock.now()
          if (timeoutMs <= 0) return { amounts: undefined, problem: OVERDUE }
          const bounds = { clock, timeoutMs, maxBytes: OUTPUT_BYTES, signal: AbortSignal.any([signal, stop.signal]), onStdout }
          const { exitCode, stderr } = await execInPod(client, commandFor(input), bounds)
          const problem = exitCode === 0 ? undefined : shown(`exit code ${exitCode}: ${stderr}`, LONGEST_COMPLAINT)
          return { amounts: handedOverIn(tail), problem }
        } catch (error) {
          const problem = clock.now() >= untilMs ? OVERDUE : shown(messageOf(error), LONGEST_COMPLAINT)
          return { amounts: handedOverIn(tail), problem }
        } finally {
          if (leading.get(input.uid) === stop) leading.delete(input.uid)
        }
      },
    },
    takeBack: {
      name: `data.runtime.${type}.take-back`,
      about: 'Runs the command in a master that makes a worker serve again that was being led out, because it stays after all.',
      timeoutMs: TAKE_BACK_MS + SLACK_MS,
      access: [EXEC_IN_PODS],
      async run(input, { client, signal }) {
        leading.get(input.uid)?.abort(new Error('the worker stays'))
        const bounds = { clock, timeoutMs: TAKE_BACK_MS, maxBytes: OUTPUT_BYTES, signal }
        const { exitCode, stderr } = await execInPod(client, commandFor(input), bounds)
        if (exitCode !== 0)
          throw new Error(shown(`worker ${input.pod} does not serve again: exit code ${exitCode}: ${stderr}`, LONGEST_COMPLAINT))
        return true
      },
    },
  }
}

const OVERDUE = 'its time was over'

/** The name of the worker's pod comes last. */
const commandFor = ({ namespace, entry, pod }: LeadInput) => ({
  namespace,
  pod: entry.pod,
  container: entry.container,
  command: [...entry.command, pod],
})
