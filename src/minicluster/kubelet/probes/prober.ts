/**
 * Probes the containers periodically. Reading a pod's states is what keeps its probes running; those that are no
 * longer asked for stop. The pod is queued again only when a result changes something.
 */
import type { Clock } from '../../../base/clock.ts'
import { deepEqual } from '../../../base/json.ts'
import type { Container, Probe } from '../../../kinds/kubernetes/types.ts'
import type { ContainerMachine, RunId } from '../container-machine.ts'
import type { ProbeKind } from '../life.ts'
import { checkProbe } from './check.ts'
import { afterAnswer, FRESH, type ProbeState } from './probe-state.ts'

export interface WantedProbe {
  run: RunId
  kind: ProbeKind
  probe: Probe
  container: Container
  podIP: string
  startedAtMs: number
}

export interface Prober {
  /** The states of exactly these probes of a pod, by `keyOfProbe`. */
  states(podUid: string, wanted: readonly WantedProbe[]): ReadonlyMap<string, ProbeState>
  /** From now on pods are enqueued; the returned function stops all probes. */
  start(enqueue: (podUid: string) => void): () => void
}

export const keyOfProbe = (run: RunId, kind: ProbeKind): string => `${run.container}/${run.attempt}/${kind}`

interface Worker {
  wanted: WantedProbe
  state: ProbeState
  isEnded: boolean
  cancel(): void
}

const SECOND = 1000

export function createProber({ machine, clock }: { machine: ContainerMachine; clock: Clock }): Prober {
  const pods = new Map<string, Map<string, Worker>>()
  let enqueue: ((podUid: string) => void) | undefined

  function begin(wanted: WantedProbe): Worker {
    const worker: Worker = { wanted, state: FRESH, isEnded: false, cancel: () => undefined }
    const firstMs = wanted.startedAtMs + (wanted.probe.initialDelaySeconds ?? 0) * SECOND
    worker.cancel = clock.after(Math.max(0, firstMs - clock.now()), () => void ask(worker))
    return worker
  }

  async function ask(worker: Worker): Promise<void> {
    const { probe, kind, run, container, podIP } = worker.wanted
    const atMs = clock.now()
    const timeoutMs = (probe.timeoutSeconds ?? 1) * SECOND
    const answer = await checkProbe(probe, { machine, clock, run, container, podIP, timeoutMs })
    if (worker.isEnded) return
    const before = worker.state
    worker.state = afterAnswer(before, answer, { kind, probe })
    if (before.verdict !== worker.state.verdict || before.failure?.number !== worker.state.failure?.number) enqueue?.(run.podUid)
    if (worker.state.isOnHold) return
    const nextMs = atMs + (probe.periodSeconds ?? 10) * SECOND
    worker.cancel = clock.after(Math.max(0, nextMs - clock.now()), () => void ask(worker))
  }

  function end(worker: Worker): void {
    worker.isEnded = true
    worker.cancel()
  }

  return {
    states(podUid, wanted) {
      const known = pods.get(podUid) ?? new Map<string, Worker>()
      const next = new Map<string, Worker>()
      for (const one of wanted) {
        const key = keyOfProbe(one.run, one.kind)
        const old = known.get(key)
        const isSame = old !== undefined && old.wanted.podIP === one.podIP && deepEqual(old.wanted.probe, one.probe)
        next.set(key, isSame ? old : begin(one))
      }
      for (const [key, worker] of known) if (next.get(key) !== worker) end(worker)
      if (next.size === 0) pods.delete(podUid)
      else pods.set(podUid, next)
      return new Map([...next].map(([key, worker]) => [key, worker.state]))
    },
    start(listener) {
      enqueue = listener
      return () => {
        enqueue = undefined
        for (const workers of pods.values()) for (const worker of workers.values()) end(worker)
        pods.clear()
      }
    },
  }
}
