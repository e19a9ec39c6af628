/**
 * How a controller is declared: observe → plan (pure) → apply. The runtime does the rest: queueing, freshness, writing
 * owned subsets, recording events, running effects, retrying. From `watches`, `writes` and `effects` come subscriptions,
 * access rules, documentation, metrics and fault points.
 */
import type { Informer } from '../client/cache/informer.ts'
import type { Client } from '../client/client.ts'
import { PODS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { ObjectRef } from '../kube/object-reference.ts'
import type { Resource } from '../kube/resource.ts'

/** Cached reads. Indexes must be declared; nothing scans by accident, because only `list` scans, and its name says so. */
export interface Reader {
  get<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): T | undefined
  list<T extends KubeObject>(resource: Resource<T>, namespace?: string): T[]
  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): T[]
  nowMs(): number
  /** Newest revision that the cache of a resource has seen: tells whether it can reflect what happened before another object's revision. */
  revisionOf(resource: Resource): number
}

/** Reads of one pass, including the outcomes of earlier passes. */
export interface PassReader extends Reader {
  /** Why the last pass over this key failed; undefined when it did not, and after a start. Conflicts do not count. */
  lastFailure(): Failure | undefined
  /** The outcome of an effect requested with this key; undefined when this process has not started it. */
  outcome<Input, Output>(effect: Effect<Input, Output>, key: string): Outcome<Output> | undefined
  /**
   * The cache of a resource that no declaration can name beforehand, in the controller's own cluster or in a member (there:
   * only what we manage). Followed from the first time a pass calls this; changes enqueue the keys of `keysForFollowed`, and
   * this key is queued again after the first list. Undefined while there is no such member.
   */
  follow(resource: Resource, cluster?: string): Followed | undefined
  /**
   * Whether the cache of a declared resource reflects what its server had in a namespace at a revision: for conclusions from
   * an object that is missing. If not, the server is asked, once for everybody who wants to know, and this key is queued again
   * when the cache has caught up.
   */
  reflects(resource: Resource, namespace: string, revision: number): boolean
  /** For live reads in a member; undefined while there is no such member. */
  clientOf(cluster: string): Client | undefined
}

/** `hasSynced` false: nothing is known yet, so nothing may be concluded from a missing object. */
export type Followed = Pick<Informer, 'hasSynced' | 'isFailing' | 'revision' | 'get' | 'list'>

/** A change of something that passes follow. */
export interface FollowedChange {
  /** Of which member; undefined: of the controller's own cluster. */
  cluster: string | undefined
  resource: Resource
  object: KubeObject
}

export interface Failure {
  message: string
  /** Status code of the answer, where there was one. */
  code?: number
  /** Machine-readable reason of the answer: `Forbidden`, `Invalid`, … */
  reason?: string
}

export type Outcome<Output> = { state: 'running' } | { state: 'done'; value: Output } | { state: 'failed'; message: string }

/** Changes that a user may be waiting for come before what can wait: first lists and resyncs. */
export type Priority = 'high' | 'normal' | 'low'

/** An event of `resource` enqueues these keys of the controller's own kind. */
export interface Watch {
  resource: Resource
  /**
   * Keys of the primaries that a changed object concerns: look-ups through `read`, never scans. Of an update it is asked twice,
   * about what the object was and what it is, each time with the other one: for whom only the difference concerns.
   */
  keysFor(object: KubeObject, read: Reader, other?: KubeObject): readonly ObjectRef[]
  /** Predicate for updates (default: every update is relevant): for objects that often change in fields this controller does not read. */
  isRelevantUpdate?(old: KubeObject, object: KubeObject): boolean
  priority?: Priority
}

export const via = <T extends KubeObject>(
  resource: Resource<T>,
  keysFor: (object: T, read: Reader, other?: T) => readonly ObjectRef[],
  { isRelevantUpdate, priority }: { isRelevantUpdate?(old: T, object: T): boolean; priority?: Priority } = {},
): Watch => ({ resource, keysFor: keysFor as Watch['keysFor'], isRelevantUpdate: isRelevantUpdate as Watch['isRelevantUpdate'], priority })

export interface Index {
  resource: Resource
  name: string
  of(object: KubeObject): readonly string[]
}

/** An index of a resource, with the type of its objects. */
export const indexOf = <T extends KubeObject>(resource: Resource<T>, name: string, of: (object: T) => readonly string[]): Index => ({
  resource,
  name,
  of: of as Index['of'],
})

