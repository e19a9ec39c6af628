/** Objects of one resource in all clusters of a hub, as one table or in one order. A cluster that cannot answer leaves a reason. */
import type { Cluster } from '../../kinds/karmada/cluster.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Overview } from '../../runtime/seams/overview.ts'
import { type FleetQuery, type MemberAsker, type MemberPage, MemberProblem } from './members.ts'
import { merged } from './merge.ts'
import { byPlace, type Columns, columnsOf, type FleetRow, joinedColumns, rowsOf, type ServerTable, withAdded } from './table.ts'

export interface Gathering {
  clusters: readonly Cluster[]
  asker: MemberAsker
  /** Filled during gathering: why a cluster did not answer, by name. */
  problems: Map<string, string>
}

export type GatherQuery = Omit<FleetQuery, 'accept' | 'includeObject'>

export interface FleetTable {
  rows: readonly FleetRow[]
  columns: Columns
  isNamespaced: boolean
}

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'

/** Only cells are kept: about as much as is printed. */
export async function gatherTable(gathering: Gathering, of: GatherQuery, overviews: readonly Overview[] = []): Promise<FleetTable> {
  const addedTo = (resource: Resource) => overviews.find(({ shows }) => shows(resource))?.columns ?? []
  const isAdded = of.atHub !== undefined && addedTo(of.atHub).length > 0
  const query: FleetQuery = { ...of, accept: TABLE, includeObject: isAdded ? 'Object' : 'Metadata' }
  const rows: FleetRow[] = []
  let columns: Columns = []
  let isNamespaced = of.atHub?.namespaced ?? false
  const take = async (cluster: Cluster): Promise<void> => {
    const name = cluster.metadata.name ?? ''
    let own: Columns = []
    for await (const { resource, body } of pagesOf(gathering, cluster, query)) {
      const table = body as ServerTable
      if (table.kind !== 'Table') {
        gathering.problems.set(name, `prints no table of ${resource.plural}; see -o json`)
        return
      }
      if (columnsOf(table).length > 0) own = columnsOf(table)
      columns = joinedColumns(columns, own)
      isNamespaced ||= resource.namespaced
      for (const row of rowsOf(name, table, own, isAdded ? addedTo(resource) : [])) rows.push(row)
    }
  }
  await Promise.all(gathering.clusters.map(take))
  rows.sort(byPlace)
  if (isAdded && of.atHub !== undefined) columns = withAdded(columns, addedTo(of.atHub))
  return { rows, columns, isNamespaced }
}

export interface FleetObject {
  cluster: string
  object: KubeObject
}

export interface FleetObjects {
  /** In the order of servers, by namespace and name; streamed. */
  objects: AsyncIterable<FleetObject>
  /** Known once all objects have arrived. */
  isNamespaced(): boolean
}

export function gatherObjects(gathering: Gathering, of: GatherQuery): FleetObjects {
  const query: FleetQuery = { ...of, accept: 'application/json' }
  let isNamespaced = of.atHub?.namespaced ?? false
  const lists = gathering.clusters.map(async function* (cluster): AsyncGenerator<FleetObject[]> {
    for await (const { resource, body } of pagesOf(gathering, cluster, query)) {
      isNamespaced ||= resource.namespaced
      const { items, apiVersion } = body as { items?: KubeObject[] | null; apiVersion?: string }
      yield (items ?? []).map((item) => ({
        cluster: cluster.metadata.name ?? '',
        object: { ...item, apiVersion: item.apiVersion ?? apiVersion ?? '', kind: item.kind ?? resource.kind },
      }))
    }
  })
  return { objects: merged(lists, inServerOrder), isNamespaced: () => isNamespaced }
}

/** The pages of a cluster; if they end early, records why. */
async function* pagesOf({ asker, problems }: Gathering, cluster: Cluster, query: FleetQuery): AsyncGenerator<MemberPage> {
  try {
    for await (const pages of asker.pages(cluster, query)) yield* pages
  } catch (error) {
    if (!(error instanceof MemberProblem)) throw error
    problems.set(cluster.metadata.name ?? '', error.message)
  }
}

const keyOf = ({ object: { metadata }, cluster }: FleetObject): [string, string] => [
  `${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`,
  cluster,
]

function inServerOrder(a: FleetObject, b: FleetObject): number {
  const [[keyA, clusterA], [keyB, clusterB]] = [keyOf(a), keyOf(b)]
  if (keyA !== keyB) return keyA < keyB ? -1 : 1
  return clusterA < clusterB ? -1 : clusterA > clusterB ? 1 : 0
}
