/**
 * The kinds a member serves, as Cluster.status lists them: every group and version with its resources, sorted. Read through
 * aggregated discovery (two requests); a server without it is asked group by group.
 */
import type { Client } from '../../../client/client.ts'
import { readAll } from '../../../client/transport.ts'
import type { ApiEnablement } from '../../../kinds/karmada/index.ts'
import { fieldAt, listAt, textAt } from '../../../kube/fields.ts'
import { compareStrings } from '../../../kube/go-print.ts'

export interface Enablements {
  list: ApiEnablement[]
  /** False: some group did not answer, or its answer is stale. */
  isComplete: boolean
}

const AGGREGATED = ['v2', 'v2beta1'].map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
const ACCEPT = [...AGGREGATED, 'application/json'].join(',')
const NOTHING: Enablements = { list: [], isComplete: false }

/** Never rejects: what could not be read is missing, and `isComplete` is false. */
export async function readEnablements(client: Client, signal: AbortSignal): Promise<Enablements> {
  const parts = await Promise.all(['/api', '/apis'].map((path) => readRoot(client, path, signal)))
  return {
    list: parts.flatMap(({ list }) => list).sort((a, b) => compareStrings(a.groupVersion, b.groupVersion)),
    isComplete: parts.every(({ isComplete }) => isComplete),
  }
}

/** The git version of the server; undefined when it does not report one. */
export async function readVersion(client: Client, signal: AbortSignal): Promise<string | undefined> {
  return textAt(await readJson(client, '/version', signal), 'gitVersion')
}

async function readRoot(client: Client, path: string, signal: AbortSignal): Promise<Enablements> {
  const root = await readJson(client, path, signal)
  if (root === undefined) return NOTHING
  if (fieldAt(root, 'kind') === 'APIGroupDiscoveryList') return enablementsOf(root)
  const parts = await Promise.all(groupVersionsOf(root).map((groupVersion) => readGroup(client, { path, groupVersion }, signal)))
  return { list: parts.flatMap(({ list }) => list), isComplete: parts.every(({ isComplete }) => isComplete) }
}

/** From an aggregated discovery document. */
export function enablementsOf(root: unknown): Enablements {
  let isComplete = true
  const list = listAt(root, 'items').flatMap((group) =>
    listAt(group, 'versions').map((version): ApiEnablement => {
      if (version.freshness === 'Stale') isComplete = false
      const name = textAt(group, 'metadata', 'name') ?? ''
      // An entry without a kind of its own exists only for its subresources.
      const entries = listAt(version, 'resources').flatMap((one) => {
        const kind = textAt(one, 'responseKind', 'kind')
        return kind === undefined ? [] : [{ name: textAt(one, 'resource') ?? '', kind }]
      })
      return { groupVersion: `${name === '' ? '' : `${name}/`}${version.version}`, resources: byName(entries) }
    }),
  )
  return { list, isComplete }
}

const byName = <T extends { name: string }>(entries: readonly T[]): T[] => [...entries].sort((a, b) => compareStrings(a.name, b.name))

/** From /api (versions) and /apis (groups with versions), as servers without aggregated discovery answer. */
function groupVersionsOf(root: unknown): string[] {
  const versions = fieldAt(root, 'versions')
  if (Array.isArray(versions)) return versions.filter((one) => typeof one === 'string')
  return listAt(root, 'groups').flatMap((group) => listAt(group, 'versions').flatMap((one) => textAt(one, 'groupVersion') ?? []))
}

async function readGroup(client: Client, at: { path: string; groupVersion: string }, signal: AbortSignal): Promise<Enablements> {
  const answer = await readJson(client, `${at.path}/${at.groupVersion}`, signal)
  if (answer === undefined) return NOTHING
  const resources = listAt(answer, 'resources')
    .map((one) => ({ name: textAt(one, 'name') ?? '', kind: textAt(one, 'kind') ?? '' }))
    // `pods/status` and the like are parts of a resource.
    .filter(({ name }) => !name.includes('/'))
  return { list: [{ groupVersion: at.groupVersion, resources: byName(resources) }], isComplete: true }
}

/** Undefined when there is no answer, or it cannot be parsed. */
async function readJson(client: Client, path: string, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await client.raw({ method: 'GET', path, headers: { accept: ACCEPT }, signal })
    const text = (await readAll(response.body)).toString('utf8')
    return response.status < 400 ? (JSON.parse(text) as unknown) : undefined
  } catch {
    // A server that does not answer is asked again at the next heartbeat; until then the answer is incomplete.
    return undefined
  }
}
