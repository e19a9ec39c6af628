/** The result of a decision, and the record of it that is kept on the binding: why these clusters, and why not the others. */
import type { TargetCluster } from '../../kinds/karmada/index.ts'
import { BINDING_REASONS } from '../../kinds/karmada/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'

export type Reason = 'Success' | 'NoClusterFit' | 'Unschedulable' | 'SchedulerError'

/** One sentence about one cluster. */
export interface Why {
  readonly name: string
  readonly chosen: boolean
  readonly why: string
}

export interface Explanation {
  /** All clusters, except those being deleted. */
  readonly total: number
  readonly chosen: number
  /** At most a few of each, in the order of the result, then of their names. */
  readonly clusters: readonly Why[]
  /** How many were not chosen, by reason. */
  readonly others: Readonly<Record<string, number>>
}

export interface Decision {
  readonly reason: Reason
  /** Message of the condition. */
  readonly message: string
  /** Undefined: the previous decision stays. */
  readonly clusters: readonly TargetCluster[] | undefined
  /** The term of clusterAffinities that was used; undefined if there are none, or none fits. */
  readonly affinityName: string | undefined
  /** One text per failed attempt, for events. */
  readonly failures: readonly string[]
  readonly explanation: Explanation
}

export const DECISION_ANNOTATION = 'sluice.dev/decision'

/** The decision as it is kept on the binding. */
export interface DecisionRecord {
  /** The generation that the binding has once it contains this decision. */
  readonly generation: number
  readonly reason: Reason
  readonly message?: string
  readonly affinityName?: string
  readonly total: number
  readonly chosen: number
  readonly clusters: readonly Why[]
  readonly others: Readonly<Record<string, number>>
}

export const MAX_RECORD_BYTES = 8192
/** UTF-8 bytes per UTF-16 unit. */
const MAX_BYTES_PER_CHARACTER = 3
const MAX_MESSAGE = 1024

export function recordText({ reason, message, affinityName, explanation }: Decision, generation: number): string {
  const { total, chosen, clusters, others } = explanation
  const head = {
    generation,
    reason,
    ...(reason === BINDING_REASONS.success ? {} : { message: recordedMessage(message) }),
    ...(affinityName === undefined ? {} : { affinityName }),
    total,
    chosen,
  }
  for (let kept = clusters.length; kept >= 0; kept--) {
    const text = JSON.stringify({ ...head, clusters: clusters.slice(0, kept), others })
    if (text.length * MAX_BYTES_PER_CHARACTER <= MAX_RECORD_BYTES || Buffer.byteLength(text) <= MAX_RECORD_BYTES) return text
  }
  return JSON.stringify({ ...head, clusters: [], others: {} })
}

/** A message as it is kept in a record. */
export const recordedMessage = (message: string): string => shortened(message, MAX_MESSAGE)

/** The record in the annotation; undefined when there is none that can be parsed. */
export function readRecord(annotations: Readonly<Record<string, string>> | undefined): DecisionRecord | undefined {
  const text = annotations?.[DECISION_ANNOTATION]
  if (text === undefined) return undefined
  try {
    const record: unknown = JSON.parse(text)
    const isRecord = typeof record === 'object' && record !== null && 'generation' in record && 'reason' in record
    return isRecord ? (record as DecisionRecord) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const MAX_CHOSEN_EXPLAINED = 12
/** How many clusters get a sentence. */
export const MAX_EXPLAINED = 20
const MAX_REASONS = 10
const MAX_SENTENCE = 220

export interface ExplanationInput {
  total: number
  chosen: number
  /** Some of the chosen, in the order of the result; and some of the others. Only a few of them are listed. */
  someChosen(count: number): readonly Sentence[]
  someOthers(count: number): readonly Sentence[]
  /** How many were not chosen, by reason. */
  reasons: ReadonlyMap<string, number>
}

export interface Sentence {
  readonly name: string
  readonly why: string
}

export function explanationOf({ total, chosen, someChosen, someOthers, reasons }: ExplanationInput): Explanation {
  const others = total - chosen
  const reported = someChosen(Math.max(MAX_CHOSEN_EXPLAINED, MAX_EXPLAINED - others))
  const left = someOthers(MAX_EXPLAINED - reported.length)
  const sentence = (isChosen: boolean, { name, why }: Sentence): Why => ({ name, chosen: isChosen, why: shortened(why, MAX_SENTENCE) })
  return {
    total,
    chosen,
    clusters: [...reported.map((one) => sentence(true, one)), ...left.map((one) => sentence(false, one))],
    others: mostFrequent(reasons),
  }
}

/** The most frequent reasons by name, the rest added up. */
function mostFrequent(reasons: ReadonlyMap<string, number>): Record<string, number> {
  const sorted = [...reasons].sort(([a, x], [b, y]) => y - x || compareStrings(a, b))
  const rest = sorted.slice(MAX_REASONS).reduce((sum, [, count]) => sum + count, 0)
  const named = sorted.slice(0, MAX_REASONS).map(([kind, count]) => [shortened(kind, MAX_SENTENCE), count] as const)
  return Object.fromEntries(rest === 0 ? named : [...named, ['other reasons', rest] as const])
}

export const shortened = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`)
