/** The clients of the proof: for each cluster a ledger, writers and watchers, and what the driver needs of them between two kills. */
import { type Random, seededRandom } from '../../src/base/random.ts'
import { Wire, type WireTarget } from '../machine/wire.ts'
import { Ledger, type ListedObject, type Snapshot, type Violation } from './ledger.ts'
import { ATTEMPT, collection, seenObject, startWatcher, type WatchedObject, type Watcher } from './watcher.ts'
import { Writer } from './writer.ts'

const NAMESPACES = ['proof-0', 'proof-1', 'proof-2']
const RESOURCES = ['configmaps', 'secrets']
/** Restarts that a watcher sleeps through at most: the ledger keeps the events of a few more. */
const LONGEST_SLEEP = 9
const FENCE_PATIENCE_MS = 30_000

export interface SceneOptions {
  cluster: string
  seed: number
  writers: number
  /** Where watchers find the server; undefined while it is down. */
  target(): WireTarget | undefined
  /** Where writers find it; also undefined while they must hold. */
  writeTarget(): WireTarget | undefined
  onViolation(violation: Violation): void
}

export class Scene {
  readonly ledger: Ledger
  readonly #options: SceneOptions
  readonly #random: Random
  #writers: Writer[] = []
  #watchers: Watcher[] = []
  #sleepers: Watcher[] = []
  #fences = 0
  #nights = 0

  constructor(options: SceneOptions) {
    this.#options = options
    this.#random = seededRandom(options.seed)
    this.ledger = new Ledger(options.cluster)
  }

