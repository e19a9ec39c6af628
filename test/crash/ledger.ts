/**
 * What one cluster was observed to do, and whether it kept its guarantees. Writers record what was acknowledged, refused or
 * left open, watchers what they received, lists what existed after a restart; `settle` judges everything up to a revision
 * that every watcher has passed. Pure: time, network and processes are elsewhere.
 */
import {
  atomic,
  bookmarkable,
  filter,
  ordered,
  type RecordedEvent,
  reliable,
  resumable,
  unique,
  type Validator,
  type WatchRecord,
} from '../../src/store/validators.ts'

/** `previousValue` and `isCreate` judge what the Kubernetes API does not show; the replay below judges its event types instead. */
const VALIDATORS: Record<string, Validator> = { filter, ordered, unique, atomic, bookmarkable, resumable, reliable }

export interface SeenEvent {
  revision: number
  /** `<resource>/<namespace>/<name>` */
  key: string
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  uid: string
  /** Which attempt wrote it. */
  value: string
}

export interface ListedObject {
  key: string
  revision: number
  uid: string
  value: string
}

export interface WatchLog {
  name: string
  prefix: string
  /** Everything up to here was judged, or was never requested. */
  after: number
  entries: ({ event: SeenEvent } | { bookmark: number })[]
}

export interface Snapshot {
  /** Lists of each resource at the first moment after a restart, with the revision of each. */
  lists: { prefix: string; revision: number; objects: readonly ListedObject[] }[]
}

export interface Violation {
  kind: 'lost' | 'reused' | 'gap' | 'phantom' | 'order'
  text: string
}

interface Acknowledged {
  revision: number
  key: string
  value: string
}

/** Objects that must be the state after some revision, at or after `from`. */
export interface Moment {
  name: string
  from: number
  objects: readonly ListedObject[]
}

/** Epochs whose events are kept, for watchers that sleep through several of them. */
const KEPT_EPOCHS = 12

export class Ledger {
  readonly name: string
  /** Newest revision that any client has received. */
  newest = 0
  acknowledged = 0
  events = 0
  /** Attempts with an unknown outcome, and how many of them turned out to have happened. */
  unknown = 0
  unknownApplied = 0
  #settled = 0
  #acks: Acknowledged[] = []
  #deletes: { key: string; uid: string }[] = []
  #open = new Set<string>()
  #refused = new Set<string>()
  /** What was recorded before the last restart and is judged at the next settling. */
  #due = { deletes: [] as { key: string; uid: string }[], open: new Set<string>(), refused: new Set<string>() }
  #state = new Map<string, ListedObject>()
  #deleted = new Set<string>()
  #recent: SeenEvent[][] = []
  #moments: Moment[] = []

  constructor(name: string) {
    this.name = name
  }

  get settled(): number {
    return this.#settled
  }

  /** A write that was answered. `before` is the newest revision known when it was sent: an answer must be newer. */
  acknowledge(write: Acknowledged, before: number): Violation[] {
    this.acknowledged++
    this.#acks.push(write)
    this.newest = Math.max(this.newest, write.revision)
    if (write.revision > before) return []
    return [
      {
        kind: 'order',
        text: `${this.name}: ${write.value} of ${write.key} got revision ${write.revision}, but ${before} was known before it was sent`,
      },
    ]
  }

  acknowledgeDelete(key: string, uid: string): void {
    this.acknowledged++
    this.#deletes.push({ key, uid })
  }

  refuse(value: string): void {
    this.#refused.add(value)
  }

  leaveOpen(value: string): void {
    this.unknown++
    this.#open.add(value)
  }

  see(revision: number): void {
    this.newest = Math.max(this.newest, revision)
  }

