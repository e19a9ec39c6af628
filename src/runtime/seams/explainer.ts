/**
 * The seam for `sluice why`: explains where an object is, as a chain of links. The fleet explains policy, binding and
 * clusters; any module adds the links that it knows more about, and explains kinds of its own that are never propagated.
 * Explainers read from the hub with the rights of whoever asks, in a handful of requests each: what may not be read is said
 * in a line, and is no error.
 */
import type { Client } from '../../client/client.ts'
import type { Binding } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

export type LinkState = 'ok' | 'waits' | 'fails'

export interface Link {
  /** Its subject, in one word: `policy`, `schedule`. */
  what: string
  state: LinkState
  says: string
  /** Further lines. */
  more?: readonly string[]
}

/** The first link that does not hold, and the one thing to do about it. */
export interface Trouble {
  state: Exclude<LinkState, 'ok'>
  says: string
  fix: string
}

export interface ExplainSubject {
  resource: Resource
  /** Empty for cluster-scoped objects. */
  namespace: string
  name: string
  template: KubeObject | undefined
  binding: Binding | undefined
}

export interface ExplainedLinks {
  links: readonly Link[]
  trouble?: Trouble
}

/** An object of a kind that a module explains on its own. */
export interface ObjectSubject extends Pick<ExplainSubject, 'resource' | 'namespace' | 'name'> {
  object: KubeObject
  /** What the hub serves, one version of each. */
  served: readonly Resource[]
  /** The context that was named when this was asked: commands in fixes need it, too. */
  context?: string
}

export interface ExplainedObject extends ExplainedLinks {
  /** In one sentence, for when there is no trouble. */
  says: string
}

/** For objects that are no templates: their links take the place of the whole chain. */
export interface ObjectExplainer {
  /** In a member (`isHub` false) only objects that are explained there on their own. */
  explains(resource: Resource, isHub: boolean): boolean
  explain(subject: ObjectSubject, hub: Client): Promise<ExplainedObject>
}

export interface Explainer {
  name: string
  /** Where its links stand in the chain: before the binding is scheduled, or after it. */
  at: 'before-schedule' | 'after-schedule'
  explain(subject: ExplainSubject, hub: Client): Promise<ExplainedLinks>
  objects?: ObjectExplainer
}
