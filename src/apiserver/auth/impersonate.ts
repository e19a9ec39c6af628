/**
 * Acting as another user by `Impersonate-*` headers. Kubernetes 1.36 tries the constrained modes first (may this user make
 * *this request* while impersonating that one?) and the old all-or-nothing `impersonate` verb last; when none allows it, the
 * error of the first mode that applied is the answer.
 */
import { setOwn } from '../../base/json.ts'
import {
  ANONYMOUS,
  AUTHENTICATED,
  MASTERS,
  NODES,
  nodeOfUserName,
  serviceAccountGroups,
  splitServiceAccountName,
  UNAUTHENTICATED,
} from '../../kinds/identity.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { goQuote } from '../../kube/go-print.ts'
import type { ApiRequest } from '../../kube/http.ts'
import { badRequestError, StatusError } from '../../kube/status.ts'
import { type Attributes, type Authorizer, forbiddenFor, resourceAttributes } from './attributes.ts'

const AUTHENTICATION_GROUP = 'authentication.k8s.io'
const EXTRA_PREFIX = 'impersonate-extra-'
/** From this many values on, a constrained mode first asks for all at once. */
const MANY = 4

interface Wanted {
  name: string
  uid: string
  groups: string[]
  extra: Map<string, string[]>
}

interface Mode {
  /** undefined for the old mode, which has neither name nor constraint. */
  name?: string
  applies(wanted: Wanted, requestor: UserInfo): boolean
}

const MODES: readonly Mode[] = [
  {
    name: 'associated-node',
    applies: (wanted, requestor) => isNameOnly(wanted) && isNodeOf(requestor, nodeOfUserName(wanted.name)),
  },
  { name: 'arbitrary-node', applies: (wanted) => isNameOnly(wanted) && nodeOfUserName(wanted.name) !== undefined },
  { name: 'serviceaccount', applies: (wanted) => isNameOnly(wanted) && splitServiceAccountName(wanted.name) !== undefined },
  {
    name: 'user-info',
    applies: (wanted) => nodeOfUserName(wanted.name) === undefined && splitServiceAccountName(wanted.name) === undefined,
  },
  { applies: () => true },
]

/** The user the request acts as: the requestor itself without such headers. Throws 400 or 403. `attributes` are the requestor's own. */
export function impersonate(headers: ApiRequest['headers'], attributes: Attributes, authorizer: Authorizer): UserInfo {
  const wanted = readHeaders(headers)
  if (wanted === undefined) return attributes.user
  let first: StatusError | undefined
  for (const mode of MODES) {
    if (!mode.applies(wanted, attributes.user)) continue
    try {
      return attempt(mode, wanted, { attributes, authorizer })
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      first ??= error
    }
  }
  throw first ?? forbiddenFor(attributes, 'all impersonation modes failed')
}

function readHeaders(headers: ApiRequest['headers']): Wanted | undefined {
  const wanted: Wanted = {
    name: values(headers['impersonate-user'])[0] ?? '',
    uid: values(headers['impersonate-uid'])[0] ?? '',
    groups: [...values(headers['impersonate-group'])],
    extra: new Map(),
  }
  for (const header of Object.keys(headers).sort()) {
    if (!header.startsWith(EXTRA_PREFIX) || headers[header] === undefined) continue
    const key = unescapeKey(header.slice(EXTRA_PREFIX.length).toLowerCase())
    wanted.extra.set(key, [...(wanted.extra.get(key) ?? []), ...values(headers[header])])
  }
  if (wanted.name !== '') return wanted
  if (wanted.uid === '' && wanted.groups.length === 0 && wanted.extra.size === 0) return undefined
  throw badRequestError(`requested ${goSyntax(wanted)} without impersonating a user name`)
}

const values = (header: string | readonly string[] | undefined): readonly string[] =>
  header === undefined ? [] : typeof header === 'string' ? [header] : header

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch (error) {
    if (error instanceof URIError) return key
    throw error
  }
}

