/**
 * Interpreter operations per second and core: each operation over all bundled rules and the objects of their tests, the
 * same questions about a Deployment answered in Lua and natively, and what compiling at every call would cost. Cases take
 * turns, as kinds do in a process; what is measured is the processor time of this process, with its garbage collection.
 */
import { deepFreeze } from '../src/base/json.ts'
import { customizationLayer, scriptOf } from '../src/fleet/interpreter/configurable/customization-layer.ts'
import { type KindRules, type Layer, OPERATIONS, type Operation, RULE_OF } from '../src/fleet/interpreter/interpreter.ts'
import { FUNCTION_OF } from '../src/fleet/interpreter/lua/kind-rules.ts'
import { Script } from '../src/fleet/interpreter/lua/script.ts'
import { ScriptCache } from '../src/fleet/interpreter/lua/script-cache.ts'
import { nativeLayer } from '../src/fleet/interpreter/native/index.ts'
import { BUNDLED, bundledCustomization, bundledLayer } from '../src/fleet/interpreter/third-party/bundled-layer.ts'
import { bundledSamples, statusItems } from '../src/fleet/interpreter/third-party/testing.ts'
import type { AggregatedStatusItem, ResourceInterpreterCustomization } from '../src/kinds/karmada/index.ts'
import type { KubeObject } from '../src/kube/meta.ts'
import { DEPLOYMENT, DEPLOYMENT_CUSTOMIZATION, DEPLOYMENT_STATUS } from './interpreter-samples.ts'

type Rules = 'bundled, Lua' | 'Deployment, Lua' | 'Deployment, native'

export interface InterpreterFigure {
  rules: Rules
  /** `all` takes the operations in turn. */
  operation: Operation | 'all'
  cases: number
  /** Of one core: other work on the machine does not count. */
  perSecond: number
  microseconds: number
}

export interface InterpreterFigures {
  rows: InterpreterFigure[]
  scripts: { count: number; averageBytes: number; largestBytes: number }
  /** Calls per second when every call compiles its script first, and how many times faster compiling once is. */
  compiledPerCall: { perSecond: number; ratio: number }
}

export interface InterpreterOptions {
  /** Processor time that each row is measured for (default 1 s). */
  forMs?: number
}

interface Case {
  operation: Operation
  call: () => unknown
}

const WARM_UP_ROUNDS = 5000
const CALL_OPTIONS = { now: () => 0 }

export function measureInterpreter(options: InterpreterOptions = {}): InterpreterFigures {
  const forMs = options.forMs ?? 1000
  const inLua = customizationLayer([DEPLOYMENT_CUSTOMIZATION], new ScriptCache(), CALL_OPTIONS)
  const deployment = { object: DEPLOYMENT, statuses: [DEPLOYMENT_STATUS, DEPLOYMENT_STATUS] }
  const groups: [Rules, Case[]][] = [
    ['bundled, Lua', bundledSamples().flatMap((sample) => casesOf(bundledLayer(CALL_OPTIONS), sample))],
    ['Deployment, Lua', casesOf(inLua, deployment)],
    ['Deployment, native', casesOf(nativeLayer(), deployment)],
  ]
  const rows = groups.flatMap(([rules, cases]) => [
    figure(rules, 'all', cases, forMs),
    ...OPERATIONS.flatMap((operation) => {
      const some = cases.filter((one) => one.operation === operation)
      return some.length === 0 ? [] : [figure(rules, operation, some, forMs / 2)]
    }),
  ])
  const once = rows[0]?.perSecond ?? 0
  const perSecond = rate(compilingCases(), forMs)
  return { rows, scripts: scriptSizes(), compiledPerCall: { perSecond, ratio: once / perSecond } }
}

