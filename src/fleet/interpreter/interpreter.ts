/**
 * What the fleet knows about kinds it was not written for: how many replicas an object has, how to change that number,
 * what a member cluster may keep, how status comes back, what an object depends on, and whether it is healthy.
 * Four layers answer, each with `KindRules`; the first that has a rule for an operation decides, and its error is final.
 * Controllers see only `Interpreter`.
 */

import type { AggregatedStatusItem, BindingComponent, ReplicaRequirements } from '../../kinds/karmada/resource-binding.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { GroupVersionKind } from '../../kube/object-reference.ts'
import type { LabelSelectorObject } from '../../kube/selector.ts'

export const OPERATIONS = [
  'InterpretReplica',
  'InterpretComponent',
  'ReviseReplica',
  'Retain',
  'AggregateStatus',
  'InterpretDependency',
  'InterpretStatus',
  'InterpretHealth',
] as const
export type Operation = (typeof OPERATIONS)[number]

/** An object another one depends on: by name, or all that a selector matches. */
export interface DependentReference extends GroupVersionKind {
  namespace?: string
  /** Either a name or a selector, never both. */
  name?: string
  labelSelector?: LabelSelectorObject
}

export interface ReplicaAnswer {
  replicas: number
  /** What one replica needs; absent when the object says nothing about it. */
  requirements?: ReplicaRequirements
}

/**
 * One layer's rules for one kind; an absent member means that this layer has no rule for the operation.
 * Synchronous and pure: the arguments are frozen objects of a cache and are never changed.
 */
export interface KindRules {
  replicas?(object: KubeObject): ReplicaAnswer
  components?(object: KubeObject): BindingComponent[]
  revise?(object: KubeObject, replicas: number): KubeObject
  retain?(desired: KubeObject, observed: KubeObject): KubeObject
  /** Returns the same object when nothing changes. */
  aggregate?(template: KubeObject, items: readonly AggregatedStatusItem[]): KubeObject
  dependencies?(object: KubeObject): DependentReference[]
  /** `undefined`: there is nothing to reflect. */
  reflect?(object: KubeObject): unknown
  health?(object: KubeObject): boolean
}

/** The member of `KindRules` that answers an operation. */
export const RULE_OF = {
  InterpretReplica: 'replicas',
  InterpretComponent: 'components',
  ReviseReplica: 'revise',
  Retain: 'retain',
  AggregateStatus: 'aggregate',
  InterpretDependency: 'dependencies',
  InterpretStatus: 'reflect',
  InterpretHealth: 'health',
} as const satisfies Record<Operation, keyof KindRules>

export interface Layer {
  rulesOf(apiVersion: string, kind: string): KindRules | undefined
}

/** `KindRules` of a layer that makes requests: every answer is a promise. */
export type AsyncKindRules = {
  [Rule in keyof KindRules]?: (...args: Parameters<NonNullable<KindRules[Rule]>>) => Promise<ReturnType<NonNullable<KindRules[Rule]>>>
}

export interface AsyncLayer {
  rulesOf(apiVersion: string, kind: string): AsyncKindRules | undefined
}

/** Names the kinds whose rules changed; `undefined`: any kind may have changed. */
export type ChangeHandler = (kinds: readonly GroupVersionKind[] | undefined) => void

/**
 * What controllers use; asynchronous because a webhook may answer. A method rejects when no layer has a rule: ask `has`
 * first. Every answer is the rule's own; nothing is written anywhere.
 */
export interface Interpreter {
  has(kind: GroupVersionKind, operation: Operation): boolean
  replicas(object: KubeObject): Promise<ReplicaAnswer>
  components(object: KubeObject): Promise<BindingComponent[]>
  revise(object: KubeObject, replicas: number): Promise<KubeObject>
  retain(desired: KubeObject, observed: KubeObject): Promise<KubeObject>
  aggregate(template: KubeObject, items: readonly AggregatedStatusItem[]): Promise<KubeObject>
  dependencies(object: KubeObject): Promise<DependentReference[]>
  reflect(object: KubeObject): Promise<unknown>
  health(object: KubeObject): Promise<boolean>
  /** Called when rules of a kind changed, so that controllers resync. Returns the function that unsubscribes. */
  onChange(handler: ChangeHandler): () => void
}
