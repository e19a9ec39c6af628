/** `sluice get deploy -A`: objects of all clusters in one table, or as one list. */

import pc from 'picocolors'
import { stringify } from 'yaml'
import { type Client, createClient } from '../../client/client.ts'
import { discoverResources } from '../../client/discovery.ts'
import { ApiError } from '../../client/errors.ts'
import type { ConnectMember } from '../../client/members.ts'
import { namedResource } from '../../client/named-resource.ts'
import { undiciTransport } from '../../client/transport/undici.ts'
import { type Transport, TransportError } from '../../client/transport.ts'
import { type FleetObject, type Gathering, type GatherQuery, gatherObjects, gatherTable } from '../../fleet/overview/gather.ts'
import { createMemberAsker, openMembers } from '../../fleet/overview/members.ts'
import { type FleetRow, tableOf } from '../../fleet/overview/table.ts'
import type { Cluster } from '../../kinds/karmada/cluster.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import { MODULES } from '../../modules.ts'
import type { Overview } from '../../runtime/seams/overview.ts'
import { connectionFor } from '../connect.ts'
import { layout, type Paint, shownText } from '../fleet-table-layout.ts'
import { CommandError, type Machine } from '../machine.ts'
import { memberAccess } from '../member-access.ts'
import { unanswered } from '../unanswered.ts'

export interface GetOptions {
  kubeconfig?: string
  context?: string
  namespace?: string
  allNamespaces?: boolean
  selector?: string
  clusters?: string
  output?: string
}

export async function get(machine: Machine, words: readonly string[], options: GetOptions): Promise<void> {
  checkOutput(options.output)
  const connection = await connectionFor(machine, options)
  const { clock, random } = machine
  const transport = undiciTransport(connection)
  const hub = createClient({ transport, clock, random, userAgent: 'sluice/get' })
  try {
    const { namespace, server, context } = connection
    const fleet: Fleet = {
      ...{ hub, transport, connect: memberAccess(() => [], 'http').connect },
      ...{ namespace, context, where: `${server} (context ${context})` },
      overviews: MODULES.flatMap((module) => module.overviews),
    }
    await getFrom(machine, fleet, words, options)
  } catch (error) {
    if (error instanceof TransportError) throw unanswered(connection.server, error)
    if (error instanceof ApiError) throw new CommandError(error.message, error)
    throw error
  } finally {
    await hub.close()
  }
}

export interface Fleet {
  hub: Client
  /** To the server that was named: of the hub, or of the one cluster that is shown. */
  transport: Transport
  connect: ConnectMember
  /** What the kubeconfig calls it. */
  context: string
  /** The default namespace. */
  namespace: string
  /** The hub, as shown to users. */
  where: string
  /** What modules show of their kinds. */
  overviews: readonly Overview[]
}

export async function getFrom(machine: Machine, fleet: Fleet, words: readonly string[], options: GetOptions): Promise<void> {
  checkOutput(options.output)
  const { resource, name } = subjectOf(words)
  const resources = await discoverResources(fleet.hub)
  const atHub = namedResource(resources, resource)
  const isHub = resources.some(({ group, plural }) => group === CLUSTERS.group && plural === CLUSTERS.plural)
  if (!isHub && (atHub === undefined || !fleet.overviews.some(({ shows }) => shows(atHub))))
    throw new CommandError(
      `${fleet.where} is no hub, and lists only ${fleet.overviews.map(({ about }) => about).join(', ')}; name one with --context (that of sluice up is called hub): sluice get ${words.join(' ')}${whereOf(options)} --context hub`,
    )
  const known = isHub ? ((await fleet.hub.list(CLUSTERS)).items as Cluster[]) : [theCluster(fleet)]
  const clusters = chosen(known, options.clusters)
  const namespace = options.allNamespaces ? '' : (options.namespace ?? fleet.namespace)
  const query = { resource, name, namespace, selector: options.selector, atHub }
  const open = isHub ? openMembers(fleet.hub, fleet.connect) : async () => leftOpen(fleet.transport)
  const asker = createMemberAsker({ open, clock: machine.clock, random: machine.random })
  const problems = new Map<string, string>()
  try {
    const gathering: Gathering = { clusters, asker, problems }
    const print = options.output === 'json' || options.output === 'yaml' ? printList : printTable
    const found = await print(machine, { ...gathering, overviews: fleet.overviews }, query, options)
    for (const [cluster, why] of [...problems].sort(([a], [b]) => (a < b ? -1 : 1)))
      machine.err(`${shownText(cluster)}: ${shownText(why)}\n`)
    if (problems.size === clusters.length)
      throw new CommandError(`none of ${clusters.length} clusters could say anything about ${JSON.stringify(resource)}`)
    if (found.count > 0) return
    if (name !== undefined)
      throw new CommandError(`no cluster has ${resource} ${JSON.stringify(name)}${inNamespace(found.isNamespaced ? namespace : '')}`)
    machine.err(`No resources found${inNamespace(found.isNamespaced ? namespace : '')}\n`)
  } finally {
    await asker.close()
  }
}

