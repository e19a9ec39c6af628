import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONFIG_MAPS, EVENTS } from '../../../kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../../../kube/conditions.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { expectGone, expectQuiet, expectThere } from '../../expect/index.ts'
import { survives } from '../../survives.ts'
import { World, type WorldCluster } from '../../world/index.ts'
import { aCard, aGreeting } from '../builders.ts'
import { card } from '../card/controller.ts'
import { CARDS, type Card, DEFINITIONS, GREETINGS, type Greeting } from '../kinds.ts'
import { survivalOf } from '../survival.ts'
import { boardOf, REFERENCE, runCast } from '../world.ts'
import { type Board, boardEffects } from './board.ts'
import { greeting } from './controller.ts'
import { childOf, FINALIZER, type Observed, plannedWith } from './plan.ts'

const NO_BOARD: Board = { put: async () => undefined, takeDown: async () => undefined }
const plan = plannedWith(boardEffects(NO_BOARD))

/** One greeting as it is stored once its finalizer is there. */
function stored(changes: Partial<Greeting> = {}): Greeting {
  const object = aGreeting('default/hello', { to: ['ann', 'bob'] }) as Greeting
  const metadata = { ...object.metadata, uid: 'u1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z', finalizers: [FINALIZER] }
  return { ...object, metadata, ...changes }
}

const NOW_MS = Date.parse('2026-01-01T00:00:10Z')
const seen = (of: Greeting | undefined, more: Partial<Observed> = {}): Observed => ({
  greeting: of,
  card: undefined,
  children: [],
  put: undefined,
  takenDown: undefined,
  isFresh: true,
  nowMs: NOW_MS,
  ...more,
})
const READY = { type: 'Ready', status: 'True', reason: 'Greeted', message: 'everybody has it', observedGeneration: 1 }
const settled = {
  observedGeneration: 1,
  delivered: 2,
  postedGeneration: 1,
  conditions: [{ ...READY, lastTransitionTime: '2026-01-01T00:00:05Z' }],
}

describe('the plan for a greeting', () => {
  const done = (observed: Observed): string[] => {
    const { actions, effects = [] } = plan(observed)
    const subject = (action: (typeof actions)[number]): string => {
      if (action.do === 'batch') return action.do
      return `${action.do} ${action.resource.plural}${'subresource' in action && action.subresource !== undefined ? `/${action.subresource}` : ''}`
    }
    return [...actions.map(subject), ...effects.map(({ effect }) => effect.name.split('.').pop() ?? '')]
  }
  const going = stored()
  going.metadata.deletionTimestamp = '2026-01-01T00:00:09Z'
  const children = ['ann', 'bob'].map((person) => childOf(stored(), person))
  const table: [string, Observed, string[]][] = [
    ['nothing without a greeting', seen(undefined), []],
    ['first its finalizer, alone', seen({ ...stored(), metadata: { ...stored().metadata, finalizers: [] } }), ['patch greetings']],
    [
      'everybody, then the status, then the board',
      seen(stored()),
      ['apply configmaps', 'apply configmaps', 'patch greetings/status', 'put'],
    ],
    ['nothing to tell when it is told', seen(stored({ status: settled }), { children }), ['apply configmaps', 'apply configmaps']],
    [
      'who is no longer meant loses it',
      seen(stored({ status: { ...settled, delivered: 1 }, spec: { to: ['ann'] } }), { children }),
      ['apply configmaps', 'delete configmaps'],
    ],
    ['the notice comes down first', seen(going), ['take-down']],
    ['and then the finalizer', seen(going, { takenDown: { state: 'done', value: 'down' } }), ['patch greetings']],
    ['a failed take-down is tried again', seen(going, { takenDown: { state: 'failed', message: 'no' } }), ['take-down']],
    ['it ends when its time is over', seen(stored({ spec: { ttlSeconds: 10 } })), ['delete greetings']],
    ['nothing it holds can be of the wrong shape', seen(stored({ spec: undefined, status: undefined })), ['patch greetings/status', 'put']],
  ]
  for (const [name, observed, expected] of table) it(name, () => assert.deepEqual(done(observed), expected))

  it('waits for its time, and for nothing else by a timer', () => {
    assert.equal(plan(seen(stored({ spec: { ttlSeconds: 30 } }))).requeueAfterMs, 20_000)
    assert.equal(plan(seen(stored())).requeueAfterMs, undefined)
  })
})