/**
 * A Kubernetes Event to be recorded. It goes with the write that makes it true (`events`) or that fails (`eventOnFailure`),
 * so an event marks a transition and a settled controller records none.
 */
export interface EventIntent {
  of: KubeObject
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  /** The part of the object it is about: `spec.containers{web}`. */
  fieldPath?: string
  /** The node it happened on. */
  host?: string
}

/** An event that no write shows, such as a failing probe: recorded when this plan contains its key and the previous plan did not. */
export interface KeyedEvent extends EventIntent {
  /** Identifies the event from pass to pass. */
  key: string
}

export interface WriteEvents {
  /** Recorded when the write was sent and succeeded; not when nothing had to be written. */
  events?: EventIntent | readonly EventIntent[] | ((written: KubeObject | undefined) => EventIntent | readonly EventIntent[] | undefined)
  /** Recorded when the server refused the write; not on a conflict. */
  eventOnFailure?(why: string): EventIntent | undefined
}

/** One thing to do. Every write states what it is based on, so that repeating it is harmless. */
export type Action = (
  | /** Server-side apply of an owned subset; nothing is sent when the live object already contains it. */
  { do: 'apply'; resource: Resource; object: KubeObject; subresource?: string }
  /**
   * Creates if absent; an existing object is left alone. Always with a name, chosen by the plan (`childName`), so that a
   * repetition after an unknown outcome finds the first attempt. With `mustBeNew`, an existing object, or a namespace that
   * is missing or terminating, is a refusal like any other.
   */
  | { do: 'create'; resource: Resource; object: KubeObject; mustBeNew?: boolean }
  /** Merge patch of the object the decision was based on (its resourceVersion is the precondition). */
  | { do: 'patch'; resource: Resource; of: KubeObject; patch: Record<string, unknown>; subresource?: string }
  /** PUT of a changed copy, with its resourceVersion as the precondition. */
  | { do: 'update'; resource: Resource; object: KubeObject; subresource?: string }
  /** POST to a subresource that decides itself whether the operation is still possible: `pods/binding`, `pods/eviction`. */
  | { do: 'post'; resource: Resource; of: KubeObject; subresource: string; body: KubeObject }
  /** Deletes everything of a resource in a namespace. */
  | { do: 'delete-collection'; resource: Resource; namespace: string }
  /** Deletes exactly the object seen (by uid). */
  | { do: 'delete'; resource: Resource; of: KubeObject; propagation?: 'Foreground' | 'Background' | 'Orphan'; gracePeriodSeconds?: number }
) &
  WriteEvents & {
    /** The member it is written to (default: the controller's own cluster). */
    cluster?: string
  }

/** Writes that do not depend on each other: sent concurrently in growing groups (1, 2, 4, …), with no further group after a failure. */
export interface Batch {
  do: 'batch'
  actions: readonly Action[]
  /** A failure says nothing about the others: all are sent, in groups from 16 up, and then the first failure counts. */
  areIndependent?: boolean
  /**
   * Pure. Decides what to do after the batch, given the result of every action that was sent (all of them, if independent).
   * Refusals then count as handled; conflicts and writes without an answer fail the pass all the same.
   */
  conclude?(results: readonly Result[]): Conclusion
}

/** The result of an action, in the order of the actions; neither field is set when nothing had to be sent. */
export interface Result {
  /** As the server returned it. */
  object?: KubeObject
  failure?: Failure
}

export interface Conclusion {
  actions: readonly Action[]
  /** Refused writes are to be retried soon, as after any failure. */
  mustRetry?: boolean
}

/**
 * Something done outside the API: bytes copied, a command in a pod, a process started. Declared once per controller, bounded
 * in time, and idempotent by key: the runtime runs each key at most once at a time, remembers the outcome while the primary
 * exists, retries a failed one with backoff when the plan requests it again, and starts over after a restart.
 */
export interface Effect<Input = unknown, Output = unknown> {
  /** `<controller>.<what>`: for metrics, fault points and documentation. */
  name: string
  /** One sentence for the reference. */
  about: string
  timeoutMs: number
  /** For one that is to end at a certain time, which its input says. */
  timeoutFor?(input: Input): number
  /** Everything it does through `client`: becomes RBAC and documentation. For a command in a pod: `[EXEC_IN_PODS]`. */
  access?: readonly Access[]
  run(input: Input, context: EffectContext): Promise<Output>
}

