/**
 * The operations of the built-in kinds as recorded, and the paths that belong to no group version. The recorded text is
 * parsed anew for each use: documents are kept, what they were made from is not.
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

interface PathFacts {
  params: string[][]
  types: string[][]
  paths: Record<string, Record<string, Record<string, OperationFact>>>
}

export interface BuiltinPaths {
  /** Undefined for a group version that is not built in. */
  of(group: string, version: string): Paths | undefined
}

export function readBuiltinPaths(): BuiltinPaths {
  const facts = JSON.parse(pathsText) as PathFacts
  return {
    of(group, version) {
      const key = group === '' ? version : `${group}_${version}`
      if (!Object.hasOwn(facts.paths, key)) return undefined
      const tag = `${wordOf(group)}_${version}`
      return new Map(Object.entries(facts.paths[key] ?? {}).map(([path, item]) => [path, itemOf(item, tag, facts)]))
    },
  }
}

function itemOf(item: Record<string, OperationFact>, tag: string, facts: PathFacts): PathItem {
  return Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, operationOf(operation, tag, facts)]))
}

function operationOf(fact: OperationFact, tag: string, facts: PathFacts): Operation {
  const body = ({ schema, types }: BodyFact): Body => ({ schema, types: facts.types[types] ?? [] })
  return {
    ...fact,
    tag,
    params: facts.params[fact.params] ?? [],
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
