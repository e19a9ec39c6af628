/**
 * What the stored objects say about data and who needs it: written independently of the controllers, so that the judge does
 * not trust the judged. Knows what seeds use: selectors with `matchLabels`, and workloads of three kinds.
 */
import { deepEqual } from '../../base/json.ts'
import { matchesCluster } from '../../kinds/karmada/cluster-affinity-match.ts'
import type { Binding, Cluster } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { InvariantView } from '../../runtime/seams/seeded.ts'

export const CLAIMS = 'datasourceclaims.datadependency.volcano.sh'
export const SOURCES = 'datasources.datadependency.volcano.sh'
export const CLUSTERS = 'clusters.cluster.karmada.io'
export const BINDINGS = 'resourcebindings.work.karmada.io'
export const WORKS = 'works.work.karmada.io'
/** The kinds of workloads, by where they are stored. */
export const WORKLOADS: Readonly<Record<string, string>> = {
  Deployment: 'deployments.apps',
  StatefulSet: 'statefulsets.apps',
  Job: 'jobs.batch',
}
const HELD = ['sluice.dev/held-because', 'sluice.dev/held-reason', 'sluice.dev/held-by']
export const RELEASED = 'sluice.dev/released'

export const whereOf = ({ metadata: { namespace, name = '' } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`

export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

/** The workload that a binding stands for; undefined when it is gone, or of a kind that is not judged. */
export function templateOf(hub: InvariantView, { spec }: Binding): KubeObject | undefined {
  const { kind, namespace, name, uid } = spec.resource
  const plural = WORKLOADS[kind]
  const found = plural === undefined ? undefined : hub.get(plural, `${namespace}/${name}`)
  return found?.metadata.uid === uid ? found : undefined
}

export interface Concerning {
  claims: readonly DataSourceClaim[]
  /** Claims that it names and that do not exist. */
  missing: readonly string[]
}

/** The claims that concern a workload, in its own namespace. */
export function claimsOn(hub: InvariantView, { apiVersion, kind, metadata }: KubeObject): Concerning {
  const { namespace, name, labels = {}, annotations = {} } = metadata
  const named = (annotations['sluice.dev/claims'] ?? '').split(',').filter((text) => text !== '')
  const all = (hub.list(CLAIMS) as DataSourceClaim[]).filter((claim) => claim.metadata.namespace === namespace && !isGoing(claim))
  const claims = all.filter(({ metadata: of, spec: { workload, workloadSelector } }) => {
    if (named.includes(of.name ?? '')) return true
    if (workload !== undefined)
      return workload.kind === kind && workload.name === name && groupOf(workload.apiVersion) === groupOf(apiVersion)
    return Object.entries(workloadSelector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value)
  })
  return { claims, missing: named.filter((one) => !all.some((claim) => claim.metadata.name === one)) }
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '')

/** What a claim says it is bound to. */
export const boundTo = ({ status }: DataSourceClaim): string | undefined =>
  status?.phase === 'Bound' ? (status.boundTo ?? status.boundDataSource) : undefined

/** The source of a claim that is met: looked at as it is now, bound, usable, and the source exists. */
export function sourceOf(hub: InvariantView, claim: DataSourceClaim): DataSource | undefined {
  const { conditions = [] } = claim.status ?? {}
  const isMet = ['Resolved', 'Ready'].every((type) =>
    conditions.some((one) => one.type === type && one.status === 'True' && one.observedGeneration === claim.metadata.generation),
  )
  const name = boundTo(claim)
  const source = isMet && name !== undefined ? (hub.get(SOURCES, name) as DataSource | undefined) : undefined
  return source === undefined || isGoing(source) ? undefined : source
}

/** The clusters that hold the data of a source. */
function clustersOf(hub: InvariantView, { spec: { locality } }: DataSource): string[] {
  const { clusterNames = [], clusterAffinity } = locality
  if (clusterAffinity === undefined) return clusterNames
  return (hub.list(CLUSTERS) as Cluster[])
    .filter((cluster) => matchesCluster(clusterAffinity, cluster))
    .map(({ metadata }) => metadata.name ?? '')
    .filter((name) => clusterNames.length === 0 || clusterNames.includes(name))
}

/** Where a workload may go at this moment: undefined when nothing is claimed for it; nowhere when something is not known. */
export function allowedNow(hub: InvariantView, template: KubeObject): readonly string[] | undefined {
  const { claims, missing } = claimsOn(hub, template)
  if (claims.length === 0 && missing.length === 0) return undefined
  const sources = claims.map((claim) => sourceOf(hub, claim))
  if (missing.length > 0 || sources.includes(undefined)) return []
  const [first = [], ...others] = sources.map((source) => (source === undefined ? [] : clustersOf(hub, source)))
  return first.filter((name) => others.every((names) => names.includes(name)))
}

export function matches({ spec: wanted }: DataSourceClaim, { metadata, spec: offered }: DataSource): boolean {
  if (wanted.system !== offered.system || wanted.dataSourceType !== offered.type) return false
  const attributes: Record<string, string> = offered.attributes ?? {}
  if (wanted.workloadSelector === undefined) return wanted.dataSourceName === offered.name && deepEqual(wanted.attributes ?? {}, attributes)
  if (wanted.dataSourceName !== undefined) return wanted.dataSourceName === metadata.name
  return Object.entries(wanted.attributesSelector?.matchLabels ?? {}).every(([key, value]) => attributes[key] === value)
}

/** The clusters that a binding was released to; undefined when it was not. */
export function allowOf({ metadata }: KubeObject): readonly string[] | undefined {
  const text = metadata.annotations?.[RELEASED]
  return text === undefined ? undefined : (JSON.parse(text) as { allow: string[] }).allow
}

/** Names of the claims that a binding was released for, sorted. */
export function releasedFor({ metadata }: KubeObject): readonly string[] {
  const { claims = {} } = JSON.parse(metadata.annotations?.[RELEASED] ?? '{}') as { claims?: Record<string, string> }
  return Object.keys(claims).sort()
}

export const isHeld = ({ metadata }: KubeObject): boolean => HELD.some((mark) => metadata.annotations?.[mark] !== undefined)

export const namesOf = ({ spec }: Binding): string[] => (spec.clusters ?? []).map(({ name }) => name)
