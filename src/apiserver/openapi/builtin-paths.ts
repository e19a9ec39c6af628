/**
 * The operations of the built-in kinds as recorded, and the paths that belong to no group version. Only the requested part
 * of the recorded text is parsed, and every time: documents are kept, what they were made from is not.
 */
import pathsText from '../../kinds/kubernetes/facts/openapi-paths.facts'
import { type Body, capitalized, META, type Operation, type PathItem, type Paths, wordOf } from './operations.ts'

interface BodyFact {
  schema: string
  types: number
}

interface OperationFact extends Omit<Operation, 'params' | 'request' | 'responses' | 'tag'> {
  params: number
  request?: BodyFact
  responses: Record<string, BodyFact | null>
}

/** What operations refer to by number. */
interface Shared {
  params: string[][]
  types: string[][]
}

/** The text is `{"params":[…],"types":[…],"paths":{`, then per group version a line `"apps_v1":{`, its paths, and a line `}`. */
const PATHS = '"paths":{'

/** Undefined for a group version that is not built in. */
export function builtinPaths(group: string, version: string): Paths | undefined {
  const head = pathsText.indexOf(PATHS)
  const mark = `\n"${group === '' ? version : `${group}_${version}`}":{\n`
  const start = pathsText.indexOf(mark, head)
  if (start < 0) return undefined
  const end = pathsText.indexOf('\n}', start)
  const shared = JSON.parse(`${pathsText.slice(0, head + PATHS.length)}}}`) as Shared
  const items = JSON.parse(`{${pathsText.slice(start + mark.length, end)}}`) as Record<string, Record<string, OperationFact>>
  const tag = `${wordOf(group)}_${version}`
  return new Map(Object.entries(items).map(([path, item]) => [path, itemOf(item, tag, shared)]))
}

function itemOf(item: Record<string, OperationFact>, tag: string, shared: Shared): PathItem {
  return Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, operationOf(operation, tag, shared)]))
}

function operationOf(fact: OperationFact, tag: string, shared: Shared): Operation {
  const body = ({ schema, types }: BodyFact): Body => ({ schema, types: shared.types[types] ?? [] })
  return {
    ...fact,
    tag,
    params: shared.params[fact.params] ?? [],
    request: fact.request === undefined ? undefined : body(fact.request),
    responses: Object.fromEntries(Object.entries(fact.responses).map(([code, answer]) => [code, answer === null ? null : body(answer)])),
  }
}

const API_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml']
const ANY_TEXT = '{"type":"string"}'

/** Documents besides those of group versions, by their place in the index (`apis/apps`): each has one path. */
export function rootPaths(groups: readonly string[]): ReadonlyMap<string, Paths> {
  const get = (tag: string, operationId: string, body: Body): PathItem => ({
    get: { tag, operationId, params: [], responses: { 200: body, 401: null } },
  })
  const meta = (kind: string): Body => ({ schema: META + kind, types: API_TYPES })
  const json = (schema: string, type = 'application/json'): Body => ({ schema, types: [type] })
  const roots: [string, PathItem][] = [
    ['.well-known/openid-configuration', get('WellKnown', 'getServiceAccountIssuerOpenIDConfiguration', json(ANY_TEXT))],
    ['api', get('core', 'getCoreAPIVersions', meta('APIVersions'))],
    ['apis', get('apis', 'getAPIVersions', meta('APIGroupList'))],
    ...groups.map((group): [string, PathItem] => {
      const word = wordOf(group)
      return [`apis/${group}`, get(word, `get${capitalized(word)}APIGroup`, meta('APIGroup'))]
    }),
    ['openid/v1/jwks', get('openid', 'getServiceAccountIssuerOpenIDKeyset', json(ANY_TEXT, 'application/jwk-set+json'))],
    ['version', get('version', 'getCodeVersion', json('io.k8s.apimachinery.pkg.version.Info'))],
  ]
  return new Map(roots.map(([place, item]) => [place, new Map([[`/${place}/`, item]])]))
}
