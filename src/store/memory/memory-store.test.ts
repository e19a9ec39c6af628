import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { StoreUnavailableError } from '../store.ts'
import { storeSuite } from '../suite.ts'
import { manualClock, put } from '../suite-harness.ts'
import { createMemoryStore } from './memory-store.ts'

storeSuite('memory store', {
  open: async (options = {}) => {
    const store = createMemoryStore({ clock: manualClock(), ...options })
    return {
      store,
      hold: () => store.hold(),
      release: async () => store.release(),
      fail: async () => {
        store.fail(new StoreUnavailableError('the disk is full'))
        store.release()
      },
    }
  },
})

describe('memory store', () => {
  it('releases held writes one by one', async () => {
    const store = createMemoryStore({ clock: manualClock() })
    const c = store.cluster('hub')
    store.hold()
    const writes = [put(c, 'pods/ns/a', 1), put(c, 'pods/ns/b', 1)]
    store.release(1)
    await writes[0]
    assert.deepEqual([c.revision, store.inFlight], [2, 1])
    store.release()
    await writes[1]
    assert.deepEqual([c.revision, store.inFlight], [3, 0])
    await store.close()
  })
})