function figure(rules: Rules, operation: Operation | 'all', cases: readonly Case[], forMs: number): InterpreterFigure {
  const calls = cases.map((one) => one.call)
  const perSecond = rate(calls, forMs)
  return { rules, operation, cases: cases.length, perSecond, microseconds: 1e6 / perSecond }
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Calls per second of processor time, once the code is warm. */
function rate(calls: readonly (() => unknown)[], forMs: number): number {
  warmUp(calls, forMs)
  const start = cpuMs()
  const count = turns(calls, forMs)
  return (count / (cpuMs() - start)) * 1000
}

/** The engine optimises code that runs often enough, each case separately; a slow round does not extend the warm-up for long. */
function warmUp(calls: readonly (() => unknown)[], forMs: number): void {
  const start = cpuMs()
  for (let done = 0; done < WARM_UP_ROUNDS && cpuMs() - start < 5 * forMs; done += 100) {
    for (let i = 0; i < 100; i++) for (const call of calls) call()
  }
}

/** Calls all in turn until the processor time is used up; returns the number of calls. */
function turns(calls: readonly (() => unknown)[], forMs: number): number {
  // Reading the time costs as much as a call, so it is read only once in many.
  const rounds = Math.ceil(2000 / calls.length)
  const start = cpuMs()
  let count = 0
  while (cpuMs() - start < forMs) {
    for (let i = 0; i < rounds; i++) for (const call of calls) call()
    count += rounds * calls.length
  }
  return count
}

interface Sample {
  object: KubeObject
  statuses: readonly unknown[]
}

function casesOf(layer: Layer, { object, statuses }: Sample): Case[] {
  const rules = layer.rulesOf(object.apiVersion, object.kind) ?? {}
  return OPERATIONS.filter((operation) => rules[RULE_OF[operation]] !== undefined).map((operation) => ({
    operation,
    call: callOf(rules, operation, object, statuses),
  }))
}

function callOf(rules: KindRules, operation: Operation, object: KubeObject, statuses: readonly unknown[]): () => unknown {
  const live = deepFreeze({ ...object, status: statuses[0] })
  const items: AggregatedStatusItem[] = statusItems(...statuses)
  const calls: Record<Operation, () => unknown> = {
    InterpretReplica: () => rules.replicas?.(object),
    InterpretComponent: () => rules.components?.(object),
    ReviseReplica: () => rules.revise?.(object, 7),
    Retain: () => rules.retain?.(object, live),
    AggregateStatus: () => rules.aggregate?.(object, items),
    InterpretDependency: () => rules.dependencies?.(object),
    InterpretStatus: () => rules.reflect?.(live),
    InterpretHealth: () => rules.health?.(live),
  }
  return calls[operation]
}

interface BundledScript {
  source: string
  operation: Operation
  customization: ResourceInterpreterCustomization
}

function bundledScripts(): BundledScript[] {
  return Object.values(BUNDLED).flatMap((text) => {
    const customization = bundledCustomization(text)
    return OPERATIONS.flatMap((operation) => {
      const source = scriptOf(customization.spec.customizations, operation)
      return source === undefined ? [] : [{ source, operation, customization }]
    })
  })
}

function scriptSizes(): InterpreterFigures['scripts'] {
  const sizes = bundledScripts().map(({ source }) => source.length)
  return { count: sizes.length, averageBytes: sizes.reduce((a, b) => a + b, 0) / sizes.length, largestBytes: Math.max(...sizes) }
}

/** The bundled cases, each compiled anew before it is called. */
function compilingCases(): (() => unknown)[] {
  const samples = new Map(bundledSamples().map((sample) => [sample.object.kind, sample]))
  return bundledScripts().map(({ source, operation, customization }) => {
    const { object, statuses } = samples.get(customization.spec.target.kind) as Sample
    const live = deepFreeze({ ...object, status: statuses[0] })
    const args = operation === 'AggregateStatus' ? [object, statusItems(...statuses)] : [live]
    return () => new Script(source, FUNCTION_OF[operation]).call(args, CALL_OPTIONS)
  })
}

export function interpreterTable({ rows, scripts, compiledPerCall }: InterpreterFigures): string {
  const whole = (value: number): string => Math.round(value).toLocaleString('en')
  const groups = [...new Set(rows.map((row) => row.rules))]
  const cell = (rules: Rules, operation: string): string => {
    const found = rows.find((row) => row.rules === rules && row.operation === operation)
    return found === undefined ? '–' : `${whole(found.perSecond)} (${found.microseconds.toFixed(2)} µs)`
  }
  return [
    `| operation | ${groups.join(' | ')} |`,
    `| --- | ${groups.map(() => '---:').join(' | ')} |`,
    ...['all', ...OPERATIONS].map((operation) => `| ${operation} | ${groups.map((group) => cell(group, operation)).join(' | ')} |`),
    '',
    `Calls per second of one core. ${scripts.count} bundled scripts of ${whole(scripts.averageBytes)} bytes on average, ${whole(scripts.largestBytes)} at most. Compiling at every call: ${whole(compiledPerCall.perSecond)} calls per second; compiling once is ${compiledPerCall.ratio.toFixed(0)} times as fast.`,
  ].join('\n')
}
