/** Reads: gets and lists at a revision, paging, counting, compaction and the history window, parsed objects. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { utf8Of } from '../base/byte-text.ts'
import { type ClusterStore, CompactedError, FutureRevisionError } from './store.ts'
import { contentOf, keys, manualClock, put, remove, type StoreHarness } from './suite-harness.ts'

export function readCases(harness: StoreHarness): void {
  listCases(harness)
  revisionCases(harness)
  compactionCases(harness)
  windowCases(harness)
  objectCases(harness)
}

function listCases(harness: StoreHarness): void {
  it('lists a prefix in key order, and nothing that merely looks like it', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    for (const key of ['pods/b/1', 'pods/a/2', 'pods/a/1', 'pods/a-b/1', 'pods/ab/1', 'podsx/a/1', 'nodes//n1']) await put(c, key, key)
    assert.deepEqual(keys(c.range('pods/a/').versions), ['pods/a/1', 'pods/a/2'])
    assert.deepEqual(keys(c.range('pods/').versions), ['pods/a-b/1', 'pods/a/1', 'pods/a/2', 'pods/ab/1', 'pods/b/1'])
    assert.deepEqual(keys(c.range('nodes//').versions), ['nodes//n1'])
    assert.deepEqual(c.range('services/'), { versions: [], revision: 8, more: false, remaining: 0 })
    assert.deepEqual([c.count('pods/'), c.count('pods/a/'), c.count('services/'), c.count('')], [5, 2, 0, 7])
    assert.deepEqual(c.buckets(), ['nodes', 'pods', 'podsx'])
    await remove(c, 'nodes//n1')
    assert.deepEqual(c.buckets(), ['pods', 'podsx'])
    assert.deepEqual([c.count('nodes/'), c.count('')], [0, 6])
    await store.close()
  })

  it('list with paging: pages are complete, and say exactly how much follows', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    for (let i = 0; i < 7; i++) await put(c, `pods/ns/p${i}`, i)
    const first = c.range('pods/', { limit: 3 })
    assert.deepEqual([keys(first.versions), first.more, first.remaining], [['pods/ns/p0', 'pods/ns/p1', 'pods/ns/p2'], true, 4])
    const second = c.range('pods/', { limit: 3, after: 'pods/ns/p2' })
    assert.deepEqual([keys(second.versions), second.more, second.remaining], [['pods/ns/p3', 'pods/ns/p4', 'pods/ns/p5'], true, 1])
    const third = c.range('pods/', { limit: 3, after: 'pods/ns/p5' })
    assert.deepEqual([keys(third.versions), third.more, third.remaining], [['pods/ns/p6'], false, 0])
    assert.deepEqual(keys(c.range('pods/', { limit: 7 }).versions).length, 7)
    assert.deepEqual(c.range('pods/', { limit: 7 }).more, false)
    assert.deepEqual(keys(c.range('pods/ns/', { after: 'pods/a' }).versions).length, 7)
    assert.deepEqual(keys(c.range('pods/ns/', { after: 'pods/zz' }).versions), [])
    await store.close()
  })

  it('consistent list: pages at the first page’s revision see none of what happened since', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    for (let i = 0; i < 6; i++) await put(c, `pods/ns/p${i}`, i)
    const first = c.range('pods/', { limit: 2 })
    await remove(c, 'pods/ns/p3')
    await put(c, 'pods/ns/p4', 'changed')
    await put(c, 'pods/ns/p25', 'new')
    await remove(c, 'pods/ns/p5')
    await put(c, 'pods/ns/p5', 'reborn')
    const rest = c.range('pods/', { limit: 3, after: 'pods/ns/p1', revision: first.revision })
    assert.deepEqual(rest.versions.map(contentOf), [2, 3, 4])
    assert.deepEqual([rest.more, rest.remaining, rest.revision], [true, 1, first.revision])
    const last = c.range('pods/', { limit: 3, after: 'pods/ns/p4', revision: first.revision })
    assert.deepEqual([last.versions.map(contentOf), last.more], [[5], false])
    assert.deepEqual(c.range('pods/').versions.map(contentOf), [0, 1, 2, 'new', 'changed', 'reborn'])
    await store.close()
  })
}

function revisionCases(harness: StoreHarness): void {
  it('get at every revision of a key’s lives', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 'one') // 2
    await put(c, 'pods/ns/other', 'x') // 3
    await put(c, 'pods/ns/a', 'two') // 4
    await remove(c, 'pods/ns/a') // 5
    await put(c, 'pods/ns/a', 'three') // 6
    const at = [1, 2, 3, 4, 5, 6].map((revision) => contentOf(c.get('pods/ns/a', revision)))
    assert.deepEqual(at, [undefined, 'one', 'one', 'two', undefined, 'three'])
    await store.close()
  })

  it('refuses a revision that does not exist yet', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 1)
    assert.throws(() => c.get('pods/ns/a', 3), FutureRevisionError)
    assert.throws(() => c.range('pods/', { revision: 3 }), FutureRevisionError)
    assert.throws(() => c.compact(3), FutureRevisionError)
    await store.close()
  })

  it('calls back when a revision is there, never at once, and not when cancelled', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const calls: string[] = []
    c.whenRevision(1, () => calls.push('one'))
    c.whenRevision(3, () => calls.push(`three at ${c.revision}`))
    const cancel = c.whenRevision(2, () => calls.push('cancelled'))
    assert.deepEqual(calls, [])
    await Promise.resolve()
    assert.deepEqual(calls, ['one'])
    cancel()
    await put(c, 'pods/ns/a', 1)
    assert.deepEqual(calls, ['one'])
    await put(c, 'pods/ns/a', 2)
    await Promise.resolve()
    assert.deepEqual(calls, ['one', 'three at 3'])
    await store.close()
  })
}

function compactionCases(harness: StoreHarness): void {
  it('compact revision: older reads and watches are refused, the rest stays', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 'one') // 2
    await put(c, 'pods/ns/b', 'gone') // 3
    await remove(c, 'pods/ns/b') // 4
    await put(c, 'pods/ns/a', 'two') // 5
    c.compact(3)
    assert.equal(c.oldestRevision, 3)
    assert.throws(() => c.get('pods/ns/a', 2), CompactedError)
    assert.throws(() => c.range('pods/', { revision: 2 }), CompactedError)
    assert.throws(() => c.watch('pods/', { after: 2, onEvent: () => {} }), CompactedError)
    assert.deepEqual(c.range('pods/', { revision: 3 }).versions.map(contentOf), ['one', 'gone'])
    assert.deepEqual(c.range('pods/', { revision: 4 }).versions.map(contentOf), ['one'])
    c.compact(5)
    c.compact(2)
    assert.equal(c.oldestRevision, 5)
    assert.deepEqual(c.range('pods/', { revision: 5 }).versions.map(contentOf), ['two'])
    assert.equal((await put(c, 'pods/ns/b', 'again')).revision, 6)
    await store.close()
  })

  it('compacting everything of a bucket that is empty forgets the bucket, not the revision', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 1)
    await remove(c, 'pods/ns/a')
    c.compact(c.revision)
    assert.deepEqual([c.revision, c.oldestRevision, c.buckets()], [3, 3, []])
    assert.deepEqual(c.range('pods/', { revision: 3 }).versions, [])
    assert.equal((await put(c, 'pods/ns/a', 2)).createRevision, 4)
    await store.close()
  })
}

function windowCases(harness: StoreHarness): void {
  const churn = async (c: ClusterStore, count: number, size = 1) => {
    for (let i = 0; i < count; i++) await put(c, 'pods/ns/a', 'x'.repeat(size))
  }

  it('window: keeps the last events whatever their age, and young ones whatever their number', async () => {
    const clock = manualClock()
    const { store } = await harness.open({ clock, history: { minEvents: 5, minAgeMs: 1000, maxEvents: 50 } })
    const c = store.cluster('hub')
    await churn(c, 20)
    assert.equal(c.oldestRevision, 1)
    clock.advance(1001)
    assert.equal(c.oldestRevision, 1)
    await churn(c, 1)
    assert.deepEqual([c.revision, c.oldestRevision], [22, 17])
    await churn(c, 20)
    assert.equal(c.oldestRevision, 22 - 5 + 4, 'what is left of the old ones goes once five newer ones are there')
    await churn(c, 100)
    assert.equal(c.revision - c.oldestRevision, 50)
    await store.close()
  })

  it('window: old values are bounded in bytes', async () => {
    const { store } = await harness.open({ history: { minEvents: 1000, maxBytes: 10_000 } })
    const c = store.cluster('hub')
    await churn(c, 50, 980)
    const kept = c.revision - c.oldestRevision
    assert.ok(kept >= 8 && kept <= 11, `${kept} events of about 1,000 bytes are kept`)
    assert.throws(() => c.watch('', { after: c.oldestRevision - 1, onEvent: () => {} }), CompactedError)
    await store.close()
  })
}

function objectCases(harness: StoreHarness): void {
  it('parses lazily, freezes deeply, and forgets parsed objects in good order', async () => {
    const { store } = await harness.open({ parsedObjects: 2 })
    const c = store.cluster('hub')
    for (let i = 0; i < 5; i++) await put(c, `pods/ns/p${i}`, { nested: [i] })
    const version = c.get('pods/ns/p0')
    const object = version?.object() as { content: { nested: number[] } }
    assert.equal(version?.object(), object)
    assert.throws(() => object.content.nested.push(1), TypeError)
    for (let i = 1; i < 5; i++) c.get(`pods/ns/p${i}`)?.object()
    for (let i = 0; i < 5; i++) assert.deepEqual(contentOf(c.get(`pods/ns/p${i}`)), { nested: [i] })
    await store.close()
  })

  it('takes an object that the encoder gives, and freezes it', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const object = { rv: 2, content: ['given'] }
    await c.commit({ key: 'pods/ns/a', expect: 'any', type: 'put', encode: () => ({ text: utf8Of(JSON.stringify(object)), object }) })
    assert.equal(c.get('pods/ns/a')?.object(), object)
    assert.ok(Object.isFrozen(object.content))
    await store.close()
  })
}
