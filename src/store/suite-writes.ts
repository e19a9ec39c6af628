/** Commits: preconditions, revisions, writes in flight, failures, isolation, hostile input. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { utf8Of } from '../base/byte-text.ts'
import { StoreUnavailableError } from './store.ts'
import { brief, contentOf, put, record, remove, type StoreHarness, valueAt } from './suite-harness.ts'

export function writeCases(harness: StoreHarness): void {
  preconditionCases(harness)
  revisionCases(harness)
  inFlightCases(harness)
  failureCases(harness)
  hostileCases(harness)
}

function preconditionCases(harness: StoreHarness): void {
  it('create, create with old object', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const first = await c.commit({ key: 'pods/ns/a', expect: 'absent', type: 'put', encode: valueAt(1) })
    assert.ok(first.ok)
    assert.equal(first.previous, undefined)
    assert.equal(first.version.createRevision, first.version.revision)
    const again = await c.commit({ key: 'pods/ns/a', expect: 'absent', type: 'put', encode: valueAt(2) })
    assert.ok(!again.ok)
    assert.equal(contentOf(again.current), 1)
    assert.equal(contentOf(c.get('pods/ns/a')), 1)
    await store.close()
  })

  it('guaranteed update with conflict: only the writer that saw the newest version wins', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const one = await put(c, 'pods/ns/a', 1)
    const two = await c.commit({ key: 'pods/ns/a', expect: one.revision, type: 'put', encode: valueAt(2) })
    assert.ok(two.ok)
    assert.equal(contentOf(two.previous), 1)
    assert.equal(two.version.createRevision, one.revision)
    const stale = await c.commit({ key: 'pods/ns/a', expect: one.revision, type: 'put', encode: valueAt(3) })
    assert.ok(!stale.ok)
    assert.equal(stale.current?.revision, two.version.revision)
    await store.close()
  })

  it('delete: with preconditions, of what is absent, and again after a new life', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    for (const expect of ['any', 'absent', 7] as const) {
      const none = await c.commit({ key: 'pods/ns/a', expect, type: 'delete', encode: valueAt(0) })
      assert.deepEqual(none, { ok: false, current: undefined })
    }
    const one = await put(c, 'pods/ns/a', 1)
    const stale = await c.commit({ key: 'pods/ns/a', expect: one.revision - 1, type: 'delete', encode: valueAt(1) })
    assert.equal(stale.ok, false)
    const gone = await remove(c, 'pods/ns/a', one.revision)
    assert.deepEqual([gone.revision, gone.createRevision], [one.revision + 1, one.revision])
    assert.equal(c.get('pods/ns/a'), undefined)
    const next = await put(c, 'pods/ns/a', 2, 'absent')
    assert.equal(next.createRevision, next.revision)
    assert.equal(next.revision, gone.revision + 1)
    await store.close()
  })
}

function revisionCases(harness: StoreHarness): void {
  it('starts at revision 1 and grows by one per change, whatever the key', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    assert.deepEqual([c.revision, c.oldestRevision], [1, 1])
    const written = [await put(c, 'pods/ns/a', 1), await put(c, 'nodes//n', 1), await put(c, 'pods/ns/a', 2), await remove(c, 'nodes//n')]
    assert.deepEqual(
      written.map((v) => v.revision),
      [2, 3, 4, 5],
    )
    assert.equal(c.revision, 5)
    assert.equal(c.oldestRevision, 1)
    assert.deepEqual(JSON.parse(written[2]?.text ?? ''), { rv: 4, content: 2 })
    await store.close()
  })

  it('a refused write and an encoder that throws take no revision', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 1)
    await c.commit({ key: 'pods/ns/a', expect: 'absent', type: 'put', encode: valueAt(2) })
    const broken = c.commit({
      key: 'pods/ns/b',
      expect: 'any',
      type: 'put',
      encode: () => {
        throw new RangeError('no')
      },
    })
    await assert.rejects(broken, RangeError)
    assert.equal((await put(c, 'pods/ns/c', 1)).revision, 3)
    await store.close()
  })

  it('keeps clusters apart: own revisions, own keys, own watchers', async () => {
    const { store } = await harness.open()
    const [hub, member] = [store.cluster('hub'), store.cluster('member1')]
    const seen = record(member, '', 1)
    await put(hub, 'pods/ns/a', 1)
    await put(hub, 'pods/ns/b', 1)
    assert.equal(member.revision, 1)
    assert.equal(member.get('pods/ns/a'), undefined)
    assert.equal((await put(member, 'pods/ns/a', 'm')).revision, 2)
    assert.equal(contentOf(hub.get('pods/ns/a')), 1)
    assert.deepEqual(brief(seen.events), ['2 put pods/ns/a'])
    assert.deepEqual(store.clusterNames(), ['hub', 'member1'])
    assert.equal(store.cluster('hub'), hub)
    await store.close()
  })
}

function inFlightCases(harness: StoreHarness): void {
  it('shows nothing of a write before it is durable', async () => {
    const { store, hold, release } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 'old')
    const seen = record(c, '', c.revision)
    hold()
    const writing = put(c, 'pods/ns/a', 'new')
    await Promise.resolve()
    assert.equal(contentOf(c.get('pods/ns/a')), 'old')
    assert.deepEqual([c.revision, seen.events.length, c.count('pods/')], [2, 0, 1])
    await release()
    await writing
    assert.equal(contentOf(c.get('pods/ns/a')), 'new')
    assert.deepEqual(brief(seen.events), ['3 put pods/ns/a'])
    await store.close()
  })

  it('checks a write against the write in flight before it, and answers a loser only when that one is durable', async () => {
    const { store, hold, release } = await harness.open()
    const c = store.cluster('hub')
    hold()
    const winner = c.commit({ key: 'pods/ns/a', expect: 'absent', type: 'put', encode: valueAt('first') })
    const follower = c.commit({ key: 'pods/ns/a', expect: 2, type: 'put', encode: valueAt('second') })
    let answered = false
    const loser = c.commit({ key: 'pods/ns/a', expect: 'absent', type: 'put', encode: valueAt('never') }).finally(() => {
      answered = true
    })
    for (let i = 0; i < 10; i++) await Promise.resolve()
    assert.equal(answered, false)
    await release()
    const [w, f, l] = await Promise.all([winner, follower, loser])
    assert.deepEqual([w.ok, f.ok, l.ok], [true, true, false])
    assert.ok(!l.ok && l.current !== undefined && l.current.revision >= 3)
    assert.equal(contentOf(c.get('pods/ns/a')), 'second')
    await store.close()
  })

  it('lets many writers count together without losing one', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'configmaps/ns/counter', 0)
    const increment = async () => {
      for (;;) {
        const current = c.get('configmaps/ns/counter')
        const expect = current?.revision ?? 'absent'
        const result = await c.commit({
          key: 'configmaps/ns/counter',
          expect,
          type: 'put',
          encode: valueAt(Number(contentOf(current)) + 1),
        })
        if (result.ok) return
        assert.ok(result.current !== undefined && c.get('configmaps/ns/counter') !== undefined)
      }
    }
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let i = 0; i < 5; i++) await increment()
      }),
    )
    assert.equal(contentOf(c.get('configmaps/ns/counter')), 100)
    assert.equal(c.revision, 102)
    await store.close()
  })
}

function failureCases(harness: StoreHarness): void {
  it('a failed write leaves no trace, takes those that built on it along, and frees its revision', async () => {
    const { store, hold, fail } = await harness.open()
    const c = store.cluster('hub')
    await put(c, 'pods/ns/a', 'old')
    const seen = record(c, '', 1)
    hold()
    const lost = c.commit({ key: 'pods/ns/a', expect: 2, type: 'put', encode: valueAt('lost') })
    const built = c.commit({ key: 'pods/ns/a', expect: 3, type: 'put', encode: valueAt('built on it') })
    const other = c.commit({ key: 'pods/ns/b', expect: 'absent', type: 'put', encode: valueAt('beside it') })
    const settled = Promise.allSettled([lost, built, other])
    await fail()
    for (const outcome of await settled) {
      assert.equal(outcome.status, 'rejected')
      assert.ok(outcome.reason instanceof StoreUnavailableError)
    }
    assert.equal(contentOf(c.get('pods/ns/a')), 'old')
    assert.equal(c.revision, 2)
    assert.equal((await put(c, 'pods/ns/c', 1)).revision, 3)
    assert.deepEqual(brief(seen.events), ['2 put pods/ns/a', '3 put pods/ns/c'])
    await store.close()
  })

  it('a writer that lost against a failed write is tried again on what is really there', async () => {
    const { store, hold, fail } = await harness.open()
    const c = store.cluster('hub')
    hold()
    const lost = c.commit({ key: 'pods/ns/a', expect: 'absent', type: 'put', encode: valueAt('lost') })
    const second = c.commit({ key: 'pods/ns/a', expect: 'absent', type: 'put', encode: valueAt('second') })
    const rejected = assert.rejects(lost, StoreUnavailableError)
    await fail()
    await rejected
    const result = await second
    assert.ok(result.ok)
    assert.equal(result.version.revision, 2)
    assert.equal(contentOf(c.get('pods/ns/a')), 'second')
    await store.close()
  })

  it('refuses writes after close, and ends watchers once', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    const seen = record(c, 'pods/', 1)
    await put(c, 'pods/ns/a', 1)
    await store.close()
    assert.equal(seen.closed, 1)
    await assert.rejects(c.commit({ key: 'pods/ns/a', expect: 'any', type: 'put', encode: valueAt(2) }), StoreUnavailableError)
    await store.close()
    assert.equal(seen.closed, 1)
  })
}

function hostileCases(harness: StoreHarness): void {
  it('treats names of the language as ordinary names', async () => {
    const { store } = await harness.open()
    const c = store.cluster('constructor')
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '😀', 'é\u0000\n']
    for (const name of names) await put(c, `${name}/${name}/${name}`, name)
    for (const name of names) assert.equal(contentOf(c.get(`${name}/${name}/${name}`)), name)
    assert.deepEqual(c.buckets(), [...names].sort())
    assert.equal(c.get('valueOf/valueOf/valueOf'), undefined)
    const text = utf8Of('{"__proto__":{"polluted":true},"constructor":1}')
    await c.commit({ key: 'pods/ns/x', expect: 'any', type: 'put', encode: () => ({ text }) })
    const parsed = c.get('pods/ns/x')?.object() as Record<string, unknown>
    assert.deepEqual(Object.keys(parsed), ['__proto__', 'constructor'])
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    await store.close()
  })

  it('refuses keys and clusters that it could not give back', async () => {
    const { store } = await harness.open()
    const c = store.cluster('hub')
    for (const key of ['', 'pods', '/ns/a', `pods/ns/${'x'.repeat(5000)}`, 'pods/ns/\ud800']) {
      await assert.rejects(c.commit({ key, expect: 'any', type: 'put', encode: valueAt(1) }), TypeError)
    }
    assert.throws(() => c.range('pods'), TypeError)
    assert.throws(() => c.watch('pods', { after: 1, onEvent: () => {} }), TypeError)
    for (const name of ['', 'Hub', '../x', 'a'.repeat(64), '__proto__']) assert.throws(() => store.cluster(name), TypeError)
    assert.equal(c.revision, 1)
    await store.close()
  })
}
