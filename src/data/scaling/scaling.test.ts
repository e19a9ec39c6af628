import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import { choose, free, type Worker } from './choose.ts'
import { decideStep, type Programs, type Scaling, type Step } from './decide.ts'
import { commandIn, handedOverIn, handoverMs, leavingIn, leavingText } from './handover.ts'
import { exactly, grownTo } from './ordinals.ts'
import { claimKeysOf, datasetOfVolume, isBoundTo, readsOn } from './readers.ts'
import { heldMessage } from './texts.ts'
import { parseWorkerReport, type WorkerReport } from './worker-report.ts'

const reader = (pod: string, namespace = 'default') => ({ namespace, pod, node: 'n' })
const worker = (ordinal: number, more: Partial<Worker> = {}): Worker => ({
  ...{ ordinal, pod: `w-${ordinal}`, uid: `u${ordinal}`, node: `n${ordinal}`, isReady: true, readers: [] },
  ...more,
})
const reportOf = (bytes: Readonly<Record<number, number>>): WorkerReport =>
  new Map(Object.entries(bytes).map(([i, cachedBytes]) => [`w-${i}`, { cachedBytes, isLeaving: false }]))

describe('the ordinals of a set', () => {
  const CASES: [readonly number[], number, (number | string)[]][] = [
    [[], 0, []],
    [[0, 1, 2], 3, []],
    [[1, 0, 3], 3, [2]],
    [[4], 1, ['0-3']],
    [[0, 5, 9], 3, ['1-4', '6-8']],
  ]
  for (const [ordinals, replicas, reserveOrdinals] of CASES)
    it(`${ordinals.join()} is ${replicas} without ${reserveOrdinals.join() || 'gaps'}`, () =>
      assert.deepEqual(exactly(ordinals), { replicas, reserveOrdinals }))

  it('grow into the gaps first, and nobody leaves', () => {
    assert.deepEqual(grownTo(3, [0, 5]), [0, 1, 5])
    assert.deepEqual(grownTo(4, [1, 2]), [0, 1, 2, 3])
  })
})

describe('the worker that leaves next', () => {
  const workers = [worker(0), worker(1), worker(2)]
  const CASES: [string, readonly Worker[], WorkerReport | undefined, string][] = [
    ['the one that holds the least', workers, reportOf({ 0: 5, 1: 3, 2: 9 }), 'w-1 least'],
    ['the highest ordinal of equals', workers, reportOf({ 0: 3, 1: 3, 2: 9 }), 'w-1 least'],
    ['of equals the one with fewer readers', [worker(0), worker(1, { readers: [reader('a')] })], reportOf({ 0: 3, 1: 3 }), 'w-0 least'],
    ['one that the cache does not know', workers, reportOf({ 0: 5, 1: 3 }), 'w-2 least'],
    ['the highest ordinal without a report', workers, undefined, 'w-2 highest'],
    [
      'without a report the highest ordinal of those with the fewest readers',
      [worker(0), worker(1), worker(2, { readers: [reader('a')] })],
      undefined,
      'w-1 highest',
    ],
    ['one without a node before all', [worker(0, { node: undefined }), worker(1)], reportOf({ 0: 5, 1: 0 }), 'w-0 not-placed'],
    ['one that is leaving already', workers, new Map([['w-0', { cachedBytes: 9, isLeaving: true }]]), 'w-0 leaving'],
    ['the only one', [worker(4)], undefined, 'w-4 only'],
  ]
  for (const [name, candidates, report, expected] of CASES)
    it(`is ${name}`, () => {
      const choice = choose(candidates, report)
      assert.equal(`${choice?.worker.pod} ${choice?.because}`, expected)
    })

  it('is none where there is none', () => assert.equal(choose([], undefined), undefined))
})

const anyWorkers = fc
  .uniqueArray(fc.record({ ordinal: fc.nat(40), reads: fc.boolean(), isReady: fc.boolean(), isPlaced: fc.boolean(), bytes: fc.nat(5) }), {
    selector: ({ ordinal }) => ordinal,
    maxLength: 8,
  })
  .map((all) => ({
    workers: all
      .map(({ ordinal, reads, isReady, isPlaced }) =>
        worker(ordinal, { isReady, ...(isPlaced ? { readers: reads ? [reader('r')] : [] } : { node: undefined }) }),
      )
      .sort((a, b) => a.ordinal - b.ordinal),
    report: reportOf(Object.fromEntries(all.map(({ ordinal, bytes }) => [ordinal, bytes]))),
  }))

