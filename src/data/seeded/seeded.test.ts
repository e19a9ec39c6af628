/** The judges of the seeded worlds are judged: each is shown something right, and something wrong that it must find. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { handMade } from '../../faultsim/seeded/worlds/fleet/testing.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { commandsInPods } from './answers.ts'
import { AT_REST, patienceMs } from './at-rest.ts'
import { seeded } from './index.ts'
import { INVARIANTS } from './invariants.ts'
import {
  aClaim,
  aDataset,
  aNode,
  answers,
  aReader,
  aRuntime,
  aSecret,
  aUsersClaim,
  aVolume,
  aWorker,
  GOING,
  LABELLED,
  writtenBy,
} from './testing.ts'

/** Written, or deleted. */
type Write = KubeObject | { gone: KubeObject }
const gone = (object: KubeObject): Write => ({ gone: object })

const MEMBER = 'member1'
const status = (manager: string): KubeObject => aDataset('Bound', { metadata: writtenBy(manager, { 'f:status': { 'f:phase': {} } }) })
const shows = (fileNum: string): KubeObject => aDataset('Bound', { status: { fileNum } })
const goingDataset = aDataset('NotBound', { metadata: GOING })
const labels = (manager: string): KubeObject => {
  const node = aNode(LABELLED)
  return {
    ...node,
    metadata: { ...node.metadata, ...writtenBy(manager, { 'f:metadata': { 'f:labels': { 'f:fluid.io/s-default-demo': {} } } }) },
  }
}

interface Case {
  before: readonly Write[]
  right: readonly Write[]
  wrong: readonly Write[]
}

const CASES: Readonly<Record<string, Case>> = {
  'has one writer': { before: [aDataset()], right: [status('data.dataset')], wrong: [status('data.runtime.cache')] },
  'and its labels on nodes have one': { before: [aNode()], right: [labels('data.node')], wrong: [labels('data.dataset')] },
  'gets its volume once': {
    before: [aDataset(), aRuntime(), aVolume(), goingDataset, gone(aVolume()), gone(goingDataset)],
    right: [aDataset('NotBound'), aRuntime(), aVolume()],
    wrong: [aVolume()],
  },
  'gets no claim after its runtime': {
    before: [aDataset(), aRuntime(), aClaim(), aRuntime({ metadata: GOING }), gone(aClaim()), gone(aRuntime())],
    right: [aRuntime(), aClaim()],
    wrong: [aClaim()],
  },
  'leaves the claims of users alone': {
    before: [aDataset(), aRuntime(), aUsersClaim()],
    right: [],
    wrong: [{ ...aClaim(), metadata: { ...aClaim().metadata, uid: 'theirs' } }],
  },
  'deletes no claim of a user': { before: [aDataset()], right: [aClaim(), gone(aClaim())], wrong: [aUsersClaim(), gone(aUsersClaim())] },
  'has its label again only with a worker': {
    before: [aNode(), aWorker(), aNode(LABELLED), gone(aWorker()), aNode()],
    right: [aWorker('another'), aNode(LABELLED)],
    wrong: [aNode(LABELLED)],
  },
  'has its label until the worker is gone': {
    before: [aNode(), aWorker(), aNode(LABELLED), aWorker('worker', GOING)],
    right: [gone(aWorker()), aNode()],
    wrong: [aNode()],
  },
  'has its secrets in its own namespace': {
    before: [aSecret('default', 'a2V5')],
    right: [aSecret('lab', 'b3RoZXI=')],
    wrong: [aSecret('lab', 'a2V5')],
  },
  'shows no old report': { before: [shows('7')], right: [shows('8')], wrong: [shows('6')] },
  'is not bound to what is long gone': {
    before: [aDataset('NotBound'), aRuntime(), gone(aRuntime())],
    right: [aDataset('Bound')],
    wrong: [aDataset('NotBound'), aDataset('Bound')],
  },
  'stays while a pod uses it': {
    before: [aDataset(), aClaim(), aReader(), goingDataset],
    right: [gone(aReader()), gone(goingDataset)],
    wrong: [gone(goingDataset)],
  },
  'keeps its runtime while there is a claim': {
    before: [aDataset(), aRuntime(), aClaim(), aRuntime({ metadata: GOING })],
    right: [gone(aClaim()), gone(aRuntime())],
    wrong: [gone(aRuntime())],
  },
}

async function brokenBy(writes: readonly Write[]): Promise<string | undefined> {
  const world = handMade(INVARIANTS)
  for (const write of writes) await ('gone' in write ? world.remove(MEMBER, write.gone as KubeObject) : world.put(MEMBER, write))
  return world.broken()
}

describe('at every moment, a dataset', () => {
  for (const [says, { before, right, wrong }] of Object.entries(CASES))
    it(says, async () => {
      assert.equal(await brokenBy([...before, ...right]), undefined)
      assert.notEqual(await brokenBy([...before, ...wrong]), undefined)
    })
})

