import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import pc from 'picocolors'
import { fleetChapter } from '../../fleet/story/chapter.ts'
import type { FleetSnapshot } from '../../fleet/story/fleet-snapshot.ts'
import { complaintOf, divisionOf, isPresent, readinessOf, readyIn, regionOf, runningIn } from '../../fleet/story/snapshot-queries.ts'
import { counted, divisionText, listText } from '../../fleet/story/text.ts'
import type { Cluster, ResourceBinding } from '../../kinds/karmada/index.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { StoryLine, StoryStep, Viewer } from '../../runtime/seams/story.ts'
import { fakeMachine } from '../fake-machine.ts'
import { playSteps, StoryError } from './play.ts'
import { lineOf, nextText } from './text.ts'

type Step = StoryStep<FleetSnapshot>

const PLAIN = pc.createColors(false)
const LOUD = pc.createColors(true)

const aPod = (name: string, ready: string, more: object = {}): Pod =>
  ({
    metadata: { name, uid: name },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready, message: 'the probe said no' }], ...more },
  }) as Pod

const NOTHING: FleetSnapshot = { clusters: [], template: undefined, binding: undefined, pods: {} }
const bindingTo = (...clusters: { name: string; replicas?: number }[]): ResourceBinding =>
  ({ spec: { clusters } }) as unknown as ResourceBinding
const aCluster = (name: string, status: string): Cluster =>
  ({
    metadata: { name },
    spec: { region: 'east' },
    status: { conditions: [{ type: 'Ready', status, reason: 'Because' }] },
  }) as unknown as Cluster

describe('what is seen', () => {
  it('says of a cluster what it knows, and of others that nobody looked', () => {
    const snapshot = { ...NOTHING, clusters: [aCluster('member1', 'False')] }
    assert.deepEqual(readinessOf(snapshot, 'member1'), { status: 'False', reason: 'Because' })
    assert.deepEqual(readinessOf(snapshot, 'member2'), { status: 'Unknown', reason: 'NotLookedAtYet' })
    assert.deepEqual([regionOf(snapshot, 'member1'), regionOf(snapshot, 'member2')], ['east', ''])
  })

  it('is a division only when all replicas have a place', () => {
    assert.equal(divisionOf(NOTHING, 2), undefined)
    const binding = bindingTo({ name: 'b', replicas: 1 }, { name: 'a', replicas: 1 })
    assert.equal(divisionOf({ ...NOTHING, binding }, 3), undefined)
    assert.deepEqual(divisionOf({ ...NOTHING, binding }, 2), [
      { name: 'a', replicas: 1 },
      { name: 'b', replicas: 1 },
    ])
  })

  it('counts pods that run, those that are ready, and names what hinders the first that is not', () => {
    const leaving = { ...aPod('c', 'True'), metadata: { name: 'c', deletionTimestamp: '2026-01-01T00:00:00Z' } } as Pod
    const snapshot = { ...NOTHING, pods: { a: [aPod('x', 'True'), aPod('y', 'False'), leaving] } }
    assert.deepEqual([runningIn(snapshot, 'a').length, readyIn(snapshot, 'a').length, readyIn(snapshot, 'b').length], [2, 1, 0])
    assert.deepEqual([isPresent(snapshot, [{ name: 'a', replicas: 1 }]), isPresent(snapshot, [{ name: 'a', replicas: 2 }])], [true, false])
    assert.equal(complaintOf(snapshot), 'pod y of a is Running: the probe said no')
    assert.equal(complaintOf(NOTHING), 'there are fewer pods than decided')
  })
})

