/** A watcher that never gives up: it resumes from its last revision whenever its connection ends, and records all it receives. */
import { Wire, WireError, type WireTarget } from '../machine/wire.ts'
import type { Ledger, SeenEvent, WatchLog } from './ledger.ts'

export interface WatcherOptions {
  name: string
  resource: string
  /** '' is all. */
  namespace: string
  after: number
  ledger: Ledger
  /** Where the server is now; undefined while it is down. */
  target(): WireTarget | undefined
  /** It received a 410 for its revision, or something that is not an event. */
  onTrouble(text: string): void
}

export interface Watcher {
  readonly log: WatchLog
  /** Newest revision it has received. */
  readonly reached: number
  /** Asleep: it closes its connection and does not reconnect before it is woken. */
  sleep(): void
  wake(): void
  readonly isAwake: boolean
  stop(): void
}

const RETRY_MS = 15

export function startWatcher(options: WatcherOptions): Watcher {
  const { name, resource, namespace, ledger } = options
  const log: WatchLog = { name, prefix: namespace === '' ? `${resource}/` : `${resource}/${namespace}/`, after: options.after, entries: [] }
  let reached = options.after
  let isStopped = false
  let isAwake = true
  let wire: Wire | undefined

  const take = (line: string): void => {
    const event = JSON.parse(line) as { type: string; object: WatchedObject }
    if (event.type === 'ERROR') {
      options.onTrouble(`${ledger.name}: ${name} at ${reached}: ${event.object.message}`)
      return
    }
    const revision = Number(event.object.metadata.resourceVersion)
    ledger.see(revision)
    reached = Math.max(reached, revision)
    if (event.type === 'BOOKMARK') log.entries.push({ bookmark: revision })
    else log.entries.push({ event: seenEvent(resource, event.type as SeenEvent['type'], event.object) })
  }

  const follow = async (target: WireTarget): Promise<void> => {
    const mine = new Wire(target)
    wire = mine
    let rest = ''
    const decoder = new TextDecoder()
    const path = `${collection(resource, namespace)}?watch=true&allowWatchBookmarks=true&resourceVersion=${reached}`
    try {
      const answer = await mine.stream({ method: 'GET', path }, (chunk) => {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line !== '') take(line)
      })
      if (answer.status !== 200) options.onTrouble(`${ledger.name}: ${name} at ${reached}: HTTP ${answer.status} ${rest.slice(0, 300)}`)
    } catch (error) {
      // The connection ended, as it does when its server is killed: the next one continues from `reached`.
      if (!(error instanceof WireError)) throw error
    } finally {
      mine.close()
    }
  }

  const run = async (): Promise<void> => {
    for (; !isStopped; await new Promise((resolve) => setTimeout(resolve, RETRY_MS))) {
      const target = isAwake ? options.target() : undefined
      if (target !== undefined) await follow(target)
    }
  }
  run().catch((error: unknown) => options.onTrouble(`${name}: ${error instanceof Error ? error.stack : error}`))

  return {
    log,
    get reached() {
      return reached
    },
    get isAwake() {
      return isAwake
    },
    sleep() {
      isAwake = false
      wire?.close()
    },
    wake() {
      isAwake = true
    },
    stop() {
      isStopped = true
      wire?.close()
    },
  }
}

export interface WatchedObject {
  metadata: { name: string; namespace: string; uid: string; resourceVersion: string; annotations?: Record<string, string> }
  message?: string
}

/** Every write leaves the name of its attempt in this annotation. */
export const ATTEMPT = 'proof/attempt'

export const collection = (resource: string, namespace: string): string =>
  namespace === '' ? `/api/v1/${resource}` : `/api/v1/namespaces/${namespace}/${resource}`

export function seenObject(resource: string, { metadata }: WatchedObject): Omit<SeenEvent, 'type'> {
  return {
    revision: Number(metadata.resourceVersion),
    key: `${resource}/${metadata.namespace}/${metadata.name}`,
    uid: metadata.uid,
    value: metadata.annotations?.[ATTEMPT] ?? '',
  }
}

const seenEvent = (resource: string, type: SeenEvent['type'], object: WatchedObject): SeenEvent => ({
  type,
  ...seenObject(resource, object),
})
