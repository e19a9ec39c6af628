/** What `gate.claim` is given: what cannot be read through its own caches. */

import type { Located } from '../../client/cache/cluster-cache.ts'
import type { Informer } from '../../client/cache/informer.ts'
import { type DataName, dataKey } from '../../kinds/volcano/annotations.ts'
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import { isSeedForm } from '../../kinds/volcano/matching.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../kube/object-reference.ts'
import type { ReferenceConsent } from '../../runtime/reference-consent.ts'
import type { Templates } from '../../runtime/templates.ts'
import type { Producers } from '../output/producers.ts'
import { boundSourceOf } from './state.ts'

/** Which claims concern which templates. */
export interface ClaimedTemplates {
  /** Templates that a claim concerns, as its spec is in this object; by its selector also such as may be no workloads. */
  of(claim: DataSourceClaim): Iterable<Located>
  /** The claims that concern a template, as `namespace/name`; those that it names need not exist. */
  claimsOf(template: KubeObject): readonly string[]
  /** Called with a claim when a template that it concerns, or did, has come, gone or changed. */
  subscribe(handler: (claim: ObjectRef) => void): () => void
}

export interface ClaimDeps {
  templates: Pick<Templates, 'get' | 'isComplete' | 'onComplete'>
  producers: Producers
  claimed: ClaimedTemplates
  waiting: WaitingClaims
  /** What holds where the owner of a namespace has stated nothing. */
  referenceConsent: ReferenceConsent
  /** How many claims are worked on at once (default 10). */
  concurrency?: number
}

/** The claims without a source by the data they ask for: for triggers that have no reader. */
export interface WaitingClaims {
  on(name: DataName): readonly ObjectRef[]
}

const BY_DATA = 'gate.claim/data'

/** `claims` is the informer of the claims that all controllers share. */
export function createWaitingClaims(claims: Informer): WaitingClaims {
  claims.addIndex(BY_DATA, (object) => {
    const claim = object as unknown as DataSourceClaim
    const name = boundSourceOf(claim) === undefined ? dataNameOf(claim) : undefined
    return name === undefined ? [] : [dataKey(name)]
  })
  return { on: (name) => claims.byIndex(BY_DATA, dataKey(name)).map(refOf) }
}

/**
 * The data that a claim asks for by name. Workloads make data without attributes; a claim that selects by attributes, or
 * names an object, cannot tell beforehand who will make it.
 */
export function dataNameOf(claim: DataSourceClaim): DataName | undefined {
  const { system = '', dataSourceType: type = '', dataSourceName: name = '', attributes = {} } = claim.spec ?? {}
  const isWhole = system !== '' && type !== '' && name !== ''
  return !isWhole || isSeedForm(claim) || Object.keys(attributes).length > 0 ? undefined : { system, type, name }
}
