/**
 * The conditions of a runtime, in Fluid's words. There is one of each type. That a component was initialized is said once;
 * the others follow what is true now, and their times change only with their status. Pure.
 */
import type { RuntimeCondition } from '../../kinds/fluid/index.ts'
import { RUNTIME_CONDITION_REASONS, type RuntimeConditionType, type RuntimePhase } from '../../kinds/fluid/well-known.ts'
import { findCondition } from '../../kube/conditions.ts'
import { type ComponentType, SERVED_CONDITION } from '../engines/engine.ts'
import { type Held, SCALE_IN_HELD } from '../scaling/texts.ts'

export interface Verdict {
  status: 'True' | 'False'
  reason: string
  message: string
}

interface Wording {
  initialized: RuntimeConditionType
  ready: RuntimeConditionType
  /** What a sentence about it begins with: `The workers are`. */
  subject: string
  /** The same where it says that it was initialized. */
  first: string
}

const WORDINGS: Readonly<Record<ComponentType, Wording>> = {
  master: { initialized: 'MasterInitialized', ready: 'MasterReady', subject: 'The master is', first: 'The master is' },
  worker: { initialized: 'WorkersInitialized', ready: 'WorkersReady', subject: 'The workers are', first: 'The workers are' },
  client: { initialized: 'FusesInitialized', ready: 'FusesReady', subject: 'The fuses are', first: 'The fuse is' },
}
const STATES: Readonly<Record<RuntimePhase, string>> = {
  '': 'not ready',
  NotReady: 'not ready',
  PartialReady: 'partially ready',
  Ready: 'ready',
}

const ORDER: readonly string[] = [SERVED_CONDITION, SCALE_IN_HELD, ...Object.keys(RUNTIME_CONDITION_REASONS)]
/** Longer texts help nobody, and may be made of what others wrote. */
const LONGEST_MESSAGE = 1024

export const bounded = (text: string): string => (text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE - 1)}…`)

export interface Scaled {
  from: number
  to: number
}

interface ConditionsInput {
  before: readonly RuntimeCondition[] | undefined
  served: Verdict
  /** Of the components that the runtime has; undefined: nothing is known about them, and what was said stays. */
  phases: Readonly<Partial<Record<ComponentType, RuntimePhase>>> | undefined
  /** That the number of workers has just changed. */
  scaled: Scaled | undefined
  /** Why workers that are to leave cannot; undefined: nothing holds them. */
  held: Held | undefined
  now: string
}

export function conditionsOf({ before = [], served, phases, scaled, held, now }: ConditionsInput): RuntimeCondition[] {
  const next = new Map(before.map((condition) => [condition.type, condition]))
  const say = (type: string, verdict: Verdict): void => {
    const old = findCondition(before, type)
    const times =
      old?.status === verdict.status && old.lastTransitionTime !== undefined
        ? { lastProbeTime: old.lastProbeTime ?? old.lastTransitionTime, lastTransitionTime: old.lastTransitionTime }
        : { lastProbeTime: now, lastTransitionTime: now }
    next.set(type, { type, ...verdict, message: bounded(verdict.message), ...times })
  }
  say(SERVED_CONDITION, served)
  if (held === undefined) next.delete(SCALE_IN_HELD)
  else say(SCALE_IN_HELD, { status: 'True', ...held })
  for (const type of phases === undefined ? [] : (Object.keys(WORDINGS) as ComponentType[])) {
    const { initialized, ready, subject, first } = WORDINGS[type]
    const phase = phases?.[type]
    if (phase === undefined) {
      next.delete(initialized)
      next.delete(ready)
      continue
    }
    if (!next.has(initialized)) say(initialized, said(initialized, 'True', `${first} initialized.`))
    say(ready, said(ready, phase === 'NotReady' || phase === '' ? 'False' : 'True', `${subject} ${STATES[phase]}.`))
  }
  if (scaled !== undefined) {
    const type = scaled.to < scaled.from ? 'WorkersScaledIn' : 'WorkersScaledOut'
    const reason = RUNTIME_CONDITION_REASONS[type]
    next.delete(type)
    const message = `${reason} from ${scaled.from} replicas to ${scaled.to} replicas.`
    next.set(type, { type, status: 'True', reason, message, lastProbeTime: now, lastTransitionTime: now })
  }
  return inOrder([...next.values()])
}

const said = (type: RuntimeConditionType, status: 'True' | 'False', message: string): Verdict => ({
  status,
  reason: RUNTIME_CONDITION_REASONS[type],
  message,
})

/** Ours first and always alike; those of others are left alone. */
function inOrder(conditions: readonly RuntimeCondition[]): RuntimeCondition[] {
  const rank = ({ type }: RuntimeCondition): number => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length)
  return [...conditions].sort((a, b) => rank(a) - rank(b))
}
