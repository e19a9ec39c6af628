/** Watching: order, bookmarks, ends, resumption and expired revisions. */
import assert from 'node:assert/strict'
import { sleep } from '../base/clock.ts'
import { CONFIG_MAPS } from '../kinds/kubernetes/resources.ts'
import type { WatchEvent, WatchOptions } from './client.ts'
import { isExpired } from './errors.ts'
import { scripted } from './fault/fault-transport.ts'
import type { ClientCase } from './suite.ts'
import { type ClientTestbed, configMap, create } from './suite-harness.ts'
import { TransportError } from './transport.ts'

/** Collects `count` events, then closes the stream. */
async function take(
  testbed: ClientTestbed,
  count: number,
  options: Partial<WatchOptions> & { resourceVersion: string },
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = []
  for await (const event of testbed.client.watch(CONFIG_MAPS, { namespace: testbed.namespace, ...options })) {
    events.push(event)
    if (events.length >= count) break
  }
  return events
}

const received = (events: readonly WatchEvent[]): string[] => events.map((event) => `${event.type} ${event.object.metadata.name}`)
const revisionOf = async (testbed: ClientTestbed): Promise<string> =>
  (await testbed.client.list(CONFIG_MAPS, { namespace: testbed.namespace })).resourceVersion

async function someHistory(testbed: ClientTestbed): Promise<string> {
  const from = await revisionOf(testbed)
  const a = await create(testbed, 'a')
  await testbed.client.update(CONFIG_MAPS, { ...a, data: { key: 'changed' } })
  await create(testbed, 'b')
  await testbed.client.delete(CONFIG_MAPS, { namespace: testbed.namespace, name: 'a' })
  return from
}

const HISTORY = ['ADDED a', 'MODIFIED a', 'ADDED b', 'DELETED a']

export const watchCases: readonly ClientCase[] = [
  {
    name: 'tells what happened since a revision, in order, each at a revision of its own',
    async run(testbed) {
      const from = await someHistory(testbed)
      const events = await take(testbed, 4, { resourceVersion: from })
      assert.deepEqual(received(events), HISTORY)
      const revisions = events.map((event) => Number(event.object.metadata.resourceVersion))
      assert.deepEqual(
        revisions,
        [...new Set(revisions)].sort((x, y) => x - y),
      )
    },
  },
  {
    name: 'tells what happens while it watches',
    async run(testbed) {
      const resourceVersion = await revisionOf(testbed)
      const watching = take(testbed, 2, { resourceVersion })
      await sleep(testbed.server.clock, 20)
      await create(testbed, 'a')
      await create(testbed, 'b')
      assert.deepEqual(received(await watching), ['ADDED a', 'ADDED b'])
    },
  },
  {
    name: 'tells of objects that enter and leave the selection',
    async run(testbed) {
      const resourceVersion = await revisionOf(testbed)
      const a = await create(testbed, 'a')
      const without = await testbed.client.update(CONFIG_MAPS, { ...a, metadata: { ...a.metadata, labels: {} } })
      await testbed.client.update(CONFIG_MAPS, { ...without, metadata: { ...without.metadata, labels: { suite: 'yes' } } })
      assert.deepEqual(received(await take(testbed, 3, { resourceVersion, labelSelector: 'suite=yes' })), [
        'ADDED a',
        'DELETED a',
        'ADDED a',
      ])
    },
  },
  {
    name: 'goes on after a cut from the last revision it saw, without gap or repetition',
    async run(testbed) {
      const from = await someHistory(testbed)
      testbed.plan(scripted({ do: 'cut', afterLines: 2 }))
      const seen: WatchEvent[] = []
      let last = from
      await assert.rejects(async () => {
        for await (const event of testbed.client.watch(CONFIG_MAPS, { namespace: testbed.namespace, resourceVersion: from })) {
          seen.push(event)
          last = event.object.metadata.resourceVersion ?? ''
        }
      }, TransportError)
      seen.push(...(await take(testbed, 2, { resourceVersion: last })))
      assert.deepEqual(received(seen), HISTORY)
    },
  },
  {
    name: 'ends when its time is over, and when it is told to',
    async run(testbed) {
      const resourceVersion = await revisionOf(testbed)
      const stop = new AbortController()
      const { clock } = testbed.server
      const aborted = take(testbed, 1, { resourceVersion, signal: stop.signal })
      testbed.server.clock.after(100, () => stop.abort())
      assert.deepEqual(await aborted, [])
      const startedMs = clock.now()
      assert.deepEqual(await take(testbed, 1, { resourceVersion, timeoutSeconds: 1 }), [])
      assert.ok(clock.now() - startedMs >= 900)
    },
  },
  {
    name: 'says that a revision is too old by a 410',
    needsForgetting: true,
    async run(testbed) {
      const from = await someHistory(testbed)
      await testbed.server.forget?.()
      await assert.rejects(take(testbed, 1, { resourceVersion: from }), isExpired)
    },
  },
  {
    name: 'brings bookmarks that carry it over a quiet time',
    isSlow: true,
    async run(testbed) {
      const resourceVersion = await revisionOf(testbed)
      const watching = take(testbed, 1, { resourceVersion })
      // Changes elsewhere advance the revision without an event for this watcher.
      const elsewhere = await testbed.client.create(CONFIG_MAPS, configMap('default', testbed.namespace))
      const [bookmark] = await watching
      assert.equal(bookmark?.type, 'BOOKMARK')
      assert.ok(Number(bookmark?.object.metadata.resourceVersion) >= Number(elsewhere.metadata.resourceVersion))
    },
  },
]
