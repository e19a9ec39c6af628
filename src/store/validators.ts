/**
 * etcd's nine watch validators, by name, as pure functions over what watchers recorded and the true sequence of events.
 * Each returns its findings as text; an empty list is a pass. They apply to any store, crashed or not: a watcher
 * that resumed after a crash is another record that starts where the previous one ended.
 */
export interface RecordedEvent {
  revision: number
  key: string
  type: 'put' | 'delete'
  value: string
  createRevision: number
  previous: { revision: number; value: string } | undefined
}

export interface WatchRecord {
  prefix: string
  /** It requested events strictly after this revision. */
  after: number
  /** What it received, in order. A bookmark promises that everything up to that revision was delivered before. */
  entries: readonly ({ event: RecordedEvent } | { bookmark: number })[]
}

/** All events that happened, in revision order, without gap. */
export type History = readonly RecordedEvent[]
export type Validator = (watch: WatchRecord, history: History) => string[]

const eventsOf = (watch: WatchRecord): RecordedEvent[] => watch.entries.flatMap((e) => ('event' in e ? [e.event] : []))
const isMatch = (watch: WatchRecord, event: RecordedEvent): boolean => event.key.startsWith(watch.prefix) && event.revision > watch.after
const name = (e: RecordedEvent): string => `${e.revision} ${e.type} ${e.key}`

/** Only what was requested. */
export const filter: Validator = (watch) =>
  eventsOf(watch).flatMap((e) => (isMatch(watch, e) ? [] : [`${name(e)} does not match ${watch.prefix} after ${watch.after}`]))

/** Revisions never go back. */
export const ordered: Validator = (watch) => {
  const events = eventsOf(watch)
  return events.flatMap((e, i) =>
    i > 0 && e.revision < (events[i - 1] as RecordedEvent).revision
      ? [`${name(e)} came after ${name(events[i - 1] as RecordedEvent)}`]
      : [],
  )
}

/** No event twice. */
export const unique: Validator = (watch) => {
  const seen = new Set<string>()
  return eventsOf(watch).flatMap((e) => {
    const isNew = !seen.has(name(e))
    seen.add(name(e))
    return isNew ? [] : [`${name(e)} came twice`]
  })
}

/** A revision is delivered whole: here, one revision is one event, the same for every watcher. */
export const atomic: Validator = (watch, history) => {
  const truth = new Map(history.map((e) => [e.revision, e]))
  return eventsOf(watch).flatMap((e) => {
    const real = truth.get(e.revision)
    const isSame = real !== undefined && real.key === e.key && real.type === e.type && real.value === e.value
    return isSame ? [] : [`${name(e)} is not what revision ${e.revision} was (${real === undefined ? 'nothing' : name(real)})`]
  })
}

/** A bookmark never promises more than was sent, and nothing older follows it. */
export const bookmarkable: Validator = (watch, history) => {
  const faults: string[] = []
  const given = new Set<number>()
  let promised = 0
  for (const entry of watch.entries) {
    if ('event' in entry) {
      if (entry.event.revision <= promised) faults.push(`${name(entry.event)} came after the bookmark ${promised}`)
      given.add(entry.event.revision)
      continue
    }
    if (entry.bookmark < promised) faults.push(`bookmark ${entry.bookmark} came after bookmark ${promised}`)
    promised = Math.max(promised, entry.bookmark)
    for (const e of history) {
      if (e.revision <= entry.bookmark && isMatch(watch, e) && !given.has(e.revision))
        faults.push(`bookmark ${entry.bookmark} came before ${name(e)}`)
    }
  }
  return faults
}

/** The first event is the first one after the requested revision. */
export const resumable: Validator = (watch, history) => {
  const first = eventsOf(watch)[0]
  const expected = history.find((e) => isMatch(watch, e))
  if (first === undefined || expected === undefined || first.revision === expected.revision) return []
  return [`resumed after ${watch.after} with ${name(first)}, not with ${name(expected)}`]
}

/** No gap between the first and the last delivered event. */
export const reliable: Validator = (watch, history) => {
  const events = eventsOf(watch)
  const [first, last] = [events[0], events[events.length - 1]]
  if (first === undefined || last === undefined) return []
  const given = new Set(events.map((e) => e.revision))
  const within = history.filter((e) => isMatch(watch, e) && e.revision >= first.revision && e.revision <= last.revision)
  return within.flatMap((e) => (given.has(e.revision) ? [] : [`${name(e)} is missing`]))
}

/** `previous` is what the key held before. */
const previousValue: Validator = (watch, history) =>
  eventsOf(watch).flatMap((e) => {
    const before = lifeBefore(history, e)
    const isSame =
      before === undefined ? e.previous === undefined : e.previous?.revision === before.revision && e.previous.value === before.value
    return isSame ? [] : [`${name(e)} says it replaced ${e.previous?.revision}, not ${before?.revision}`]
  })

/** An event is a creation exactly when the key did not exist before. */
const isCreate: Validator = (watch, history) =>
  eventsOf(watch).flatMap((e) => {
    const before = lifeBefore(history, e)
    const expected = before === undefined ? e.revision : before.createRevision
    return e.createRevision === expected ? [] : [`${name(e)} says it was created at ${e.createRevision}, not ${expected}`]
  })

export const watchValidators: Record<string, Validator> = {
  filter,
  ordered,
  unique,
  atomic,
  bookmarkable,
  resumable,
  reliable,
  previousValue,
  isCreate,
}

/** Everything that the nine validators find wrong with a record. */
export function validateWatch(watch: WatchRecord, history: History): string[] {
  return Object.entries(watchValidators).flatMap(([title, validate]) => validate(watch, history).map((fault) => `${title}: ${fault}`))
}

function lifeBefore(history: History, event: RecordedEvent): RecordedEvent | undefined {
  for (let i = history.length - 1; i >= 0; i--) {
    const e = history[i] as RecordedEvent
    if (e.revision < event.revision && e.key === event.key) return e.type === 'delete' ? undefined : e
  }
  return undefined
}