describe('the text of a story', () => {
  it('has a time, who and what, and what belongs beneath', () => {
    assert.equal(
      lineOf({ who: 'pods', says: '6 of 6 run', more: ['$ a command'] }, 2940, PLAIN),
      '   2.9 s  pods       6 of 6 run\n                     $ a command\n',
    )
  })

  it('has colours where people look, and none elsewhere', () => {
    assert.notEqual(lineOf({ who: 'failover', says: 'it leaves' }, 0, LOUD), lineOf({ who: 'failover', says: 'it leaves' }, 0, PLAIN))
    assert.equal(nextText(PLAIN, '/k', fleetChapter.next({ dataDir: undefined })).includes('\u001b'), false)
  })

  it('counts and lists as people do', () => {
    assert.deepEqual([counted(1, 'pod'), counted(2, 'pod')], ['1 pod', '2 pods'])
    assert.deepEqual([listText(['a']), listText(['a', 'b', 'c'])], ['a', 'a, b and c'])
    assert.equal(
      divisionText([
        { name: 'a', replicas: 2 },
        { name: 'b', replicas: 1 },
      ]),
      'a 2 · b 1',
    )
  })

  it('ends with commands that work as they stand', () => {
    const text = nextText(PLAIN, '/d/kubeconfig', fleetChapter.next({ dataDir: '/d' }))
    assert.match(text, /^ {2}export KUBECONFIG=\/d\/kubeconfig$/m)
    assert.match(text, /sluice cluster stop member2 --data-dir \/d /)
    assert.doesNotMatch(nextText(PLAIN, '/k', fleetChapter.next({ dataDir: undefined })), /--data-dir/)
  })
})

/** A viewer that shows one snapshot after the other, moving on whenever a listener waits. */
function eyesSeeing(...sights: FleetSnapshot[]): Viewer<FleetSnapshot> & { listeners(): number } {
  const handlers = new Set<() => void>()
  return {
    look: () => sights[0] ?? NOTHING,
    onChange(handler) {
      handlers.add(handler)
      queueMicrotask(() => {
        if (sights.length > 1) sights.shift()
        for (const one of handlers) one()
      })
      return () => void handlers.delete(handler)
    },
    listeners: () => handlers.size,
  }
}

const ready = (name: string): Step => ({
  name: `${name} is ready`,
  sees: (snapshot) => (readinessOf(snapshot, name).status === 'True' ? { who: 'clusters', says: name } : undefined),
  missing: (snapshot) => `${name} says ${readinessOf(snapshot, name).reason}`,
})

async function played(steps: readonly Step[], observer: Viewer<FleetSnapshot>, signal = new AbortController().signal) {
  const said: StoryLine[] = []
  const options = { clock: fakeMachine().clock, patienceMs: 5000, signal, say: (line: StoryLine) => void said.push(line) }
  return { isComplete: await playSteps({ steps, ...observer }, options), said }
}

describe('telling', () => {
  it('says a line when its fact is seen, in order, with what was fetched beneath it', async () => {
    const observer = eyesSeeing(NOTHING, { ...NOTHING, clusters: [aCluster('member1', 'True')] })
    const calls: string[] = []
    const second: Step = { ...ready('member1'), act: async () => void calls.push('acted'), beneath: async () => ['its log'] }
    const { isComplete, said } = await played([ready('member1'), second], observer)
    assert.equal(isComplete, true)
    assert.deepEqual(
      said.map(({ says, more }) => [says, more]),
      [
        ['member1', undefined],
        ['member1', ['its log']],
      ],
    )
    assert.deepEqual([calls, observer.listeners()], [['acted'], 0])
  })

  it('ends with the step and the reason when something is not seen in time', async () => {
    const observer = eyesSeeing({ ...NOTHING, clusters: [aCluster('member1', 'False')] })
    await assert.rejects(played([ready('member1')], observer), (error) => {
      assert.ok(error instanceof StoryError)
      assert.equal(error.message, '"member1 is ready" was not seen: member1 says Because (after 5 s)')
      return true
    })
    assert.equal(observer.listeners(), 0)
  })

  it('ends without a word when somebody ends it', async () => {
    const ending = new AbortController()
    const observer = eyesSeeing(NOTHING)
    queueMicrotask(() => ending.abort())
    const { isComplete, said } = await played([ready('member1'), ready('member2')], observer, ending.signal)
    assert.deepEqual([isComplete, said, observer.listeners()], [false, [], 0])
  })

  it('does not swallow what a step itself does wrong', async () => {
    const broken: Step = {
      ...ready('member1'),
      sees() {
        throw new TypeError('a mistake')
      },
    }
    await assert.rejects(played([broken], eyesSeeing(NOTHING)), TypeError)
  })
})
