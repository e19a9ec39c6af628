/** What the stored objects say about references: who refers to whom, and with whose consent. Like `judge.ts`, on its own. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { ReferenceGrant } from '../../kinds/gateway/reference-grant.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { InvariantView } from '../../runtime/seams/seeded.ts'
import { DATASETS, isGoing, namespaceIn, runtimesOf, whereOf } from './judge.ts'

export const GRANTS = 'referencegrants.gateway.networking.k8s.io'

export interface Referred {
  /** `namespace/name` of the original. */
  where: string
  subPath: string
}

/** A dataset whose only mount is another dataset; undefined of all others, also where such a mount is one of several. */
export function referredBy(dataset: KubeObject | undefined): Referred | undefined {
  const mounts = (dataset as Dataset | undefined)?.spec?.mounts ?? []
  const [, namespace, name, subPath = ''] = /^dataset:\/\/([^/]+)\/([^/]+)\/?(.*)$/.exec(mounts[0]?.mountPoint ?? '') ?? []
  return mounts.length !== 1 || namespace === undefined || name === undefined ? undefined : { where: `${namespace}/${name}`, subPath }
}

/** Whoever is in the namespace of the original may refer to it; others if no grant there is about datasets, or one is for them. */
export function mayRefer(view: InvariantView, from: string, to: string): boolean {
  const [namespace, name] = to.split('/')
  if (from === namespace) return true
  const stated = (view.list(GRANTS) as ReferenceGrant[]).filter(
    (grant) => grant.metadata.namespace === namespace && !isGoing(grant) && grant.spec.to.some(isAboutDatasets),
  )
  const isFor = ({ spec }: ReferenceGrant): boolean =>
    spec.from.some((one) => isAboutDatasets(one) && one.namespace === from) &&
    spec.to.some((one) => isAboutDatasets(one) && (one.name === undefined || one.name === name))
  return stated.length === 0 || stated.some(isFor)
}

const isAboutDatasets = ({ group, kind }: { group: string; kind: string }): boolean => group === 'data.fluid.io' && kind === 'Dataset'

/** Those that refer to a dataset, whether they may or not. */
export const referencesTo = (view: InvariantView, where: string): Dataset[] =>
  (view.list(DATASETS) as Dataset[]).filter((dataset) => referredBy(dataset)?.where === where && whereOf(dataset) !== where)

export const consentedReferencesTo = (view: InvariantView, where: string): Dataset[] =>
  referencesTo(view, where).filter((reference) => mayRefer(view, namespaceIn(whereOf(reference)), where))

export const listOf = (dataset: KubeObject | undefined): readonly string[] => (dataset as Dataset | undefined)?.status?.datasetRef ?? []

/** A ThinRuntime without a profile stands for another runtime; every other one serves data itself. */
export const servesItself = ({ kind, spec }: KubeObject): boolean =>
  kind !== 'ThinRuntime' || ((spec as { profileName?: string } | undefined)?.profileName ?? '') !== ''

/** Whether nothing of its own keeps a reference from being bound: it has the runtime that it needs, and no other. */
export function hasOnlyThin(view: InvariantView, where: string): boolean {
  const runtimes = runtimesOf(view, where).filter(({ object }) => !isGoing(object))
  return runtimes.length > 0 && runtimes.every(({ object }) => !servesItself(object))
}

/** What a dataset shows of its cache, as one text; undefined: nothing. */
export function figuresIn(dataset: KubeObject | undefined): string | undefined {
  const { ufsTotal = '', fileNum = '', cacheStates = {} } = (dataset as Dataset | undefined)?.status ?? {}
  const shown = [ufsTotal, fileNum, Object.entries(cacheStates).sort()]
  return shown.every(({ length }) => length === 0) ? undefined : JSON.stringify(shown)
}

/** The mounts that a dataset shows, as one text, without what is their namespace's own. */
export const mountsIn = (dataset: KubeObject | undefined): string =>
  JSON.stringify(((dataset as Dataset | undefined)?.status?.mounts ?? []).map(({ mountPoint, name, path }) => [mountPoint, name, path]))
