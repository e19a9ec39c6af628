/**
 * The status of a ThinRuntime that only refers: that of the original's runtime, in the form that all but CacheRuntime share. Texts are
 * ours: what another tenant wrote does not come along. Pure.
 */
import { formatTime } from '../../../base/clock.ts'
import { isJsonObject } from '../../../base/json.ts'
import type { Dataset, RuntimeCondition } from '../../../kinds/fluid/index.ts'
import { RUNTIME_CONDITION_REASONS, type RuntimeConditionType } from '../../../kinds/fluid/well-known.ts'
import { findCondition } from '../../../kube/conditions.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { shown } from '../../dataset/text.ts'
import { SERVED_CONDITION } from '../../engines/engine.ts'
import type { Verdict } from '../../runtime/conditions.ts'
import { NOTHING_RUNS } from '../../runtime/status.ts'

interface StatusInput {
  dataset: Dataset | undefined
  /** Of the original; undefined: nothing may be said about it, or it is gone. */
  runtime: KubeObject | undefined
  served: Verdict
  before: readonly RuntimeCondition[] | undefined
  nowMs: number
}

type Fields = Readonly<Record<string, unknown>>

export function wantedStatus({ dataset, runtime, served, before, nowMs }: StatusInput): Fields {
  const now = formatTime(nowMs)
  const source: Fields = isJsonObject(runtime?.status) ? runtime.status : {}
  const { cacheStates } = dataset?.status ?? {}
  const mounts = dataset?.spec?.mounts
  return {
    ...NOTHING_RUNS,
    valueFile: 'N/A',
    ...(runtime === undefined ? {} : figuresOf(runtime.kind, source)),
    ...(runtime === undefined || cacheStates === undefined ? {} : { cacheStates }),
    ...(runtime === undefined || mounts === undefined ? {} : { mounts }),
    conditions: [
      said({ type: SERVED_CONDITION, ...served }, before, now),
      ...(runtime === undefined ? [] : conditionsOf(source).map(({ type, status }) => said(wordingOf(type, status), before, now))),
    ],
  }
}

const COPIED_NUMBERS = ['Desired', 'Current'] as const

/** CacheRuntime has an object for each component; the others have a field for each figure. */
function figuresOf(kind: string, source: Fields): Fields {
  const all = (['master', 'worker', 'fuse'] as const).map((component) =>
    kind === 'CacheRuntime' ? ofCache(component, source[component === 'fuse' ? 'client' : component]) : ofFields(component, source),
  )
  const { selector, cacheAffinity } = source
  return {
    ...Object.assign({}, ...all),
    ...(typeof selector === 'string' ? { selector: shown(selector) } : {}),
    ...(isJsonObject(cacheAffinity) ? { cacheAffinity } : {}),
  }
}

type Component = 'master' | 'worker' | 'fuse'
const upper = (component: Component): string => component.charAt(0).toUpperCase() + component.slice(1)
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)
const phaseOf = (value: unknown): string => (typeof value === 'string' ? shown(value, 32) : '')

function ofCache(component: Component, value: unknown): Fields {
  const state: Fields = isJsonObject(value) ? value : {}
  return {
    [`${component}Phase`]: phaseOf(state.phase),
    [`desired${upper(component)}NumberScheduled`]: numberOf(state.desiredReplicas),
    [`current${upper(component)}NumberScheduled`]: numberOf(state.currentReplicas),
    [`${component}NumberReady`]: numberOf(state.readyReplicas),
  }
}

const ofFields = (component: Component, source: Fields): Fields => ({
  [`${component}Phase`]: phaseOf(source[`${component}Phase`]),
  ...Object.fromEntries(
    COPIED_NUMBERS.map((which) => {
      const name = `${which.toLowerCase()}${upper(component)}NumberScheduled`
      return [name, numberOf(source[name])]
    }),
  ),
  [`${component}NumberReady`]: numberOf(source[`${component}NumberReady`]),
})

/** In a fixed order, and only those whose words are known. */
function conditionsOf({ conditions }: Fields): { type: RuntimeConditionType; status: string }[] {
  const all = (Array.isArray(conditions) ? conditions : []).filter(isJsonObject)
  return (Object.keys(RUNTIME_CONDITION_REASONS) as RuntimeConditionType[]).flatMap((type) => {
    const found = all.find((one) => one.type === type)
    return found === undefined ? [] : [{ type, status: found.status === 'True' ? 'True' : 'False' }]
  })
}

const wordingOf = (type: RuntimeConditionType, status: string) => ({
  type,
  status,
  reason: RUNTIME_CONDITION_REASONS[type],
  message: `${RUNTIME_CONDITION_REASONS[type]}: ${status}, for the runtime that is referred to`,
})

function said(
  next: { type: string; status: string; reason: string; message: string },
  before: StatusInput['before'],
  now: string,
): RuntimeCondition {
  const old = findCondition(before, next.type)
  const isSame = old?.status === next.status && old.lastTransitionTime !== undefined
  const lastTransitionTime = isSame ? old.lastTransitionTime : now
  return { ...next, lastProbeTime: isSame ? (old.lastProbeTime ?? now) : now, lastTransitionTime }
}
