import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject } from '../kube/meta.ts'
import { createMemoryStore } from '../store/index.ts'
import { manualClock } from '../store/suite-harness.ts'
import { createCatalog, type Served } from './catalog.ts'
import { createObjects, encodeObject, keyOf, type Objects, prefixOf, typePrefixLength } from './objects.ts'
import { settle, TEST_KINDS } from './testing.ts'

const served = createCatalog(TEST_KINDS).find('', 'v1', 'configmaps') as Served
const objects = (): Objects => createObjects(createMemoryStore({ clock: manualClock() }).cluster('hub'))
const object = (name: string, value = ''): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default' },
  data: { value },
})

describe('exclusive work on an object', () => {
  it('runs one at a time per object, in the order it was asked for, and at once on others', async () => {
    const store = objects()
    const seen: string[] = []
    const gates: (() => void)[] = []
    const work = (label: string) => async () => {
      seen.push(`${label} begins`)
      await new Promise<void>((resolve) => gates.push(resolve))
      seen.push(`${label} ends`)
    }
    const all = [
      store.exclusively(served, 'default', 'a', work('a1')),
      store.exclusively(served, 'default', 'a', work('a2')),
      store.exclusively(served, 'default', 'b', work('b1')),
    ]
    await settle(2)
    assert.deepEqual(seen, ['a1 begins', 'b1 begins'])
    for (let i = 0; i < 3; i++) {
      gates.shift()?.()
      await settle(2)
    }
    await Promise.all(all)
    assert.deepEqual(seen, ['a1 begins', 'b1 begins', 'a1 ends', 'a2 begins', 'b1 ends', 'a2 ends'])
  })

  it('goes on after a failure, whether it came at once or later', async () => {
    const store = objects()
    const atOnce = store.exclusively(served, '', 'a', () => {
      throw new Error('at once')
    })
    const later = store.exclusively(served, '', 'a', () => Promise.reject(new Error('later')))
    const queuedAtOnce = store.exclusively(served, '', 'a', () => {
      throw new Error('queued')
    })
    const fine = store.exclusively(served, '', 'a', async () => 'fine')
    await assert.rejects(atOnce, /at once/)
    await assert.rejects(later, /later/)
    await assert.rejects(queuedAtOnce, /queued/)
    assert.equal(await fine, 'fine')
  })

  it('loses no update of many that read, wait and write', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 20 }), async (delays) => {
        const store = objects()
        let value = 0
        await Promise.all(
          delays.map((turns) =>
            store.exclusively(served, 'n', 'x', async () => {
              const read = value
              for (let i = 0; i < turns; i++) await Promise.resolve()
              value = read + 1
            }),
          ),
        )
        assert.equal(value, delays.length)
      }),
      { numRuns: 50 },
    )
  })
})

describe('objects in the store', () => {
  it('carry the revision of the write that made them, deletions included', async () => {
    const store = objects()
    const made = await store.put(served, object('a'), undefined)
    assert.ok(made.ok)
    assert.equal((made.version.object() as KubeObject).metadata.resourceVersion, String(made.version.revision))
    assert.equal(JSON.parse(made.version.text).metadata.resourceVersion, String(made.version.revision))
    const gone = await store.remove(served, object('a'), made.version)
    assert.ok(gone.ok)
    assert.equal((gone.version.object() as KubeObject).metadata.resourceVersion, String(gone.version.revision))
    assert.equal(store.get(served, 'default', 'a'), undefined)
  })

  it('are written only when they are still as expected', async () => {
    const store = objects()
    const first = await store.put(served, object('a', '1'), undefined)
    assert.ok(first.ok)
    assert.equal((await store.put(served, object('a', '2'), undefined)).ok, false, 'it exists')
    const second = await store.put(served, object('a', '2'), first.version)
    assert.ok(second.ok)
    assert.equal((await store.put(served, object('a', '3'), first.version)).ok, false, 'it changed')
    assert.equal((await store.remove(served, object('a'), first.version)).ok, false, 'it changed')
    assert.deepEqual(store.get(served, 'default', 'a')?.object.data, { value: '2' })
    assert.deepEqual(store.get(served, 'default', 'a', first.version.revision)?.object.data, { value: '1' })
  })

  it('have their type first, so that lists can cut it off', () => {
    fc.assert(
      // Go's types have no field whose name is a number, the only kind of key that JavaScript would put before the others.
      fc.property(
        fc.dictionary(
          fc.string().filter((key) => !/^\d+$/.test(key)),
          fc.jsonValue(),
        ),
        (rest) => {
          const { kind: _k, apiVersion: _a, metadata: _m, toJSON: _t, ...fields } = rest
          const value: KubeObject = { ...fields, metadata: { name: 'x' }, apiVersion: 'v1', kind: 'ConfigMap' }
          const bytes = encodeObject(value)
          const tail = JSON.parse(`{${bytes.subarray(typePrefixLength('ConfigMap', 'v1')).toString()}`) as unknown
          assert.deepEqual(tail, JSON.parse(JSON.stringify({ ...fields, metadata: { name: 'x' } })))
        },
      ),
    )
  })

  it('are kept apart by namespace, also when one name begins like another', () => {
    assert.equal(prefixOf(served, 'a'), 'configmaps/a/')
    assert.ok(!keyOf(served, 'ab', 'x').startsWith(prefixOf(served, 'a')))
  })
})
