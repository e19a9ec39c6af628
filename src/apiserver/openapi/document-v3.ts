/** OpenAPI v3 documents as JSON text: paths from operations, definitions from the texts they were recorded in. */
import { closure, narrowKinds, V3_REF } from './definitions.ts'
import {
  type Body,
  descriptionOf,
  isBodyRequired,
  type Operation,
  type PathItem,
  type Paths,
  parameterOf,
  sharedParams,
} from './operations.ts'

export interface Contents {
  /** The built-in group version whose meta kinds to use, if it is one. */
  builtin?: { group: string; version: string }
  paths: Paths
  /** JSON texts of definitions that are not recorded ones. */
  own: ReadonlyMap<string, string>
}

const INFO = '{"title":"Kubernetes","version":"1.36"}'
const CUSTOM_INFO = '{"title":"Kubernetes CRD Swagger","version":"v0.1.0"}'
const SECURITY =
  '"securitySchemes":{"BearerToken":{"type":"apiKey","description":"Bearer Token authentication","name":"authorization","in":"header"}}'

export function documentV3({ builtin, paths, own }: Contents): string {
  const names = new Set([...namesIn(paths), ...own.keys()])
  const schemas = closure(names, own).map(([name, text]) => {
    const narrowed = builtin === undefined || own.has(name) ? text : narrowKinds(text, builtin.group, builtin.version)
    return `${JSON.stringify(name)}:${narrowed}`
  })
  const items = [...paths]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, item]) => `${JSON.stringify(path)}:${JSON.stringify(itemV3(item))}`)
  const components = [...(schemas.length === 0 ? [] : [`"schemas":{${schemas.join(',')}}`]), ...(builtin === undefined ? [] : [SECURITY])]
  const info = builtin === undefined ? CUSTOM_INFO : INFO
  return `{"openapi":"3.0.0","info":${info},"paths":{${items.join(',')}},"components":{${components.join(',')}}}`
}

/** Definitions that the operations refer to. */
export function* namesIn(paths: Paths): Iterable<string> {
  for (const item of paths.values()) {
    for (const { request, responses } of Object.values(item)) {
      for (const body of [request, ...Object.values(responses)])
        if (body !== undefined && body !== null && !isInline(body)) yield body.schema
    }
  }
}

export const isInline = (body: Body): boolean => body.schema.startsWith('{')

function itemV3(item: PathItem): Record<string, unknown> {
  const shared = sharedParams(item)
  const out: Record<string, unknown> = {}
  for (const [method, operation] of Object.entries(item)) out[method] = operationV3(operation, shared)
  if (shared.size > 0) out.parameters = [...shared].map(parameterV3)
  return out
}

function operationV3(operation: Operation, shared: ReadonlySet<string>): Record<string, unknown> {
  const params = operation.params.filter((param) => !shared.has(param))
  const { request, action, gvk } = operation
  return {
    tags: [operation.tag],
    operationId: operation.operationId,
    ...(params.length === 0 ? {} : { parameters: params.map(parameterV3) }),
    ...(request === undefined
      ? {}
      : { requestBody: { content: contentOf(request), ...(isBodyRequired(request) ? { required: true } : {}) } }),
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([code, body]) => [
        code,
        { description: descriptionOf(code), ...(body === null ? {} : { content: contentOf(body) }) },
      ]),
    ),
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(gvk === undefined ? {} : { 'x-kubernetes-group-version-kind': gvk }),
  }
}

function contentOf(body: Body): Record<string, unknown> {
  const schema: unknown = isInline(body) ? JSON.parse(body.schema) : { $ref: V3_REF + body.schema }
  return Object.fromEntries(body.types.map((type) => [type, { schema }]))
}

function parameterV3(param: string): Record<string, unknown> {
  const { name, in: place, type } = parameterOf(param)
  return { name, in: place, ...(place === 'path' ? { required: true } : {}), schema: { type, uniqueItems: true } }
}
