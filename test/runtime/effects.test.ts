import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { sleep } from '../../src/base/clock.ts'
import { createCaches } from '../../src/client/cache/caches.ts'
import { type ClientTestbed, openTestbed, type ServerUnderTest } from '../../src/client/suite-harness.ts'
import { aConfigMap } from '../../src/faultsim/builders/index.ts'
import { CONFIG_MAPS, EVENTS } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import {
  type Action,
  type Controller,
  defineController,
  type Effect,
  NOTHING_TO_DO,
  type Plan,
  request,
} from '../../src/runtime/controller.ts'
import { runController } from '../../src/runtime/run-controller.ts'
import { inProcessServer } from '../client/servers.ts'

const NAME = 'test.deeds'
const WRITES = [{ resource: CONFIG_MAPS, verbs: ['create', 'patch'] }]

describe('what a plan asks for', () => {
  let server: ServerUnderTest
  let ending: (() => Promise<void>)[] = []
  let errors: string[] = []
  beforeEach(async () => {
    server = await inProcessServer(5)
    errors = []
  })
  afterEach(async () => {
    for (const end of ending) await server.run(end)
    ending = []
    await server.close()
  })

  async function start(controller: Controller): Promise<ClientTestbed> {
    const clientTestbed = await openTestbed(server)
    const { clock, random } = server
    const caches = createCaches({ client: clientTestbed.client, clock, random })
    const running = runController(controller, {
      client: clientTestbed.client,
      caches,
      clock,
      random,
      onError: (error) => void errors.push(String(error)),
    })
    ending.push(async () => {
      await running.stop()
      caches.stop()
    })
    return clientTestbed
  }
  const wait = (ms = 5000): Promise<void> => sleep(server.clock, ms)
  const namesIn = async (s: ClientTestbed): Promise<string[]> =>
    (await s.client.list(CONFIG_MAPS, { namespace: s.namespace })).items
      .map((map) => map.metadata.name ?? '')
      .filter((name) => name !== 'kube-root-ca.crt')

  const child = (of: KubeObject, name: string): Action => ({
    do: 'create',
    resource: CONFIG_MAPS,
    object: aConfigMap(`${of.metadata.namespace}/${name}`),
    events: { of, type: 'Normal', reason: 'Made', message: `made ${name}` },
    eventOnFailure: (why) => ({ of, type: 'Warning', reason: 'FailedMake', message: why }),
  })
  const forPrimary = (plan: (map: KubeObject) => Plan, over: Partial<Controller> = {}): Controller =>
    defineController<{ map: KubeObject | undefined }>({
      name: NAME,
      for: CONFIG_MAPS,
      writes: WRITES,
      observe: (_ref, map) => ({ map }),
      plan: ({ map }) => (map?.metadata.name === 'primary' ? plan(map) : NOTHING_TO_DO),
      ...(over as object),
    })

  it('is refused when the controller has not declared it', () =>
    server.run(async () => {
      const s = await start(forPrimary((map) => ({ actions: [{ do: 'delete', resource: CONFIG_MAPS, of: map }] })))
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await wait(10)
      assert.match(errors[0] ?? '', /test\.deeds may not delete configmaps: add it to its `writes`/)
      assert.deepEqual(await namesIn(s), ['primary'])
    }))

  it('is recorded with the write that makes it true, once, and counted when it happens again', () =>
    server.run(async () => {
      const s = await start(forPrimary((map) => ({ actions: [child(map, 'one')] })))
      const primary = await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await wait()
      const touch = (value: string) =>
        s.client.patch(CONFIG_MAPS, { namespace: s.namespace, name: 'primary' }, { type: 'merge', body: { data: { value } } })
      await touch('again')
      await wait()
      const events = async () => (await s.client.list(EVENTS, { namespace: s.namespace })).items
      assert.deepEqual(
        (await events()).map((event) => [event.reason, event.message, event.count]),
        [['Made', 'made one', 1]],
      )
      const [event] = await events()
      assert.deepEqual((event?.involvedObject as { uid?: string } | undefined)?.uid, primary.metadata.uid)
      await s.client.delete(CONFIG_MAPS, { namespace: s.namespace, name: 'one' })
      await touch('once more')
      await wait()
      assert.deepEqual(
        (await events()).map(({ count }) => count),
        [2],
      )
    }))

  it('is begun together in growing groups, and no further after a refusal', () =>
    server.run(async () => {
      const names = Array.from({ length: 20 }, (_, i) => (i === 4 ? 'Not A Name' : `child-${String(i).padStart(2, '0')}`))
      const s = await start(forPrimary((map) => ({ actions: [{ do: 'batch', actions: names.map((name) => child(map, name)) }] })))
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await wait(20)
      // Groups of 1, 2 and 4: the fifth is in the third group, and the fourth group is never sent.
      assert.deepEqual(await namesIn(s), ['child-00', 'child-01', 'child-02', 'child-03', 'child-05', 'child-06', 'primary'])
    }))

  it('is looked after when the answer is lost: a create with a chosen name happens once', () =>
    server.run(async () => {
      const s = await start(forPrimary((map) => ({ actions: [child(map, 'one')] })))
      let lost = 0
      s.plan((sent) => (sent.method === 'POST' && String(sent.body).includes('"one"') && lost++ === 0 ? { do: 'fail-after' } : undefined))
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await wait()
      assert.ok(lost >= 1)
      assert.deepEqual(await namesIn(s), ['one', 'primary'])
    }))

  it('may be an effect: begun once per key, its outcome an input of the next pass, tried again when it fails', () =>
    server.run(async () => {
      const seen: string[] = []
      let runs = 0
      const effect: Effect<string, string> = {
        name: `${NAME}.shout`,
        about: 'Says it louder.',
        timeoutMs: 1000,
        async run(input, { key }) {
          runs++
          if (runs === 1) throw new Error('lost my voice')
          return `${input.toUpperCase()} (${key})`
        },
      }
      const s = await start(
        defineController<Plan>({
          name: NAME,
          for: CONFIG_MAPS,
          writes: WRITES,
          effects: [effect as Effect],
          observe(_ref, map, read) {
            if (map?.metadata.name !== 'primary') return NOTHING_TO_DO
            const outcome = read.outcome(effect, 'k1')
            seen.push(outcome === undefined ? 'none' : outcome.state === 'done' ? outcome.value : outcome.state)
            return { actions: [], effects: [request(effect, 'k1', 'hello')] }
          },
          plan: (plan) => plan,
        }),
      )
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await wait()
      assert.equal(runs, 2)
      assert.equal(seen[0], 'none')
      assert.ok(seen.includes('failed'))
      assert.equal(seen.at(-1), 'HELLO (k1)')
      assert.match(errors.join(), /lost my voice/)
    }))

  it('may be an effect that takes too long: it is aborted, and counts as failed', () =>
    server.run(async () => {
      const states: string[] = []
      const effect: Effect<undefined, never> = {
        name: `${NAME}.hang`,
        about: 'Never ends.',
        timeoutMs: 500,
        run: () => new Promise(() => undefined),
      }
      const s = await start(
        defineController<Plan>({
          name: NAME,
          for: CONFIG_MAPS,
          writes: WRITES,
          effects: [effect as Effect],
          observe(_ref, map, read) {
            if (map?.metadata.name !== 'primary') return NOTHING_TO_DO
            const outcome = read.outcome(effect, 'k')
            if (outcome !== undefined) states.push(outcome.state)
            return outcome?.state === 'failed' ? NOTHING_TO_DO : { actions: [], effects: [request(effect, 'k', undefined)] }
          },
          plan: (plan) => plan,
        }),
      )
      await s.client.create(CONFIG_MAPS, aConfigMap(`${s.namespace}/primary`))
      await wait()
      assert.equal(states.at(-1), 'failed')
      assert.match(errors.join(), /took longer than 500 ms/)
    }))
})
