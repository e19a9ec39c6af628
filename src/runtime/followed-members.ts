/**
 * The members that Cluster objects describe, as connections: a Cluster with an address, and the Secret it names, become one
 * connection to the member and one set of caches of what we manage there. A new address or new credentials replace both; any
 * other change of a Cluster, notably its status, affects neither, so that nothing is listed again needlessly.
 */

import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import { type Caches, createCaches } from '../client/cache/caches.ts'
import { type Client, createClient } from '../client/client.ts'
import type { ConnectMember, Member, MemberCredentials, Members } from '../client/members.ts'
import { type Transport, TransportError } from '../client/transport.ts'
import type { Cluster } from '../kinds/karmada/cluster.ts'
import { CLUSTERS } from '../kinds/karmada/resources.ts'
import { SECRETS } from '../kinds/kubernetes/resources.ts'
import { secretText } from '../kinds/kubernetes/secret-data.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'

export interface FollowedMembers extends Members {
  /** A line per cache of a member that waits for its first list. An unreachable member blocks nothing. */
  behind(): string[]
  stop(): Promise<void>
}

export interface FollowMembersOptions {
  /** Of the hub. */
  caches: Caches
  clock: Clock
  random: Random
  connect: ConnectMember
  /** Whose managedFields entries are kept on cached objects of members (default: none). */
  keepsManager?(manager: string): boolean
  onError?(error: unknown, cluster: string, resource?: Resource): void
}

interface Connection {
  member: Member
  /** What it was made from: the connection is kept while this is unchanged. */
  madeFrom: string
  close(): Promise<void>
}

const BY_SECRET = 'fleet.membership/credentials'
const MANAGED = 'karmada.io/managed=true'

export function followMembers(options: FollowMembersOptions): FollowedMembers {
  const connections = new Map<string, Connection>()
  const listeners = new Set<(name: string) => void>()
  const clusters = options.caches.of(CLUSTERS)
  const secrets = options.caches.of(SECRETS)
  let isComplete = false
  let isStopped = false
  clusters.addIndex(BY_SECRET, (cluster) => secretsOf(cluster as Cluster))

  function look(name: string): void {
    // Until both are known, every Cluster would seem to have no credentials.
    if (!isComplete || isStopped) return
    const cluster = clusters.get('', name) as Cluster | undefined
    const credentials = cluster === undefined ? NO_CREDENTIALS : credentialsOf(cluster, (namespace, of) => secrets.get(namespace, of))
    const madeFrom = cluster === undefined ? undefined : essenceOf(cluster, credentials)
    const known = connections.get(name)
    if (known?.madeFrom === madeFrom) return
    const next = cluster === undefined || madeFrom === undefined ? undefined : connectionTo(cluster, { credentials, madeFrom }, options)
    if (known === undefined && next === undefined) return
    connections.delete(name)
    if (next !== undefined) connections.set(name, next)
    void known?.close()
    for (const listener of [...listeners]) listener(name)
  }

  const unsubscribe = [
    clusters.subscribe(({ object }) => look(object.metadata.name ?? '')),
    secrets.subscribe(({ object: { metadata } }) => {
      for (const cluster of clusters.byIndex(BY_SECRET, `${metadata.namespace}/${metadata.name}`)) look(cluster.metadata.name ?? '')
    }),
  ]
  void Promise.all([clusters.synced(), secrets.synced()]).then(() => {
    isComplete = true
    for (const cluster of clusters.list()) look(cluster.metadata.name ?? '')
  })

  return {
    get: (name) => connections.get(name)?.member,
    list: () => [...connections.values()].map(({ member }) => member),
    subscribe(changed) {
      listeners.add(changed)
      return () => void listeners.delete(changed)
    },
    behind: () => [...connections.values()].flatMap(({ member }) => waitingFor(member)),
    async stop() {
      isStopped = true
      for (const stop of unsubscribe) stop()
      const closing = [...connections.values()].map((connection) => connection.close())
      connections.clear()
      await Promise.all(closing)
    },
  }
}

