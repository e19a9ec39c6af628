/** The state of the components of a runtime, counted from their workloads: sets of masters and workers, the DaemonSet of clients. Pure. */
import type { AdvancedStatefulSet, Dataset } from '../../kinds/fluid/index.ts'
import type { RuntimePhase } from '../../kinds/fluid/well-known.ts'
import type { DaemonSet, Pod } from '../../kinds/kubernetes/types.ts'
import type { ComponentType } from '../engines/engine.ts'
import { type Reason, simulationOf, troubleOf } from './pods.ts'

export interface ComponentState {
  desired: number
  current: number
  ready: number
  available: number
  unavailable: number
  /** Why it is not ready, or that it is simulated. */
  because: Reason | undefined
}

export type ComponentStates = Readonly<Partial<Record<ComponentType, ComponentState>>>

/** `set` is undefined while it is being made; `desired` is what it will want then. */
export function stateOfSet(set: AdvancedStatefulSet | undefined, desired: number, because: Reason | undefined): ComponentState {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = set?.status ?? {}
  const unavailable = Math.max(0, desired - availableReplicas)
  return { desired, current: replicas, ready: readyReplicas, available: availableReplicas, unavailable, because }
}

export function stateOfDaemonSet(set: DaemonSet | undefined): ComponentState {
  const { desiredNumberScheduled = 0, currentNumberScheduled = 0, numberReady = 0 } = set?.status ?? {}
  const { numberAvailable = 0, numberUnavailable = 0 } = set?.status ?? {}
  return {
    desired: desiredNumberScheduled,
    current: currentNumberScheduled,
    ready: numberReady,
    available: numberAvailable,
    unavailable: numberUnavailable,
    because: undefined,
  }
}

/** The first pod in trouble while not all are ready; otherwise whether they are simulated. */
export function becauseOf(pods: readonly Pod[], isReady: boolean, dataset: Dataset): Reason | undefined {
  const trouble = isReady ? undefined : pods.map(troubleOf).find((one) => one !== undefined)
  if (trouble !== undefined) return advised(trouble, dataset)
  return pods.map(simulationOf).find((one) => one !== undefined)
}

/** One worker of any dataset per node is the default, and the most frequent reason for having none. */
function advised({ reason, message }: Reason, { spec, metadata }: Dataset): Reason {
  const isCrowded = spec?.placement !== 'Shared' && /anti-affinity/.test(message)
  const advice = `: set placement: Shared on Dataset ${metadata.name ?? ''}, or add nodes`
  return { reason, message: isCrowded ? `${message.replace(/[.:\s]+$/, '')}${advice}` : message }
}

/** As Fluid has it for its StatefulSets. */
export function phaseOf({ desired, ready }: Pick<ComponentState, 'desired' | 'ready'>): RuntimePhase {
  if (desired === 0 || ready >= desired) return 'Ready'
  return ready > 0 ? 'PartialReady' : 'NotReady'
}

/** As Fluid has it for caches: a master is ready or not, and clients that nobody needs yet are not. */
export function cachePhaseOf(type: ComponentType, state: ComponentState): RuntimePhase {
  if (type === 'client' && state.desired === 0) return 'NotReady'
  const phase = phaseOf(state)
  return type === 'master' && phase === 'PartialReady' ? 'NotReady' : phase
}
