/**
 * Joins a cluster, and removes it again. What is already as it should be is left alone, so repeating it writes nothing:
 * `up` registers its members this way at every start.
 */

import { type Clock, sleep } from '../../base/clock.ts'
import { deepEqual } from '../../base/json.ts'
import type { Client } from '../../client/client.ts'
import { ApiError, ifFound, isAlreadyExists, isNotFound } from '../../client/errors.ts'
import { TransportError } from '../../client/transport.ts'
import type { Cluster } from '../../kinds/karmada/index.ts'
import { executionNamespace, IMPERSONATOR_SERVICE_ACCOUNT, memberRole, memberServiceAccount } from '../../kinds/karmada/names.ts'
import { CLUSTERS, WORKS } from '../../kinds/karmada/resources.ts'
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from '../../kinds/kubernetes/resources.ts'
import { secretText } from '../../kinds/kubernetes/secret-data.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectName } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import {
  type JoinCredentials,
  type MemberDescription,
  namespaceOf,
  objectsAtHub,
  objectsInMember,
  ownerReferenceTo,
  type Wanted,
} from './joining-objects.ts'

/** Something the user has to fix; the message says what. */
export class JoinError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'JoinError'
  }
}

export interface Sides {
  hub: Client
  member: Client
  clock: Clock
}

export type JoinRequest = Omit<MemberDescription, 'id'>

export interface JoinOptions {
  /** Only reports what would be created. */
  dryRun?: boolean
  /** How long the member may take to fill in a token (default 30 s). */
  tokenTimeoutMs?: number
}

/** Refuses a name or a cluster that is joined already. Returns what was created, or would be: `Kind namespace/name` by side. */
export async function joinMember(sides: Sides, request: JoinRequest, options: JoinOptions = {}): Promise<string[]> {
  const id = await idOf(sides.member, request)
  for (const known of (await sides.hub.list<Cluster>(CLUSTERS)).items) {
    if (known.metadata.name === request.name)
      throw new JoinError(`cluster ${request.name} is already joined; choose another name, or: sluice unjoin ${request.name}`)
    if (known.spec.id === id)
      throw new JoinError(`this cluster (id ${id}) is already joined as ${known.metadata.name}; a cluster can be joined only once`)
  }
  if (options.dryRun === true) return planned(request)
  return registerMember(sides, request, options)
}

/** The same without checking whether it is new: what is missing is created, what differs is corrected, all else is left alone. */
export async function registerMember(sides: Sides, request: JoinRequest, options: JoinOptions = {}): Promise<string[]> {
  const id = await idOf(sides.member, request)
  const made: string[] = []
  for (const wanted of objectsInMember(request)) if (await ensure(sides.member, wanted)) made.push(`member: ${nameOf(wanted)}`)
  const credentials = await credentialsOf(sides, request, options.tokenTimeoutMs ?? 30_000)
  const { before, cluster } = objectsAtHub({ ...request, id }, credentials)
  for (const wanted of before) if (await ensure(sides.hub, wanted)) made.push(`hub: ${nameOf(wanted)}`)
  if (await ensure(sides.hub, cluster)) made.push(`hub: ${nameOf(cluster)}`)
  const owner = ownerReferenceTo(await sides.hub.get(CLUSTERS, { name: request.name }))
  for (const { resource, object } of before) if (resource === SECRETS) await own(sides.hub, object, owner)
  return made
}

/** Whether the member has filled in the tokens that joining requests: then registering does not have to wait. */
export async function hasTokens(member: Client, request: JoinRequest): Promise<boolean> {
  for (const account of [memberServiceAccount(request.name), IMPERSONATOR_SERVICE_ACCOUNT]) {
    const secret = await ifFound(member.get(SECRETS, { namespace: namespaceOf(request), name: account }))
    if (secretText(secret, 'token') === '') return false
  }
  return true
}

function planned(request: JoinRequest): string[] {
  const nothing = { token: '', caBundle: '', impersonatorToken: '' }
  const { before, cluster } = objectsAtHub({ ...request, id: '' }, nothing)
  return [...objectsInMember(request).map((one) => `member: ${nameOf(one)}`), ...[...before, cluster].map((one) => `hub: ${nameOf(one)}`)]
}

const nameOf = ({ object: { kind, metadata } }: Wanted): string =>
  `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`

async function idOf(member: Client, { name, apiEndpoint }: JoinRequest): Promise<string> {
  try {
    return (await member.get(NAMESPACES, { name: 'kube-system' })).metadata.uid ?? ''
  } catch (error) {
    if (error instanceof TransportError)
      throw new JoinError(
        `${apiEndpoint} does not answer: ${error.message}\nIs it running, and is this the right --cluster-context?`,
        error,
      )
    if (error instanceof ApiError && (error.code === 401 || error.code === 403))
      throw new JoinError(
        `the kubeconfig of ${name} may not look at its cluster: ${error.message}\nJoining needs an administrator there`,
        error,
      )
    throw error
  }
}

/** True when something was written. Fields that we do not set belong to others. */
async function ensure(client: Client, { resource, object }: Wanted): Promise<boolean> {
  const { namespace, name = '' } = object.metadata
  const found = await ifFound(client.get(resource, { namespace, name }))
  if (found === undefined) return make(client, { resource, object })
  const patch = differing(found, object)
  if (patch === undefined) return false
  await client.patch(resource, { namespace, name }, { type: 'merge', body: patch })
  return true
}

async function make(client: Client, { resource, object }: Wanted): Promise<boolean> {
  try {
    await client.create(resource, object)
    return true
  } catch (error) {
    // Created concurrently, for example by the same command elsewhere: treated like any existing object.
    if (isAlreadyExists(error)) return ensure(client, { resource, object })
    throw error
  }
}

