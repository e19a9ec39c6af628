/**
 * How a controller is declared: observe → plan (pure) → apply. The runtime does the rest: queueing, freshness, writing
 * owned subsets, retrying. From `watches` and `writes` come subscriptions, access rules and documentation.
 */
import type { Client } from '../client/client.ts'
import type { Resource } from '../client/resource.ts'
import type { KubeObject } from '../kube/meta.ts'

/** Cached reads. Indexes must be declared; there is no way to scan by accident except `list`, which says so. */
export interface Reader {
  get(resource: Resource, namespace: string, name: string): KubeObject | undefined
  list(resource: Resource, namespace?: string): KubeObject[]
  byIndex(resource: Resource, index: string, value: string): KubeObject[]
  nowMs(): number
}

export interface ObjectRef {
  namespace: string
  name: string
}

/** An event of `resource` makes these objects of the controller's own kind run again. */
export interface Watch {
  resource: Resource
  /** Which primaries a changed object concerns: look-ups through `read`, never scans. */
  affects(object: KubeObject, read: Reader): readonly ObjectRef[]
}

export const via = (resource: Resource, affects: Watch['affects']): Watch => ({ resource, affects })

export interface Index {
  resource: Resource
  name: string
  of(object: KubeObject): readonly string[]
}

/** One thing to do. Every write states what it is based on, so that repeating it is harmless. */
export type Action =
  /** Server-side apply of an owned subset; nothing is sent when the live object already contains it. */
  | { do: 'apply'; resource: Resource; object: KubeObject }
  /** Creates if absent; an object that is already there is left alone. */
  | { do: 'create'; resource: Resource; object: KubeObject }
  /** Merge patch of the object the decision was based on (its resourceVersion is the precondition). */
  | { do: 'patch'; resource: Resource; of: KubeObject; patch: Record<string, unknown>; subresource?: string }
  /** PUT of a changed copy, with its resourceVersion as the precondition. */
  | { do: 'update'; resource: Resource; object: KubeObject; subresource?: string }
  /** Deletes everything of a resource in a namespace. */
  | { do: 'delete-collection'; resource: Resource; namespace: string }
  /** Deletes exactly the object seen (by uid). */
  | { do: 'delete'; resource: Resource; of: KubeObject; propagation?: 'Foreground' | 'Background' | 'Orphan' }

export interface Plan {
  actions: Action[]
  /** Look again after this long even if nothing happens. Only where time itself is the subject. */
  recheckAfterMs?: number
}

export const NOTHING_TO_DO: Plan = Object.freeze({ actions: [] })

/** News that comes by another way than the caches: which of the controller's objects to look at again. */
export interface Signal {
  subscribe(wake: (ref: ObjectRef) => void): () => void
}

export interface Access {
  resource: Resource
  subresource?: string
  verbs: readonly string[]
}

export interface Controller<Observed = unknown> {
  /** Its path with dots: `minicluster.housekeeping.namespace`. */
  name: string
  for: Resource
  watches?: readonly Watch[]
  signals?: readonly Signal[]
  indexes?: readonly Index[]
  /** Everything it writes: becomes RBAC and documentation. */
  writes: readonly Access[]
  /** Keys worked on at once (default 1). */
  concurrency?: number
  /** What the plan needs to know. `primary` is undefined when the object is gone. Reads caches; live reads go through `client`. */
  observe(key: ObjectRef, primary: KubeObject | undefined, read: Reader, client: Client): Observed | Promise<Observed>
  /** Pure. */
  plan(observed: Observed): Plan
}

export function defineController<Observed>(controller: Controller<Observed>): Controller {
  return Object.freeze(controller) as Controller
}

/** Every resource a controller reads through caches. */
export function resourcesOf(controller: Controller): Resource[] {
  return [
    controller.for,
    ...(controller.watches ?? []).map((watch) => watch.resource),
    ...(controller.indexes ?? []).map((index) => index.resource),
  ]
}
