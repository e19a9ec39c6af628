/** All resources of a server, from its aggregated discovery: two requests, whatever the number of groups. */

import type { Resource } from '../kube/resource.ts'
import type { Client } from './client.ts'
import { ApiError, statusOf } from './errors.ts'
import { readAll } from './transport.ts'

export interface Discovered extends Resource {
  verbs: string[]
  /** `status`, `scale`, … */
  subresources: string[]
  /** `deployment`, for people. */
  singular: string
  /** `deploy`. */
  shortNames: string[]
}

interface AggregatedList {
  items: {
    metadata: { name?: string }
    versions: {
      version: string
      resources?: {
        resource: string
        responseKind?: { kind: string }
        singularResource?: string
        shortNames?: string[]
        scope: string
        verbs: string[]
        subresources?: { subresource: string }[]
      }[]
    }[]
  }[]
}

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** One entry per resource: the version the server prefers. */
export async function discoverResources(client: Client): Promise<Discovered[]> {
  const found = new Map<string, Discovered>()
  for (const path of ['/api', '/apis']) {
    const response = await client.raw({ method: 'GET', path, headers: { accept: ACCEPT } })
    const text = (await readAll(response.body)).toString('utf8')
    // A busy server is not a server without resources.
    if (response.status >= 400) throw new ApiError(response.status, statusOf(response.status, text))
    const list = JSON.parse(text) as AggregatedList
    for (const group of list.items ?? [])
      for (const version of group.versions)
        for (const entry of version.resources ?? []) {
          const name = group.metadata.name ?? ''
          const key = `${name}/${entry.resource}`
          if (found.has(key)) continue
          const namespaced = entry.scope === 'Namespaced'
          found.set(key, {
            group: name,
            version: version.version,
            plural: entry.resource,
            kind: entry.responseKind?.kind ?? '',
            namespaced,
            verbs: entry.verbs,
            subresources: (entry.subresources ?? []).map(({ subresource }) => subresource),
            singular: entry.singularResource ?? '',
            shortNames: entry.shortNames ?? [],
          })
        }
  }
  return [...found.values()]
}
