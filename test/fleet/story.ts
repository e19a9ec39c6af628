/**
 * A story of the fleet: what users do at the hub, and what must be visible there and in the members afterwards. The same
 * story runs on the embedded hub with miniclusters in virtual time and on real kube-apiservers in real time, where several
 * share one running fleet: each has its own namespace, and names of cluster-scoped objects come from `unique`.
 */
import type { DeleteOptions } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import type { Answer, Listening } from './listening.ts'

export interface FleetStory {
  name: string
  /**
   * It changes something that affects others: on a shared fleet nothing else runs meanwhile. `restored`: at its end everything
   * is as before for others.
   */
  alone?: true | 'restored'
  /**
   * `pods`: members with their own controllers and nodes, which the real ones of the suite do not have. `seed form`: fields
   * that definitions of data dependencies by somebody else may lack. `own members`: members of no other fleet. Say why on the
   * same line.
   */
  needs?: 'pods' | 'seed form' | 'own members'
  run(testbed: FleetTestbed): Promise<void>
}

export interface FleetArea {
  name: string
  stories: readonly FleetStory[]
}

export interface FleetTestbed {
  /** A namespace of this story alone, present at the hub and soon in every member. */
  readonly namespace: string
  readonly hub: Place
  /** member1, member2, member3: ready, in regions east, west and north. */
  readonly members: readonly [Place, Place, Place]
  /** A name that no other story has, for cluster-scoped objects, and for labels that select across namespaces. */
  unique(base: string): string
  /** Polls until it holds; otherwise fails with the state of the story's objects. */
  until(what: string, check: () => Promise<boolean>): Promise<void>
  /** Until nothing of this story changes any more: before asserting that something did not happen. */
  settle(): Promise<void>
  /** A server that the controllers of the hub can call over HTTPS until the story ends. */
  listen(answer: Answer): Promise<Listening>
  /** Where time itself is the subject. */
  pass(seconds: number): Promise<void>
  /** The controllers of the hub end, something happens without them, and they start again. Only in stories that run alone. */
  restart(meanwhile?: () => Promise<void>): Promise<void>
}

/** Where something is, when not in the story's namespace. */
export interface Elsewhere {
  namespace?: string
}

/** One cluster, as kubectl sees it. */
export interface Place {
  readonly name: string
  /** Namespaced objects without a namespace get the story's. A custom kind needs its resource. */
  create<T extends KubeObject>(object: T, resource?: Resource): Promise<T>
  get<T extends KubeObject>(resource: Resource<T>, name: string, where?: Elsewhere): Promise<T | undefined>
  list<T extends KubeObject>(resource: Resource<T>, options?: Elsewhere & { labelSelector?: string }): Promise<T[]>
  /** Reads, changes, writes; retries on a conflict. */
  update<T extends KubeObject>(resource: Resource<T>, name: string, change: (object: T) => void, where?: Elsewhere): Promise<T>
  /** A merge patch. */
  patch(resource: Resource, name: string, body: unknown, where?: Elsewhere & { subresource?: string }): Promise<KubeObject>
  delete(resource: Resource, name: string, options?: Elsewhere & DeleteOptions): Promise<void>
}
