/** Informers: what is cached, how changes are reported, and what happens after cuts and gaps. */
import assert from 'node:assert/strict'
import { CONFIG_MAPS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { createCaches } from './cache/caches.ts'
import { type Informer, type InformerOptions, startInformer } from './cache/informer.ts'
import type { Fault, FaultPlan } from './fault/fault-transport.ts'
import type { ClientCase } from './suite.ts'
import { type ClientTestbed, create, eventually, names } from './suite-harness.ts'

/** Calls `run` with an informer of the testbed's namespace, which is stopped afterwards. */
async function informing(
  testbed: ClientTestbed,
  run: (informer: Informer, received: string[]) => Promise<void>,
  options: Partial<InformerOptions> = {},
): Promise<void> {
  const stop = new AbortController()
  const { client, namespace, server } = testbed
  const { clock, random } = server
  const informer = startInformer({ client, clock, random, resource: CONFIG_MAPS, namespace, signal: stop.signal, ...options })
  const received: string[] = []
  informer.subscribe(({ type, object }) => received.push(`${type} ${object.metadata.name}`))
  try {
    await informer.synced()
    await run(informer, received)
  } finally {
    stop.abort()
  }
}

const isList = (path: string): boolean => !path.includes('watch=true')
const listsOf = (testbed: ClientTestbed): number =>
  testbed.sent.filter(({ request }) => request.method === 'GET' && isList(request.path)).length
const firstWatch = (fault: Fault): FaultPlan => {
  let isDone = false
  return (request) => {
    if (!request.isStream || isDone) return undefined
    isDone = true
    return fault
  }
}
const update = (testbed: ClientTestbed, object: KubeObject, value: string): Promise<KubeObject> =>
  testbed.client.update(CONFIG_MAPS, { ...object, data: { key: value } })

export const informerCases: readonly ClientCase[] = [
  {
    name: 'hold what is there, follow what happens, and tell of it',
    async run(testbed) {
      const a = await create(testbed, 'a')
      await informing(testbed, async (informer, received) => {
        assert.deepEqual(names(informer.list()), ['a'])
        await update(testbed, a, 'changed')
        await create(testbed, 'b')
        await testbed.client.delete(CONFIG_MAPS, { namespace: testbed.namespace, name: 'a' })
        await informer.until(() => received.length >= 4)
        assert.deepEqual(received, ['added a', 'updated a', 'added b', 'deleted a'])
        assert.deepEqual(names(informer.list(testbed.namespace)), ['b'])
        assert.equal(informer.get(testbed.namespace, 'a'), undefined)
        assert.deepEqual(informer.list('nowhere'), [])
      })
    },
  },
  {
    name: 'find objects by indexes, also by those added late',
    async run(testbed) {
      const a = await create(testbed, 'a', { color: 'red' })
      await create(testbed, 'b', { color: 'red', other: 'blue' })
      await informing(testbed, async (informer) => {
        informer.addIndex('color', (object) => Object.values((object.data ?? {}) as Record<string, string>))
        assert.deepEqual(names(informer.byIndex('color', 'red')), ['a', 'b'])
        await update(testbed, a, 'green')
        await informer.until(() => informer.byIndex('color', 'green').length > 0)
        assert.deepEqual(names(informer.byIndex('color', 'red')), ['b'])
        assert.deepEqual(informer.byIndex('color', '__proto__'), [])
        assert.throws(() => informer.byIndex('size', '1'), /no index size/)
      })
    },
  },
  {
    name: 'hand out frozen objects, without managedFields, and only what the projection keeps',
    async run(testbed) {
      await create(testbed, 'a')
      await informing(testbed, async (informer) => {
        const held = informer.get(testbed.namespace, 'a')
        assert.ok(held !== undefined && held.metadata.managedFields === undefined)
        assert.throws(() => {
          held.metadata.labels = {}
        }, TypeError)
      })
      const project = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({ apiVersion, kind, metadata })
      await informing(testbed, async (informer) => assert.equal(informer.get(testbed.namespace, 'a')?.data, undefined), { project })
    },
  },
  {
    name: 'are shared: one list and one watch, however many read',
    async run(testbed) {
      await create(testbed, 'a')
      testbed.plan(() => undefined)
      const caches = createCaches({ client: testbed.client, clock: testbed.server.clock, random: testbed.server.random })
      assert.equal(caches.of(CONFIG_MAPS), caches.of({ ...CONFIG_MAPS }))
      await caches.synced()
      assert.deepEqual([listsOf(testbed), caches.behind()], [1, []])
      assert.ok(caches.of(CONFIG_MAPS).get(testbed.namespace, 'a'))
      caches.stop()
    },
  },
  {
    name: 'go on after a cut without listing again, and lose nothing',
    async run(testbed) {
      testbed.plan(firstWatch({ do: 'cut', afterLines: 1 }))
      await informing(testbed, async (informer, received) => {
        for (const name of ['a', 'b', 'c']) await create(testbed, name)
        await eventually(testbed.server.clock, 'all three', () => received.length >= 3)
        assert.deepEqual(received, ['added a', 'added b', 'added c'])
        assert.equal(listsOf(testbed), 1)
        assert.equal(informer.isFailing, false)
      })
    },
  },
  {
    name: 'list again after a gap, and tell the difference',
    async run(testbed) {
      await create(testbed, 'goes')
      const stays = await create(testbed, 'stays')
      const expire = firstWatch({ do: 'expire', afterLines: 0 })
      // The second list waits until everything has happened, so only the difference can show it.
      testbed.plan(
        (request) =>
          expire(request) ??
          (isList(request.path) && request.method === 'GET' && listsOf(testbed) === 1 ? { do: 'delay', ms: 500 } : undefined),
      )
      await informing(testbed, async (_informer, received) => {
        await update(testbed, stays, 'changed')
        await testbed.client.delete(CONFIG_MAPS, { namespace: testbed.namespace, name: 'goes' })
        await create(testbed, 'comes')
        await eventually(testbed.server.clock, 'the difference', () => received.length >= 5)
        assert.equal(listsOf(testbed), 2)
        assert.deepEqual(received, ['added goes', 'added stays', 'deleted goes', 'added comes', 'updated stays'])
      })
    },
  },
  {
    name: 'tell nothing twice when events are delivered twice, nor go back in time',
    async run(testbed) {
      testbed.plan(firstWatch({ do: 'repeat' }))
      await informing(testbed, async (informer, received) => {
        let object = await create(testbed, 'a')
        for (const value of ['1', '2', '3']) object = await update(testbed, object, value)
        await testbed.client.delete(CONFIG_MAPS, { namespace: testbed.namespace, name: 'a' })
        await create(testbed, 'end')
        await informer.until(() => received.includes('added end'))
        assert.deepEqual(received, ['added a', 'updated a', 'updated a', 'updated a', 'deleted a', 'added end'])
      })
    },
  },
  {
    name: 'do not hurry when the server keeps failing, and recover at once when it is back',
    isSlow: true,
    async run(testbed) {
      const errors: unknown[] = []
      let isDown = false
      await informing(
        testbed,
        async (informer) => {
          testbed.plan((request) => (isDown ? { do: 'fail-before' } : request.isStream ? { do: 'cut', afterLines: 1 } : undefined))
          isDown = true
          await create(testbed, 'a').catch(() => undefined)
          const { clock } = testbed.server
          const startedMs = clock.now()
          await new Promise<void>((resolve) => void clock.after(30 * 60_000, resolve))
          assert.equal(informer.isFailing, true)
          assert.ok(testbed.sent.length < 600, `${testbed.sent.length} requests in ${clock.now() - startedMs} ms`)
          isDown = false
          testbed.plan(() => undefined)
          await create(testbed, 'b')
          await eventually(
            { ...clock, after: (_ms, callback) => clock.after(1000, callback) },
            'recovery',
            () => informer.get(testbed.namespace, 'b') !== undefined,
          )
          assert.ok(errors.length > 10)
        },
        { onError: (error) => errors.push(error) },
      )
    },
  },
  {
    name: 'do not hurry when every watch ends at once',
    isSlow: true,
    async run(testbed) {
      await informing(testbed, async () => {
        testbed.plan((request) => (request.isStream ? { do: 'break-off', afterBytes: 0 } : undefined))
        await new Promise<void>((resolve) => void testbed.server.clock.after(60 * 60_000, resolve))
        assert.ok(testbed.sent.length < 300, `${testbed.sent.length} requests in an hour`)
      })
    },
  },
]
