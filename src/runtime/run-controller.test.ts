import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCaches } from '../client/cache/caches.ts'
import { createClient } from '../client/client.ts'
import { type Transport, TransportError, type TransportRequest } from '../client/transport.ts'
import { World } from '../faultsim/world/index.ts'
import { CONFIG_MAPS, EVENTS, SECRETS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { type Action, type Controller, defineController, type EventIntent, NOTHING_TO_DO, type Plan } from './controller.ts'
import { type RunningController, runController } from './run-controller.ts'
import type { Pass } from './workers.ts'

type Send = (request: TransportRequest) => ReturnType<Transport['request']>

interface Testbed {
  world: World
  running: RunningController
  /** Requests of the controller itself, without those of its caches. */
  sent: string[]
  errors: string[]
  passes: Pass[]
  /** Intercepts its requests. */
  around: ((request: TransportRequest, send: Send) => ReturnType<Send>) | undefined
}

/** One controller over ConfigMaps in a world where nothing else runs. */
async function aTestbed(controller: Controller): Promise<Testbed> {
  const testbed = { sent: [], errors: [], passes: [], around: undefined } as unknown as Testbed
  testbed.world = new World({
    controllers(options) {
      const { clock, random } = options
      const caches = createCaches({
        client: createClient({ transport: options.transportFor('caches'), clock, random, userAgent: 't' }),
        clock,
        random,
      })
      const inner = options.transportFor(controller.name)
      const transport: Transport = {
        async request(request) {
          testbed.sent.push(`${request.method} ${request.path.split('?')[0]?.split('/').slice(-2).join('/')}`)
          return testbed.around === undefined ? inner.request(request) : testbed.around(request, (one) => inner.request(one))
        },
        close: inner.close,
      }
      const client = createClient({ transport, clock, random, userAgent: 't' })
      const onError = (error: unknown, name: string, key: string): void =>
        void testbed.errors.push(`${name} ${key}: ${(error as Error).message}`)
      testbed.running = runController(controller, { client, caches, clock, random, onError, onPass: (pass) => testbed.passes.push(pass) })
      return {
        busy: () => [...caches.behind(), ...testbed.running.busy()],
        resync: () => testbed.running.resync(),
        async stop() {
          await testbed.running.stop()
          caches.stop()
        },
      }
    },
  })
  await testbed.world.start()
  return testbed
}

const aMap = (name: string, data: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})
const aSecret = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default' },
  stringData: { a: '1' },
})

interface Seen {
  map: KubeObject | undefined
  failure: string | undefined
  /** The ConfigMap `child`. */
  child: KubeObject | undefined
}

/** For the ConfigMaps of one namespace: a server creates others itself. */
function controllerOf(plan: (seen: Seen) => Plan, more: Pick<Controller, 'isRelevant' | 'isRelevantUpdate' | 'watches'> = {}): Controller {
  return defineController<Seen>({
    name: 'test.maps',
    for: CONFIG_MAPS,
    writes: [
      { resource: SECRETS, verbs: ['create'] },
      { resource: CONFIG_MAPS, verbs: ['create', 'patch', 'delete'] },
    ],
    observe: (_ref, map, read) => ({
      map,
      failure: read.lastFailure()?.message,
      child: read.get(CONFIG_MAPS, 'default', 'child'),
    }),
    plan: (seen) => (seen.map?.metadata.namespace === 'default' ? plan(seen) : NOTHING_TO_DO),
    ...more,
  })
}

const labelled = (of: KubeObject, labels: Record<string, string>): Action => ({
  do: 'patch',
  resource: CONFIG_MAPS,
  of,
  patch: { metadata: { labels } },
})

