import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createVirtualClock } from '../../faultsim/world/virtual-clock.ts'
import { CONFIG_MAPS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Client, ListOptions, ListResult } from '../client.ts'
import { createAsOf } from './as-of.ts'
import type { Informer } from './informer.ts'

const configMap = (name: string, revision: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'a', name, resourceVersion: String(revision) },
})

/** A server whose lists the test answers, and a cache that the test moves on. */
function aServer() {
  const lists: { namespace: string | undefined; answer(result: ListResult): void; fail(error: Error): void }[] = []
  const waiting = new Set<() => void>()
  const objects = new Map<string, KubeObject>()
  const state = { revision: 10 }
  const deleted: string[] = []
  const see = (revision: number, ...seen: KubeObject[]): void => {
    for (const object of seen) objects.set(object.metadata.name ?? '', object)
    for (const name of deleted.splice(0)) objects.delete(name)
    state.revision = revision
    for (const look of [...waiting]) look()
  }
  const informer = {
    resource: CONFIG_MAPS,
    hasSynced: true,
    get revision() {
      return state.revision
    },
    get: (_namespace: string, name: string) => objects.get(name),
    list: () => [...objects.values()],
    until: (condition: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (!condition()) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  } as unknown as Informer
  const client = {
    list: (_resource: unknown, { namespace }: ListOptions = {}) =>
      new Promise<ListResult>((answer, fail) => lists.push({ namespace, answer, fail })),
  } as unknown as Client
  const stop = new AbortController()
  const clock = createVirtualClock(0)
  const errors: unknown[] = []
  const asOf = createAsOf({ client, clock, informer, signal: stop.signal, onError: (error) => errors.push(error) })
  /** With the next that is seen. */
  const lose = (name: string): void => void deleted.push(name)
  return { asOf, lists, see, lose, stop, clock, errors }
}

const turn = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

/** Whether a promise has resolved by now. */
async function isDone(promise: Promise<void>): Promise<boolean> {
  let done = false
  void promise.then(() => {
    done = true
  })
  await turn()
  return done
}

describe('a cache as of a revision', () => {
  it('that is newer is known to reflect it, without a request', () => {
    const { asOf, lists } = aServer()
    assert.deepEqual([asOf.reflects('a', 10), asOf.reflects('a', 11), lists.length], [true, false, 0])
  })

  it('is asked about once for everybody who waits, and confirmed for the namespace alone', async () => {
    const { asOf, lists } = aServer()
    const both = [asOf.catchUp('a', 12), asOf.catchUp('a', 13)]
    await turn()
    assert.deepEqual(
      lists.map(({ namespace }) => namespace),
      ['a'],
    )
    lists[0]?.answer({ items: [], resourceVersion: '14' })
    await Promise.all(both)
    assert.deepEqual([asOf.reflects('a', 14), asOf.reflects('a', 15), asOf.reflects('b', 14)], [true, false, false])
  })

  it('is asked about again where the list was made before the revision', async () => {
    const { asOf, lists } = aServer()
    const wait = asOf.catchUp('a', 20)
    await turn()
    lists[0]?.answer({ items: [], resourceVersion: '19' })
    await turn()
    assert.equal(lists.length, 2)
    lists[1]?.answer({ items: [], resourceVersion: '20' })
    await wait
  })

  it('waits for what the server has and the cache has not', async () => {
    const { asOf, lists, see } = aServer()
    see(10, configMap('old', 5))
    const wait = asOf.catchUp('a', 12)
    await turn()
    lists[0]?.answer({ items: [configMap('old', 5), configMap('new', 11)], resourceVersion: '12' })
    assert.equal(await isDone(wait), false)
    assert.equal(asOf.reflects('a', 12), false)
    see(11, configMap('new', 11))
    await wait
    assert.ok(asOf.reflects('a', 12))
  })

  it('waits until what the server has no longer is gone from the cache', async () => {
    const { asOf, lists, see, lose } = aServer()
    see(20, configMap('one', 15), configMap('late', 16))
    const caughtUp = asOf.catchUp('a', 30)
    await turn()
    lists[0]?.answer({ items: [configMap('one', 15)], resourceVersion: '31' } as ListResult)
    assert.equal(await isDone(caughtUp), false)
    assert.equal(asOf.reflects('a', 30), false)
    lose('late')
    see(25)
    assert.equal(await isDone(caughtUp), true)
    assert.equal(asOf.reflects('a', 30), true)
  })

  it('does not wait for what came after the list', async () => {
    const { asOf, lists, see } = aServer()
    const caughtUp = asOf.catchUp('a', 30)
    await turn()
    see(20, configMap('new', 33))
    lists[0]?.answer({ items: [], resourceVersion: '31' } as unknown as ListResult)
    assert.equal(await isDone(caughtUp), true)
  })

  it('does not wait for ever for an object that is deleted meanwhile', async () => {
    const { asOf, lists, see } = aServer()
    const wait = asOf.catchUp('a', 12)
    await turn()
    lists[0]?.answer({ items: [configMap('short', 11)], resourceVersion: '12' })
    await turn()
    see(11)
    await turn()
    assert.equal(lists.length, 2, 'the cache moved on without it: the server is asked again')
    lists[1]?.answer({ items: [], resourceVersion: '13' })
    await wait
  })

  it('is unknown while the server fails, which is reported and retried', async () => {
    const { asOf, lists, clock, errors } = aServer()
    const wait = asOf.catchUp('a', 12)
    await turn()
    lists[0]?.fail(new Error('no'))
    assert.equal(await isDone(wait), false)
    assert.equal(errors.length, 1)
    clock.fireNext()
    await turn()
    lists[1]?.answer({ items: [], resourceVersion: '12' })
    await wait
  })

  it('is given up when the informer stops', async () => {
    const { asOf, lists, stop } = aServer()
    const wait = asOf.catchUp('a', 12)
    await turn()
    stop.abort()
    lists[0]?.fail(new Error('aborted'))
    await wait
  })
})
