/**
 * The single OpenAPI v2 document of everything served, as JSON text. Parameters shared by many operations are references,
 * except those that kubectl expects inline.
 */
import { createHash } from 'node:crypto'
import { closure, toV2 } from './definitions.ts'
import { isInline, namesIn } from './document-v3.ts'
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

export interface ContentsV2 {
  paths: Paths
  /** JSON texts of the v2 definitions that are not recorded ones. */
  own: ReadonlyMap<string, string>
}

const HEAD = '{"swagger":"2.0","info":{"title":"Kubernetes","version":"1.36"}'
const TAIL =
  '"securityDefinitions":{"BearerToken":{"description":"Bearer Token authentication","type":"apiKey","name":"authorization","in":"header"}},"security":[{"BearerToken":[]}]}'
const NONE: ReadonlyMap<string, string> = new Map()

export function documentV2({ paths, own }: ContentsV2): string {
  const parameters = createParameters()
  const items = [...paths].sort(byName).map(([path, item]) => `${JSON.stringify(path)}:${JSON.stringify(itemV2(item, parameters))}`)
  const recorded = closure([...namesIn(paths), ...namesInV2(own)], NONE).map(([name, text]): [string, string] => [
    name,
    JSON.stringify(toV2(JSON.parse(text))),
  ])
  const definitions = new Map([...own, ...recorded])
  const schemas = [...definitions].sort(byName).map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  return `${HEAD},"paths":{${items.join(',')}},"definitions":{${schemas.join(',')}},"parameters":${JSON.stringify(parameters.all())},${TAIL}`
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

const REFERENCE = /"\$ref":"#\/definitions\/([^"\\]+)"/g

function* namesInV2(own: ReadonlyMap<string, string>): Iterable<string> {
  for (const text of own.values()) for (const match of text.matchAll(REFERENCE)) if (match[1] !== undefined) yield match[1]
}

type ParameterV2 = Record<string, unknown>

interface Parameters {
  /** The parameter, or a reference to it. */
  use(parameter: ParameterV2): ParameterV2
  all(): Record<string, ParameterV2>
}

/** kubectl reads dryRun and fieldValidation off the PATCH operation; an object's name is always written out too. */
const IN_PLACE = new Set(['dryRun', 'fieldValidation', 'name'])
const META_BODIES = /\.(DeleteOptions|Patch)"/

function createParameters(): Parameters {
  const keys = new Map<string, string>()
  const shared: Record<string, ParameterV2> = {}
  return {
    use(parameter) {
      const text = JSON.stringify(parameter)
      if (IN_PLACE.has(String(parameter.name)) || (parameter.in === 'body' && !META_BODIES.test(text))) return parameter
      let key = keys.get(text)
      if (key === undefined) {
        key = `${String(parameter.name)}-${createHash('sha256').update(text).digest('base64url').slice(0, 8)}`
        keys.set(text, key)
        shared[key] = parameter
      }
      return { $ref: `#/parameters/${key}` }
    },
    all: () => Object.fromEntries(Object.entries(shared).sort(byName)),
  }
}

function itemV2(item: PathItem, parameters: Parameters): Record<string, unknown> {
  const shared = sharedParams(item)
  const out: Record<string, unknown> = {}
  for (const [method, operation] of Object.entries(item)) out[method] = operationV2(operation, shared, parameters)
  if (shared.size > 0) out.parameters = [...shared].map((param) => parameters.use(parameterV2(param)))
  return out
}

function operationV2(operation: Operation, shared: ReadonlySet<string>, parameters: Parameters): Record<string, unknown> {
  const { request, action, gvk } = operation
  const produces = producedBy(operation)
  const params = operation.params.filter((param) => !shared.has(param)).map(parameterV2)
  if (request !== undefined) params.unshift(bodyParameter(request))
  return {
    consumes: request?.types ?? (gvk !== undefined && produces.includes('application/vnd.kubernetes.protobuf') ? ['*/*'] : produces),
    produces,
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.operationId,
    ...(params.length === 0 ? {} : { parameters: params.map((param) => parameters.use(param)) }),
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([code, body]) => [
        code,
        { description: descriptionOf(code), ...(body === null ? {} : { schema: schemaOf(body) }) },
      ]),
    ),
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(gvk === undefined ? {} : { 'x-kubernetes-group-version-kind': gvk }),
  }
}

function producedBy({ responses }: Operation): string[] {
  return [...new Set(Object.values(responses).flatMap((body) => body?.types ?? []))]
}

function schemaOf(body: Body): unknown {
  return isInline(body) ? JSON.parse(body.schema) : { $ref: `#/definitions/${body.schema}` }
}

const bodyParameter = (request: Body): ParameterV2 => ({
  name: 'body',
  in: 'body',
  ...(isBodyRequired(request) ? { required: true } : {}),
  schema: schemaOf(request),
})

function parameterV2(param: string): ParameterV2 {
  const { name, in: place, type } = parameterOf(param)
  return { uniqueItems: true, type, name, in: place, ...(place === 'path' ? { required: true } : {}) }
}