async function aReferenceWorld(): Promise<World> {
  const world = new World({ controllers: runCast(REFERENCE) })
  await world.start()
  for (const definition of DEFINITIONS) await world.hub.create(definition)
  await world.settle()
  return world
}

const greetingAt = async (cluster: WorldCluster, where: string): Promise<Greeting> =>
  (await expectThere(cluster, GREETINGS, where)) as Greeting
const mapsIn = async (cluster: WorldCluster): Promise<string[]> =>
  (await cluster.list(CONFIG_MAPS, { namespace: 'default' })).map((map: KubeObject) => (map.data as Record<string, string>).to ?? '').sort()

describe('a greeting', () => {
  it('reaches people, the board and its card, follows changes, and leaves nothing behind', async () => {
    const world = await aReferenceWorld()
    const { hub } = world
    await hub.create(aGreeting('default/hello', { text: 'hi', to: ['ann', 'bob'], card: 'red' }))
    await world.settle()
    assert.equal((await greetingAt(hub, 'default/hello')).status?.conditions?.[0]?.reason, 'CardMissing')
    await hub.create(aCard('default/red'))
    await world.settle()
    const reported = await greetingAt(hub, 'default/hello')
    assert.ok(isConditionTrue(reported.status?.conditions, 'Ready'))
    assert.deepEqual(
      ((await expectThere(hub, CARDS, 'default/red')) as Card).status?.usedBy?.map(({ name }) => name),
      ['hello'],
    )
    assert.deepEqual(await mapsIn(hub), ['ann', 'bob'])
    assert.deepEqual(
      boardOf(hub)
        .notices()
        .map(({ text }) => text),
      ['hi'],
    )
    const events = (await hub.list(EVENTS, { namespace: 'default' })).map(({ reason, message }) => [reason, message])
    assert.deepEqual(events, [['Greeted', '2 people have been greeted']])
    await hub.update(GREETINGS, 'default/hello', (object) => {
      object.spec = { text: 'bye', to: ['bob', 'cleo'] }
    })
    await world.settle()
    assert.deepEqual(await mapsIn(hub), ['bob', 'cleo'])
    assert.deepEqual(
      boardOf(hub)
        .notices()
        .map(({ text }) => text),
      ['bye'],
    )
    await hub.delete(CONFIG_MAPS, `default/${childOf(reported, 'bob').metadata.name}`)
    await world.settle()
    assert.deepEqual(await mapsIn(hub), ['bob', 'cleo'])
    await expectQuiet(world)
    await hub.delete(GREETINGS, 'default/hello')
    await world.settle()
    await expectGone(hub, GREETINGS, 'default/hello')
    assert.deepEqual([await mapsIn(hub), boardOf(hub).notices()], [[], []])
    await world.stop()
  })

  it('says why it waits for the board, and goes when its time is over', async () => {
    const world = await aReferenceWorld()
    const { hub } = world
    hub.effects.interfere = ({ attempt }) => (attempt <= 3 ? 'fail-before' : undefined)
    await hub.create(aGreeting('default/short', { to: [], ttlSeconds: 60 }))
    await world.advance(50)
    assert.match((await greetingAt(hub, 'default/short')).status?.conditions?.[0]?.message ?? '', /put failed, as planned/)
    await world.settle()
    assert.ok(isConditionTrue((await greetingAt(hub, 'default/short')).status?.conditions, 'Ready'))
    await world.advance(60_000)
    await world.settle()
    await expectGone(hub, GREETINGS, 'default/short')
    assert.deepEqual(boardOf(hub).notices(), [])
    await world.stop()
  })
})

survives(greeting(NO_BOARD), survivalOf())
survives(card, survivalOf())
