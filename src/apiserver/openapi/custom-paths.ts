/**
 * The operations of a custom resource in one version, as the real server publishes them: kubectl looks for the PATCH
 * among them, and for its dryRun and fieldValidation parameters.
 */
import type { KindDefinition, PublishedVersion } from '../../kinds/kind.ts'
import { type Body, capitalized, type GroupVersionKind, META, type Operation, type PathItem, type Paths, wordOf } from './operations.ts'

const TYPES = ['application/json', 'application/yaml']
const PATCH_TYPES = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json']
const LIST = [
  'query:allowWatchBookmarks',
  'query:continue',
  'query:fieldSelector',
  'query:labelSelector',
  'query:limit',
  'query:resourceVersion',
  'query:resourceVersionMatch',
  'query:sendInitialEvents',
  'query:shardSelector',
  'query:timeoutSeconds',
  'query:watch',
]
const WRITE = ['query:dryRun', 'query:fieldManager', 'query:fieldValidation']
const DELETE = [
  'query:dryRun',
  'query:gracePeriodSeconds',
  'query:ignoreStoreReadErrorWithClusterBreakingPotential',
  'query:orphanDependents',
  'query:propagationPolicy',
]
const SCALE = 'io.k8s.api.autoscaling.v1.Scale'

/** The operations of one version of a kind, from its published schemas. */
export function customPaths(definition: KindDefinition, { version, name, listName, subresources }: PublishedVersion): Paths {
  const { group, kind, plural, namespaced } = definition
  const gvk: GroupVersionKind = { group, kind, version }
  const tag = `${wordOf(group)}_${version}`
  const prefix = capitalized(wordOf(group)) + capitalized(version)
  const scoped = (namespaced ? 'Namespaced' : '') + kind
  const inPath = namespaced ? ['path:namespace'] : []
  const body = (schema: string): Body => ({ schema, types: TYPES })
  const operation = (action: string, id: string, rest: Pick<Operation, 'params' | 'request' | 'responses'>): Operation => ({
    action,
    gvk,
    operationId: id,
    tag,
    ...rest,
    params: [...inPath, ...rest.params, 'query:pretty'],
    responses: { ...rest.responses, 401: null },
  })
  const deletion: Body = { schema: `${META}DeleteOptions`, types: TYPES }
  const status = body(`${META}Status`)
  const own = body(name)

  const root = `/apis/${group}/${version}`
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`
  const list = operation('list', `list${prefix}${scoped}`, { params: LIST, responses: { 200: body(listName) } })
  /** get, put and patch of the object itself or of one of its subresources. */
  const item = (suffix: string, it: Body): PathItem => ({
    get: operation('get', `read${prefix}${scoped}${suffix}`, { params: ['path:name', 'query:resourceVersion'], responses: { 200: it } }),
    put: operation('put', `replace${prefix}${scoped}${suffix}`, {
      params: ['path:name', ...WRITE],
      request: it,
      responses: { 200: it, 201: it },
    }),
    patch: operation('patch', `patch${prefix}${scoped}${suffix}`, {
      params: ['path:name', ...WRITE, 'query:force'],
      request: { schema: `${META}Patch`, types: PATCH_TYPES },
      responses: { 200: it },
    }),
  })

  const paths = new Map<string, PathItem>()
  paths.set(collection, {
    get: list,
    post: operation('post', `create${prefix}${scoped}`, { params: WRITE, request: own, responses: { 200: own, 201: own, 202: own } }),
    delete: operation('deletecollection', `delete${prefix}Collection${scoped}`, { params: LIST, responses: { 200: status } }),
  })
  paths.set(`${collection}/{name}`, {
    ...item('', own),
    delete: operation('delete', `delete${prefix}${scoped}`, {
      params: ['path:name', ...DELETE],
      request: deletion,
      responses: { 200: status, 202: status },
    }),
  })
  for (const part of subresources) paths.set(`${collection}/{name}/${part}`, item(capitalized(part), part === 'scale' ? body(SCALE) : own))
  if (namespaced) {
    const everywhere = {
      ...list,
      operationId: `list${prefix}${kind}ForAllNamespaces`,
      params: list.params.filter((p) => p !== 'path:namespace'),
    }
    paths.set(`${root}/${plural}`, { get: everywhere })
  }
  return paths
}