/** Programs that do at once whatever they are asked. */
const programs = (report: WorkerReport | undefined): Programs => ({
  report: () => ({ is: 'done', value: report }),
  handOver: () => ({ is: 'done', value: { amounts: undefined, problem: undefined } }),
  takeBack: () => ({ is: 'done', value: true }),
  canHandOver: () => false,
  isKeptFree: () => true,
})

/** Beside readers a worker is marked before it goes. */
function settledStep(scaling: Scaling, able: Programs): Step {
  const step = decideStep(scaling, able)
  if (step.do !== 'mark') return step
  const { pod, uid = '' } = step.choice.worker
  return decideStep({ ...scaling, leaving: { pod, uid, sinceMs: 0 } }, able)
}

describe('whatever the workers are', () => {
  const scaling = (workers: readonly Worker[], asked: number, isCoLocated: boolean): Scaling => ({
    ...{ asked, workers, isSettled: true, isCoLocated, leaving: undefined },
  })

  it('there are never fewer than asked for, one leaves at a time, and never one beside a reader when co-located', () => {
    fc.assert(
      fc.property(anyWorkers, fc.nat(9), fc.boolean(), ({ workers, report }, asked, isCoLocated) => {
        const step = settledStep(scaling(workers, asked, isCoLocated), programs(report))
        if (step.do !== 'let-go') return
        assert.equal(step.ordinals.length, workers.length - 1)
        assert.ok(step.ordinals.length >= asked)
        if (isCoLocated) assert.deepEqual(step.choice.worker.readers, [])
      }),
    )
  })

  it('those that leave until nobody can are those that hold the least, and the rest is held', () => {
    fc.assert(
      fc.property(anyWorkers, fc.boolean(), ({ workers, report }, isCoLocated) => {
        let left = workers
        for (;;) {
          const step = settledStep(scaling(left, 0, isCoLocated), programs(report))
          if (step.do !== 'let-go') {
            assert.equal(step.do, left.length === 0 ? 'stay' : 'hold')
            assert.deepEqual(free(left, isCoLocated), [])
            return
          }
          const gone = step.choice.worker
          const bytesOf = ({ pod, node }: Worker): number => (node === undefined ? -1 : (report.get(pod)?.cachedBytes ?? 0))
          for (const other of free(left, isCoLocated)) assert.ok(bytesOf(gone) <= bytesOf(other))
          left = left.filter((one) => one !== gone)
        }
      }),
    )
  })

  it('the order in which they are found decides nothing', () => {
    fc.assert(
      fc.property(anyWorkers, ({ workers, report }) => {
        assert.equal(choose(workers, report)?.worker, choose(workers.toReversed(), report)?.worker)
      }),
    )
  })

  it('what is written is exactly what was chosen', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(60), { maxLength: 12 }), (ordinals) => {
        const { replicas, reserveOrdinals } = exactly(ordinals)
        const reserved = new Set(
          reserveOrdinals.flatMap((entry) => {
            const [from = 0, to = from] = String(entry).split('-').map(Number)
            return Array.from({ length: to - from + 1 }, (_, i) => from + i)
          }),
        )
        const taken: number[] = []
        for (let next = 0; taken.length < replicas; next++) if (!reserved.has(next)) taken.push(next)
        assert.deepEqual(
          taken,
          [...ordinals].sort((a, b) => a - b),
        )
      }),
    )
  })
})

