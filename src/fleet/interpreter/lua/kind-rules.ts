/**
 * Lua functions as rules of a kind: the name of each, its arguments, and what it must return. Scripts get the original
 * objects and never change them.
 */
import { deepEqual, isJsonObject } from '../../../base/json.ts'
import type { BindingComponent } from '../../../kinds/karmada/index.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { AnswerError, componentsOf, referencesOf, requirementsOf } from '../answers.ts'
import type { DependentReference, KindRules, Operation, ReplicaAnswer } from '../interpreter.ts'
import { LuaError, LuaLimitError } from './errors.ts'
import type { CallOptions, Results } from './script.ts'
import type { CallableScript } from './script-cache.ts'

/** The global function that answers an operation. */
export const FUNCTION_OF: Readonly<Record<Operation, string>> = Object.freeze({
  InterpretReplica: 'GetReplicas',
  InterpretComponent: 'GetComponents',
  ReviseReplica: 'ReviseReplica',
  Retain: 'Retain',
  AggregateStatus: 'AggregateStatus',
  InterpretDependency: 'GetDependencies',
  InterpretStatus: 'ReflectStatus',
  InterpretHealth: 'InterpretHealth',
})

/** One script per operation; for dependencies, all that exist. */
export type KindScripts = Partial<Record<Exclude<Operation, 'InterpretDependency'>, CallableScript>> & {
  InterpretDependency?: readonly CallableScript[]
}

export function luaRules(scripts: KindScripts, options: CallOptions): KindRules {
  const rules: KindRules = {}
  const { InterpretReplica, InterpretComponent, ReviseReplica, Retain, AggregateStatus, InterpretStatus, InterpretHealth } = scripts
  const run = <T>(script: CallableScript, args: readonly unknown[], read: (results: Results) => T): T => answer(script, args, options, read)
  if (InterpretReplica) rules.replicas = (object) => run(InterpretReplica, [object], replicaAnswer)
  if (InterpretComponent) rules.components = (object) => run(InterpretComponent, [object], components)
  if (ReviseReplica) rules.revise = (object, replicas) => run(ReviseReplica, [object, replicas], (results) => objectLike(results, [object]))
  if (Retain) rules.retain = (desired, observed) => run(Retain, [desired, observed], (results) => objectLike(results, [desired, observed]))
  // An empty list of items is nil for a script, as in Karmada's Lua interpreter.
  if (AggregateStatus) {
    rules.aggregate = (template, items) =>
      run(AggregateStatus, [template, items.length === 0 ? undefined : items], (results) => aggregated(results, template))
  }
  if (InterpretStatus) rules.reflect = (object) => run(InterpretStatus, [object], (results) => results.json(1, { root: 'struct' }))
  if (InterpretHealth) rules.health = (object) => run(InterpretHealth, [object], health)
  if (scripts.InterpretDependency !== undefined && scripts.InterpretDependency.length > 0) {
    const all = scripts.InterpretDependency
    rules.dependencies = (object) => united(all.map((script) => run(script, [object], dependencies)))
  }
  return rules
}

/** An error of a script names the function and the object. */
function answer<T>(script: CallableScript, args: readonly unknown[], options: CallOptions, read: (results: Results) => T): T {
  try {
    return read(script.call(args, options))
  } catch (error) {
    if (!(error instanceof LuaError || error instanceof LuaLimitError || error instanceof AnswerError)) throw error
    const { kind } = args[0] as KubeObject
    throw new Error(`${script.functionName} of ${kind}: ${error.message}`, { cause: error })
  }
}

function replicaAnswer(results: Results): ReplicaAnswer {
  const replicas = results.value(1)
  if (typeof replicas !== 'number' || Number.isNaN(replicas)) throw new LuaError(`result type ${results.type(1)} is not number`)
  const count = Math.trunc(Math.min(Math.max(replicas, -(2 ** 31)), 2 ** 31 - 1))
  if (results.type(2) === 'nil') return { replicas: count }
  return { replicas: count, requirements: requirementsOf(results.json(2, { root: 'struct' })) }
}

function components(results: Results): BindingComponent[] {
  if (results.type(1) === 'nil') return []
  return componentsOf(listResult(results))
}

function listResult(results: Results): unknown[] {
  const list = results.json(1, { root: 'list' })
  if (!Array.isArray(list)) throw new LuaError('expect the returned table to be a list')
  return list as unknown[]
}

const dependencies = (results: Results): DependentReference[] => referencesOf(listResult(results))

function objectLike(results: Results, references: readonly KubeObject[]): KubeObject {
  return results.json(1, { root: 'struct', references }) as KubeObject
}

/**
 * Only the status of an aggregation counts, because that is what the controller writes. The rest of the template remains
 * identical, so that its empty fields cannot be lost.
 */
function aggregated(results: Results, template: KubeObject): KubeObject {
  if (results.type(1) !== 'table') throw new LuaError(`expect the returned requires type is table but got ${results.type(1)}`)
  const status = results.field(1, 'status')
  // As anywhere in a result, an empty table counts as absent.
  if (status.type(1) === 'nil' || status.isEmptyTable(1)) return withoutStatus(template)
  const next = status.type(1) === 'table' ? status.json(1, { root: 'struct' }) : status.value(1)
  return deepEqual(template.status, next) ? template : { ...template, status: next }
}

function withoutStatus(template: KubeObject): KubeObject {
  const old = template.status
  if (old === undefined || (isJsonObject(old) && Object.keys(old).length === 0)) return template
  const { status: _, ...rest } = template
  return rest as KubeObject
}

function health(results: Results): boolean {
  const value = results.value(1)
  if (typeof value !== 'boolean') throw new LuaError(`result type ${results.type(1)} is not bool`)
  return value
}

/** Each once, in the order of apiVersion, kind, namespace and name. */
function united(lists: readonly DependentReference[][]): DependentReference[] {
  const all = lists.length === 1 ? (lists[0] ?? []) : lists.flat()
  if (all.length < 2) return all
  const sorted = all.toSorted(compareReferences)
  return sorted.filter((reference, i) => i === 0 || compareReferences(sorted[i - 1] as DependentReference, reference) !== 0)
}

const KEYS = ['apiVersion', 'kind', 'namespace', 'name'] as const

function compareReferences(a: DependentReference, b: DependentReference): number {
  for (const key of KEYS) {
    const order = compareStrings(a[key] ?? '', b[key] ?? '')
    if (order !== 0) return order
  }
  if (a.labelSelector === undefined && b.labelSelector === undefined) return 0
  return compareStrings(selectorText(a), selectorText(b))
}

const selectorText = ({ labelSelector }: DependentReference): string => (labelSelector === undefined ? '' : JSON.stringify(labelSelector))
