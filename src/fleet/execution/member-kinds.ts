/**
 * Which resource a kind is in a member, asked of the member once per group and version. A kind that was not served is asked
 * for again when the Cluster reports other APIs, and otherwise after a while.
 */

import type { Client } from '../../client/client.ts'
import { ApiError, statusOf } from '../../client/errors.ts'
import { readAll } from '../../client/transport.ts'
import type { ApiEnablement } from '../../kinds/karmada/cluster.ts'
import { parseGroupVersion } from '../../kube/meta.ts'
import type { GroupVersionKind } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'

export interface MemberKinds {
  /** Undefined when the member does not serve the kind. */
  find(of: KindQuestion): Promise<Resource | undefined>
  /** The connection to the member changed or is gone: it may be another cluster. */
  forget(cluster: string): void
}

export interface KindQuestion {
  cluster: string
  client: Client
  apiVersion: string
  kind: string
  /** As the Cluster reports them now. */
  apiEnablements: readonly ApiEnablement[] | undefined
  nowMs: number
}

interface Served {
  kinds: ReadonlyMap<string, Resource>
  /** What the Cluster reported when the member was asked. */
  reportedBy: string
  askedAtMs: number
}

/** How long an answer that a kind is missing is trusted while the Cluster reports nothing new. */
const MISSING_FOR_MS = 30_000

export function createMemberKinds(): MemberKinds {
  const served = new Map<string, Map<string, Served>>()
  return {
    async find({ cluster, client, apiVersion, kind, apiEnablements, nowMs }) {
      const known = served.get(cluster)?.get(apiVersion)
      const found = known?.kinds.get(kind)
      if (found !== undefined) return found
      const reportedBy = JSON.stringify(apiEnablements?.find(({ groupVersion }) => groupVersion === apiVersion) ?? null)
      if (known !== undefined && known.reportedBy === reportedBy && Math.abs(nowMs - known.askedAtMs) < MISSING_FOR_MS) return undefined
      const kinds = await kindsServed(client, apiVersion)
      const ofCluster = served.get(cluster) ?? new Map<string, Served>()
      served.set(cluster, ofCluster.set(apiVersion, { kinds, reportedBy, askedAtMs: nowMs }))
      return kinds.get(kind)
    },
    forget: (cluster) => void served.delete(cluster),
  }
}

/** The same line whether discovery does not list the kind or the request itself hit an unknown path. */
export const notServed = (cluster: string, { apiVersion, kind }: GroupVersionKind): string =>
  `cluster(${cluster}) does not serve kind "${kind}" of version "${apiVersion}"`

/** A server that knows the kind answers with a Status that names what was not found; one that does not, with plain text. */
export const isUnservedAnswer = ({ code, reason = '' }: { code?: number; reason?: string }): boolean => code === 404 && reason === ''

interface ResourceList {
  resources?: { name: string; kind: string; namespaced: boolean }[]
}

async function kindsServed(client: Client, apiVersion: string): Promise<ReadonlyMap<string, Resource>> {
  const { group, version } = parseGroupVersion(apiVersion)
  const path = group === '' ? `/api/${encodeURIComponent(version)}` : `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`
  const response = await client.raw({ method: 'GET', path })
  const text = (await readAll(response.body)).toString('utf8')
  if (response.status === 404) return new Map()
  // A busy server is not a server without resources.
  if (response.status >= 400) throw new ApiError(response.status, statusOf(response.status, text))
  const { resources = [] } = JSON.parse(text) as ResourceList
  const main = resources.filter(({ name }) => !name.includes('/'))
  return new Map(main.map(({ name, kind, namespaced }) => [kind, Object.freeze({ group, version, plural: name, kind, namespaced })]))
}
