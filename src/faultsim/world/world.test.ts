import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sleep } from '../../base/clock.ts'
import { CONFIG_MAPS, NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import { aConfigMap, aNamespace, ownedBy } from '../builders/index.ts'
import { expectGone, expectThere } from '../expect/index.ts'
import { storedIn } from '../prover/end-state.ts'
import { aWorld, World } from './index.ts'
import { createVirtualClock } from './virtual-clock.ts'

async function recordSomething(world: World): Promise<void> {
  const owner = await world.hub.create(aConfigMap('default/owner'))
  await world.hub.create(aConfigMap('default/owned', ownedBy(owner)))
  await world.hub.create(aConfigMap('default/', { metadata: { name: undefined, generateName: 'some-' } }))
  await world.hub.delete(CONFIG_MAPS, 'default/owner')
  await world.hub.create(aNamespace('soon-gone'))
  await world.hub.delete(NAMESPACES, 'soon-gone')
  await world.settle()
}

describe('a world', () => {
  it('takes the same course with the same seed, write by write', async () => {
    const hashes: string[] = []
    for (const seed of [7, 7, 8]) {
      const world = await aWorld({ seed, members: 1 }).settle()
      await recordSomething(world)
      hashes.push(world.traceHash())
      await world.stop()
    }
    assert.equal(hashes[0], hashes[1])
    assert.notEqual(hashes[1], hashes[2])
  })

  it('has verbs for each cluster, and clusters that know nothing of each other', async () => {
    const world = await aWorld({ members: 2 }).with(aConfigMap('default/a')).settle()
    const [one, two] = world.members
    assert.ok(one !== undefined && two !== undefined)
    await one.create(aConfigMap('default/b'))
    await one.update(CONFIG_MAPS, 'default/b', (object) => {
      object.data = { key: 'updated' }
    })
    assert.deepEqual((await one.patch(CONFIG_MAPS, 'default/b', { data: { more: 'patched' } })).data, { key: 'updated', more: 'patched' })
    await expectThere(world.hub, CONFIG_MAPS, 'default/a')
    await expectGone(one, CONFIG_MAPS, 'default/a')
    await expectGone(two, CONFIG_MAPS, 'default/b')
    assert.equal((await one.list(CONFIG_MAPS, { namespace: 'default' })).length, 2)
    await world.stop()
  })

  it('begins where another one was, revision by revision', async () => {
    const first = await aWorld({ members: 1, nodes: 1 }).settle()
    const from = first.snapshot()
    const second = new World({ members: 1, nodes: 1, from })
    await second.start()
    await second.settle()
    assert.equal(second.clock.now(), from.nowMs)
    for (const [i, cluster] of second.clusters.entries()) {
      assert.equal(cluster.store.revision, first.clusters[i]?.store.revision, 'nothing is written')
      for (const { revision, object } of storedIn(cluster.store)) assert.equal(object.metadata.resourceVersion, String(revision))
    }
    await first.stop()
    await second.stop()
  })

  it('lets time pass only when told, and exactly as much', async () => {
    const world = await aWorld().settle()
    const startMs = world.clock.now()
    const called: number[] = []
    await world.inside(() => {
      for (const ms of [100, 50, 100, 20_000]) world.clock.after(ms, () => called.push(ms))
    })
    await world.advance(60)
    assert.deepEqual([called, world.clock.now() - startMs], [[50], 60])
    await world.advance(40)
    assert.deepEqual(called, [50, 100, 100])
    await world.inside(() => sleep(world.clock, 30_000))
    assert.deepEqual(called, [50, 100, 100, 20_000])
    assert.equal(world.clock.now() - startMs, 30_100)
    await world.stop()
  })

  it('says who is still busy when it does not settle', async () => {
    const world = await aWorld().settle()
    await world.inside(function again(): void {
      world.clock.after(1000, again)
    })
    await assert.rejects(world.settle({ withinMs: 60_000 }), /has not settled within 60000 ms.*timer in 1000 ms, set .*again/s)
    await world.stop()
  })

  it('says so when a call never ends', async () => {
    const world = await aWorld().settle()
    await assert.rejects(
      world.inside(() => new Promise(() => undefined)),
      /never ends/,
    )
  })
})

describe('the virtual clock', () => {
  it('fires in the order of time, then of setting; cancelled timers never', () => {
    const clock = createVirtualClock(0)
    const fired: string[] = []
    const set = (name: string, ms: number) => clock.after(ms, () => fired.push(`${name}@${clock.now()}`))
    set('late', 10)
    set('first', 5)
    const cancel = set('never', 5)
    set('second', 5)
    set('past', -3)
    cancel()
    cancel()
    while (clock.fireNext());
    assert.deepEqual(fired, ['past@0', 'first@5', 'second@5', 'late@10'])
    clock.moveTo(11)
    clock.after(4, () => undefined)
    assert.throws(() => clock.moveTo(16), /due before that/)
  })
})
