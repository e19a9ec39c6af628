import type { KubeObject } from './meta.ts'
import { keyOfObject, type ObjectName } from './object-reference.ts'

/** Names a kind to the client: enough to build its paths. Kinds of the registry have these fields already. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Never set: carries the type of the resource's objects to its readers. */
  readonly objects?: T
  group: string
  version: string
  /** Plural, as in the path. */
  plural: string
  kind: string
  namespaced: boolean
}

/** A unique key per resource: `apps/v1/deployments`, `/v1/pods`. */
export const keyOfResource = (resource: Resource): string => `${resource.group}/${resource.version}/${resource.plural}`

/** A unique key for an object of any resource. */
export const keyOfLocated = (resource: Resource, object: KubeObject): string => `${keyOfResource(resource)} ${keyOfObject(object)}`

export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  const scope = resource.namespaced && namespace !== undefined && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${scope}/${resource.plural}`
}

export function objectPath(resource: Resource, of: ObjectName, subresource?: string): string {
  const path = `${collectionPath(resource, of.namespace)}/${encodeURIComponent(of.name)}`
  return subresource === undefined || subresource === '' ? path : `${path}/${subresource}`
}

export function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== '' && value !== false) search.set(key, String(value))
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}
