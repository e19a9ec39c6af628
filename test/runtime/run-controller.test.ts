import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { sleep } from '../../src/base/clock.ts'
import { type Caches, createCaches } from '../../src/client/cache/caches.ts'
import { type ClientTestbed, openTestbed, type ServerUnderTest } from '../../src/client/suite-harness.ts'
import { aConfigMap } from '../../src/faultsim/builders/index.ts'
import { CONFIG_MAPS, EVERY_RESOURCE, SERVICE_ACCOUNTS } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan, via } from '../../src/runtime/controller.ts'
import { type RunningController, runController } from '../../src/runtime/run-controller.ts'
import type { Pass } from '../../src/runtime/workers.ts'
import { inProcessServer } from '../client/servers.ts'

const NAME = 'test.toy'
const SERVICES = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true }

interface Testbed extends ClientTestbed {
  passes: Pass[]
  errors: string[]
  run(controller: Controller): RunningController
}

/** Requests to change something, as `METHOD plural`. */
const writesOf = (testbed: Testbed): string[] =>
  testbed.sent
    .filter(({ request }) => request.method !== 'GET')
    .map(({ request }) => `${request.method} ${request.path.split('?')[0]?.split('/').slice(5).join('/')}`)

describe('the runtime of controllers', () => {
  let server: ServerUnderTest
  let ending: (() => Promise<void>)[] = []
  beforeEach(async () => {
    server = await inProcessServer(3)
  })
  afterEach(async () => {
    for (const end of ending) await server.run(end)
    ending = []
    await server.close()
  })

  async function testbed(): Promise<Testbed> {
    const clientTestbed = await openTestbed(server)
    const { clock, random } = server
    const caches: Caches = createCaches({ client: clientTestbed.client, clock, random, keepsManager: (name) => name === NAME })
    const passes: Pass[] = []
    const errors: string[] = []
    ending.push(async () => caches.stop())
    return {
      ...clientTestbed,
      passes,
      errors,
      run(controller) {
        const onError = (error: unknown): void => void errors.push(String(error))
        const running = runController(controller, {
          client: clientTestbed.client,
          caches,
          clock,
          random,
          onError,
          onPass: (pass) => passes.push(pass),
        })
        ending.push(() => running.stop())
        return running
      },
    }
  }
  const wait = (ms = 5000): Promise<void> => sleep(server.clock, ms)
  const primary = (object: KubeObject | undefined): object is KubeObject => object?.metadata.name === 'primary'

  it('applies an owned subset once: nothing is sent while the live object contains it', () =>
    server.run(async () => {
      const s = await testbed()
      const port = { port: 80, name: 'web' }
      const plan = ({ map }: { map: KubeObject | undefined }): Plan => {
        if (!primary(map)) return NOTHING_TO_DO
        const data = (map.data ?? {}) as Record<string, string>
        const labels = data.label === undefined ? undefined : { label: data.label }
        const metadata = { name: 'made', namespace: map.metadata.namespace, labels }
        return {
          actions: [
            {
              do: 'apply',
              resource: SERVICES,
              object: { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { a: 'b' }, ports: [port] } },
            },
          ],
        }
      }
      const running = s.run(
        defineController({
          name: NAME,
          for: CONFIG_MAPS,
          watches: [via(SERVICES, () => [])],
          writes: [{ resource: EVERY_RESOURCE, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
          observe: (_ref, map) => ({ map }),
          plan,
        }),
      )
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`, { data: { label: 'x' } }))
      await wait()
      s.plan(() => undefined)
      running.resync()
      await wait()
      assert.deepEqual(writesOf(s), [])
      // A field that is no longer wanted must be removed: the values alone would not show it.
      const of = { namespace: s.namespace, name: 'primary' }
      await s.client.patch(CONFIG_MAPS, of, { type: 'merge', body: { data: null } })
      await wait()
      assert.equal((await s.client.get(SERVICES, { namespace: s.namespace, name: 'made' })).metadata.labels, undefined)
      // And changes by others are reverted.
      await s.client.patch(SERVICES, { namespace: s.namespace, name: 'made' }, { type: 'merge', body: { spec: { selector: { a: 'c' } } } })
      running.resync()
      await wait()
      const mended = await s.client.get(SERVICES, { namespace: s.namespace, name: 'made' })
      assert.deepEqual((mended.spec as { selector: unknown }).selector, { a: 'b' })
      assert.deepEqual(s.errors, [])
    }))

  it('does not decide on a cache older than its own last write', () =>
    server.run(async () => {
      const s = await testbed()
      const plan = ({ map, accounts }: { map: KubeObject | undefined; accounts: KubeObject[] }): Plan => {
        if (!primary(map) || accounts.length > 0) return NOTHING_TO_DO
        const metadata = { generateName: 'made-', namespace: map.metadata.namespace }
        return { actions: [{ do: 'create', resource: SERVICE_ACCOUNTS, object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata } }] }
      }
      // Events of ServiceAccounts arrive only after 20 s; events of the primary every second.
      s.plan((request) => (request.isStream && request.path.includes('serviceaccounts') ? { do: 'delay', ms: 20_000 } : undefined))
      const running = s.run(
        defineController({
          name: NAME,
          for: CONFIG_MAPS,
          watches: [via(SERVICE_ACCOUNTS, () => [])],
          writes: [{ resource: EVERY_RESOURCE, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
          observe: (ref, map, read) => ({ map, accounts: read.list(SERVICE_ACCOUNTS, ref.namespace) }),
          plan,
        }),
      )
      const of = { namespace: s.namespace, name: 'primary' }
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      for (let i = 0; i < 5; i++) {
        await wait(1000)
        await s.client.patch(CONFIG_MAPS, of, { type: 'merge', body: { data: { i: String(i) } } })
      }
      assert.match(running.busy().join(), /waits for a cache to show its last write/)
      await wait(60_000)
      assert.equal((await s.client.list(SERVICE_ACCOUNTS, { namespace: s.namespace })).items.length, 1)
      assert.deepEqual(running.busy(), [])
    }))

  it('decides again at once after a conflict, when the cache has moved, and does not spin until then', () =>
    server.run(async () => {
      const s = await testbed()
      let rivalry = 0
      const controller = defineController<{ map: KubeObject | undefined }>({
        name: NAME,
        for: CONFIG_MAPS,
        writes: [{ resource: EVERY_RESOURCE, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
        async observe({ namespace }, map) {
          // Another client writes between the read and the write, three times.
          if (primary(map) && rivalry < 3) {
            rivalry++
            await s.client.patch(CONFIG_MAPS, { namespace, name: 'primary' }, { type: 'merge', body: { data: { rival: String(rivalry) } } })
          }
          return { map }
        },
        plan: ({ map }) =>
          !primary(map) || map.metadata.annotations?.done !== undefined
            ? NOTHING_TO_DO
            : { actions: [{ do: 'patch', resource: CONFIG_MAPS, of: map, patch: { metadata: { annotations: { done: 'yes' } } } }] },
      })
      const running = s.run(controller)
      const startedMs = server.clock.now()
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await sleep(server.clock, 10)
      const done = await s.client.get(CONFIG_MAPS, { namespace: s.namespace, name: 'primary' })
      assert.equal(done.metadata.annotations?.done, 'yes')
      assert.ok(server.clock.now() - startedMs <= 10, 'no time had to pass')
      assert.equal(s.passes.filter((pass) => pass.result === 'conflict').length, 3)
      assert.deepEqual([s.errors, running.busy()], [[], []])
    }))

  it('decides again at once also when the conflict was about something that does not trigger it', () =>
    server.run(async () => {
      const s = await testbed()
      const of = { namespace: s.namespace, name: 'child' }
      let hasRival = true
      const controller = defineController<{ map: KubeObject | undefined; child: KubeObject | undefined }>({
        name: NAME,
        for: CONFIG_MAPS,
        watches: [via(SERVICE_ACCOUNTS, () => [])],
        writes: [{ resource: EVERY_RESOURCE, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
        async observe({ namespace }, map, read) {
          const child = read.get(SERVICE_ACCOUNTS, namespace, 'child')
          if (primary(map) && hasRival) {
            hasRival = false
            await s.client.patch(SERVICE_ACCOUNTS, of, { type: 'merge', body: { metadata: { labels: { rival: 'yes' } } } })
          }
          return { map, child }
        },
        plan: ({ map, child }) =>
          !primary(map) || child === undefined || child.metadata.annotations?.done !== undefined
            ? NOTHING_TO_DO
            : { actions: [{ do: 'patch', resource: SERVICE_ACCOUNTS, of: child, patch: { metadata: { annotations: { done: 'yes' } } } }] },
      })
      await s.client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: of })
      s.run(controller)
      await wait(100)
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await sleep(server.clock, 1)
      assert.equal((await s.client.get(SERVICE_ACCOUNTS, of)).metadata.annotations?.done, 'yes')
      assert.equal(s.passes.filter((pass) => pass.result === 'conflict').length, 1)
    }))

  it('brings back what failed, later each time, and says so until it succeeds', () =>
    server.run(async () => {
      const s = await testbed()
      let isBroken = true
      const controller = defineController({
        name: NAME,
        for: CONFIG_MAPS,
        writes: [{ resource: EVERY_RESOURCE, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
        observe(_ref, map) {
          if (isBroken && primary(map)) throw new Error('the catalog does not answer')
          return undefined
        },
        plan: () => NOTHING_TO_DO,
      })
      const running = s.run(controller)
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await wait(10 * 60_000)
      assert.ok(s.errors.length >= 10 && s.errors.length < 40, `${s.errors.length} tries in ten minutes`)
      assert.deepEqual(running.busy(), [`${NAME} failed on ${s.namespace}/primary and will try again: the catalog does not answer`])
      isBroken = false
      await wait(80_000)
      assert.deepEqual(running.busy(), [])
      assert.equal(s.passes.at(-1)?.result, 'done')
    }))

  it('loses no event that comes while it works, and works on one key once at a time', () =>
    server.run(async () => {
      const s = await testbed()
      const seen: string[] = []
      let underway = 0
      const controller = defineController<undefined>({
        name: NAME,
        for: CONFIG_MAPS,
        writes: [{ resource: EVERY_RESOURCE, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
        concurrency: 4,
        async observe(_ref, map) {
          if (!primary(map)) return undefined
          assert.equal(++underway, 1)
          await wait(1000)
          underway--
          seen.push(((map.data ?? {}) as Record<string, string>).i ?? '')
          return undefined
        },
        plan: () => NOTHING_TO_DO,
      })
      s.run(controller)
      const of = { namespace: s.namespace, name: 'primary' }
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`, { data: { i: 'first' } }))
      await wait(100)
      for (const i of ['second', 'third']) await s.client.patch(CONFIG_MAPS, of, { type: 'merge', body: { data: { i } } })
      await wait()
      assert.deepEqual(seen, ['first', 'third'])
    }))

  it('stops after the write under way, and does nothing afterwards', () =>
    server.run(async () => {
      const s = await testbed()
      const make = (name: string, map: KubeObject) => ({
        do: 'create' as const,
        resource: CONFIG_MAPS,
        object: aConfigMap(`${map.metadata.namespace}/${name}`),
      })
      const controller = defineController<{ map: KubeObject | undefined }>({
        name: NAME,
        for: CONFIG_MAPS,
        writes: [{ resource: EVERY_RESOURCE, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
        observe: (_ref, map) => ({ map }),
        plan: ({ map }) => (primary(map) ? { actions: [make('one', map), make('two', map)], requeueAfterMs: 1000 } : NOTHING_TO_DO),
      })
      s.plan((request) => (request.method === 'POST' && String(request.body).includes('"one"') ? { do: 'delay', ms: 2000 } : undefined))
      const running = s.run(controller)
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await wait(500)
      await running.stop()
      await wait(60_000)
      const names = (await s.client.list(CONFIG_MAPS, { namespace: s.namespace })).items.map((object) => object.metadata.name)
      assert.deepEqual(names, ['one', 'primary'])
    }))

  it('refuses to read what a controller has not declared', () =>
    server.run(async () => {
      const s = await testbed()
      s.run(
        defineController({
          name: NAME,
          for: CONFIG_MAPS,
          writes: [{ resource: EVERY_RESOURCE, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
          observe: (_ref, _map, read) => read.list(SERVICE_ACCOUNTS),
          plan: () => NOTHING_TO_DO,
        }),
      )
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await wait(10)
      assert.match(s.errors[0] ?? '', /test\.toy reads serviceaccounts without declaring it/)
    }))
})
