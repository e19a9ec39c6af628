/** What is retried, what never is, and the delays in between. */
import assert from 'node:assert/strict'
import { CONFIG_MAPS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { ApiError, isConflict, isNotFound } from './errors.ts'
import { type Fault, scripted } from './fault/fault-transport.ts'
import type { ClientCase } from './suite.ts'
import { type ClientTestbed, configMap, create, names } from './suite-harness.ts'
import { TransportError } from './transport.ts'

const read = ({ client, namespace }: ClientTestbed): Promise<KubeObject> => client.get(CONFIG_MAPS, { namespace, name: 'a' })
const PASSING: Fault[] = [
  { do: 'fail-before' },
  { do: 'fail-after' },
  { do: 'break-off', afterBytes: 20 },
  { do: 'answer', code: 429, retryAfterSeconds: 0 },
  { do: 'answer', code: 503 },
]

export const retryCases: readonly ClientCase[] = [
  {
    name: 'reads are repeated after every passing failure',
    async run(testbed) {
      await create(testbed, 'a')
      for (const fault of PASSING) {
        testbed.plan(scripted(fault))
        assert.equal((await read(testbed)).metadata.name, 'a')
        assert.equal(testbed.sent.length, 2, fault.do)
      }
    },
  },
  {
    name: 'reads are not repeated after a plain refusal, nor for ever',
    tries: 3,
    async run(testbed) {
      await assert.rejects(read(testbed), isNotFound)
      await create(testbed, 'a')
      testbed.plan(scripted({ do: 'answer', code: 500 }))
      await assert.rejects(read(testbed), (error) => error instanceof ApiError && error.code === 500)
      assert.equal(testbed.sent.length, 1)
      testbed.plan(() => ({ do: 'fail-before' }))
      await assert.rejects(read(testbed), TransportError)
      assert.equal(testbed.sent.length, 3)
    },
  },
  {
    name: 'a write without a precondition is never repeated when its outcome is unknown',
    async run(testbed) {
      const { client, namespace } = testbed
      const of = { namespace, name: 'a' }
      await create(testbed, 'a')
      const writes: [string, () => Promise<unknown>][] = [
        ['create', () => client.create(CONFIG_MAPS, { ...configMap(namespace, ''), metadata: { namespace, generateName: 'made-' } })],
        ['update', () => client.update(CONFIG_MAPS, configMap(namespace, 'a', { key: 'blind' }))],
        ['patch', () => client.patch(CONFIG_MAPS, of, { type: 'merge', body: { data: { more: 'blind' } } })],
        ['apply', () => client.apply(CONFIG_MAPS, configMap(namespace, 'a'), { fieldManager: 'suite', force: true })],
        ['delete collection', () => client.deleteCollection(CONFIG_MAPS, { namespace, labelSelector: 'nobody=here' })],
        ['delete', () => client.delete(CONFIG_MAPS, of)],
      ]
      for (const [what, write] of writes)
        for (const fault of ['fail-before', 'fail-after'] as const) {
          testbed.plan(scripted({ do: fault }))
          await assert.rejects(write(), TransportError)
          assert.equal(testbed.sent.length, 1, `${what} ${fault}`)
        }
      testbed.plan(() => undefined)
      const left = names((await client.list(CONFIG_MAPS, { namespace })).items)
      assert.equal(left.filter((name) => name.startsWith('made-')).length, 1)
      assert.ok(!left.includes('a'))
    },
  },
  {
    name: 'a write that the server turned away is repeated, whatever it is',
    async run(testbed) {
      for (const [i, code] of [429, 503].entries()) {
        testbed.plan(scripted({ do: 'answer', code, retryAfterSeconds: 0 }))
        await create(testbed, `a-${i}`)
        assert.equal(testbed.sent.length, 2)
      }
      testbed.plan(scripted({ do: 'answer', code: 503 }))
      await assert.rejects(create(testbed, 'b'), (error) => error instanceof ApiError && error.code === 503)
      assert.equal(testbed.sent.length, 1)
    },
  },
  {
    name: 'a write with a precondition is repeated, and takes effect once',
    async run(testbed) {
      const { client, namespace } = testbed
      const made = await create(testbed, 'a')
      testbed.plan(scripted({ do: 'fail-before' }))
      const second = await client.update(CONFIG_MAPS, { ...made, data: { key: 'second' } })
      testbed.plan(scripted({ do: 'fail-after' }))
      await assert.rejects(client.update(CONFIG_MAPS, { ...second, data: { key: 'third' } }), isConflict)
      assert.equal(testbed.sent.length, 2)
      const third = await client.get(CONFIG_MAPS, { namespace, name: 'a' })
      assert.deepEqual(third.data, { key: 'third' })

      const { resourceVersion } = third.metadata
      const test = { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }
      testbed.plan(scripted({ do: 'fail-before' }))
      const body = [test, { op: 'add', path: '/data/more', value: 'fourth' }]
      await client.patch(CONFIG_MAPS, { namespace, name: 'a' }, { type: 'json', body })
      assert.equal(testbed.sent.length, 2)

      testbed.plan(scripted({ do: 'fail-after' }))
      await assert.rejects(client.delete(CONFIG_MAPS, { namespace, name: 'a' }, { preconditions: { uid: made.metadata.uid } }), isNotFound)
      assert.equal(testbed.sent.length, 2)
    },
  },
  {
    name: 'waits longer each time, never exactly as long, and as long as the server asks',
    isSlow: true,
    tries: 8,
    async run(testbed) {
      await create(testbed, 'a')
      testbed.plan(() => ({ do: 'fail-before' }))
      await assert.rejects(read(testbed), TransportError)
      const delays = testbed.sent.slice(1).map((one, i) => one.atMs - (testbed.sent[i]?.atMs ?? 0))
      for (const [i, delay] of delays.entries()) {
        const full = Math.min(5000, 100 * 2 ** i)
        assert.ok(delay >= full / 2 && delay <= full, `delay ${i} is ${delay}`)
      }
      assert.ok(delays.some((delay, i) => delay !== 100 * 2 ** i))
      testbed.plan(scripted({ do: 'answer', code: 429, retryAfterSeconds: 7 }))
      await read(testbed)
      assert.ok((testbed.sent[1]?.atMs ?? 0) - (testbed.sent[0]?.atMs ?? 0) >= 7000)
    },
  },
  {
    name: 'stops trying when told to',
    async run(testbed) {
      const { client, namespace, server } = testbed
      const stop = new AbortController()
      testbed.plan(() => ({ do: 'answer', code: 429, retryAfterSeconds: 1000 }))
      server.clock.after(50, () => stop.abort())
      await assert.rejects(client.get(CONFIG_MAPS, { namespace, name: 'a' }, { signal: stop.signal }), (error) => error instanceof ApiError)
      assert.equal(testbed.sent.length, 1)
    },
  },
]