const BOUND = [aDataset(), aRuntime(), aVolume(), aClaim()]
const reporting = aRuntime({ spec: { runtimeClassName: 'reporting' } })

const AT_REST_CASES: Readonly<Record<string, [readonly KubeObject[], readonly KubeObject[]]>> = {
  'a volume has its claim': [BOUND, [aDataset('NotBound'), aVolume()]],
  'a claim has its volume': [BOUND, [aDataset(), aRuntime(), aClaim()]],
  'a bound dataset has its runtime': [BOUND, [aDataset(), aVolume(), aClaim()]],
  'a bound dataset has its claim': [BOUND, [aDataset(), aRuntime()]],
  'a claim may be that of a user': [
    [aDataset(), aRuntime(), aUsersClaim()],
    [aDataset(), aRuntime()],
  ],
  'no other dataset has a claim': [[aDataset('NotBound')], [aDataset('NotBound'), aVolume(), aClaim()]],
  'a dataset is bound when its runtime is ready': [
    [aDataset('NotBound'), aRuntime({ status: { worker: { phase: 'NotReady' } } })],
    [aDataset('NotBound'), aRuntime()],
  ],
  'a dataset has its finalizer': [BOUND, [aDataset('NotBound', { metadata: { finalizers: [] } })]],
  'a dataset has its label': [BOUND, [aDataset('NotBound', { metadata: { labels: {} } })]],
  'a dataset that goes has a reason to stay': [[goingDataset, aReader()], [goingDataset]],
  'a node has the labels of its workers': [
    [aNode(LABELLED), aWorker()],
    [aNode(), aWorker()],
  ],
  'a node has no others': [[aNode()], [aNode(LABELLED)]],
  'a node counts its datasets': [
    [aNode(LABELLED), aWorker()],
    [aNode({ ...LABELLED, 'fluid.io/dataset-num': '2' }), aWorker()],
  ],
  'a dataset shows the last report': [
    [shows('7'), reporting, aVolume(), aClaim(), answers('7')],
    [shows('6'), reporting, aVolume(), aClaim(), answers('7')],
  ],
}

async function restingOf(objects: readonly KubeObject[]): Promise<string[]> {
  const world = handMade()
  for (const object of objects) await world.put(MEMBER, object)
  return AT_REST.flatMap((invariant) => invariant.broken(world.hub, world.members) ?? [])
}

describe('at rest', () => {
  for (const [says, [right, wrong]] of Object.entries(AT_REST_CASES))
    it(says, async () => {
      assert.deepEqual(await restingOf(right), [])
      assert.notDeepEqual(await restingOf(wrong), [])
    })
})

describe('the caches of the seeds', () => {
  it('fail as often as it is written, mount what the dataset says, and report a figure that grows', async () => {
    const world = handMade()
    const view = world.members.get(MEMBER)
    assert.ok(view !== undefined)
    await world.put(MEMBER, answers('7'))
    await world.put(MEMBER, aDataset('Bound', { spec: { mounts: [{ mountPoint: 's3://one', name: 'one' }] } }))
    const run = commandsInPods(view)
    const call = (command: string) => run({ namespace: 'default', pod: 'demo-master-0', command: ['cache', command] })
    assert.equal(call('mount-ufs')?.exitCode, 1)
    assert.deepEqual(call('mount-ufs'), { stdout: '{"mounted":["/one"]}' })
    assert.equal(call('report-summary')?.stdout, 'not yet')
    assert.match(call('report-summary')?.stdout ?? '', /"fileNum":"7"/)
    await world.put(MEMBER, { ...answers('9'), data: {} })
    assert.match(call('report-summary')?.stdout ?? '', /"fileNum":"9"/)
    assert.equal(call('another'), undefined)
  })

  it('are waited for, and longer while they mount', async () => {
    const world = handMade()
    const view = world.members.get(MEMBER)
    assert.ok(view !== undefined)
    assert.equal(patienceMs(view, 0), 0)
    await world.put(MEMBER, reporting)
    await world.put(MEMBER, aDataset())
    assert.ok(patienceMs(view, 0) > 60_000)
    assert.equal(patienceMs(view, 95_000), 0)
    await world.put(
      MEMBER,
      aDataset('NotBound', { status: { conditions: [{ type: 'NotReady', message: 'the sources are being mounted' }] } }),
    )
    assert.ok(patienceMs(view, 95_000) > 300_000)
  })
})

describe('the generators', () => {
  it('draw what can be stored as JSON, and the same for the same seed', () => {
    for (const { draw, object, names } of seeded.generators)
      for (const where of names) {
        const [one, other] = [draw(seededRandom(5)), draw(seededRandom(5))]
        assert.deepEqual(JSON.parse(JSON.stringify(one)), one)
        assert.deepEqual(object(where, one), object(where, other))
      }
  })
})
