/**
 * A scenario of the workload controllers: what users do, and what must be visible afterwards. It runs on our minicluster in
 * virtual time and on the real programs in real time, and what it noted must be the same.
 */
import type { DeleteOptions } from '../../src/client/client.ts'
import type { Pod } from '../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'

export interface Testbed {
  /** A namespace of this scenario alone. */
  readonly namespace: string
  /** Objects without a namespace get the scenario's, where their kind has one. */
  create<T extends KubeObject>(object: T): Promise<T>
  get<T extends KubeObject>(resource: Resource<T>, name: string): Promise<T | undefined>
  list<T extends KubeObject>(resource: Resource<T>, labelSelector?: string): Promise<T[]>
  /** Reads, changes, writes; retries on a conflict. */
  update<T extends KubeObject>(resource: Resource<T>, name: string, change: (object: T) => void): Promise<T>
  patch(resource: Resource, name: string, body: Record<string, unknown>, subresource?: string): Promise<KubeObject>
  delete(resource: Resource, name: string, options?: DeleteOptions): Promise<void>
  /** The eviction API; returns the status code of the answer. */
  evict(pod: string): Promise<number>
  /** Waits until the check holds; fails with `what` when it does not in a minute (of its own time). */
  until(what: string, check: () => boolean | Promise<boolean>): Promise<void>
  /** Waits until nothing of the namespace has changed for a while. */
  steady(): Promise<void>
  /** Lets time pass. */
  pass(seconds: number): Promise<void>
  /** What both runs must agree on. Objects are made comparable first: see normalise.ts. */
  note(label: string, facts: unknown): void
  /** Notes these resources of the namespace as they are now, once it is steady. */
  noteAll(label: string, ...resources: Resource[]): Promise<void>
  /** Notes the events of the namespace: distinct ones, without their counts. */
  noteEvents(label: string): Promise<void>
  /** Pods end as a kubelet would have reported it. */
  finish(pod: Pod, exitCode: number): Promise<void>
  /** The pod's containers stop or start being ready. */
  setReady(pod: Pod, isReady: boolean): Promise<void>
}

export interface Scenario {
  name: string
  /** Takes more than a few seconds of real time: runs with --slow. */
  slow?: boolean
  /** Touches what all share (nodes, classes): runs while no other does. */
  alone?: boolean
  /** Deleted pods stay until the scenario takes their finalizer HOLD away and lets them go: see letGo. */
  holds?: boolean
  /** Where we differ on purpose, why: listed in docs/compatibility.md and not compared. */
  differs?: string
  run(testbed: Testbed): Promise<void>
}

/** Nodes leave pods with this finalizer alone when they are deleted. */
export const HOLD = 'parity.test/hold'

export const scenario = (name: string, run: Scenario['run'], options: Omit<Scenario, 'name' | 'run'> = {}): Scenario => ({
  name,
  run,
  ...options,
})

/** What a run noted. */
export interface Note {
  label: string
  facts: unknown
}
