/**
 * The seam for modules that know more about where a template may go than its policy says: a narrowing names the clusters
 * that are allowed, or holds the binding back with a reason. Placement = policy ∩ narrowings. A hold suspends scheduling,
 * with its reason on the binding, from the binding's creation until the hold ends.
 */
import type { Binding, ClusterAffinity, Placement, Policy } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Signal } from '../controller.ts'
import type { Needs } from '../needs.ts'

/** On a binding: why we suspended its scheduling; absent when we have not. */
export const HELD_BECAUSE = 'sluice.dev/held-because'

/** Placeholder for a list of clusters of which none is left: an empty list would mean all. No cluster can have this name. */
export const NO_CLUSTER_ALLOWED = '(no cluster is allowed)'

export interface NarrowingSubject {
  template: KubeObject
  policy: Policy
  /** As it is now; undefined before it is created. */
  binding: Binding | undefined
  /** What the interpreter says it needs. Undefined: not known, because the interpreter was not called or failed. */
  needs: Needs | undefined
}

export interface NarrowingAnswer {
  /** The only clusters it may go to; absent: any. */
  allow?: readonly string[]
  /** Why it must not be scheduled yet: one sentence for users. */
  hold?: string
}

export interface Narrowing {
  /** For messages and documentation. */
  name: string
  /** From caches, synchronously, and without side effects. Undefined: no restriction. */
  of(subject: NarrowingSubject): NarrowingAnswer | undefined
  /** Enqueues bindings (an empty namespace for cluster-scoped ones) whose answer may have changed. */
  changes?: Signal
}

/** All narrowings together: allowed is what each allows, and one hold is enough. */
export function narrowed(narrowings: readonly Narrowing[], subject: NarrowingSubject): NarrowingAnswer {
  let allow: readonly string[] | undefined
  const holds: string[] = []
  for (const narrowing of narrowings) {
    const answer = narrowing.of(subject)
    if (answer?.allow !== undefined) allow = allow === undefined ? [...answer.allow] : common(allow, answer.allow)
    if (answer?.hold !== undefined) holds.push(answer.hold)
  }
  return {
    ...(allow === undefined ? {} : { allow: [...new Set(allow)].sort() }),
    ...(holds.length === 0 ? {} : { hold: holds.join('; ') }),
  }
}

const common = (a: readonly string[], b: readonly string[]): string[] => a.filter((name) => b.includes(name))

/** The placement restricted to the allowed clusters; unchanged when everything is allowed. Idempotent. */
export function narrowPlacement(placement: Placement | undefined, allow: readonly string[] | undefined): Placement | undefined {
  if (allow === undefined) return placement
  const { clusterAffinity, clusterAffinities } = placement ?? {}
  if (clusterAffinities === undefined || clusterAffinities.length === 0)
    return { ...placement, clusterAffinity: narrowAffinity(clusterAffinity ?? {}, allow) }
  return {
    ...placement,
    clusterAffinities: clusterAffinities.map((term) => ({
      ...narrowAffinity(term, allow),
      ...(term.overflowAffinities === undefined
        ? {}
        : { overflowAffinities: term.overflowAffinities.map((one) => narrowAffinity(one, allow)) }),
    })),
  }
}

function narrowAffinity<T extends ClusterAffinity>(affinity: T, allow: readonly string[]): T {
  const { clusterNames = [] } = affinity
  const left = clusterNames.length === 0 ? [...allow] : common(clusterNames, allow)
  return { ...affinity, clusterNames: left.length === 0 ? [NO_CLUSTER_ALLOWED] : left }
}
