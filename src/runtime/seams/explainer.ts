/**
 * The seam for `sluice why`: explains where an object is, as a chain of links. The fleet explains policy, binding and
 * clusters; any module adds the links that it knows more about. Explainers read from the hub, with a handful of requests
 * each.
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

export interface Explainer {
  name: string
  /** Where its links stand in the chain: before the binding is scheduled, or after it. */
  at: 'before-schedule' | 'after-schedule'
  explain(subject: ExplainSubject, hub: Client): Promise<ExplainedLinks>
}
