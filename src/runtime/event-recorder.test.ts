import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../client/client.ts'
import { ApiError } from '../client/errors.ts'
import { TransportError } from '../client/transport.ts'
import { aWorld, type World } from '../faultsim/world/index.ts'
import { EVENTS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { checkDns1123Subdomain } from '../kube/names.ts'
import { failure } from '../kube/status.ts'
import type { EventIntent } from './controller.ts'
import { createEventRecorder, type EventRecorder } from './event-recorder.ts'
import { manualClock } from './testing.ts'

const thing = (name: string, namespace = 'default'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, uid: `uid-${name.slice(0, 20)}`, resourceVersion: '7' },
})
const anEvent = (name: string, changes: Partial<EventIntent> = {}): EventIntent => ({
  of: thing(name),
  type: 'Normal',
  reason: 'Done',
  message: 'it is done',
  ...changes,
})

interface Setting {
  world: World
  recorder: EventRecorder
  lost: string[]
}

async function aSetting(): Promise<Setting> {
  const world = await aWorld().settle()
  const lost: string[] = []
  const { hub, clock } = world
  const onError = (error: unknown, { reason }: EventIntent): void => void lost.push(`${reason}: ${(error as Error).message}`)
  return { world, lost, recorder: createEventRecorder({ client: hub.client, clock, component: 'test-controller', onError }) }
}

async function record({ world, recorder }: Setting, ...intents: EventIntent[]): Promise<KubeObject[]> {
  await world.inside(async () => {
    for (const intent of intents) recorder.record(intent)
  })
  await world.advance(1000)
  assert.equal(recorder.pending, 0)
  return (await world.hub.list(EVENTS)).filter(({ reportingComponent }) => reportingComponent === 'test-controller')
}

describe('the event recorder', () => {
  it('counts what is recorded again, and keeps apart what is not the same', async () => {
    const setting = await aSetting()
    const [first] = await record(setting, anEvent('a', { fieldPath: 'spec.x', host: 'node-1' }))
    assert.deepEqual(first?.involvedObject, {
      kind: 'ConfigMap',
      namespace: 'default',
      name: 'a',
      uid: 'uid-a',
      apiVersion: 'v1',
      resourceVersion: '7',
      fieldPath: 'spec.x',
    })
    assert.deepEqual([first?.source, first?.count, first?.type], [{ component: 'test-controller', host: 'node-1' }, 1, 'Normal'])
    const events = await record(
      setting,
      anEvent('a', { fieldPath: 'spec.x' }),
      anEvent('a', { message: 'other' }),
      anEvent('b'),
      anEvent('b'),
    )
    const counts = events.map(({ involvedObject, message, count }) => `${(involvedObject as { name: string }).name} ${message} ${count}`)
    assert.deepEqual(counts.sort(), ['a it is done 2', 'a other 1', 'b it is done 2'])
    const again = events.find(({ count, involvedObject }) => count === 2 && (involvedObject as { name: string }).name === 'a')
    assert.ok(String(again?.lastTimestamp) > String(again?.firstTimestamp), 'the last time moves, the first stays')
    assert.deepEqual(setting.lost, [])
    await setting.world.stop()
  })

  it('begins anew when the event from before has expired', async () => {
    const setting = await aSetting()
    const [first] = await record(setting, anEvent('a'))
    await setting.world.hub.delete(EVENTS, `default/${first?.metadata.name}`)
    const [second, ...others] = await record(setting, anEvent('a'))
    assert.notEqual(second?.metadata.name, first?.metadata.name)
    assert.deepEqual([second?.count, others.length], [1, 0])
    const [third] = await record(setting, anEvent('a'))
    assert.equal(third?.count, 2, 'and goes on counting there')
    await setting.world.stop()
  })

  it('records for objects whose names cannot begin the name of an event, and for those without a namespace', async () => {
    const setting = await aSetting()
    const role = { ...thing('system:odd:Role'), metadata: { name: 'system:odd:Role', uid: 'u1' } }
    const events = await record(
      setting,
      anEvent('x'.repeat(253)),
      { ...anEvent('r'), of: role },
      anEvent('long', { message: 'm'.repeat(5000) }),
    )
    assert.deepEqual([events.length, setting.lost], [3, []])
    for (const { metadata } of events) assert.deepEqual([metadata.namespace, checkDns1123Subdomain(metadata.name ?? '')], ['default', []])
    assert.equal(Math.max(...events.map(({ message }) => String(message).length)), 1024)
    await setting.world.stop()
  })

  it('reports once what it could not write, and goes on; not for a namespace that is being deleted', async () => {
    const setting = await aSetting()
    const events = await record(setting, { ...anEvent('a'), of: thing('a', 'nowhere') }, anEvent('b'))
    assert.deepEqual([events.length, setting.lost.length], [1, 1])
    assert.match(setting.lost[0] ?? '', /^Done: .*nowhere/)
    await setting.world.stop()
  })

  it('never makes a controller wait, keeps a bounded number and counts those it gives up', async () => {
    const written: string[] = []
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const client = {
      async create(_resource: unknown, event: KubeObject) {
        await held
        written.push(String(event.message))
        return event
      },
    } as unknown as Client
    let dropped = 0
    const recorder = createEventRecorder({
      client,
      clock: manualClock(),
      component: 'c',
      onDropped: () => dropped++,
      onError: (error) => assert.fail(String(error)),
    })
    for (let i = 0; i < 1500; i++) recorder.record(anEvent('a', { message: `${i}` }))
    assert.deepEqual([recorder.pending, dropped], [1001, 499])
    release()
    while (recorder.pending > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([written.length, written[0], written[1], written.at(-1)], [1001, '0', '500', '1499'])
  })

  it('sends again what got no answer, under the same name, and not for ever', async () => {
    const sent: string[] = []
    const unanswered = (): never => {
      throw new TransportError('the connection broke')
    }
    const exists = (): never => {
      throw new ApiError(409, failure(409, 'AlreadyExists', 'it is there').status)
    }
    const answers = [unanswered, exists, unanswered, unanswered, unanswered]
    const client = {
      async create(_resource: unknown, { metadata }: KubeObject) {
        sent.push(metadata.name ?? '')
        return answers.shift()?.()
      },
    } as unknown as Client
    const lost: string[] = []
    const onError = (error: unknown, { message }: EventIntent): void => void lost.push(`${message}: ${(error as Error).message}`)
    const recorder = createEventRecorder({ client, clock: manualClock(), component: 'c', onError })
    recorder.record(anEvent('a', { message: 'arrived' }))
    recorder.record(anEvent('b', { message: 'lost' }))
    while (recorder.pending > 0) await new Promise((resolve) => setImmediate(resolve))
    const [first, again, ...others] = sent
    assert.equal(first, again)
    assert.deepEqual([others.length, new Set(others).size], [3, 1])
    assert.deepEqual(lost, ['lost: the connection broke'])
  })

  it('takes the next name when another recorder was faster, a few times and no more', async () => {
    let tries = 0
    const taken = failure(409, 'AlreadyExists', 'it is there')
    const client = {
      async create() {
        tries++
        throw new ApiError(409, taken.status)
      },
    } as unknown as Client
    const lost: string[] = []
    const options = { client, clock: manualClock(), component: 'c', onError: (error: unknown) => void lost.push((error as Error).message) }
    const recorder = createEventRecorder(options)
    recorder.record(anEvent('a'))
    while (recorder.pending > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([tries, lost], [10, ['it is there']])
    recorder.stop()
    recorder.record(anEvent('b'))
    assert.equal(recorder.pending, 0, 'silent after its end')
  })
})
