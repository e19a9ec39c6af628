/**
 * A story of datasets: what users do in a member, and what they must see afterwards. All run in virtual time on the embedded
 * server. Those of the sample run on a real kube-apiserver as well, next to Kubernetes' own controllers and scheduler, where no
 * byte moves and no command can be run in a pod: they use the testbed alone, and classes without commands.
 */
import type { DataOptions } from '../../src/data/options.ts'
import type { WorldCluster } from '../../src/faultsim/world/index.ts'
import type { NodeSelector } from '../../src/kinds/kubernetes/types.ts'
import type { Place } from '../fleet/story.ts'

export interface DataArea {
  name: string
  stories: readonly DataStory[]
}

export type DataStory = EmbeddedStory | SampleStory

interface AnyStory {
  name: string
  /** The options that `sluice controllers` has on Kubernetes, instead of those of `sluice up`. */
  shape?: 'kubernetes'
  begin?: Beginning
}

/** What is there already when a story begins. In virtual time it is made once, for all stories that begin so. */
export interface Beginning {
  /** No other beginning has it. */
  name: string
  /** How commands in pods are answered from then on. Only in virtual time. */
  answers?(member: WorldCluster): void
  make(testbed: DataTestbed): Promise<void>
}

export interface EmbeddedStory extends AnyStory {
  isSample?: undefined
  /** Beside those of the shape. */
  options?: DataOptions
  /** Admission of the data module judges nothing, as where its webhooks are not registered. */
  isUnjudged?: true
  run(testbed: EmbeddedTestbed): Promise<void>
}

export interface SampleStory extends AnyStory {
  isSample: true
  run(testbed: DataTestbed): Promise<void>
}

/** The place is the member. */
export interface DataTestbed extends Place {
  /** Of this story alone. */
  readonly namespace: string
  /** Of this story alone, with room for many workers. There are others, which its datasets do not use. */
  readonly nodes: readonly [string, string, string]
  /** For `nodeAffinity.required` of a dataset: the nodes of this story. */
  readonly ownNodes: NodeSelector
  /** The same in another namespace, which a story makes itself (`aNamespace`). */
  within(namespace: string): DataTestbed
  /** A name that no other story has, for cluster-scoped objects. */
  unique(base: string): string
  /** Polls until it holds; otherwise fails with the state of the story's objects. */
  until(what: string, check: () => Promise<boolean>): Promise<void>
  /** Until nothing of this story changes any more: before asserting that something did not happen. */
  settle(): Promise<void>
}

export interface EmbeddedTestbed extends DataTestbed {
  readonly member: WorldCluster
  /** A node that is not among `nodes`. */
  readonly spareNode: string
  pass(seconds: number): Promise<void>
  /** The controllers end, something happens without them, and they start again. */
  restart(meanwhile?: () => Promise<void>): Promise<void>
}