/** The wanted user as Go's %#v prints it: it is part of the recorded message. */
function goSyntax(wanted: Wanted): string {
  const list = (items: readonly string[]) => `[]string{${items.map((i) => goQuote(i)).join(', ')}}`
  const groups = wanted.groups.length === 0 ? '[]string(nil)' : list(wanted.groups)
  const entries = [...wanted.extra].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, items]) => `${goQuote(key)}:${list(items)}`)
  const extra = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`
  return `&user.DefaultInfo{Name:${goQuote(wanted.name)}, UID:${goQuote(wanted.uid)}, Groups:${groups}, Extra:${extra}}`
}

const isNameOnly = (wanted: Wanted): boolean => wanted.uid === '' && wanted.groups.length === 0 && wanted.extra.size === 0

/** A service account bound to a pod on that node, as its token says. */
function isNodeOf(requestor: UserInfo, node: string | undefined): boolean {
  if (node === undefined || splitServiceAccountName(requestor.name) === undefined) return false
  const named = requestor.extra?.['authentication.kubernetes.io/node-name']
  return named?.length === 1 && named[0] === node
}

function attempt(mode: Mode, wanted: Wanted, { attributes, authorizer }: { attributes: Attributes; authorizer: Authorizer }): UserInfo {
  const isConstrained = mode.name !== undefined
  const verb = isConstrained ? `impersonate:${mode.name}` : 'impersonate'
  const group = isConstrained ? AUTHENTICATION_GROUP : ''
  if (isConstrained) demand(authorizer, { ...attributes, verb: `impersonate-on:${mode.name}:${attributes.verb}` })
  const ask = (resource: string, name: string, more: Partial<Attributes> = {}) =>
    resourceAttributes(attributes.user, { verb, group, resource, name, ...more })

  const groups = demandUserName(mode, wanted, { ask, authorizer })
  if (wanted.uid !== '') demand(authorizer, ask('uids', wanted.uid, { group: AUTHENTICATION_GROUP }))
  demandGroups(isConstrained, wanted, { ask, authorizer })
  demandExtra(isConstrained, wanted, { ask, authorizer })
  return asUser(wanted, groups)
}

interface Asking {
  ask(resource: string, name: string, more?: Partial<Attributes>): Attributes
  authorizer: Authorizer
}

function demand(authorizer: Authorizer, attributes: Attributes): void {
  const decision = authorizer.authorize(attributes)
  if (!decision.allowed) throw forbiddenFor(attributes, decision.reason)
}

/** Checks the name, and returns the groups implied by it. */
function demandUserName(mode: Mode, wanted: Wanted, { ask, authorizer }: Asking): string[] {
  const account = splitServiceAccountName(wanted.name)
  if (account !== undefined) {
    demand(authorizer, ask('serviceaccounts', account.name, { namespace: account.namespace }))
    return wanted.groups.length === 0 ? serviceAccountGroups(account.namespace) : wanted.groups
  }
  const node = mode.name === undefined ? undefined : nodeOfUserName(wanted.name)
  if (node !== undefined) {
    demand(authorizer, ask('nodes', mode.name === 'associated-node' ? '*' : node))
    return [NODES]
  }
  demand(authorizer, ask('users', wanted.name))
  return wanted.groups
}

function demandGroups(isConstrained: boolean, { groups }: Wanted, { ask, authorizer }: Asking): void {
  if (groups.length === 0) return
  if (isConstrained) {
    if (groups.includes('')) throw forbiddenFor(ask('groups', ''), 'impersonating the empty string group is not allowed')
    if (groups.includes(MASTERS)) throw forbiddenFor(ask('groups', MASTERS), 'impersonating the system:masters group is not allowed')
    if (groups.length >= MANY && authorizer.authorize(ask('groups', '*')).allowed) return
  }
  for (const group of groups) demand(authorizer, ask('groups', group))
}

function demandExtra(isConstrained: boolean, { extra }: Wanted, { ask, authorizer }: Asking): void {
  if (extra.size === 0) return
  const of = (subresource: string, name: string) => ask('userextras', name, { group: AUTHENTICATION_GROUP, subresource })
  if (isConstrained) {
    const problem = badExtra(extra)
    if (problem !== undefined) throw forbiddenFor(of('', ''), problem)
    const count = [...extra.values()].reduce((sum, items) => sum + items.length, 0)
    if ((extra.size >= MANY || count >= MANY) && authorizer.authorize(of('*', '*')).allowed) return
  }
  for (const [key, items] of extra) for (const item of items) demand(authorizer, of(key, item))
}

const DOMAIN_PREFIXED_PATH = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

function badExtra(extra: ReadonlyMap<string, readonly string[]>): string | undefined {
  for (const [key, items] of extra) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed'
    if (!DOMAIN_PREFIXED_PATH.test(key)) {
      const why = 'must be a domain-prefixed path (such as "acme.io/foo")'
      return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${goQuote(key)}: ${why}`
    }
    if (items.includes('')) return 'impersonating the empty string value in extra is not allowed'
  }
  return undefined
}

function asUser(wanted: Wanted, groups: readonly string[]): UserInfo {
  const implied =
    wanted.name === ANONYMOUS
      ? UNAUTHENTICATED
      : groups.includes(UNAUTHENTICATED) || groups.includes(AUTHENTICATED)
        ? undefined
        : AUTHENTICATED
  const user: UserInfo = { name: wanted.name, groups: [...groups] }
  if (implied !== undefined && !groups.includes(implied)) user.groups.push(implied)
  if (wanted.uid !== '') user.uid = wanted.uid
  if (wanted.extra.size > 0) {
    user.extra = {}
    for (const [key, items] of wanted.extra) setOwn(user.extra, key, items)
  }
  return user
}
