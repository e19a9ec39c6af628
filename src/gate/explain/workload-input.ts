/** Reads what concerns a workload: the claims of its namespace, the sources that are bound, the clusters. */
import type { Client } from '../../client/client.ts'
import { FORBIDDEN, type Got, got, type Listed, listFirst } from '../../client/read-as-caller.ts'
import type { Binding, Cluster } from '../../kinds/karmada/index.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { isHeldByUs, RELEASED } from '../../runtime/seams/narrowing.ts'
import { boundSourceOf } from '../claim/state.ts'
import { CLAIMS_OF_INDEXES, type ClaimLookup, claimsOf, namedClaims } from '../narrowing/claims-of.ts'
import { workloadKindOf } from '../workload/index.ts'
import type { Clusters } from './places.ts'
import type { WorkloadInput } from './workload.ts'

/** Objects that are asked for one by one. */
const MOST_GETS = 20

export async function readWorkloadInput(hub: Client, template: KubeObject, binding: Binding | undefined): Promise<WorkloadInput> {
  const { namespace = '' } = template.metadata
  const listed = await listFirst<DataSourceClaim>(hub, DATA_SOURCE_CLAIMS, { namespace })
  const nothing = { template, binding, missing: [], sources: new Map(), clusters: undefined, isCut: false }
  if (listed.isForbidden) return { ...nothing, claims: FORBIDDEN }
  const all = listed.isCut ? [...listed.items, ...(await namedBeyond(hub, template, listed.items))] : listed.items
  const concerned = claimsOf(template, isWorkload(template, binding), lookupIn(all))
  if (concerned.claims.length === 0) return { ...nothing, ...concerned, isCut: listed.isCut }
  const [sources, clusters] = await Promise.all([boundSources(hub, concerned.claims), readClusters(hub)])
  return { template, binding, ...concerned, sources, clusters, isCut: listed.isCut }
}

/** As the narrowing sees it, as far as that can be told from the outside. */
function isWorkload({ apiVersion, kind }: KubeObject, binding: Binding | undefined): boolean {
  if (binding === undefined || workloadKindOf(apiVersion, kind) !== undefined) return true
  const { replicas, components = [] } = binding.spec ?? {}
  return replicas !== undefined || components.length > 0 || isHeldByUs(binding) || binding.metadata.annotations?.[RELEASED] !== undefined
}

/** Claims that the template names and that a list did not reach. */
async function namedBeyond(hub: Client, template: KubeObject, known: readonly DataSourceClaim[]): Promise<DataSourceClaim[]> {
  const { namespace = '' } = template.metadata
  const names = new Set(known.map(({ metadata }) => metadata.name))
  const beyond = (namedClaims(template).value ?? []).filter((name) => !names.has(name)).slice(0, MOST_GETS)
  const answers = await Promise.all(beyond.map((name) => got<DataSourceClaim>(hub, DATA_SOURCE_CLAIMS, { namespace, name })))
  return answers.flatMap((answer) => (answer === undefined || answer === FORBIDDEN ? [] : [answer]))
}

/** The indexes of the narrowing, over a list. */
export function lookupIn(claims: readonly DataSourceClaim[]): ClaimLookup {
  const byName = new Map(claims.map((claim) => [`${claim.metadata.namespace}/${claim.metadata.name}`, claim]))
  const indexes = new Map<string, Map<string, DataSourceClaim[]>>()
  for (const { name, of } of CLAIMS_OF_INDEXES) {
    const index = new Map<string, DataSourceClaim[]>()
    for (const claim of claims)
      for (const key of of(claim)) {
        const group = index.get(key)
        if (group === undefined) index.set(key, [claim])
        else group.push(claim)
      }
    indexes.set(name, index)
  }
  return {
    get: (namespace, name) => byName.get(`${namespace}/${name}`),
    byIndex: (index, value) => indexes.get(index)?.get(value) ?? [],
  }
}

async function boundSources(hub: Client, claims: readonly DataSourceClaim[]): Promise<Map<string, Got<DataSource>>> {
  const names = [...new Set(claims.flatMap((claim) => boundSourceOf(claim) ?? []))].slice(0, MOST_GETS)
  const sources = await Promise.all(names.map((name) => got<DataSource>(hub, DATA_SOURCES, { name })))
  return new Map(names.map((name, i) => [name, sources[i]]))
}

/** Undefined when they may not be read, or are too many to tell which of them exist. */
export async function readClusters(hub: Client): Promise<Clusters> {
  const { items, isCut, isForbidden }: Listed<Cluster> = await listFirst(hub, CLUSTERS)
  return isCut || isForbidden ? undefined : items
}