describe('the next step', () => {
  const all = [worker(0), worker(1)]
  const marked = { pod: 'w-1', uid: 'u1', sinceMs: 0 }
  const base: Scaling = { asked: 1, workers: all, isSettled: true, isCoLocated: false, leaving: undefined }
  const able: Programs = { ...programs(reportOf({ 0: 9, 1: 1 })), canHandOver: () => true }
  const CASES: [string, Partial<Scaling>, Partial<Programs>, string][] = [
    ['nothing when there are as many as asked for', { asked: 2 }, {}, 'stay'],
    ['more at once', { asked: 4 }, {}, 'grow'],
    ['more at once while one is led out', { asked: 3, leaving: marked }, {}, 'grow'],
    ['nothing while the last one has not gone', { isSettled: false }, {}, 'stay'],
    ['to ask what workers hold', {}, { report: () => ({ is: 'due' }) }, 'ask'],
    ['to wait for the answer', {}, { report: () => ({ is: 'running' }) }, 'stay'],
    ['to mark the one that is led out', {}, {}, 'mark'],
    ['to let one go that cannot be led out', {}, { canHandOver: () => false }, 'let-go'],
    ['to keep its node free first where readers come beside workers', { isCoLocated: true }, { canHandOver: () => false }, 'mark'],
    ['to wait until its node is kept free', { isCoLocated: true, leaving: marked }, { isKeptFree: () => false }, 'stay'],
    [
      'to let it go without heirs, however it was marked',
      { leaving: marked, workers: [worker(1)], asked: 0 },
      { handOver: () => ({ is: 'due' }) },
      'let-go',
    ],
    ['to let one go that is not ready', { workers: [worker(0), worker(1, { isReady: false })] }, {}, 'let-go'],
    ['to let one go that has no heirs', { workers: [worker(0, { isReady: false }), worker(1)] }, {}, 'let-go'],
    ['to lead out', { leaving: marked }, { handOver: () => ({ is: 'due' }) }, 'hand-over'],
    ['to wait while it is led out', { leaving: marked }, { handOver: () => ({ is: 'running' }) }, 'stay'],
    ['to let go who was led out', { leaving: marked }, {}, 'let-go'],
    ['to let go who cannot be led out any more', { leaving: marked }, { handOver: () => ({ is: 'later' }) }, 'let-go'],
    ['to forget a mark of a pod that is gone', { leaving: { ...marked, uid: 'old' } }, {}, 'unmark'],
    ['to take back who stays after all', { asked: 2, leaving: marked }, { takeBack: () => ({ is: 'due' }) }, 'take-back'],
    ['to wait until it serves again', { asked: 2, leaving: marked }, { takeBack: () => ({ is: 'running' }) }, 'stay'],
    ['to wait for a master, and say so', { asked: 2, leaving: marked }, { takeBack: () => ({ is: 'later' }) }, 'await-master'],
    ['to forget the mark when it serves again', { asked: 2, leaving: marked }, {}, 'unmark'],
    [
      'to forget the mark where nobody can take it back',
      { asked: 2, leaving: marked },
      { takeBack: () => ({ is: 'impossible' }) },
      'unmark',
    ],
    [
      'to take back who has readers now',
      { leaving: marked, isCoLocated: true, workers: [worker(0), worker(1, { readers: [reader('r')] })] },
      { takeBack: () => ({ is: 'due' }) },
      'take-back',
    ],
    [
      'to hold where everybody has readers',
      { isCoLocated: true, workers: all.map((one) => ({ ...one, readers: [reader('r')] })) },
      {},
      'hold',
    ],
  ]
  for (const [name, more, can, expected] of CASES)
    it(`is ${name}`, () => assert.equal(decideStep({ ...base, ...more }, { ...able, ...can }).do, expected))
})

describe('a report of workers', () => {
  const pods = [
    { pod: 'w-0', node: 'a' },
    { pod: 'w-1', node: undefined },
  ]
  const parsed = (text: string): [string, number][] =>
    [...(parseWorkerReport(text, pods) ?? [])].map(([pod, { cachedBytes }]) => [pod, cachedBytes])
  const CASES: [string, string, [string, number][]][] = [
    [
      'is taken',
      '{"workers":[{"pod":"w-0","node":"a","cachedBytes":5},{"pod":"w-1","cachedBytes":0}]}',
      [
        ['w-0', 5],
        ['w-1', 0],
      ],
    ],
    ['has other members', '{"cached":"1B"}', []],
    ['is no list', '{"workers":{"0":{"pod":"w-0","cachedBytes":5}}}', []],
    ['names other pods', '{"workers":[{"pod":"x-0","cachedBytes":5}]}', []],
    ['is of an earlier pod', '{"workers":[{"pod":"w-0","node":"b","cachedBytes":5}]}', []],
    ['has amounts that are none', '{"workers":[{"pod":"w-0","cachedBytes":-1},{"pod":"w-1","cachedBytes":1e999}]}', []],
    [
      'says two things',
      '{"workers":[{"pod":"w-0","cachedBytes":1},{"pod":"w-0","cachedBytes":2},{"pod":"w-1","cachedBytes":3}]}',
      [['w-1', 3]],
    ],
    ['has a prototype', '{"workers":[{"__proto__":{"pod":"w-0","cachedBytes":1}}]}', []],
  ]
  for (const [name, text, expected] of CASES) it(`that ${name}`, () => assert.deepEqual(parsed(text), expected))
  for (const text of ['', '[]', 'null', '{']) it(`that is ${text || 'empty'} is none`, () => assert.throws(() => parsed(text), /report is/))

  it('never throws anything else', () => {
    fc.assert(fc.property(fc.json(), (text) => void parseWorkerReport(`{"workers":[${text}]}`, pods)))
  })
})