  /** Namespaces, a first object in each of them, then watchers from that moment and writers. */
  async begin(): Promise<void> {
    await this.#using(async (wire) => {
      for (const name of NAMESPACES)
        await must(wire, { method: 'POST', path: '/api/v1/namespaces', body: JSON.stringify({ metadata: { name } }) })
    })
    await this.#fence()
    const { lists } = await this.snapshot()
    const revision = Math.max(...lists.map((list) => list.revision))
    this.ledger.begin(
      lists.flatMap((list) => list.objects),
      revision,
    )
    for (const resource of RESOURCES)
      for (const namespace of ['', ...NAMESPACES]) this.#watchers.push(this.#watch(resource, namespace, revision, ''))
    for (const resource of RESOURCES) this.#sleepers.push(this.#watch(resource, '', revision, ', sleeping through restarts'))
    this.#writers = Array.from(
      { length: this.#options.writers },
      (_, i) =>
        new Writer({
          name: `${this.#options.cluster}-w${i}`,
          resource: RESOURCES[i % 3 === 2 ? 1 : 0] ?? '',
          namespace: NAMESPACES[i % NAMESPACES.length] ?? '',
          ledger: this.ledger,
          random: seededRandom(this.#options.seed + 1 + i),
          target: this.#options.writeTarget,
          onViolation: this.#options.onViolation,
        }),
    )
  }

  #watch(resource: string, namespace: string, after: number, note: string): Watcher {
    return startWatcher({
      name: `watcher of ${resource} in ${namespace === '' ? 'all namespaces' : namespace}${note}`,
      resource,
      namespace,
      after,
      ledger: this.ledger,
      target: this.#options.target,
      onTrouble: (text) => this.#options.onViolation({ kind: 'gap', text }),
    })
  }

  /** After a kill: until all clients know that the server is gone. */
  async quiet(): Promise<void> {
    while (this.#writers.some((writer) => !writer.isIdle)) await pause(2)
    this.ledger.restart()
  }

  /** The lists of everything that is written here. */
  snapshot(): Promise<Snapshot> {
    return this.#using(async (wire) => {
      const lists: Snapshot['lists'] = []
      for (const resource of RESOURCES) {
        const body = await must(wire, { method: 'GET', path: collection(resource, '') })
        const list = JSON.parse(body.toString()) as { metadata: { resourceVersion: string }; items: WatchedObject[] }
        const objects: ListedObject[] = list.items
          .filter((item) => NAMESPACES.includes(item.metadata.namespace))
          .map((item) => seenObject(resource, item))
        lists.push({ prefix: `${resource}/`, revision: Number(list.metadata.resourceVersion), objects })
      }
      return { lists }
    })
  }

  /** Before writers may continue: the state as the restart left it, and one write everywhere that every watcher must receive. */
  async resume(): Promise<{ snapshot: Snapshot; fence: number }> {
    const known = this.ledger.newest
    const snapshot = await this.snapshot()
    for (const { prefix, revision } of snapshot.lists)
      if (revision < known)
        this.#options.onViolation({
          kind: 'lost',
          text: `${this.ledger.name}: after the restart ${prefix} is at revision ${revision}, and ${known} was known before`,
        })
    return { snapshot, fence: await this.#fence() }
  }

  /** Waits until every watcher is past the fence, then judges. */
  async settle(resumed: { snapshot: Snapshot; fence: number }): Promise<void> {
    const { fence } = resumed
    // Sleepers come back every few restarts, from their last revision.
    this.#nights++
    for (const sleeper of this.#sleepers) if (this.#random.next() < 0.25 || this.#nights % LONGEST_SLEEP === 0) sleeper.wake()
    const due = [...this.#watchers, ...this.#sleepers].filter((watcher) => watcher.isAwake)
    const deadline = performance.now() + FENCE_PATIENCE_MS
    while (due.some((watcher) => watcher.reached < fence)) {
      if (performance.now() > deadline) {
        for (const watcher of due)
          if (watcher.reached < fence)
            this.#options.onViolation({
              kind: 'gap',
              text: `${this.ledger.name}: ${watcher.log.name} is at ${watcher.reached} and does not get to ${fence}`,
            })
        break
      }
      await pause(3)
    }
    for (const violation of this.ledger.settle(
      fence,
      due.map((watcher) => watcher.log),
      resumed.snapshot,
    ))
      this.#options.onViolation(violation)
    for (const sleeper of this.#sleepers) if (this.#random.next() < 0.75) sleeper.sleep()
  }

  /** Writes one object in every watched place; every watcher reaches the oldest of these revisions. */
  async #fence(): Promise<number> {
    const value = `fence.${++this.#fences}`
    const revisions = await this.#using(async (wire) => {
      const made: number[] = []
      for (const resource of RESOURCES)
        for (const namespace of NAMESPACES) {
          const kind = resource === 'secrets' ? 'Secret' : 'ConfigMap'
          const body = JSON.stringify({ apiVersion: 'v1', kind, metadata: { name: 'fence', annotations: { [ATTEMPT]: value } } })
          const path = `${collection(resource, namespace)}/fence?fieldManager=proof&force=true`
          const before = this.ledger.newest
          const answer = await must(wire, { method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml' })
          const seen = seenObject(resource, JSON.parse(answer.toString()) as WatchedObject)
          made.push(seen.revision)
          if (this.#watchers.length === 0) continue
          for (const violation of this.ledger.acknowledge({ revision: seen.revision, key: seen.key, value }, before))
            this.#options.onViolation(violation)
        }
      return made
    })
    return Math.min(...revisions)
  }

  async stop(): Promise<void> {
    for (const watcher of [...this.#watchers, ...this.#sleepers]) watcher.stop()
    await Promise.all(this.#writers.map((writer) => writer.stop()))
  }

  async #using<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    const target = this.#options.target()
    if (target === undefined) throw new Error('the server is down')
    const wire = new Wire(target)
    try {
      return await work(wire)
    } finally {
      wire.close()
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function must(wire: Wire, request: Parameters<Wire['request']>[0]): Promise<Buffer> {
  const answer = await wire.request(request)
  if (answer.status >= 300)
    throw new Error(`${request.method} ${request.path}: HTTP ${answer.status} ${answer.body.toString().slice(0, 500)}`)
  return answer.body
}