  /** The server is down and no client waits for an answer: what was recorded so far can be judged once it is back. */
  restart(): void {
    this.#due = {
      deletes: [...this.#due.deletes, ...this.#deletes],
      open: new Set([...this.#due.open, ...this.#open]),
      refused: new Set([...this.#due.refused, ...this.#refused]),
    }
    this.#deletes = []
    this.#open.clear()
    this.#refused.clear()
  }

  /** A copy taken while writers wrote: judged when the events around it are known. */
  expectMoment(moment: Moment): void {
    this.#moments.push(moment)
  }

  /** What no watcher has received: the state that the first watchers started from. */
  begin(objects: readonly ListedObject[], revision: number): void {
    for (const object of objects) this.#state.set(object.key, object)
    this.#settled = Math.max(this.#settled, revision)
    this.see(revision)
  }

  /**
   * Judges everything up to `fence`, which every log has passed. `snapshot` was read after the restart and before anything
   * was written after it.
   */
  settle(fence: number, logs: readonly WatchLog[], snapshot: Snapshot): Violation[] {
    const found: Violation[] = []
    const truth = this.#union(fence, logs, found)
    this.events += truth.length
    this.#recent = [...this.#recent.slice(-(KEPT_EPOCHS - 1)), truth]
    this.#judgeWatches(fence, logs, found)
    this.#judgeRevisions(fence, truth, found)
    this.#judgeReplay(truth, snapshot, found)
    this.#judgeWrites(fence, truth, snapshot, found)
    for (const log of logs) {
      log.entries = log.entries.filter((entry) => revisionOf(entry) > fence)
      log.after = Math.max(log.after, fence)
    }
    this.#settled = fence
    return found
  }

  /** The events as all watchers together saw them, in order. */
  #union(fence: number, logs: readonly WatchLog[], found: Violation[]): SeenEvent[] {
    const byRevision = new Map<number, SeenEvent>()
    for (const log of logs) {
      for (const entry of log.entries) {
        if (!('event' in entry) || entry.event.revision > fence || entry.event.revision <= this.#settled) continue
        const { event } = entry
        const known = byRevision.get(event.revision)
        if (known === undefined) byRevision.set(event.revision, event)
        else if (describe(known) !== describe(event))
          found.push({
            kind: 'reused',
            text: `${this.name}: revision ${event.revision} is ${describe(known)} and, to ${log.name}, ${describe(event)}`,
          })
      }
    }
    return [...byRevision.values()].sort((a, b) => a.revision - b.revision)
  }

  #judgeWatches(fence: number, logs: readonly WatchLog[], found: Violation[]): void {
    const history = this.#recent.flat().map(recorded)
    for (const log of logs) {
      const entries = log.entries.filter((entry) => revisionOf(entry) <= fence)
      const record: WatchRecord = {
        prefix: log.prefix,
        after: log.after,
        entries: entries.map((entry) => ('event' in entry ? { event: recorded(entry.event) } : entry)),
      }
      const due = history.filter((event) => event.revision > log.after && event.key.startsWith(log.prefix))
      for (const [title, validate] of Object.entries(VALIDATORS))
        for (const fault of validate(record, due)) found.push({ kind: 'gap', text: `${this.name}: ${log.name}: ${title}: ${fault}` })
      const last = [...entries].reverse().find((entry) => 'event' in entry)
      const end = due.at(-1)
      if (end !== undefined && (last === undefined || revisionOf(last) < end.revision))
        found.push({ kind: 'gap', text: `${this.name}: ${log.name} ended before ${end.revision} ${end.type} ${end.key}` })
    }
  }

  /** One change, one revision, none left out: a missing revision was seen by no watcher. */
  #judgeRevisions(fence: number, truth: readonly SeenEvent[], found: Violation[]): void {
    let expected = this.#settled + 1
    const missing: number[] = []
    for (const event of truth) {
      for (; expected < event.revision; expected++) missing.push(expected)
      expected = event.revision + 1
    }
    for (; expected <= fence; expected++) missing.push(expected)
    if (missing.length > 0)
      found.push({
        kind: 'gap',
        text: `${this.name}: nobody saw revision ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ` and ${missing.length - 5} more` : ''}`,
      })
  }

  /** Replays the events onto what was there before; at the revision of each list, both must be the same. */
  #judgeReplay(truth: readonly SeenEvent[], snapshot: Snapshot, found: Violation[]): void {
    const lists = [...snapshot.lists].sort((a, b) => a.revision - b.revision)
    for (const event of truth) {
      this.#judgeMoments(event.revision - 1)
      while (lists[0] !== undefined && lists[0].revision < event.revision) this.#compare(lists.shift(), found)
      const before = this.#state.get(event.key)
      const isRight = event.type === 'ADDED' ? before === undefined : before?.uid === event.uid
      if (!isRight)
        found.push({
          kind: 'gap',
          text: `${this.name}: ${describe(event)} came upon ${before === undefined ? 'nothing' : describe(before)}`,
        })
      if (event.type === 'DELETED') {
        this.#state.delete(event.key)
        this.#deleted.add(event.uid)
      } else this.#state.set(event.key, event)
    }
    for (const list of lists) this.#compare(list, found)
    this.#judgeMoments(Number.POSITIVE_INFINITY)
    for (const { name, from, objects } of this.#moments)
      found.push({
        kind: 'lost',
        text: `${this.name}: ${name}, taken after ${from}, is no moment of the history (${objects.length} objects)`,
      })
    this.#moments = []
  }

  /** A moment that equals the current state is valid. */
  #judgeMoments(revision: number): void {
    this.#moments = this.#moments.filter(({ from, objects }) => {
      if (revision < from || objects.length !== this.#state.size) return true
      return !objects.every((object) => {
        const there = this.#state.get(object.key)
        return there?.revision === object.revision && there.value === object.value
      })
    })
  }