describe('leading out', () => {
  it('may take as long as the runtime says', () => {
    const of = (text: string): number => handoverMs({ 'sluice.dev/handover-seconds': text })
    assert.deepEqual(
      [handoverMs(), of('0'), of('7'), of('-1'), of('soon'), of('999999999')],
      [600_000, 0, 7000, 600_000, 600_000, 86_400_000],
    )
  })

  it('ends with the last line that tells amounts', () => {
    assert.deepEqual(handedOverIn('{"moved":1,"dropped":0,"left":9}\n{"moved":8,"dropped":2,"left":0}\nbye\n{"mov'), {
      moved: 8,
      dropped: 2,
      left: 0,
    })
    assert.equal(handedOverIn('{"moved":-1,"dropped":0,"left":9}\n[]\n'), undefined)
  })

  it('is remembered by a mark', () => {
    const leaving = { pod: 'w-1', uid: 'u', sinceMs: 1_700_000_000_000 }
    assert.deepEqual(leavingIn({ 'sluice.dev/leaving-worker': leavingText(leaving) }), leaving)
    for (const text of ['', 'w-1', 'w-1 u', 'w-1 u soon']) assert.equal(leavingIn({ 'sluice.dev/leaving-worker': text }), undefined)
  })

  it('is a command, or none', () => {
    assert.deepEqual(commandIn('["a","b"]'), ['a', 'b'])
    for (const text of [undefined, '', 'a b', '[]', '[""]', '[1]', '{}', `["${'x'.repeat(20_000)}"]`])
      assert.equal(commandIn(text), undefined)
  })
})

describe('a reader', () => {
  const volume = {
    metadata: { name: 'v' },
    spec: {
      claimRef: { namespace: 'other', name: 'c' },
      csi: { driver: 'fuse.csi.fluid.io', volumeAttributes: { runtime_namespace: 'default', runtime_name: 'demo' } },
    },
  } as unknown as PersistentVolume
  const claim = (namespace: string, volumeName = 'v') =>
    ({ metadata: { namespace, name: 'c' }, spec: { volumeName } }) as PersistentVolumeClaim
  const pod = (status: object, nodeName = 'n') =>
    ({ metadata: { namespace: 'other', name: 'p' }, spec: { nodeName }, status }) as unknown as Pod

  it('is found through a volume that leads to the dataset, whose claim and volume name each other', () => {
    assert.equal(datasetOfVolume(volume), 'default/demo')
    assert.deepEqual(
      [isBoundTo(claim('other'), volume), isBoundTo(claim('mine'), volume), isBoundTo(claim('other', 'w'), volume)],
      [true, false, false],
    )
    const elsewhere = {
      ...volume,
      spec: { ...volume.spec, csi: { driver: 'x', volumeHandle: 'v', volumeAttributes: { runtime_namespace: 'a', runtime_name: 'b' } } },
    }
    assert.equal(datasetOfVolume(elsewhere), undefined)
  })

  it('reads from the moment it has a node until it has ended, also while it is asked to end', () => {
    assert.equal(readsOn(pod({ phase: 'Pending' })), 'n')
    assert.equal(readsOn({ ...pod({ phase: 'Running' }), metadata: { deletionTimestamp: 'now' } } as Pod), 'n')
    for (const phase of ['Succeeded', 'Failed']) assert.equal(readsOn(pod({ phase })), undefined)
    assert.equal(readsOn(pod({}, '')), undefined)
    assert.deepEqual(claimKeysOf(pod({})), [])
  })
})

describe('what is said of a hold', () => {
  const many = (count: number, namespace: string) => Array.from({ length: count }, (_, i) => reader(`p${i}`, namespace))

  it('is bounded, and names no pod of another namespace', () => {
    const readers = [...many(9, 'default'), ...many(5, 'secret'), ...many(1, 'b'), ...many(1, 'c'), ...many(1, 'd')]
    const held = Array.from({ length: 9 }, (_, i) => worker(i, { readers }))
    const text = heldMessage({ surplus: 2, held }, 'default')
    assert.match(
      text,
      /^2 workers that are to leave stay, because .* w-0 on node n0 \(pods p0, p1, p2 and 6 more; 5 pods of namespace secret; /,
    )
    assert.match(text, /pods of 1 more namespaces\), .*, and 5 more\. It goes on by itself/)
    assert.ok(text.length < 1024)
  })
})