/** One that is no hub is a fleet of its own. */
const theCluster = ({ context }: Fleet): Cluster => ({
  apiVersion: `${CLUSTERS.group}/${CLUSTERS.version}`,
  kind: CLUSTERS.kind,
  metadata: { name: context },
  spec: { syncMode: 'Push' },
})

/** Others go on using it. */
const leftOpen = (transport: Transport): Transport => ({ request: (request) => transport.request(request), close: async () => undefined })

const whereOf = ({ namespace, allNamespaces }: GetOptions): string =>
  allNamespaces === true ? ' -A' : namespace === undefined ? '' : ` -n ${namespace}`

const inNamespace = (namespace: string): string => (namespace === '' ? '' : ` in ${namespace} namespace.`)

function checkOutput(output: string | undefined): void {
  if (output !== undefined && !['wide', 'json', 'yaml'].includes(output))
    throw new CommandError(`-o takes wide, json or yaml, not ${JSON.stringify(output)}`)
}

/** `deploy`, `deploy web`, or `deploy/web`. */
function subjectOf(words: readonly string[]): { resource: string; name: string | undefined } {
  const [first = '', second] = words
  const slash = first.indexOf('/')
  const [resource, name] = second === undefined && slash > 0 ? [first.slice(0, slash), first.slice(slash + 1)] : [first, second]
  if (resource === '' || name === '' || words.length > 2)
    throw new CommandError('name a resource, and at most one object: sluice get deploy web')
  return { resource, name }
}

function chosen(clusters: readonly Cluster[], names: string | undefined): Cluster[] {
  if (clusters.length === 0) throw new CommandError('the hub has no clusters yet; see: sluice join --help')
  if (names === undefined) return [...clusters]
  const wanted = new Set(
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  )
  const found = clusters.filter(({ metadata }) => wanted.delete(metadata.name ?? ''))
  if (wanted.size > 0)
    throw new CommandError(
      `the hub has no cluster ${[...wanted].map((name) => JSON.stringify(name)).join(', ')}; see: kubectl get clusters`,
    )
  if (found.length === 0) throw new CommandError('--clusters names no cluster')
  return found
}

type Shown = Gathering & Pick<Fleet, 'overviews'>

interface Found {
  count: number
  isNamespaced: boolean
}

async function printTable(machine: Machine, gathering: Shown, query: GatherQuery, options: GetOptions): Promise<Found> {
  const { rows, columns, isNamespaced } = await gatherTable(gathering, query, gathering.overviews)
  if (rows.length === 0) return { count: 0, isNamespaced }
  const style = { isWide: options.output === 'wide', showsNamespace: isNamespaced && options.allNamespaces === true }
  machine.out(layout(tableOf(rows, columns, style), machine.isTerminal ? painted(rows) : undefined))
  return { count: rows.length, isNamespaced }
}

function painted(rows: readonly FleetRow[]): Paint {
  return (text, { row, column }) => {
    if (row === 0) return pc.bold(text)
    if (column === 0) return pc.cyan(text)
    return rows[row - 1]?.isManaged === false ? pc.dim(text) : text
  }
}

/** Printed as it arrives. */
async function printList(machine: Machine, gathering: Gathering, query: GatherQuery, { output }: GetOptions): Promise<Found> {
  const { objects, isNamespaced } = gatherObjects(gathering, query)
  const written = output === 'json' ? asJson : asYaml
  let count = 0
  for await (const item of objects) {
    machine.out(written.item(item, count === 0))
    count++
  }
  if (gathering.problems.size < gathering.clusters.length || count > 0) machine.out(written.end(count))
  return { count, isNamespaced: isNamespaced() }
}

interface Written {
  item(item: FleetObject, isFirst: boolean): string
  end(count: number): string
}

const indented = (text: string, by: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : by + line))
    .join('\n')

const asJson: Written = {
  item: (item, isFirst) =>
    `${isFirst ? '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": [\n' : ',\n'}${indented(JSON.stringify(item, null, 2), '    ')}`,
  end: (count) => (count === 0 ? '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": []\n}\n' : '\n  ]\n}\n'),
}

const asYaml: Written = {
  item: (item, isFirst) => `${isFirst ? 'apiVersion: v1\nkind: List\nitems:\n' : ''}${indented(stringify([item]), '  ')}`,
  end: (count) => (count === 0 ? 'apiVersion: v1\nkind: List\nitems: []\n' : ''),
}
