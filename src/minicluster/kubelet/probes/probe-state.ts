/** What a series of results amounts to: a verdict changes only after enough equal results in a row. Pure. */
import type { Probe } from '../../../kinds/kubernetes/types.ts'
import type { ProbeKind } from '../life.ts'
import type { Answer } from './check.ts'

export interface ProbeState {
  /** Undefined until there were enough results. */
  verdict: boolean | undefined
  /** The last result, and how often it occurred in a row. */
  last: boolean | undefined
  run: number
  /** The ongoing failure and its count; undefined while the probe succeeds. */
  failure: { number: number; message: string } | undefined
  failures: number
  /** This run is not probed any more. */
  isOnHold: boolean
}

export const FRESH: ProbeState = Object.freeze({
  verdict: undefined,
  last: undefined,
  run: 0,
  failure: undefined,
  failures: 0,
  isOnHold: false,
})

export function afterAnswer(state: ProbeState, answer: Answer, { kind, probe }: { kind: ProbeKind; probe: Probe }): ProbeState {
  const label = `${kind[0]?.toUpperCase() ?? ''}${kind.slice(1)}`
  if ('error' in answer) return failing(state, `${label} probe errored and resulted in unknown state: ${answer.error}`)
  const { ok } = answer
  const run = state.last === ok ? state.run + 1 : 1
  const next = ok ? { ...state, failure: undefined } : failing(state, `${label} probe failed: ${answer.output}`)
  const threshold = ok ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3)
  if (run < threshold) return { ...next, last: ok, run }
  const isOnHold = kind === 'startup' || (kind === 'liveness' && !ok)
  return { ...next, last: ok, run, verdict: ok, isOnHold }
}

/** An ongoing failure is one event. */
function failing(state: ProbeState, message: string): ProbeState {
  if (state.failure !== undefined) return { ...state, failure: { ...state.failure, message } }
  return { ...state, failures: state.failures + 1, failure: { number: state.failures + 1, message } }
}