export interface EffectContext {
  key: string
  /** Aborts when the time is up, when the effect is no longer wanted, and when the controller stops. */
  signal: AbortSignal
  /** The controller's own, so it stops with the lease. It refuses what the effect has not declared in `access`. */
  client: Client
}

/** The right to run commands in pods: a WebSocket begins with a GET, and what it does counts as a creation. */
export const EXEC_IN_PODS: Access = Object.freeze({ resource: PODS, subresource: 'exec', verbs: ['get', 'create'] })

export interface EffectRequest {
  effect: Effect
  /** Idempotency key: what identifies this run of the effect (uid, generation, attempt). */
  key: string
  input: unknown
}

export const request = <Input, Output>(effect: Effect<Input, Output>, key: string, input: Input): EffectRequest => ({
  effect: effect as Effect,
  key,
  input,
})

export interface Plan {
  actions: readonly (Action | Batch)[]
  /** Started after the actions have succeeded; when one ends, the key is queued again and `read.outcome` returns its outcome. */
  effects?: readonly EffectRequest[]
  events?: readonly KeyedEvent[]
  /** Run the key again after this long even if nothing happens. Only where time itself matters. */
  requeueAfterMs?: number
}

export const NOTHING_TO_DO: Plan = Object.freeze({ actions: [] })

/** A source of keys other than the caches. */
export interface Signal {
  subscribe(enqueue: (ref: ObjectRef, priority?: Priority) => void): () => void
}

export interface Access {
  resource: Resource
  subresource?: string
  verbs: readonly string[]
  /** In members, not in the controller's own cluster. */
  in?: 'members'
}

export interface Controller<Observed = unknown, Primary extends KubeObject = KubeObject> {
  /** Its path with dots: `minicluster.housekeeping.namespace`. */
  name: string
  /** The source component of its events, where Kubernetes has a name for it (default: its name). */
  component?: string
  for: Resource<Primary>
  watches?: readonly Watch[]
  signals?: readonly Signal[]
  indexes?: readonly Index[]
  effects?: readonly Effect[]
  /** Keys of the primaries that a change of a followed object concerns (`read.follow`): look-ups, never scans. */
  keysForFollowed?(change: FollowedChange, read: Reader): readonly ObjectRef[]
  /**
   * Keys of the primaries to run when a member becomes reachable, changes its connection, or becomes unreachable: look-ups,
   * never scans.
   */
  keysForMember?(cluster: string, read: Reader): readonly ObjectRef[]
  /** Everything it writes: becomes RBAC and documentation. Events need not be listed. */
  writes: readonly Access[]
  /** What it reads from the server itself rather than from caches, in `observe`: becomes RBAC and documentation. */
  reads?: readonly Access[]
  /**
   * Predicate for primaries (default: every one is relevant). Evaluated for the old and the new state of each change; must
   * not depend on anything whose change does not itself enqueue the key.
   */
  isRelevant?(primary: Primary, read: Reader): boolean
  /** Predicate for updates of a primary (default: every update is relevant): for fields that others write and no pass reads. */
  isRelevantUpdate?(old: Primary, primary: Primary): boolean
  /** Runs only in the process that serves the cluster, because it needs its keys or the machine it runs on: never on Kubernetes. */
  needsHost?: boolean
  /** Keys worked on at once (default 1). */
  concurrency?: number
  /** Among ready keys of one priority the highest rank is taken first, ties in order of arrival. Evaluated when a key becomes ready. */
  rank?(key: ObjectRef, read: Reader): number
  /** What the plan needs to know. `primary` is undefined when the object is gone. Reads caches; live reads go through `client`. */
  observe(key: ObjectRef, primary: Primary | undefined, read: PassReader, client: Client): Observed | Promise<Observed>
  /** Pure. */
  plan(observed: Observed): Plan
}

export function defineController<Observed, Primary extends KubeObject = KubeObject>(controller: Controller<Observed, Primary>): Controller {
  return Object.freeze(controller) as unknown as Controller
}

/** Every resource a controller reads through caches. */
export function resourcesOf(controller: Controller): Resource[] {
  return [
    controller.for,
    ...(controller.watches ?? []).map((watch) => watch.resource),
    ...(controller.indexes ?? []).map((index) => index.resource),
  ]
}
