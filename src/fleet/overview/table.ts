/** Merges the tables that servers print into one: the cluster comes first, whether the hub manages the object last. Pure. */
import type { KubeObject } from '../../kube/meta.ts'
import type { AddedColumn } from '../../runtime/seams/overview.ts'

/** meta.k8s.io/v1 Table, as far as it is used. */
export interface ServerTable {
  kind?: string
  metadata?: { continue?: string }
  columnDefinitions?: { name: string; priority?: number }[] | null
  rows?: { cells?: unknown[] | null; object?: Partial<KubeObject> | null }[] | null
}

export interface FleetRow {
  cluster: string
  namespace: string
  name: string
  /** By the name of the column. */
  cells: ReadonlyMap<string, string>
  isManaged: boolean
}

export interface TableStyle {
  /** Also prints columns that are otherwise left out. */
  isWide: boolean
  showsNamespace: boolean
}

export type Columns = { name: string; priority: number }[]

export const columnsOf = ({ columnDefinitions }: ServerTable): Columns =>
  (columnDefinitions ?? []).map(({ name, priority }) => ({ name: String(name), priority: priority ?? 0 }))

const MANAGED = 'karmada.io/managed'

/** `added` are computed from the objects, as far as a server gives them. */
export function rowsOf(cluster: string, { rows }: ServerTable, columns: Columns, added: readonly AddedColumn[] = []): FleetRow[] {
  return (rows ?? []).map(({ cells, object }) => ({
    cluster,
    namespace: object?.metadata?.namespace ?? '',
    name: object?.metadata?.name ?? String(cells?.[0] ?? ''),
    cells: new Map([
      ...columns.map(({ name }, i): [string, string] => [name, cellText(cells?.[i])]),
      ...added.map(({ name, cell }): [string, string] => [name, object?.metadata === undefined ? '' : cell(object as KubeObject)]),
    ]),
    isManaged: object?.metadata?.labels?.[MANAGED] === 'true',
  }))
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

/** Columns of all clusters; those that only some have go where they were first seen, after the columns that precede them there. */
export function joinedColumns(known: Columns, more: Columns): Columns {
  const joined = [...known]
  let at = 0
  for (const column of more) {
    const found = joined.findIndex(({ name }) => name === column.name)
    if (found < 0) joined.splice(at++, 0, column)
    else at = found + 1
  }
  return joined
}

/** Where the column is missing that one is to follow, it comes last. */
export function withAdded(columns: Columns, added: readonly AddedColumn[]): Columns {
  const all = [...columns]
  for (const { name, priority, after } of added) {
    const found = all.findIndex((column) => column.name === after)
    all.splice(found < 0 ? all.length : found + 1, 0, { name, priority })
  }
  return all
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export const byPlace = (a: Pick<FleetRow, 'namespace' | 'name' | 'cluster'>, b: Pick<FleetRow, 'namespace' | 'name' | 'cluster'>): number =>
  order(a.namespace, b.namespace) || order(a.name, b.name) || order(a.cluster, b.cluster)

/** Header first. */
export function tableOf(rows: readonly FleetRow[], columns: Columns, { isWide, showsNamespace }: TableStyle): string[][] {
  const shown = columns.filter(({ priority }) => isWide || priority === 0).map(({ name }) => name)
  const around = (first: string[], cells: string[], last: string): string[] => [...first, ...cells, last]
  const header = around(
    ['CLUSTER', ...(showsNamespace ? ['NAMESPACE'] : [])],
    shown.map((name) => name.toUpperCase()),
    'ADOPTION',
  )
  return [
    header,
    ...rows.map(({ cluster, namespace, cells, isManaged }) =>
      around(
        [cluster, ...(showsNamespace ? [namespace] : [])],
        shown.map((name) => cells.get(name) ?? '<unknown>'),
        isManaged ? 'Y' : 'N',
      ),
    ),
  ]
}
