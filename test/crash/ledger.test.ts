import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ledger, type SeenEvent, type Snapshot, type WatchLog } from './ledger.ts'

const KEY = 'configmaps/a/x'
const event = (revision: number, type: SeenEvent['type'], more: Partial<SeenEvent> = {}): SeenEvent => ({
  revision,
  key: KEY,
  type,
  uid: 'u1',
  value: `w.${revision}`,
  ...more,
})
const log = (events: readonly SeenEvent[], after = 10, prefix = 'configmaps/'): WatchLog => ({
  name: 'watcher',
  prefix,
  after,
  entries: events.map((e) => ({ event: e })),
})
/** The list at the revision of the last event, as the events lead to it. */
const listed = (events: readonly SeenEvent[]): Snapshot => {
  const state = new Map<string, SeenEvent>()
  for (const e of events) {
    if (e.type === 'DELETED') state.delete(e.key)
    else state.set(e.key, e)
  }
  return { lists: [{ prefix: 'configmaps/', revision: events.at(-1)?.revision ?? 10, objects: [...state.values()] }] }
}

const ledger = (): Ledger => {
  const made = new Ledger('hub')
  made.begin([], 10)
  return made
}

const HISTORY = [event(11, 'ADDED'), event(12, 'MODIFIED'), event(13, 'MODIFIED')]

function kindsOf(found: { kind: string }[]): string[] {
  return [...new Set(found.map(({ kind }) => kind))].sort()
}

describe('the ledger of the crash proof', () => {
  it('finds nothing wrong with a cluster that keeps its word, and goes on from there', () => {
    const one = ledger()
    for (const e of HISTORY) assert.deepEqual(one.acknowledge({ revision: e.revision, key: e.key, value: e.value }, e.revision - 1), [])
    one.restart()
    const watcher = log(HISTORY)
    assert.deepEqual(one.settle(13, [watcher, log(HISTORY)], listed(HISTORY)), [])
    const more = [event(14, 'DELETED'), event(15, 'ADDED', { uid: 'u2' })]
    one.acknowledgeDelete(KEY, 'u1')
    one.restart()
    watcher.entries.push(...more.map((e) => ({ event: e })), { bookmark: 15 })
    assert.deepEqual(one.settle(15, [watcher], listed([...HISTORY, ...more])), [])
    assert.equal(one.events, 5)
  })

  it('finds an acknowledged write that is gone', () => {
    const one = ledger()
    one.acknowledge({ revision: 12, key: KEY, value: 'w.12' }, 11)
    one.restart()
    const history = [event(11, 'ADDED')]
    assert.deepEqual(kindsOf(one.settle(11, [log(history)], listed(history))), [])
    const later = [event(12, 'MODIFIED', { value: 'other.1' })]
    const found = one.settle(12, [log(later, 11)], listed([...history, ...later]))
    assert.deepEqual(kindsOf(found), ['reused'])
  })

  it('finds a revision that nobody saw, and the acknowledged write behind it', () => {
    const one = ledger()
    one.acknowledge({ revision: 12, key: KEY, value: 'w.12' }, 11)
    one.restart()
    const history = [event(11, 'ADDED'), event(13, 'MODIFIED')]
    assert.deepEqual(kindsOf(one.settle(13, [log(history)], listed(history))), ['gap', 'lost'])
  })

  it('finds a deletion that did not last', () => {
    const one = ledger()
    one.acknowledgeDelete(KEY, 'u1')
    one.restart()
    assert.deepEqual(kindsOf(one.settle(13, [log(HISTORY)], listed(HISTORY))), ['lost'])
  })

  it('finds watchers that disagree about a revision', () => {
    const other = [event(11, 'ADDED'), event(12, 'MODIFIED', { value: 'forged' }), event(13, 'MODIFIED')]
    const found = ledger().settle(13, [log(HISTORY), log(other)], listed(HISTORY))
    assert.ok(kindsOf(found).includes('reused'), JSON.stringify(found))
  })

  for (const [title, events] of Object.entries({
    'a gap': [HISTORY[0], HISTORY[2]],
    'a late start': HISTORY.slice(1),
    'an early end': HISTORY.slice(0, 2),
    'a duplicate': [HISTORY[0], HISTORY[1], HISTORY[1], HISTORY[2]],
    'a wrong order': [HISTORY[1], HISTORY[0], HISTORY[2]],
    nothing: [],
  }))
    it(`finds ${title} in what one watcher was given`, () => {
      const found = ledger().settle(13, [log(HISTORY), log(events as SeenEvent[])], listed(HISTORY))
      assert.deepEqual(kindsOf(found), ['gap'])
    })

  it('finds a bookmark that promises too much', () => {
    const eager: WatchLog = { ...log([]), entries: [{ bookmark: 12 }, ...HISTORY.map((e) => ({ event: e }))] }
    assert.deepEqual(kindsOf(ledger().settle(13, [log(HISTORY), eager], listed(HISTORY))), ['gap'])
  })

  it('finds a list that is not what the events led to', () => {
    const stale: Snapshot = { lists: [{ prefix: 'configmaps/', revision: 13, objects: [event(12, 'MODIFIED')] }] }
    assert.deepEqual(kindsOf(ledger().settle(13, [log(HISTORY)], stale)), ['lost'])
    const phantom = {
      lists: [{ ...listed(HISTORY).lists[0], objects: [event(13, 'MODIFIED'), event(9, 'ADDED', { key: 'configmaps/a/y' })] }],
    }
    assert.deepEqual(kindsOf(ledger().settle(13, [log(HISTORY)], phantom as Snapshot)), ['phantom'])
  })

  it('finds an answer with a revision that was known before', () => {
    assert.deepEqual(kindsOf(ledger().acknowledge({ revision: 11, key: KEY, value: 'w.11' }, 12)), ['order'])
  })

  it('takes an open write as there or not there, but not as there later', () => {
    for (const [restart, expected] of [
      [13, []],
      [12, ['phantom']],
    ] as const) {
      const one = ledger()
      one.leaveOpen('w.13')
      one.restart()
      const snapshot = listed(HISTORY.slice(0, restart - 10))
      assert.deepEqual(kindsOf(one.settle(13, [log(HISTORY)], snapshot)), expected)
    }
  })

  it('finds a refused write that happened', () => {
    const one = ledger()
    one.refuse('w.12')
    one.restart()
    assert.deepEqual(kindsOf(one.settle(13, [log(HISTORY)], listed(HISTORY))), ['phantom'])
  })

  it('takes a backup for any whole moment, and for nothing else', () => {
    const one = ledger()
    one.expectMoment({ name: 'backup', from: 11, objects: [event(12, 'MODIFIED')] })
    one.restart()
    assert.deepEqual(one.settle(13, [log(HISTORY)], listed(HISTORY)), [])
    const torn = ledger()
    torn.expectMoment({ name: 'backup', from: 13, objects: [event(12, 'MODIFIED')] })
    torn.restart()
    assert.deepEqual(kindsOf(torn.settle(13, [log(HISTORY)], listed(HISTORY))), ['lost'])
  })

  it('judges a watcher that slept by what happened meanwhile', () => {
    const one = ledger()
    const sleeper = log([])
    one.settle(13, [log(HISTORY)], listed(HISTORY))
    const more = [event(14, 'MODIFIED')]
    const all = [...HISTORY, ...more]
    sleeper.entries = [HISTORY[0], HISTORY[2], more[0]].map((e) => ({ event: e as SeenEvent }))
    assert.deepEqual(kindsOf(one.settle(14, [log(more, 13), sleeper], listed(all))), ['gap'])
  })
})