  #compare(list: Snapshot['lists'][number] | undefined, found: Violation[]): void {
    if (list === undefined) return
    const listed = new Map(list.objects.map((object) => [object.key, object]))
    for (const [key, object] of this.#state) {
      if (!key.startsWith(list.prefix)) continue
      const there = listed.get(key)
      listed.delete(key)
      if (there === undefined || there.revision !== object.revision || there.value !== object.value)
        found.push({
          kind: 'lost',
          text: `${this.name}: the list at ${list.revision} has ${there === undefined ? 'nothing' : describe(there)} where events led to ${describe(object)}`,
        })
    }
    for (const object of listed.values())
      found.push({ kind: 'phantom', text: `${this.name}: the list at ${list.revision} has ${describe(object)}, which no event made` })
  }

  #judgeWrites(fence: number, truth: readonly SeenEvent[], snapshot: Snapshot, found: Violation[]): void {
    const byRevision = new Map(truth.map((event) => [event.revision, event]))
    for (const ack of this.#acks) {
      if (ack.revision > fence) continue
      const event = byRevision.get(ack.revision)
      if (event === undefined)
        found.push({
          kind: 'lost',
          text: `${this.name}: ${ack.value} of ${ack.key} was acknowledged as ${ack.revision} and never happened`,
        })
      else if (event.key !== ack.key || event.value !== ack.value || event.type === 'DELETED')
        found.push({
          kind: 'reused',
          text: `${this.name}: revision ${ack.revision} was acknowledged for ${ack.value} of ${ack.key} and is ${describe(event)}`,
        })
    }
    this.#acks = this.#acks.filter((ack) => ack.revision > fence)
    for (const { key, uid } of this.#due.deletes)
      if (!this.#deleted.has(uid))
        found.push({ kind: 'lost', text: `${this.name}: the deletion of ${key} (${uid}) was acknowledged and never happened` })
    this.#deleted.clear()
    const restart = Math.min(...snapshot.lists.map((list) => list.revision))
    for (const event of truth) {
      if (event.type !== 'DELETED' && this.#due.refused.has(event.value))
        found.push({ kind: 'phantom', text: `${this.name}: ${describe(event)} was refused and happened nevertheless` })
      if (event.type === 'DELETED' || !this.#due.open.has(event.value)) continue
      this.unknownApplied++
      if (event.revision > restart)
        found.push({
          kind: 'phantom',
          text: `${this.name}: ${describe(event)} was not there after the restart (${restart}) and came later`,
        })
    }
    this.#due = { deletes: [], open: new Set(), refused: new Set() }
  }
}

const revisionOf = (entry: WatchLog['entries'][number]): number => ('event' in entry ? entry.event.revision : entry.bookmark)

const describe = (what: ListedObject & { type?: string }): string =>
  `${what.revision} ${what.type ?? 'object'} ${what.key} ${what.value} (${what.uid})`

const recorded = (event: SeenEvent): RecordedEvent => ({
  revision: event.revision,
  key: event.key,
  type: event.type === 'DELETED' ? 'delete' : 'put',
  value: event.value,
  createRevision: 0,
  previous: undefined,
})
