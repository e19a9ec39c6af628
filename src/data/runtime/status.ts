/**
 * The status that a runtime should have. CacheRuntime has one form, all others share another. While nothing serves a runtime,
 * only its condition Served changes. Pure.
 */
import { formatTime } from '../../base/clock.ts'
import type { AdvancedStatefulSet, CacheRuntimeStatus, Dataset, Mount, RuntimeCondition, RuntimeStatus } from '../../kinds/fluid/index.ts'
import { RUNTIME_CONDITION_REASONS, type RuntimePhase, type RuntimeType } from '../../kinds/fluid/well-known.ts'
import type { NodeAffinity } from '../../kinds/kubernetes/types.ts'
import { findCondition } from '../../kube/conditions.ts'
import { formatDuration } from '../../kube/go-duration.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { formatSelectorObject, type LabelSelectorObject } from '../../kube/selector.ts'
import type { ComponentType, Prepared } from '../engines/engine.ts'
import { both } from '../placement/worker-affinity.ts'
import type { Held } from '../scaling/texts.ts'
import { type ComponentState, type ComponentStates, cachePhaseOf, phaseOf } from './components.ts'
import { bounded, conditionsOf, type Scaled, type Verdict } from './conditions.ts'

interface StatusInput {
  type: RuntimeType
  runtime: KubeObject
  served: Verdict
  /** Undefined: only Served is known. */
  now: ServedNow | undefined
  nowMs: number
}

export interface ServedNow {
  dataset: Dataset
  prepared: Prepared
  states: ComponentStates
  /** Why workers that are to leave cannot. */
  held: Held | undefined
}

interface WantedStatus {
  status: Readonly<Record<string, unknown>>
  scaled: Scaled | undefined
}

export function wantedStatus(input: StatusInput): WantedStatus {
  const { type, runtime, served, now, nowMs } = input
  const old = (runtime.status ?? {}) as Readonly<Record<string, unknown>>
  const before = Array.isArray(old.conditions) ? (old.conditions as RuntimeCondition[]) : undefined
  const isCache = type === 'cache'
  const phases = now === undefined ? undefined : phasesOf(type, now.states)
  const scaled = now?.states.worker === undefined ? undefined : scaledTo(isCache, old, now.states.worker.desired)
  const conditions = conditionsOf({ before, served, phases, scaled, held: now?.held, now: formatTime(nowMs) })
  const base = isCache ? {} : NOTHING_RUNS
  if (now === undefined) return { status: { ...base, ...old, conditions }, scaled: undefined }
  const common = { ...commonOf(now), ...setupOf(old, runtime, now.dataset), conditions }
  const own = isCache ? cacheStatus(now) : runtimeStatus(now)
  return { status: defined({ ...base, mountTime: old.mountTime, apiGateway: old.apiGateway, ...common, ...own }), scaled }
}

/** What the schema demands of a runtime of which nothing is known. */
export const NOTHING_RUNS = Object.freeze({
  valueFile: '',
  masterPhase: '',
  desiredMasterNumberScheduled: 0,
  currentMasterNumberScheduled: 0,
  masterNumberReady: 0,
  workerPhase: '',
  desiredWorkerNumberScheduled: 0,
  currentWorkerNumberScheduled: 0,
  workerNumberReady: 0,
  fusePhase: '',
  desiredFuseNumberScheduled: 0,
  currentFuseNumberScheduled: 0,
  fuseNumberReady: 0,
} satisfies RuntimeStatus)

const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function phasesOf(type: RuntimeType, states: ComponentStates): Partial<Record<ComponentType, RuntimePhase>> {
  const of = (component: ComponentType, state: ComponentState): RuntimePhase =>
    // Clients that nobody needs are no reason to say that something is missing.
    component === 'client'
      ? type === 'cache'
        ? phaseOf(state)
        : 'Ready'
      : type === 'cache'
        ? cachePhaseOf(component, state)
        : phaseOf(state)
  return Object.fromEntries(
    (Object.entries(states) as [ComponentType, ComponentState][]).map(([component, state]) => [component, of(component, state)]),
  )
}

/** The number that the status said before is the one that people saw: so the change is said once, whatever fails in between. */
function scaledTo(isCache: boolean, old: Readonly<Record<string, unknown>>, to: number): Scaled | undefined {
  const { worker } = old as CacheRuntimeStatus
  const { workerPhase = '', desiredWorkerNumberScheduled } = old as Partial<RuntimeStatus>
  const phase = isCache ? (worker?.phase ?? '') : workerPhase
  const from = (isCache ? worker?.desiredReplicas : desiredWorkerNumberScheduled) ?? 0
  return phase === '' || from === to ? undefined : { from, to }
}