const NO_CREDENTIALS: MemberCredentials = { token: '', caBundle: '' }

const secretsOf = ({ spec }: Cluster): string[] =>
  typeof spec?.secretRef === 'object' && spec.secretRef !== null ? [`${spec.secretRef.namespace}/${spec.secretRef.name}`] : []

type SecretAt = (namespace: string, name: string) => KubeObject | undefined

/** What the Secret of a Cluster holds; empty where it, or a key of it, is missing. */
export function credentialsOf({ spec }: Cluster, secretAt: SecretAt): MemberCredentials {
  const ref = spec?.secretRef
  const secret = ref === undefined ? undefined : secretAt(ref.namespace, ref.name)
  return { token: secretText(secret, 'token').trim(), caBundle: secretText(secret, 'caBundle') }
}

/** Everything a connection is made from, as one string; undefined where we do not connect to the member at all. */
function essenceOf({ metadata, spec }: Cluster, credentials: MemberCredentials): string | undefined {
  if (spec?.syncMode !== 'Push' || typeof spec.apiEndpoint !== 'string' || spec.apiEndpoint === '') return undefined
  const { apiEndpoint, insecureSkipTLSVerification, proxyURL, proxyHeader } = spec
  return JSON.stringify([metadata.uid, apiEndpoint, insecureSkipTLSVerification, proxyURL, proxyHeader, credentials])
}

interface ConnectionInput {
  credentials: MemberCredentials
  madeFrom: string
}

/** Undefined when there is no connection to it, or its description cannot be read. */
function connectionTo(cluster: Cluster, { credentials, madeFrom }: ConnectionInput, options: FollowMembersOptions): Connection | undefined {
  const { random, keepsManager } = options
  const clock = patient(options.clock)
  const name = cluster.metadata.name ?? ''
  const clients = new Map<string, Client>()
  let isClosed = false
  const opened = (part: string): Client | undefined => {
    const known = clients.get(part)
    if (known !== undefined) return known
    const transport = isClosed ? NOBODY : options.connect(cluster, credentials, part)
    if (transport === undefined) return undefined
    const client = createClient({ transport, clock, random, userAgent: `sluice/${part}` })
    clients.set(part, client)
    return client
  }
  const clientFor = (part: string): Client => {
    const client = opened(part)
    if (client === undefined) throw new Error(`there is no way to cluster ${name}`)
    return client
  }
  try {
    const client = opened('caches')
    if (client === undefined) return undefined
    const onError = (error: unknown, resource: Resource): void => options.onError?.(error, name, resource)
    const caches = createCaches({ client, clock, random, labelSelector: MANAGED, keepsManager, onError })
    return {
      member: { name, clientFor, caches },
      madeFrom,
      async close() {
        isClosed = true
        caches.stop()
        await Promise.all([...clients.values()].map((one) => one.close()))
      },
    }
  } catch (error) {
    options.onError?.(error, name)
    return undefined
  }
}

/**
 * Short delays count as pending work; longer ones, of a member that stays unreachable, run in the background, so that
 * nothing waits for them.
 */
export const patient = (clock: Clock): Clock => ({
  now: () => clock.now(),
  after: (delayMs, callback) => (delayMs > MOMENT_MS ? (clock.background ?? clock) : clock).after(delayMs, callback),
})

const MOMENT_MS = 5000

/** Callers that still hold a member that is gone get errors, not a connection that nothing would close. */
const NOBODY: Transport = {
  request: () => Promise.reject(new TransportError('the cluster is gone, or reached in another way now')),
  close: async () => undefined,
}

function waitingFor({ name, caches }: Member): string[] {
  const waiting = caches.all().filter((informer) => !informer.hasSynced && !informer.isFailing)
  return waiting.map((informer) => `the cache of ${informer.resource.plural} of cluster ${name} waits for its first list`)
}
