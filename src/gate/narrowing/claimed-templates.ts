/**
 * Which templates a claim concerns, and which claims a template: both directions, through indexes. A view over the templates
 * and the claims, with one map of its own, from the claims that templates name to those templates. Whether a template that a
 * selector matches is a workload is not known here; who asks must find out.
 */

import { deepEqual } from '../../base/json.ts'
import type { Located } from '../../client/cache/cluster-cache.ts'
import type { Informer } from '../../client/cache/informer.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfObject, type ObjectRef, objectKey, refOf, refOfKey } from '../../kube/object-reference.ts'
import { keyOfResource } from '../../kube/resource.ts'
import { selectorFromObject } from '../../kube/selector.ts'
import type { Templates } from '../../runtime/templates.ts'
import { CLAIMS_OF_INDEXES, type ClaimLookup, claimsOf, namedClaims } from './claims-of.ts'

export interface ClaimedTemplates {
  /** Each once. Includes what policies ignore. */
  of(claim: DataSourceClaim): readonly Located[]
  /** Where the bindings of these templates are, or will be. */
  bindingsOf(claim: DataSourceClaim): readonly ObjectRef[]
  /** The claims that concern a template, as `namespace/name`; those that it names need not exist. */
  claimsOf(template: KubeObject): readonly string[]
  /** Called with a claim when a template that it concerns, or did, has come, gone or changed in labels or annotations. */
  subscribe(handler: (claim: ObjectRef) => void): () => void
}

/** `claims` is the informer of the claims that everybody shares. */
export function createClaimedTemplates(templates: Templates, claims: Informer): ClaimedTemplates {
  const naming = new Naming()
  const lookup = lookupIn(claims)
  // The index by label is built now, while there is nothing in it: later, all templates would go into it at once.
  Array.from(templates.inNamespace('', undefined))
  const handlers = new Set<(claim: ObjectRef) => void>()
  const concerned = (template: KubeObject): string[] => {
    const { namespace = '' } = template.metadata
    const { claims: found, missing } = claimsOf(template, true, lookup)
    return [...found.map((claim) => keyOfObject(claim)), ...missing.map((name) => objectKey(namespace, name))]
  }

  templates.subscribe((located, { type, old }) => {
    if (old !== undefined) naming.remove(located, old)
    if (type !== 'deleted') naming.add(located)
    if (handlers.size === 0 || (type === 'updated' && old !== undefined && areSameMarks(old, located.object))) return
    const keys = new Set([old, type === 'deleted' ? undefined : located.object].flatMap((one) => (one === undefined ? [] : concerned(one))))
    for (const key of keys) for (const handler of [...handlers]) handler(refOfKey(key))
  })

  function of(claim: DataSourceClaim): readonly Located[] {
    const found = new Map<string, Located>()
    for (const located of [...selectedBy(claim, templates), ...naming.of(keyOfObject(claim))]) found.set(idOf(located), located)
    return [...found.values()]
  }

  return {
    of,
    bindingsOf(claim) {
      const { namespace } = refOf(claim)
      const workload = claim.spec?.workload
      const ofTemplates = of(claim).map(({ object }) => ({ namespace, name: bindingName(object.kind, object.metadata.name ?? '') }))
      // A workload that is gone may still have a binding.
      return workload === undefined ? ofTemplates : [...ofTemplates, { namespace, name: bindingName(workload.kind, workload.name) }]
    },
    claimsOf: concerned,
    subscribe(handler) {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
  }
}

/** Index names of its own, so that they do not meet those of a controller. */
function lookupIn(claims: Informer): ClaimLookup {
  const nameOf = (index: string): string => `gate/${index}`
  for (const { name, of } of CLAIMS_OF_INDEXES) claims.addIndex(nameOf(name), of)
  return {
    get: (namespace, name) => claims.get(namespace, name) as DataSourceClaim | undefined,
    byIndex: (index, value) => claims.byIndex(nameOf(index), value) as DataSourceClaim[],
  }
}

/** What decides about claims: nothing else of a template matters. */
const areSameMarks = ({ metadata: old }: KubeObject, { metadata }: KubeObject): boolean =>
  old.uid === metadata.uid &&
  deepEqual(old.labels ?? {}, metadata.labels ?? {}) &&
  deepEqual(old.annotations ?? {}, metadata.annotations ?? {})

function selectedBy({ metadata: { namespace = '' }, spec }: DataSourceClaim, templates: Templates): Iterable<Located> {
  const { workload, workloadSelector } = spec ?? {}
  if (workload !== undefined) {
    const { apiVersion, kind, name } = workload
    const resource = templates.resourceOf(apiVersion, kind)
    const object = resource === undefined ? undefined : templates.get({ apiVersion, kind, namespace, name })
    return resource === undefined || object === undefined ? [] : [{ resource, object }]
  }
  // An empty selector is refused at admission; one that came in some other way selects nothing.
  const { value = [] } = selectorFromObject(workloadSelector)
  return value.length === 0 ? [] : templates.inNamespace(namespace, workloadSelector)
}

const idOf = ({ resource, object }: Located): string => `${keyOfResource(resource)} ${keyOfObject(object)}`

/** Templates by the claims that they name. */
class Naming {
  readonly #templates = new Map<string, Map<string, Located>>()

  add(located: Located): void {
    for (const key of keysNamedBy(located.object)) {
      const templates = this.#templates.get(key) ?? new Map<string, Located>()
      templates.set(idOf(located), located)
      this.#templates.set(key, templates)
    }
  }

  /** `old` is what it named before. */
  remove(located: Located, old: KubeObject): void {
    for (const key of keysNamedBy(old)) {
      const templates = this.#templates.get(key)
      templates?.delete(idOf(located))
      if (templates?.size === 0) this.#templates.delete(key)
    }
  }

  of(claim: string): Iterable<Located> {
    return this.#templates.get(claim)?.values() ?? []
  }
}

const keysNamedBy = (template: KubeObject): string[] =>
  (namedClaims(template).value ?? []).map((name) => objectKey(template.metadata.namespace, name))