describe('running a controller', () => {
  it('refuses a write that is not declared: nothing is sent, it is reported, and the next pass knows why', async () => {
    const failures: (string | undefined)[] = []
    const testbed = await aTestbed(
      controllerOf(({ map, failure }) => {
        failures.push(failure)
        return { actions: map === undefined ? [] : [{ do: 'delete', resource: SECRETS, of: map }] }
      }),
    )
    await testbed.world.hub.create(aMap('a'))
    await testbed.world.advance(200)
    const why = 'test.maps may not delete secrets: add it to its `writes`'
    assert.deepEqual([testbed.sent, testbed.errors[0], failures.slice(0, 2)], [[], `test.maps default/a: ${why}`, [undefined, why]])
    await testbed.world.stop()
  })

  it('decides again at once after a conflict, without a complaint', async () => {
    const testbed = await aTestbed(
      controllerOf(({ map }) => ({ actions: map === undefined || map.metadata.labels?.seen ? [] : [labelled(map, { seen: 'yes' })] })),
    )
    const { hub } = testbed.world
    let isFirst = true
    testbed.around = async (request, send) => {
      if (isFirst) {
        isFirst = false
        await hub.client.patch(CONFIG_MAPS, { namespace: 'default', name: 'a' }, { type: 'merge', body: { data: { other: 'writer' } } })
      }
      return send(request)
    }
    await hub.create(aMap('a'))
    await testbed.world.settle()
    const map = await hub.get(CONFIG_MAPS, 'default/a')
    assert.deepEqual([map?.metadata.labels, map?.data, testbed.errors], [{ seen: 'yes' }, { other: 'writer' }, []])
    assert.deepEqual(
      testbed.passes.filter(({ key }) => key === 'default/a').map(({ result }) => result),
      ['conflict', 'done', 'done'],
    )
    await testbed.world.stop()
  })

  it('asks the server after a write without an answer before it decides again, and does not repeat it', async () => {
    let decisions = 0
    const testbed = await aTestbed(
      controllerOf(({ map, child }) => {
        if (map?.metadata.name !== 'a' || child !== undefined) return NOTHING_TO_DO
        decisions++
        return { actions: [{ do: 'create', resource: CONFIG_MAPS, object: aMap('child') }] }
      }),
    )
    let isFirst = true
    testbed.around = async (request, send) => {
      const response = await send(request)
      if (request.method !== 'POST' || !isFirst) return response
      isFirst = false
      throw new TransportError('the connection broke')
    }
    await testbed.world.hub.create(aMap('a'))
    await testbed.world.settle()
    assert.deepEqual([testbed.sent, decisions], [['POST default/configmaps', 'GET configmaps/child'], 1])
    assert.deepEqual(testbed.errors, ['test.maps default/a: the connection broke'])
    await testbed.world.stop()
  })

  it('sends nothing more of a plan once it is told to stop, and ends when what is on its way has ended', async () => {
    const names = ['one', 'two', 'three']
    const testbed = await aTestbed(
      controllerOf(({ map }) => ({
        actions: map === undefined ? [] : names.map((name): Action => ({ do: 'create', resource: SECRETS, object: aSecret(name) })),
      })),
    )
    let isStopped = false
    testbed.around = async (request, send) => {
      void testbed.running.stop().then(() => {
        isStopped = true
      })
      const response = await send(request)
      assert.equal(isStopped, false, 'it waits for the write that is on its way')
      return response
    }
    await testbed.world.hub.create(aMap('a'))
    await testbed.world.advance(1000)
    assert.deepEqual([testbed.sent, isStopped, testbed.errors], [['POST default/secrets'], true, []])
    await testbed.world.hub.create(aMap('b'))
    await testbed.world.advance(1000)
    assert.equal(testbed.sent.length, 1, 'and nothing begins afterwards')
    await testbed.world.stop()
  })

  it('records events with the write that makes them true, failures when it is refused, and keyed events once', async () => {
    const event = (of: KubeObject, reason: string): EventIntent => ({ of, type: 'Normal', reason, message: reason })
    const testbed = await aTestbed(
      controllerOf(({ map }) => {
        if (map === undefined) return { actions: [] }
        const events = [{ ...event(map, 'Strange'), key: 'strange' }]
        if (map.metadata.labels?.seen) return { actions: [], events }
        const bad = { ...aSecret('Not A Name') }
        const create: Action = { do: 'create', resource: SECRETS, object: bad, eventOnFailure: () => event(map, 'Refused') }
        return { actions: [{ ...labelled(map, { seen: 'yes' }), events: event(map, 'Labelled') }, create], events }
      }),
    )
    await testbed.world.hub.create(aMap('a'))
    await testbed.world.settle()
    for (let i = 0; i < 3; i++) {
      await testbed.world.hub.patch(CONFIG_MAPS, 'default/a', { data: { change: `${i}` } })
      await testbed.world.settle()
    }
    const reported = (await testbed.world.hub.list(EVENTS, { namespace: 'default' })).map(({ reason, count }) => `${reason} ${count}`)
    assert.deepEqual(reported.sort(), ['Labelled 1', 'Refused 1', 'Strange 1'])
    await testbed.world.stop()
  })

  it('sends what belongs together in growing groups, and no further group after a refusal', async () => {
    const actions = Array.from(
      { length: 20 },
      (_, i): Action => ({ do: 'create', resource: SECRETS, object: aSecret(i === 4 ? 'Bad Name' : `s${i}`) }),
    )
    const testbed = await aTestbed(controllerOf(({ map }) => ({ actions: map === undefined ? [] : [{ do: 'batch', actions }] })))
    await testbed.world.hub.create(aMap('a'))
    await testbed.world.advance(30)
    assert.equal(testbed.sent.length, 7, 'one, two and four; the bad one is among the four')
    await testbed.running.stop()
    await testbed.world.stop()
  })

  it('sends all of what is independent, and then counts the first refusal', async () => {
    const actions = Array.from(
      { length: 20 },
      (_, i): Action => ({ do: 'create', resource: SECRETS, object: aSecret(i === 0 ? 'Bad Name' : `s${i}`) }),
    )
    const testbed = await aTestbed(
      controllerOf(({ map }) => ({ actions: map === undefined ? [] : [{ do: 'batch', actions, areIndependent: true }] })),
    )
    await testbed.world.hub.create(aMap('a'))
    await testbed.world.advance(1)
    assert.equal(testbed.sent.length, 20)
    assert.match(testbed.errors[0] ?? '', /Bad Name/)
    await testbed.running.stop()
    await testbed.world.stop()
  })

  it('lets the plan deal with refusals, after all of what is independent was sent', async () => {
    const names = ['Bad Name', 'there', 'new']
    const actions = names.map((name): Action => ({ do: 'create', resource: SECRETS, object: aSecret(name), mustBeNew: true }))
    let reported: string[] = []
    const testbed = await aTestbed(
      controllerOf(({ map, child }) => {
        if (map?.metadata.name !== 'a' || child !== undefined) return NOTHING_TO_DO
        return {
          actions: [
            {
              do: 'batch',
              actions,
              areIndependent: true,
              conclude(results) {
                reported = results.map(({ object, failure }) => failure?.reason ?? object?.metadata.name ?? '')
                return { actions: [{ do: 'create', resource: CONFIG_MAPS, object: aMap('child') }] }
              },
            },
          ],
        }
      }),
    )
    await testbed.world.hub.create(aSecret('there'))
    await testbed.world.hub.create(aMap('a'))
    await testbed.world.settle()
    assert.deepEqual(reported, ['Invalid', 'AlreadyExists', 'new'])
    assert.deepEqual(testbed.errors, [], 'what the plan deals with is no failure')
    assert.notEqual(await testbed.world.hub.get(CONFIG_MAPS, 'default/child'), undefined)
    await testbed.world.stop()
  })

  it('fails a pass whose conclusion asks to try again', async () => {
    const create: Action = { do: 'create', resource: SECRETS, object: aSecret('there'), mustBeNew: true }
    const conclude = () => ({ actions: [], mustRetry: true })
    const seen: (string | undefined)[] = []
    const testbed = await aTestbed(
      controllerOf(({ map, failure }) => {
        if (map?.metadata.name !== 'a') return NOTHING_TO_DO
        seen.push(failure)
        return { actions: failure === undefined ? [{ do: 'batch', actions: [create], conclude }] : [] }
      }),
    )
    await testbed.world.hub.create(aSecret('there'))
    await testbed.world.hub.create(aMap('a'))
    await testbed.world.settle()
    assert.deepEqual(seen, [undefined, 'secrets "there" already exists'])
    await testbed.world.stop()
  })

  it('does not run for an update that is not relevant, of its own or of what it watches', async () => {
    let passes = 0
    const ownOrOf = (object: KubeObject): string => JSON.stringify(object.metadata.labels ?? {})
    const isRelevantUpdate = (old: KubeObject, object: KubeObject): boolean => ownOrOf(old) !== ownOrOf(object)
    const keysFor = () => [{ namespace: 'default', name: 'a' }]
    const testbed = await aTestbed(
      controllerOf(
        () => {
          passes++
          return NOTHING_TO_DO
        },
        { isRelevantUpdate, watches: [{ resource: SECRETS, keysFor, isRelevantUpdate }] },
      ),
    )
    const { hub } = testbed.world
    const ranFor = async (operation: Promise<unknown>): Promise<number> => {
      const before = passes
      await operation
      await testbed.world.settle()
      return passes - before
    }
    assert.equal(await ranFor(hub.create(aMap('a'))), 1)
    assert.equal(await ranFor(hub.create(aSecret('s'))), 1)
    assert.equal(await ranFor(hub.patch(CONFIG_MAPS, 'default/a', { data: { more: 'x' } })), 0)
    assert.equal(await ranFor(hub.patch(SECRETS, 'default/s', { data: { more: 'eA==' } })), 0)
    assert.equal(await ranFor(hub.patch(CONFIG_MAPS, 'default/a', { metadata: { labels: { a: 'b' } } })), 1)
    assert.equal(await ranFor(hub.patch(SECRETS, 'default/s', { metadata: { labels: { a: 'b' } } })), 1)
    assert.equal(await ranFor(hub.delete(SECRETS, 'default/s')), 1)
    await testbed.world.stop()
  })

  it('runs only for what concerns it, and for what no longer does', async () => {
    const seen: string[] = []
    const testbed = await aTestbed(
      controllerOf(
        ({ map }) => {
          seen.push(`${map?.metadata.name} ${map?.metadata.labels?.mine}`)
          return { actions: [] }
        },
        { isRelevant: ({ metadata }) => metadata.labels?.mine === 'yes' },
      ),
    )
    const { hub } = testbed.world
    await hub.create(aMap('other'))
    await hub.create({ ...aMap('a'), metadata: { ...aMap('a').metadata, labels: { mine: 'yes' } } })
    await testbed.world.settle()
    await hub.patch(CONFIG_MAPS, 'default/a', { metadata: { labels: { mine: 'no' } } })
    await testbed.world.settle()
    await hub.patch(CONFIG_MAPS, 'default/a', { data: { more: 'x' } })
    await testbed.world.settle()
    assert.deepEqual(seen, ['a yes', 'a no'])
    await testbed.world.stop()
  })
})
