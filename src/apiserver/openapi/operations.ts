/**
 * What a path offers, in one form that both OpenAPI versions are written from: the recorded operations of the built-in
 * kinds, the few paths outside any group version, and those of custom resources all become `Operation`s first.
 */
export interface GroupVersionKind {
  group: string
  version: string
  kind: string
}

/** A body: the name of a definition (or a schema as JSON text, starting with `{`) and the media types it comes in. */
export interface Body {
  schema: string
  types: readonly string[]
}

export interface Operation {
  operationId: string
  tag: string
  /** `in:name`, e.g. `query:dryRun`. */
  params: readonly string[]
  action?: string
  gvk?: GroupVersionKind
  request?: Body
  /** By status code; null when there is no body to describe. */
  responses: Readonly<Record<string, Body | null>>
}

/** Operations by method in lower case. */
export type PathItem = Readonly<Record<string, Operation>>
export type Paths = ReadonlyMap<string, PathItem>

export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const DELETE_OPTIONS = `${META}DeleteOptions`

/** Every operation that takes a body requires it, except delete. */
export const isBodyRequired = (request: Body): boolean => request.schema !== DELETE_OPTIONS

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['200', 'OK'],
  ['201', 'Created'],
  ['202', 'Accepted'],
  ['401', 'Unauthorized'],
])

export const descriptionOf = (code: string): string => DESCRIPTIONS.get(code) ?? ''

const BOOLEANS = new Set([
  'allowWatchBookmarks',
  'follow',
  'force',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'insecureSkipTLSVerifyBackend',
  'orphanDependents',
  'previous',
  'sendInitialEvents',
  'stderr',
  'stdin',
  'stdout',
  'timestamps',
  'tty',
  'watch',
])
const INTEGERS = new Set(['gracePeriodSeconds', 'limit', 'limitBytes', 'ports', 'sinceSeconds', 'tailLines', 'timeoutSeconds'])

export interface Parameter {
  name: string
  in: string
  type: 'boolean' | 'integer' | 'string'
}

export function parameterOf(param: string): Parameter {
  const colon = param.indexOf(':')
  const name = param.slice(colon + 1)
  return { name, in: param.slice(0, colon), type: BOOLEANS.has(name) ? 'boolean' : INTEGERS.has(name) ? 'integer' : 'string' }
}

/** Parameters common to all operations of a path belong to the path; the rest stay with their operation. */
export function sharedParams(item: PathItem): ReadonlySet<string> {
  const [first, ...others] = Object.values(item)
  return new Set((first?.params ?? []).filter((param) => others.every((operation) => operation.params.includes(param))))
}

/** `rbac.authorization.k8s.io` → `rbacAuthorization`: how groups appear in tags and, capitalised, in operation ids. */
export function wordOf(group: string): string {
  if (group === '') return 'core'
  return validId(group.endsWith('.k8s.io') ? group.slice(0, -'.k8s.io'.length) : group)
}

function validId(text: string): string {
  let out = ''
  let isUpper = false
  for (const char of text) {
    if (/[\p{L}_]/u.test(char) || (out !== '' && /\p{Nd}/u.test(char))) {
      out += isUpper ? char.toUpperCase() : char
      isUpper = false
    } else isUpper = true
  }
  return out
}

export const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
