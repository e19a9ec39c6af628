/** Where the program of a run can be asked how far it is, and what it has answered. */
import type { Job, Pod } from '../../../kinds/kubernetes/types.ts'
import type { Effect, PassReader } from '../../../runtime/controller.ts'
import { runOf } from '../../dataset/pods.ts'
import { PROGRESS_PORT } from '../build/program.ts'
import { type Asking, asking, type Heard } from './asking.ts'
import type { ProgressInput } from './effect.ts'

export interface Progress {
  /** Which run of the container it is about. */
  run: string
  url: string
  port: number
  /** Undefined: this process cannot reach pods. */
  asking: Asking | undefined
}

export interface ProgressSource {
  read: PassReader
  /** Undefined: this process cannot reach pods. */
  effect: Effect<ProgressInput, Heard> | undefined
}

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/
const IPV6 = /^[\da-f:.]+$/i

/** Undefined: its program serves none, or does not run. */
export function progressOf(job: Job, pods: readonly Pod[], { read, effect }: ProgressSource): Progress | undefined {
  const port = Number(job.metadata.annotations?.[PROGRESS_PORT])
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined
  for (const pod of newestFirst(pods)) {
    const run = runOf(pod, pod.spec?.containers?.[0]?.name ?? '')
    const host = hostOf(pod)
    if (run === undefined || host === undefined) continue
    const turn = effect === undefined ? undefined : asking(read.nowMs(), (slot) => read.outcome(effect, progressKey(run, slot)))
    return { run, port, url: `http://${host}:${port}/progress`, asking: turn }
  }
  return undefined
}

export const progressKey = (run: string, slot: number): string => `${run} ${slot}`

/** A pod on the network of its node has the ports of everybody there. */
function hostOf({ spec, status }: Pod): string | undefined {
  const ip = status?.podIP ?? ''
  if (spec?.hostNetwork === true) return undefined
  return IPV4.test(ip) ? ip : ip.includes(':') && IPV6.test(ip) ? `[${ip}]` : undefined
}

const newestFirst = (pods: readonly Pod[]): Pod[] => {
  const textOf = ({ metadata }: Pod): string => `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`
  return [...pods].sort((a, b) => (textOf(a) < textOf(b) ? 1 : -1))
}