const OWN_FIELDS = ['spec', 'data', 'rules', 'subjects'] as const

function differing(found: KubeObject, wanted: KubeObject): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {}
  const labels = Object.entries(wanted.metadata.labels ?? {}).filter(([key, value]) => found.metadata.labels?.[key] !== value)
  if (labels.length > 0) patch.metadata = { labels: Object.fromEntries(labels) }
  for (const field of OWN_FIELDS) {
    const now = (found[field] ?? {}) as Record<string, unknown>
    if (wanted[field] === undefined) continue
    if (Array.isArray(wanted[field])) {
      if (!deepEqual(now, wanted[field])) patch[field] = wanted[field]
      continue
    }
    const changes = Object.entries(wanted[field] as object).filter(([key, value]) => !deepEqual(now[key], value))
    if (changes.length > 0) patch[field] = Object.fromEntries(changes)
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

async function own(hub: Client, { metadata: { namespace, name = '' } }: KubeObject, owner: Record<string, unknown>): Promise<void> {
  const found = await hub.get(SECRETS, { namespace, name })
  if (found.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true) return
  await hub.patch(SECRETS, { namespace, name }, { type: 'merge', body: { metadata: { ownerReferences: [owner] } } })
}

async function credentialsOf({ member, clock }: Sides, request: JoinRequest, timeoutMs: number): Promise<JoinCredentials> {
  const untilMs = clock.now() + timeoutMs
  const namespace = namespaceOf(request)
  const filled = async (account: string): Promise<KubeObject> => {
    for (;;) {
      const secret = await member.get(SECRETS, { namespace, name: account })
      if (secretText(secret, 'token') !== '') return secret
      if (clock.now() >= untilMs)
        throw new JoinError(
          `cluster ${request.name} does not fill the token of ServiceAccount ${namespace}/${account}; is its kube-controller-manager running?`,
        )
      await sleep(clock, 200)
    }
  }
  const own = await filled(memberServiceAccount(request.name))
  const impersonator = await filled(IMPERSONATOR_SERVICE_ACCOUNT)
  return { token: secretText(own, 'token'), caBundle: secretText(own, 'ca.crt'), impersonatorToken: secretText(impersonator, 'token') }
}

export interface UnjoinRequest {
  name: string
  namespace?: string
  /** How long deletion of the Cluster may take (default 60 s). */
  waitMs?: number
  /** After that, finalizers are removed: what is in the member may stay there. */
  force?: boolean
  dryRun?: boolean
}

/** Waits until the Cluster is gone; then, if the member can be reached, deletes what joining created there. */
export async function unjoinMember(
  { hub, member, clock }: Omit<Sides, 'member'> & { member?: Client },
  request: UnjoinRequest,
): Promise<void> {
  const { name } = request
  const cluster = (await ifFound(hub.get(CLUSTERS, { name }))) as Cluster | undefined
  if (cluster === undefined) throw new JoinError(`there is no cluster ${name}`)
  if (cluster.spec.syncMode === 'Pull')
    throw new JoinError(`cluster ${name} fetches its work by itself (Pull); stop its agent, then delete the Cluster`)
  if (request.dryRun === true) return
  await remove(hub, CLUSTERS, { name })
  const isGone = await gone(hub, clock, request)
  if (!isGone && request.force !== true) throw new JoinError(await whyNot(hub, request))
  if (!isGone) await letGo(hub, name)
  if (member !== undefined) await removeFromMember(member, request)
}

async function gone(hub: Client, clock: Clock, { name, waitMs = 60_000 }: UnjoinRequest): Promise<boolean> {
  const untilMs = clock.now() + waitMs
  while ((await ifFound(hub.get(CLUSTERS, { name }))) !== undefined) {
    if (clock.now() >= untilMs) return false
    await sleep(clock, 250)
  }
  return true
}

async function whyNot(hub: Client, { name, waitMs = 60_000 }: UnjoinRequest): Promise<string> {
  const cluster = (await ifFound(hub.get(CLUSTERS, { name }))) as Cluster | undefined
  const why =
    findCondition(cluster?.status?.conditions, 'Terminating')?.message ??
    'nobody has begun to let it go; are the controllers of the hub running?'
  return `cluster ${name} is not gone after ${Math.round(waitMs / 1000)} s: ${why}\nIt goes on; --force lets go of it now and may leave things in the cluster`
}

/** Works first: their namespace, and thereby the Cluster, waits for them. */
async function letGo(hub: Client, name: string): Promise<void> {
  const namespace = executionNamespace(name)
  const body = { metadata: { finalizers: null } }
  for (const { metadata } of (await hub.list(WORKS, { namespace })).items)
    await unlessGone(() => hub.patch(WORKS, { namespace, name: metadata.name ?? '' }, { type: 'merge', body }))
  await unlessGone(() => hub.patch(CLUSTERS, { name }, { type: 'merge', body }))
  await remove(hub, NAMESPACES, { name: namespace })
}

async function removeFromMember(member: Client, { name, namespace: given }: UnjoinRequest): Promise<void> {
  const namespace = namespaceOf({ namespace: given })
  for (const role of [memberRole(name), IMPERSONATOR_SERVICE_ACCOUNT]) {
    await remove(member, CLUSTER_ROLE_BINDINGS, { name: role })
    await remove(member, CLUSTER_ROLES, { name: role })
  }
  await remove(member, SERVICE_ACCOUNTS, { namespace, name: memberServiceAccount(name) })
  await remove(member, NAMESPACES, { name: namespace })
}

const remove = (client: Client, resource: Resource, of: ObjectName): Promise<void> => unlessGone(() => client.delete(resource, of))

async function unlessGone(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