function commonOf({ prepared }: ServedNow): Pick<CacheRuntimeStatus, 'valueFile' | 'selector' | 'cacheAffinity'> {
  const workers = prepared.objects.sets.find(({ metadata }) => metadata.name === prepared.components.worker?.name)
  return {
    valueFile: prepared.valueFile ?? prepared.objects.configMaps[0]?.metadata.name ?? 'N/A',
    ...(workers === undefined
      ? {}
      : { selector: formatSelectorObject(workers.spec.selector as LabelSelectorObject), ...affinityOf(workers) }),
  }
}

/** Where workers can be: what their selector of nodes and their affinity demand together. */
function affinityOf({ spec }: AdvancedStatefulSet): { cacheAffinity?: NodeAffinity } {
  const { nodeSelector = {}, affinity } = spec.template.spec ?? {}
  const selected = Object.entries(nodeSelector)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ({ key, operator: 'In', values: [value] }))
  const { requiredDuringSchedulingIgnoredDuringExecution: required, ...rest } = affinity?.nodeAffinity ?? {}
  const terms = both(required?.nodeSelectorTerms ?? [], selected.length === 0 ? [] : [{ matchExpressions: selected }])
  const merged = {
    ...rest,
    ...(terms.length === 0 ? {} : { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }),
  }
  return Object.keys(merged).length === 0 ? {} : { cacheAffinity: merged }
}

/** From the creation of the runtime until its dataset was bound; said once. */
function setupOf(old: Readonly<Record<string, unknown>>, { metadata }: KubeObject, { status }: Dataset): { setupDuration?: string } {
  if (typeof old.setupDuration === 'string') return { setupDuration: old.setupDuration }
  const ready = findCondition(status?.conditions, 'Ready')
  const tookMs = Date.parse(ready?.lastTransitionTime ?? '') - Date.parse(metadata.creationTimestamp ?? '')
  // An earlier time is that of an earlier runtime.
  if (status?.phase !== 'Bound' || ready?.status !== 'True' || !(tookMs >= 0)) return {}
  return { setupDuration: formatDuration(BigInt(Math.round(tookMs)) * 1_000_000n) }
}

function cacheStatus({ states }: ServedNow): Pick<CacheRuntimeStatus, ComponentType> {
  const of = (type: ComponentType): NonNullable<CacheRuntimeStatus['worker']> | undefined => {
    const state = states[type]
    if (state === undefined) return undefined
    const { because } = state
    return {
      phase: cachePhaseOf(type, state),
      ...(because === undefined ? {} : { reason: because.reason, message: bounded(because.message) }),
      desiredReplicas: state.desired,
      currentReplicas: state.current,
      readyReplicas: state.ready,
      availableReplicas: state.available,
      unavailableReplicas: state.unavailable,
    }
  }
  return { master: of('master'), worker: of('worker'), client: of('client') }
}

function runtimeStatus({ states: { master, worker, client }, dataset }: ServedNow): Partial<RuntimeStatus> {
  const { cacheStates, mounts = [] } = dataset.status ?? {}
  return {
    ...(master === undefined
      ? {}
      : {
          masterPhase: phaseOf(master),
          masterReason: reasonOf(master),
          desiredMasterNumberScheduled: master.desired,
          currentMasterNumberScheduled: master.current,
          masterNumberReady: master.ready,
        }),
    ...(worker === undefined
      ? {}
      : {
          workerPhase: phaseOf(worker),
          workerReason: reasonOf(worker),
          desiredWorkerNumberScheduled: worker.desired,
          currentWorkerNumberScheduled: worker.current,
          workerNumberReady: worker.ready,
          workerNumberAvailable: worker.available,
          workerNumberUnavailable: worker.unavailable,
        }),
    ...(client === undefined
      ? {}
      : {
          fusePhase: 'Ready',
          fuseReason: RUNTIME_CONDITION_REASONS.FusesReady,
          desiredFuseNumberScheduled: client.desired,
          currentFuseNumberScheduled: client.current,
          fuseNumberReady: client.ready,
          fuseNumberAvailable: client.available,
          fuseNumberUnavailable: client.unavailable,
        }),
    cacheStates,
    mounts: mounts.length === 0 ? undefined : mounts.map(withoutOptions),
  }
}

const reasonOf = ({ because }: ComponentState): string | undefined =>
  because === undefined ? undefined : bounded(`${because.reason}: ${because.message}`)

/** Options may say how a source is accessed, which is nobody else's business. */
const withoutOptions = ({ options: _options, encryptOptions: _encrypted, ...mount }: Mount): Mount => mount
