/**
 * The reference controller's stories on an API server in real time: ours, and a real kube-apiserver. The same controllers,
 * kinds and board as in the worlds; here they can only be watched from outside, and be killed.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Client, createClient } from '../../src/client/client.ts'
import { ifFound, isAlreadyExists } from '../../src/client/errors.ts'
import type { ServerUnderTest } from '../../src/client/suite-harness.ts'
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../../src/client/transport.ts'
import type { RunningControllers } from '../../src/composition.ts'
import { aCard, aGreeting } from '../../src/faultsim/reference/builders.ts'
import { FINALIZER } from '../../src/faultsim/reference/greeting/plan.ts'
import { CARDS, type Card, DEFINITIONS, GREETINGS, type Greeting } from '../../src/faultsim/reference/kinds.ts'
import { boardOf, REFERENCE, runCast, type WorldBoard } from '../../src/faultsim/reference/world.ts'
import type { WorldCluster } from '../../src/faultsim/world/index.ts'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, EVENTS, NAMESPACES } from '../../src/kinds/kubernetes/resources.ts'
import { findCondition, isConditionTrue } from '../../src/kube/conditions.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'

type Send = (request: TransportRequest) => Promise<TransportResponse>

interface Process {
  /** Requests that asked for a change, with the status of the answer. */
  writes: string[]
  busy(): string[]
  /** Gone at once: none of its requests is answered any more. */
  kill(): void
  stop(): Promise<void>
}

interface ProcessOptions {
  /** The process dies when the server has answered this many of its writes; it does not receive the last answer. */
  diesAfter?: number
  /** Intercepts writes of the controllers. */
  around?(request: TransportRequest, send: Send): Promise<TransportResponse>
}

const isWrite = ({ method }: TransportRequest): boolean => method !== 'GET'

class Testbed {
  readonly client: Client
  readonly board: WorldBoard
  readonly #server: ServerUnderTest
  /** What the world of the reference controllers needs of a cluster: a place for its board. */
  readonly #place: WorldCluster
  readonly #running = new Set<Process>()

  constructor(server: ServerUnderTest) {
    this.#server = server
    const things = new Map<string, unknown>()
    const thing = (name: string, make: () => unknown): unknown => {
      if (!things.has(name)) things.set(name, make())
      return things.get(name)
    }
    this.#place = { effects: { thing } } as unknown as WorldCluster
    this.board = boardOf(this.#place)
    const { transport, clock, random } = server
    this.client = createClient({ transport, clock, random, userAgent: 'story' })
  }

  start({ diesAfter = Number.POSITIVE_INFINITY, around }: ProcessOptions = {}): Process {
    const { clock, random, transport: server } = this.#server
    const writes: string[] = []
    const streams: (() => void)[] = []
    let isDead = false
    const gone = (): never => {
      throw new TransportError('the process is gone')
    }
    const send: Send = async (request) => {
      const response = await server.request(request)
      if (request.isStream === true) streams.push(() => response.cancel())
      return response
    }
    const transport: Transport = {
      async request(request) {
        if (isDead) return gone()
        const response = await (isWrite(request) && around !== undefined ? around(request, send) : send(request))
        if (isWrite(request)) writes.push(`${request.method} ${request.path.split('?')[0]} ${response.status}`)
        if (writes.length >= diesAfter) kill()
        return isDead ? gone() : response
      },
      close: async () => undefined,
    }
    let controllers: RunningControllers | undefined
    const process: Process = {
      writes,
      busy: () => controllers?.busy() ?? [],
      kill,
      stop: async () => {
        this.#running.delete(process)
        await controllers?.stop()
      },
    }
    function kill(): void {
      isDead = true
      for (const end of streams.splice(0)) end()
      void controllers?.stop()
    }
    this.#running.add(process)
    const log = { write: () => undefined }
    const own = { role: 'hub' as const, modules: [], authority: () => '', transportFor: () => transport }
    controllers = runCast(REFERENCE)({ ...own, clock, random, log }, this.#place)
    return process
  }

  /** Polls until it holds; on timeout, reports what did not. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = this.#server.clock.now() + 30_000
    while (!(await isSo())) {
      if (this.#server.clock.now() > deadline) throw new Error(`not so after 30 s: ${what}`)
      await this.pause(20)
    }
  }

  /** Nothing is left to do, and nothing more happens for a while. */
  async atRest(process: Process): Promise<void> {
    for (let quiet = 0; quiet < 25; await this.pause(20)) quiet = process.busy().length === 0 ? quiet + 1 : 0
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#server.clock.after(ms, resolve))
  }

  async find<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): Promise<T | undefined> {
    return ifFound(this.client.get(resource, { namespace, name }))
  }

  async greeting(namespace: string, name = 'hello'): Promise<Greeting> {
    const found = await this.find(GREETINGS, namespace, name)
    assert.ok(found !== undefined, `there is no greeting ${namespace}/${name}`)
    return found
  }

  async untilReady(namespace: string, name = 'hello'): Promise<Greeting> {
    const isReady = ({ metadata, status }: Greeting): boolean =>
      status?.observedGeneration === metadata.generation && isConditionTrue(status?.conditions, 'Ready')
    await this.until(`${namespace}/${name} is ready`, async () => isReady(await this.greeting(namespace, name)))
    return this.greeting(namespace, name)
  }

  /** Which people have been greeted, according to the existing ConfigMaps. */
  async people(namespace: string): Promise<string[]> {
    const { items } = await this.client.list(CONFIG_MAPS, { namespace })
    return items.flatMap(({ data }) => (data as Record<string, string> | undefined)?.to ?? []).sort()
  }

  texts(): string[] {
    return this.board.notices().map(({ text }) => text)
  }

  async end(): Promise<void> {
    for (const process of this.#running) await process.stop()
  }
}

export function referenceSuite(name: string, open: () => Promise<ServerUnderTest>): void {
  describe(name, { timeout: 300_000 }, () => {
    let server: ServerUnderTest
    let testbeds = 0
    before(async () => {
      server = await open()
      const { client } = new Testbed(server)
      for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition)
      const isServed = async ({ metadata }: KubeObject): Promise<boolean> => {
        const { status } = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name: metadata.name ?? '' })
        return isConditionTrue((status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions, 'Established')
      }
      for (const definition of DEFINITIONS) await new Testbed(server).until('served', () => isServed(definition))
    })
    after(() => server.close())

    /** A testbed with its own namespace; what runs there stops with the story. */
    function story(what: string, play: (testbed: Testbed, namespace: string) => Promise<void>): void {
      it(what, async () => {
        const testbed = new Testbed(server)
        const namespace = `story-${++testbeds}`
        const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
        await testbed.client.create(NAMESPACES, object).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error
        })
        try {
          await play(testbed, namespace)
        } finally {
          await testbed.end()
        }
      })
    }

