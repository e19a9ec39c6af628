import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sleep } from '../../src/base/clock.ts'
import { type Random, seededRandom } from '../../src/base/random.ts'
import { type Informer, startInformer } from '../../src/client/cache/informer.ts'
import type { CacheEvent } from '../../src/client/cache/object-cache.ts'
import { createClient } from '../../src/client/client.ts'
import { type FaultPlan, faultyTransport, seeded } from '../../src/client/fault/fault-transport.ts'
import { type ClientTestbed, configMap, openTestbed, type ServerUnderTest } from '../../src/client/suite-harness.ts'
import { CONFIG_MAPS } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { inProcessServer } from './servers.ts'

const SEEDS = 60
const STEPS = 40

/** The state as known to a subscriber that only sees the events; reports events that make no sense. */
class Listener {
  readonly known = new Map<string, KubeObject>()
  events = 0

  hear({ type, object, old }: CacheEvent): void {
    this.events++
    const name = object.metadata.name ?? ''
    const before = this.known.get(name)
    assert.equal(
      before?.metadata.resourceVersion,
      old?.metadata.resourceVersion,
      `${type} ${name}: the old state is not what was told before`,
    )
    if (type === 'added') assert.equal(before, undefined, `${name} added twice`)
    else assert.ok(before !== undefined, `${name} ${type} without having been added`)
    if (type === 'updated') {
      assert.equal(object.metadata.uid, before?.metadata.uid, `${name} became another object without a word`)
      assert.ok(Number(object.metadata.resourceVersion) > Number(before?.metadata.resourceVersion), `${name} went back in time`)
    }
    if (type === 'deleted') this.known.delete(name)
    else this.known.set(name, object)
  }
}

describe('an informer under random faults', () => {
  let server: ServerUnderTest
  before(async () => {
    server = await inProcessServer(11)
  })
  after(() => server.close())

  it(`ends with the server's state, told of by events that fit together, for ${SEEDS} seeds`, async () => {
    const totals = { events: 0, faults: 0 }
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { events, faults } = await server.run(() => run(server, seed))
      totals.events += events
      totals.faults += faults
    }
    // Otherwise nothing was exercised.
    assert.ok(totals.events > SEEDS * 10 && totals.faults > SEEDS * 3, JSON.stringify(totals))
  })
})

async function run(server: ServerUnderTest, seed: number): Promise<{ events: number; faults: number }> {
  const random = seededRandom(seed)
  const testbed = await openTestbed(server)
  const stop = new AbortController()
  let isOn = true
  let faults = 0
  const drawn = seeded(random, { rate: random.next() * 0.15, watchRate: random.next() * 0.5, delayMs: 3000 }, () => isOn)
  // An undisturbed watch would outlive this story: all are cut in the end.
  const plan: FaultPlan = (request) =>
    drawn(request) ?? (isOn && request.isStream ? { do: 'cut', afterLines: 2 + Math.floor(random.next() * 8) } : undefined)
  const onRequest = (_request: unknown, fault: unknown): void => void (fault !== undefined && faults++)
  const transport = faultyTransport(server.transport, { clock: server.clock, plan, onRequest })
  const client = createClient({ transport, clock: server.clock, random, userAgent: 'faulty', tries: 2 })
  const { namespace } = testbed
  const informer = startInformer({ client, clock: server.clock, random, resource: CONFIG_MAPS, namespace, signal: stop.signal })
  const listener = new Listener()
  informer.subscribe((event) => listener.hear(event))
  let newest = 0
  for (let step = 0; step < STEPS; step++) {
    await change(testbed, random)
    assert.ok(informer.revision >= newest, `seed ${seed}: the cache went back in time`)
    newest = informer.revision
  }
  isOn = false
  const truth = await testbed.client.list(CONFIG_MAPS, { namespace })
  await sleep(server.clock, 90_000)
  compare(seed, informer, listener, truth.items)
  stop.abort()
  return { events: listener.events, faults }
}

function compare(seed: number, informer: Informer, listener: Listener, truth: readonly KubeObject[]): void {
  const states = (objects: Iterable<KubeObject>): string[] =>
    [...objects].map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort()
  assert.deepEqual(states(informer.list()), states(truth), `seed ${seed}: the cache differs from the server`)
  assert.deepEqual(states(listener.known.values()), states(truth), `seed ${seed}: the events differ from the server`)
}

/** Makes one random change, and lets a random time pass. */
async function change({ client, namespace, server }: ClientTestbed, random: Random): Promise<void> {
  const name = `n${Math.floor(random.next() * 5)}`
  const held = (await client.list(CONFIG_MAPS, { namespace })).items.find((object) => object.metadata.name === name)
  const chance = random.next()
  if (held === undefined) await client.create(CONFIG_MAPS, configMap(namespace, name))
  else if (chance < 0.5) await client.update(CONFIG_MAPS, { ...held, data: { key: String(random.next()) } })
  else await client.delete(CONFIG_MAPS, { namespace, name })
  // Sometimes recreated at once under the same name, sometimes the server drops its history.
  if (held !== undefined && chance > 0.8) await client.create(CONFIG_MAPS, configMap(namespace, name))
  if (chance > 0.95) await server.forget?.()
  if (random.next() < 0.7) await sleep(server.clock, Math.ceil(random.next() * 2000))
}
