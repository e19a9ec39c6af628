/**
 * The well-known names of Kubernetes' identities, and the user names that have a structure: service accounts and nodes.
 * Everything that decides by name or group (authentication, RBAC, impersonation) takes the spelling from here.
 */
import type { ObjectRef } from '../kube/object-reference.ts'
import type { UserInfo } from './kind.ts'

export const ANONYMOUS = 'system:anonymous'
export const UNAUTHENTICATED = 'system:unauthenticated'
export const AUTHENTICATED = 'system:authenticated'
export const MASTERS = 'system:masters'
export const NODES = 'system:nodes'
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:'
const NODE_PREFIX = 'system:node:'
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

export const serviceAccountName = (namespace: string, name: string): string => `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`

export const serviceAccountGroups = (namespace: string): string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]

/** Namespace and name of a service account's user name, or undefined when the name is not one. */
export function splitServiceAccountName(userName: string): ObjectRef | undefined {
  if (!userName.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined
  const parts = userName.slice(SERVICE_ACCOUNT_PREFIX.length).split(':')
  const [namespace, name] = parts
  if (parts.length !== 2 || namespace === undefined || name === undefined) return undefined
  if (namespace.length > 63 || !DNS_LABEL.test(namespace) || name.length > 253 || !DNS_SUBDOMAIN.test(name)) return undefined
  return { namespace, name }
}

/** The node that a user name such as `system:node:worker-1` claims to be. */
export function nodeOfUserName(userName: string): string | undefined {
  if (!userName.startsWith(NODE_PREFIX)) return undefined
  const name = userName.slice(NODE_PREFIX.length)
  return name.length <= 253 && DNS_SUBDOMAIN.test(name) ? name : undefined
}

/** Whether the user acts as a kubelet: by name prefix and group together, as Kubernetes identifies nodes. */
export function nodeIdentity(user: UserInfo): { isNode: boolean; nodeName: string } {
  const isNode = user.name.startsWith(NODE_PREFIX) && user.groups.includes(NODES)
  return { isNode, nodeName: isNode ? user.name.slice(NODE_PREFIX.length) : '' }
}

/** The user with `system:authenticated` added, unless it is anonymous. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.name === ANONYMOUS || user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user
  return { ...user, groups: [...user.groups, AUTHENTICATED] }
}

export const anonymousUser = (): UserInfo => ({ name: ANONYMOUS, groups: [UNAUTHENTICATED] })
