/**
 * Whether a cache reflects what its server had at a given revision. A cache whose resource has not changed lately looks old
 * although it is not, because bookmarks are rare. Then the server is asked: one list of one namespace answers everybody who
 * waits at that moment. Lists are spaced so that they take a tenth of the time at most, however large the namespace is.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Client } from '../client.ts'
import type { Informer } from './informer.ts'

export interface AsOf {
  /** Whether the cache reflects at least what the server had in this namespace at this revision. */
  reflects(namespace: string, revision: number): boolean
  /** Resolves when it does, or when the informer stops. */
  catchUp(namespace: string, revision: number): Promise<void>
}

export interface AsOfOptions {
  client: Client
  clock: Clock
  informer: Informer
  signal: AbortSignal
  onError?(error: unknown): void
}

/** A list that took 1 ms is followed by a pause of this many ms. */
const PAUSE = 9
const MIN_BACKOFF_MS = 200
const MAX_BACKOFF_MS = 30_000

export function createAsOf({ client, clock, informer, signal, onError }: AsOfOptions): AsOf {
  /** By namespace, the newest revision that a list has confirmed. Superseded once the cache itself is newer. */
  const confirmed = new Map<string, number>()
  const rounds = new Map<string, Promise<void>>()
  const pauses = new Map<string, Promise<void>>()
  const preciseMs = (): number => clock.preciseMs?.() ?? clock.now()

  const isSeen = ({ metadata }: KubeObject): boolean => {
    const { namespace = '', name = '', resourceVersion } = metadata
    const cached = informer.get(namespace, name)
    return cached !== undefined && Number(cached.metadata.resourceVersion) >= Number(resourceVersion)
  }

  /** Whether the cache has, by now, everything that a list shows, and no longer what it does not show. */
  function differencesFrom(items: readonly KubeObject[], namespace: string, revision: number): () => boolean {
    const listed = new Set(items.map(({ metadata }) => metadata.name))
    const unseen = items.filter((item) => !isSeen(item))
    const gone = informer
      .list(namespace)
      .filter(({ metadata }) => !listed.has(metadata.name) && Number(metadata.resourceVersion) <= revision)
    return () => unseen.every(isSeen) && gone.every((object) => informer.get(namespace, object.metadata.name ?? '') !== object)
  }

  function reflects(namespace: string, revision: number): boolean {
    if (informer.hasSynced && informer.revision >= revision) {
      confirmed.delete(namespace)
      return true
    }
    return (confirmed.get(namespace) ?? 0) >= revision
  }

  /** One list. What differs from it in the cache is waited for; an object that vanishes meanwhile is found out by the next one. */
  async function ask(namespace: string): Promise<void> {
    await pauses.get(namespace)
    const startedMs = preciseMs()
    const { items, resourceVersion } = await client.list(informer.resource, { namespace, signal })
    const pauseMs = PAUSE * (preciseMs() - startedMs)
    if (pauseMs >= 1) {
      const pause = sleep(clock, pauseMs, signal).then(() => {
        pauses.delete(namespace)
      })
      pauses.set(namespace, pause)
    }
    const isCaughtUp = differencesFrom(items, namespace, Number(resourceVersion))
    const before = informer.revision
    await informer.until(() => informer.revision !== before || isCaughtUp())
    if (isCaughtUp()) confirmed.set(namespace, Number(resourceVersion))
  }

  async function askUntilAnswered(namespace: string): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        return await ask(namespace)
      } catch (error) {
        if (signal.aborted) return
        onError?.(error)
        await sleep(clock, Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** failures), signal)
      }
    }
  }

  function round(namespace: string): Promise<void> {
    let current = rounds.get(namespace)
    if (current === undefined) {
      current = askUntilAnswered(namespace).finally(() => rounds.delete(namespace))
      rounds.set(namespace, current)
    }
    return current
  }

  return {
    reflects,
    async catchUp(namespace, revision) {
      // A round that began before the revision existed may end without having seen it: then another one follows.
      while (!reflects(namespace, revision) && !signal.aborted) await round(namespace)
    },
  }
}
