/**
 * Asks the clusters of a hub for one resource: each by its own name for it, page by page, a few clusters at a time, each
 * with a time limit. A cluster that cannot answer leaves a reason and blocks nothing else.
 */

import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { type Client, createClient } from '../../client/client.ts'
import { type Discovered, discoverResources } from '../../client/discovery.ts'
import { ApiError, ifFound, isNotFound } from '../../client/errors.ts'
import type { ConnectMember } from '../../client/members.ts'
import { namedResource } from '../../client/named-resource.ts'
import { createSender, type Sender } from '../../client/send.ts'
import { type Transport, TransportError } from '../../client/transport.ts'
import type { Cluster } from '../../kinds/karmada/cluster.ts'
import { SECRETS } from '../../kinds/kubernetes/resources.ts'
import { collectionPath, type Resource, withQuery } from '../../kube/resource.ts'
import { credentialsOf } from '../../runtime/followed-members.ts'
import { type Page, paged } from './merge.ts'

export interface FleetQuery {
  /** As users write it. */
  resource: string
  /** The resource that the hub resolves it to; undefined when it has none of that name. */
  atHub: Resource | undefined
  /** '' for all. */
  namespace: string
  name: string | undefined
  selector: string | undefined
  accept: string
  includeObject?: 'Metadata' | 'Object'
}

export interface AskOptions {
  /** Throws a MemberProblem. */
  open(cluster: Cluster): Promise<Transport>
  clock: Clock
  random: Random
  timeoutMs?: number
}

/** A list of a member, and what kind of list. */
export interface MemberPage {
  resource: Resource
  body: { metadata?: { continue?: string } }
}

const TIMEOUT_MS = 10_000
const AT_ONCE = 16
const PAGE_SIZE = 500

/** Why a cluster did not answer, for users. */
export class MemberProblem extends Error {}

export interface MemberAsker {
  /** Throws a MemberProblem. */
  pages(cluster: Cluster, query: FleetQuery): AsyncGenerator<MemberPage[]>
  close(): Promise<void>
}

/** As Clusters say: with the credentials that the hub has of them. */
export const openMembers =
  (hub: Client, connect: ConnectMember): AskOptions['open'] =>
  async (cluster) => {
    const ref = cluster.spec?.secretRef
    const secret = ref === undefined ? undefined : await ifFound(hub.get(SECRETS, ref))
    if (secret === undefined) throw new MemberProblem('the hub has no credentials for it')
    const transport = connect(
      cluster,
      credentialsOf(cluster, () => secret),
      'get',
    )
    if (transport === undefined) throw new MemberProblem('the hub knows no way to it: spec.apiEndpoint is empty')
    return transport
  }

export function createMemberAsker(options: AskOptions): MemberAsker {
  const { clock, random, timeoutMs = TIMEOUT_MS } = options
  const opened: Transport[] = []
  const turn = createTurns(AT_ONCE)

  async function open(cluster: Cluster): Promise<Transport> {
    const transport = await options.open(cluster)
    opened.push(transport)
    return transport
  }

  /** Nothing takes longer than this, whatever the transport does. */
  async function inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = new AbortController()
    let cancel: () => void = () => undefined
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(timeoutMs, () => {
        reject(new MemberProblem(`does not answer within ${timeoutMs / 1000} s`))
        timeout.abort()
      })
    })
    try {
      return await Promise.race([work(timeout.signal), late])
    } catch (error) {
      throw problemOf(error)
    } finally {
      cancel()
    }
  }

  return {
    async *pages(cluster, query) {
      let transport: Transport | undefined
      let known = query.atHub
      const page = async (token: string | undefined): Promise<Page<MemberPage>> =>
        turn(() =>
          inTime(async (signal) => {
            transport ??= await open(cluster)
            const sender = createSender({ transport, clock, random, userAgent: 'sluice/get', tries: 2 })
            known ??= await named(createClient({ transport, clock, random, userAgent: 'sluice/get' }), query.resource)
            const ask = (resource: Resource): Promise<MemberPage['body']> => listPage(sender, resource, { query, token, signal })
            let body: MemberPage['body']
            try {
              body = await ask(known)
            } catch (error) {
              if (!isNotFound(error) || token !== undefined || known !== query.atHub) throw error
              // Perhaps it is served in another version.
              known = await named(createClient({ transport, clock, random, userAgent: 'sluice/get' }), query.resource)
              body = await ask(known)
            }
            return { items: [{ resource: known, body }], next: body.metadata?.continue || undefined }
          }),
        )
      yield* paged(page)
    },
    async close() {
      await Promise.all(opened.map((transport) => transport.close()))
    },
  }
}

async function named(client: Client, text: string): Promise<Discovered> {
  const found = namedResource(await discoverResources(client), text)
  if (found === undefined) throw new MemberProblem(`does not serve ${JSON.stringify(text)}`)
  return found
}

interface PageAsked {
  query: FleetQuery
  token: string | undefined
  signal: AbortSignal
}

async function listPage(sender: Sender, resource: Resource, { query, token, signal }: PageAsked): Promise<MemberPage['body']> {
  const path = (at: string | undefined): string =>
    withQuery(collectionPath(resource, resource.namespaced ? query.namespace : ''), {
      labelSelector: query.selector,
      fieldSelector: query.name === undefined ? undefined : `metadata.name=${query.name}`,
      includeObject: query.includeObject,
      limit: PAGE_SIZE,
      continue: at,
    })
  const ask = (at: string | undefined): Promise<MemberPage['body']> =>
    sender.json({ method: 'GET', path: path(at), headers: { accept: query.accept }, signal, isRepeatable: true })
  try {
    return await ask(token)
  } catch (error) {
    // The continue token expired; the rest of the list is given as it is now.
    const fresh = error instanceof ApiError && error.code === 410 ? error.status.metadata?.continue : undefined
    if (typeof fresh === 'string' && fresh !== '' && fresh !== token) return ask(fresh)
    throw error
  }
}

function problemOf(error: unknown): unknown {
  if (error instanceof TransportError) return new MemberProblem(`does not answer: ${error.message}`, { cause: error })
  if (error instanceof ApiError) return new MemberProblem(error.message, { cause: error })
  return error
}

/** Runs this many at once, the others in the order they came. */
function createTurns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await work()
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}