    story('a greeting reaches people, board and card, and says so with the generation it is about', async (testbed, namespace) => {
      testbed.start()
      await testbed.client.create(GREETINGS, aGreeting(`${namespace}/hello`, { text: 'hi', to: ['ann', 'bob'], card: 'red' }))
      await testbed.until(
        'it waits for its card',
        async () => (await testbed.greeting(namespace)).status?.conditions?.[0]?.reason === 'CardMissing',
      )
      await testbed.client.create(CARDS, aCard(`${namespace}/red`))
      const greeting = await testbed.untilReady(namespace)
      const ready = findCondition(greeting.status?.conditions, 'Ready')
      assert.deepEqual([greeting.metadata.generation, greeting.status?.observedGeneration, ready?.observedGeneration], [1, 1, 1])
      assert.deepEqual([greeting.metadata.finalizers, greeting.status?.delivered, testbed.texts()], [[FINALIZER], 2, ['hi']])
      assert.deepEqual(await testbed.people(namespace), ['ann', 'bob'])
      const { items } = await testbed.client.list(CONFIG_MAPS, { namespace })
      const owned = items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === greeting.metadata.uid)
      assert.ok(owned.length === 2 && owned.every(({ metadata }) => metadata.ownerReferences?.[0]?.controller === true))
      const card = (await testbed.find(CARDS, namespace, 'red')) as Card
      assert.deepEqual(
        card.status?.usedBy?.map(({ uid }) => uid),
        [greeting.metadata.uid],
      )
      const events = async (): Promise<string[]> =>
        (await testbed.client.list(EVENTS, { namespace })).items.map(({ reason, message }) => `${reason}: ${message}`)
      await testbed.until('the event is there', async () => (await events()).length > 0)
      assert.deepEqual(await events(), ['Greeted: 2 people have been greeted'])
    })

    story('a change is followed, and what was deleted by hand comes back', async (testbed, namespace) => {
      testbed.start()
      await testbed.client.create(GREETINGS, aGreeting(`${namespace}/hello`, { text: 'hi', to: ['ann', 'bob'] }))
      await testbed.untilReady(namespace)
      const change = { type: 'merge' as const, body: { spec: { text: 'bye', to: ['bob', 'cleo'] } } }
      await testbed.client.patch(GREETINGS, { namespace, name: 'hello' }, change)
      const greeting = await testbed.untilReady(namespace)
      assert.deepEqual([greeting.metadata.generation, greeting.status?.conditions?.[0]?.observedGeneration], [2, 2])
      assert.deepEqual([await testbed.people(namespace), testbed.texts()], [['bob', 'cleo'], ['bye']])
      const { items } = await testbed.client.list(CONFIG_MAPS, { namespace })
      const bob = items.find(({ data }) => (data as Record<string, string>).to === 'bob')
      await testbed.client.delete(CONFIG_MAPS, { namespace, name: bob?.metadata.name ?? '' })
      await testbed.until('bob has it again', async () => (await testbed.people(namespace)).join() === 'bob,cleo')
    })

    story('an end: the notice comes down before the finalizer goes, and nothing is left behind', async (testbed, namespace) => {
      testbed.start()
      await testbed.client.create(GREETINGS, aGreeting(`${namespace}/hello`, { to: ['ann', 'bob'] }))
      await testbed.untilReady(namespace)
      const { takeDown } = testbed.board
      let release: () => void = () => undefined
      const isAllowed = new Promise<void>((resolve) => {
        release = resolve
      })
      testbed.board.takeDown = async (id) => {
        await isAllowed
        await takeDown(id)
      }
      await testbed.client.delete(GREETINGS, { namespace, name: 'hello' })
      await testbed.pause(500)
      const going = await testbed.greeting(namespace)
      assert.deepEqual([going.metadata.deletionTimestamp !== undefined, going.metadata.finalizers], [true, [FINALIZER]])
      release()
      await testbed.until('it is gone', async () => (await testbed.find(GREETINGS, namespace, 'hello')) === undefined)
      await testbed.until('its ConfigMaps are gone', async () => (await testbed.people(namespace)).length === 0)
      assert.deepEqual(testbed.texts(), [])
    })

    story('another writer: a conflict is decided again, and what they wrote stays', async (testbed, namespace) => {
      let meddled = 0
      const process = testbed.start({
        async around(request, send) {
          if (request.path.includes('/greetings/') && meddled < 3) {
            meddled++
            const body = { metadata: { labels: { meddled: `${meddled}` } } }
            await testbed.client.patch(GREETINGS, { namespace, name: 'hello' }, { type: 'merge', body })
          }
          return send(request)
        },
      })
      await testbed.client.create(GREETINGS, aGreeting(`${namespace}/hello`, { to: ['ann'] }))
      const greeting = await testbed.untilReady(namespace)
      assert.deepEqual(greeting.metadata.labels, { meddled: '3' })
      assert.equal(process.writes.filter((write) => write.endsWith(' 409')).length, 3)
    })

    story('a restart is quiet: not one write', async (testbed, namespace) => {
      const first = testbed.start()
      await testbed.client.create(CARDS, aCard(`${namespace}/red`))
      await testbed.client.create(GREETINGS, aGreeting(`${namespace}/hello`, { to: ['ann', 'bob'], card: 'red' }))
      await testbed.client.create(GREETINGS, aGreeting(`${namespace}/other`, { to: [] }))
      await testbed.untilReady(namespace)
      await testbed.untilReady(namespace, 'other')
      await testbed.atRest(first)
      await first.stop()
      assert.ok(first.writes.length > 5)
      const before = await testbed.greeting(namespace)
      const second = testbed.start()
      await testbed.pause(500)
      await testbed.atRest(second)
      assert.deepEqual(second.writes, [])
      assert.equal((await testbed.greeting(namespace)).metadata.resourceVersion, before.metadata.resourceVersion)
    })

    story('a crash after any of its first writes heals: everybody is greeted once', async (testbed, namespace) => {
      for (let k = 1; k <= 6; k++) {
        const name = `hello-${k}`
        const first = testbed.start({ diesAfter: k })
        await testbed.client.create(GREETINGS, aGreeting(`${namespace}/${name}`, { text: name, to: ['ann', 'bob'] }))
        await testbed.until(`it has died of write ${k}`, () => first.writes.length >= k)
        first.kill()
        const second = testbed.start()
        await testbed.untilReady(namespace, name)
        await testbed.atRest(second)
        assert.deepEqual(await testbed.people(namespace), ['ann', 'bob'])
        assert.ok(testbed.texts().includes(name))
        await testbed.client.delete(GREETINGS, { namespace, name })
        await testbed.until('it is gone', async () => (await testbed.people(namespace)).length === 0)
        await second.stop()
      }
      assert.deepEqual(testbed.texts(), [])
    })

    story('it goes by itself when its time is over', async (testbed, namespace) => {
      testbed.start()
      await testbed.client.create(GREETINGS, aGreeting(`${namespace}/short`, { to: ['ann'], ttlSeconds: 2 }))
      await testbed.until('it is gone', async () => (await testbed.find(GREETINGS, namespace, 'short')) === undefined)
      assert.deepEqual(testbed.texts(), [])
    })
  })
}
