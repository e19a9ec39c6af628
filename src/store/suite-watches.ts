/** Watches: where they start, what they carry, order, starting and stopping during delivery, broken watchers. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { StoreEvent } from './store.ts'
import { brief, contentOf, put, record, remove, type StoreHarness } from './suite-harness.ts'

export function watchCases(harness: StoreHarness): void {
  startCases(harness)
  eventCases(harness)
  deliveryCases(harness)
}

function startCases(harness: StoreHarness): void {
  it('watch from zero, from non-zero, from now', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 1)
    await put(c, 'pods/ns/b', 1)
    const [zero, one, two, now] = [0, 1, 2, c.revision].map((after) => record(c, 'pods/', after))
    await put(c, 'pods/ns/c', 1)
    const all = ['2 put pods/ns/a', '3 put pods/ns/b', '4 put pods/ns/c']
    assert.deepEqual(brief(zero?.events ?? []), all)
    assert.deepEqual(brief(one?.events ?? []), all)
    assert.deepEqual(brief(two?.events ?? []), all.slice(1))
    assert.deepEqual(brief(now?.events ?? []), all.slice(2))
    await store.close()
  })

  it('the past is delivered before watch returns', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 1)
    assert.equal(record(c, '', 1).events.length, 1)
    await store.close()
  })

  it('watch from a future revision waits for what follows it', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const seen = record(c, '', 3)
    for (const name of ['a', 'b', 'c', 'd']) await put(c, `pods/ns/${name}`, 1)
    assert.deepEqual(brief(seen.events), ['4 put pods/ns/c', '5 put pods/ns/d'])
    await store.close()
  })

  it('filters by bucket and by namespace, and "" sees everything', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const watchers = ['', 'pods/', 'pods/a/', 'nodes/', 'podsx/'].flatMap((prefix) => [record(c, prefix, 1)])
    for (const key of ['pods/a/1', 'pods/ab/1', 'nodes//n', 'podsx/a/1']) await put(c, key, 1)
    const late = ['', 'pods/', 'pods/a/', 'nodes/', 'podsx/'].map((prefix) => record(c, prefix, 1))
    for (const group of [watchers, late]) {
      assert.deepEqual(
        group.map((w) => w.events.map((e) => e.revision)),
        [[2, 3, 4, 5], [2, 3], [2], [4], [5]],
      )
    }
    await store.close()
  })
}

function eventCases(harness: StoreHarness): void {
  it('an event carries the version and the one before it', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 'one')
    await put(c, 'pods/ns/a', 'two')
    const [created, updated] = record(c, '', 1).events
    assert.equal(created?.previous, undefined)
    assert.equal(updated?.type, 'put')
    assert.deepEqual([contentOf(updated?.version), contentOf(updated?.previous)], ['two', 'one'])
    await store.close()
  })

  it('delete has latest version: the last value with the revision of the deletion', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const live = record(c, 'pods/', 1)
    await put(c, 'pods/ns/a', 'last')
    await remove(c, 'pods/ns/a')
    await put(c, 'pods/ns/a', 'reborn')
    const replayed = record(c, 'pods/', 1)
    for (const { events } of [live, replayed]) {
      const [, deleted, reborn] = events
      assert.equal(deleted?.type, 'delete')
      assert.deepEqual(deleted?.version.object(), { rv: 3, content: 'last' })
      assert.deepEqual(deleted?.previous?.object(), { rv: 2, content: 'last' })
      assert.deepEqual([deleted?.revision, deleted?.version.revision, deleted?.version.createRevision], [3, 3, 2])
      assert.equal(reborn?.previous, undefined)
    }
    await store.close()
  })

  it('events that were delivered stay whole after compaction', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const seen = record(c, '', 1)
    await put(c, 'pods/ns/a', 'one')
    await put(c, 'pods/ns/a', 'two')
    c.compact(c.revision)
    assert.equal(contentOf(seen.events[1]?.previous), 'one')
    await put(c, 'pods/ns/a', 'three')
    assert.equal(contentOf(seen.events[2]?.previous), 'two')
    await store.close()
  })
}

function deliveryCases(harness: StoreHarness): void {
  it('the store is at the event’s revision when it is delivered', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const seen: [number, number, unknown][] = []
    c.watch('', { after: 1, onEvent: (e) => seen.push([e.revision, c.revision, contentOf(c.get(e.key))]) })
    await Promise.all([put(c, 'pods/ns/a', 'one'), put(c, 'pods/ns/a', 'two')])
    assert.deepEqual(seen, [
      [2, 2, 'one'],
      [3, 3, 'two'],
    ])
    await store.close()
  })

  it('a watcher that stops inside its callback, or that another one stops, gets nothing more', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const other = record(c, 'pods/', 1)
    const seen: StoreEvent[] = []
    const stop = c.watch('', {
      after: 1,
      onEvent: (event) => {
        seen.push(event)
        stop()
        other.stop()
      },
    })
    await Promise.all([put(c, 'nodes//a', 1), put(c, 'pods/ns/b', 1)])
    assert.deepEqual([brief(seen), other.events.length], [['2 put nodes//a'], 0])
    await store.close()
    assert.equal(other.closed, 0)
  })

  it('a watcher that starts inside a callback sees each event once', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const inner: ReturnType<typeof record>[] = []
    c.watch('', {
      after: 1,
      onEvent: (event) => {
        if (event.revision === 2) inner.push(record(c, '', 1), record(c, 'pods/', 2), record(c, 'pods/', 1))
      },
    })
    await Promise.all([put(c, 'pods/ns/a', 1), put(c, 'pods/ns/b', 1)])
    assert.deepEqual(
      inner.map((w) => w.events.map((e) => e.revision)),
      [[2, 3], [3], [2, 3]],
    )
    await store.close()
  })

  it('a watcher that writes inside its callback does not disturb the order of others', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const writes: Promise<unknown>[] = []
    c.watch('', { after: 1, onEvent: (event) => event.revision < 6 && writes.push(put(c, 'pods/ns/echo', event.revision)) })
    const other = record(c, '', 1)
    await put(c, 'pods/ns/a', 1)
    while (writes.length > 0) await writes.shift()
    assert.deepEqual(
      other.events.map((e) => e.revision),
      [2, 3, 4, 5, 6],
    )
    await store.close()
  })

  it('a watcher that throws is closed, the fault is told, and the others go on', async () => {
    const faults: unknown[] = []
    const { store } = await harness.open({ onWatcherError: (error) => faults.push(error) })
    const c = store.cluster('hub')
    let closed = 0
    c.watch('', {
      after: 1,
      onEvent: () => {
        throw new Error('broken watcher')
      },
      onClose: () => {
        closed++
      },
    })
    const healthy = record(c, '', 1)
    await put(c, 'pods/ns/a', 1)
    await put(c, 'pods/ns/b', 1)
    assert.equal(healthy.events.length, 2)
    assert.deepEqual([faults.length, closed], [1, 1])
    await store.close()
    assert.equal(closed, 1)
  })
}
