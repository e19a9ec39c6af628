import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset, RuntimeCondition } from '../../kinds/fluid/index.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { cacheObjects } from '../engines/cache/objects.ts'
import { aCache, type CacheParts } from '../engines/cache/testing.ts'
import type { ComponentType, Prepared } from '../engines/engine.ts'
import { becauseOf, type ComponentState, cachePhaseOf, phaseOf, stateOfDaemonSet, stateOfSet } from './components.ts'
import type { Verdict } from './conditions.ts'
import { mergePatchTo } from './merge-patch.ts'
import { wantedStatus } from './status.ts'
import { saidOf } from './testing.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const NOW = '2026-01-01T00:00:00Z'
const SERVED: Verdict = { status: 'True', reason: 'Served', message: 'yes' }

const state = (desired: number, ready: number): ComponentState => ({
  ...{ desired, current: desired, ready, available: ready, unavailable: desired - ready, because: undefined },
})

const preparedOf = (parts: CacheParts = {}): Prepared => ({
  objects: cacheObjects(aCache(parts)),
  components: { master: { name: 'demo-master', replicas: 1 }, worker: { name: 'demo-worker', replicas: 2 } },
  ...{ keySecret: undefined, mountUfs: undefined, reportSummary: undefined, mountPaths: [], servedBy: undefined },
  quotas: { memoryBytes: 0, diskBytes: 0 },
})

interface Case {
  type?: 'cache' | 'alluxio'
  status?: object
  states?: Partial<Record<ComponentType, ComponentState>>
  dataset?: Dataset['status']
  prepared?: Prepared
}

function statusOf({ type = 'cache', status, states = {}, dataset, prepared = preparedOf() }: Case): KubeObject & { status: object } {
  const { runtime, dataset: of } = aCache()
  const metadata = { ...runtime.metadata, creationTimestamp: '2025-12-31T23:58:40Z' }
  const now = { dataset: { ...of, status: dataset }, prepared, states, held: undefined }
  const wanted = wantedStatus({ type, runtime: { ...runtime, metadata, status }, served: SERVED, now, nowMs: NOW_MS })
  return { ...runtime, status: wanted.status }
}

describe('the phase of a component', () => {
  const PHASES: [number, number, string, string, string, string][] = [
    // desired, ready, a set of Fluid's other engines, and of a cache: master, worker, client
    [0, 0, 'Ready', 'Ready', 'Ready', 'NotReady'],
    [1, 0, 'NotReady', 'NotReady', 'NotReady', 'NotReady'],
    [3, 1, 'PartialReady', 'NotReady', 'PartialReady', 'PartialReady'],
    [3, 3, 'Ready', 'Ready', 'Ready', 'Ready'],
    [1, 2, 'Ready', 'Ready', 'Ready', 'Ready'],
  ]
  for (const [desired, ready, plain, master, worker, client] of PHASES)
    it(`with ${ready} of ${desired} ready`, () => {
      const one = state(desired, ready)
      assert.deepEqual(
        [phaseOf(one), cachePhaseOf('master', one), cachePhaseOf('worker', one), cachePhaseOf('client', one)],
        [plain, master, worker, client],
      )
    })

  it('is counted from what its workload says, and from what is wanted before there is one', () => {
    assert.deepEqual(stateOfSet(undefined, 2, undefined), { ...state(2, 0), current: 0 })
    assert.deepEqual(stateOfDaemonSet(undefined), state(0, 0))
  })
})

describe('the conditions of a runtime', () => {
  const SAID: [string, ComponentState, string][] = [
    ['WorkersReady', state(2, 2), 'True Workers are ready: The workers are ready.'],
    ['WorkersReady', state(2, 1), 'True Workers are ready: The workers are partially ready.'],
    ['WorkersReady', state(2, 0), 'False Workers are ready: The workers are not ready.'],
    ['WorkersInitialized', state(2, 0), 'True Workers are initialized: The workers are initialized.'],
  ]
  for (const [type, worker, expected] of SAID)
    it(`${type} with ${worker.ready} of ${worker.desired}`, () => {
      for (const form of ['cache', 'alluxio'] as const) assert.equal(saidOf(statusOf({ type: form, states: { worker } }), type), expected)
    })

  const old = '2025-01-01T00:00:00Z'
  const condition = (type: string, status: string, reason = '', message = ''): RuntimeCondition => ({
    ...{ type, status, reason, message, lastProbeTime: old, lastTransitionTime: old },
  })
  const conditionsOf = (one: KubeObject): RuntimeCondition[] => (one.status as { conditions: RuntimeCondition[] }).conditions

  it('keep their times while their status stays, and those of others are kept', () => {
    const conditions = [condition('Mine', 'True'), condition('MasterReady', 'True'), condition('Served', 'False')]
    const next = conditionsOf(statusOf({ status: { conditions }, states: { master: state(1, 1) } }))
    assert.deepEqual(
      next.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
      [
        ['Served', NOW],
        ['MasterInitialized', NOW],
        ['MasterReady', old],
        ['Mine', old],
      ],
    )
  })

  it('that a component was initialized is said once; those of a component that is gone go', () => {
    const conditions = [condition('WorkersInitialized', 'True', 'x', 'as it was'), condition('FusesReady', 'True')]
    const next = statusOf({ status: { conditions }, states: { worker: state(1, 1) } })
    assert.equal(saidOf(next, 'WorkersInitialized'), 'True x: as it was')
    assert.equal(saidOf(next, 'FusesReady'), undefined)
  })

  it('say each change of the number of workers with its own time', () => {
    const before = { workerPhase: 'Ready', desiredWorkerNumberScheduled: 3, conditions: [condition('WorkersScaledIn', 'True')] }
    const next = statusOf({ type: 'alluxio', status: before, states: { worker: state(1, 1) } })
    assert.equal(saidOf(next, 'WorkersScaledIn'), 'True Workers scaled in: Workers scaled in from 3 replicas to 1 replicas.')
    assert.equal(conditionsOf(next).find(({ type }) => type === 'WorkersScaledIn')?.lastTransitionTime, NOW)
    const first = statusOf({ type: 'alluxio', states: { worker: state(1, 1) } })
    assert.equal(saidOf(first, 'WorkersScaledOut'), undefined, 'a beginning is no change')
  })

  it('are bounded, whoever wrote what they say', () => {
    const { runtime } = aCache()
    const served: Verdict = { status: 'False', reason: 'No', message: 'x'.repeat(5000) }
    const { status } = wantedStatus({ type: 'cache', runtime, served, now: undefined, nowMs: NOW_MS })
    assert.equal((status.conditions as RuntimeCondition[])[0]?.message?.length, 1024)
  })
})

describe('the status of a runtime', () => {
  it('says nothing but Served while nothing serves it, and keeps what it said', () => {
    const { runtime } = aCache()
    const served: Verdict = { status: 'False', reason: 'No', message: 'no' }
    const of = (status: object | undefined, type: 'cache' | 'efc') =>
      wantedStatus({ type, runtime: { ...runtime, status }, served, now: undefined, nowMs: NOW_MS }).status
    assert.deepEqual(Object.keys(of(undefined, 'cache')), ['conditions'])
    const { valueFile, masterPhase, workerNumberReady } = of(undefined, 'efc')
    assert.deepEqual([valueFile, masterPhase, workerNumberReady], ['', '', 0], 'the schema demands them')
    assert.equal(of({ workerPhase: 'Ready' }, 'efc').workerPhase, 'Ready')
  })

  it('says how long it took until the dataset was bound: once, and not of an earlier runtime', () => {
    const ready = (lastTransitionTime: string) => ({
      ...{ phase: 'Bound', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] },
    })
    const took = (one: Case) => (statusOf(one).status as { setupDuration?: string }).setupDuration
    assert.equal(took({ dataset: ready(NOW) }), '1m20s')
    assert.equal(took({ dataset: ready('2025-12-31T00:00:00Z') }), undefined)
    assert.equal(took({ dataset: { phase: 'NotBound', conditions: [] } }), undefined)
    assert.equal(took({ dataset: ready(NOW), status: { setupDuration: '3s' } }), '3s')
  })

  it('says where the cache can be: selectors of nodes and affinity together', () => {
    const term = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }
    const prepared = preparedOf({
      spec: { worker: { replicas: 2, nodeSelector: { disk: 'ssd' } } },
      dataset: { nodeAffinity: { required: { nodeSelectorTerms: [term] } } },
    })
    const { cacheAffinity } = statusOf({ prepared }).status as { cacheAffinity: { [key: string]: unknown } }
    assert.deepEqual(cacheAffinity.requiredDuringSchedulingIgnoredDuringExecution, {
      nodeSelectorTerms: [{ matchExpressions: [...term.matchExpressions, { key: 'disk', operator: 'In', values: ['ssd'] }] }],
    })
  })

  it('says why a component is not ready', () => {
    const because = { reason: 'Unschedulable', message: 'no room' }
    const worker = { ...state(1, 0), because }
    const cache = statusOf({ states: { worker } }).status as { worker: { reason: string; message: string } }
    assert.deepEqual([cache.worker.reason, cache.worker.message], ['Unschedulable', 'no room'])
    const other = statusOf({ type: 'alluxio', states: { worker } }).status as { workerReason: string }
    assert.equal(other.workerReason, 'Unschedulable: no room')
  })
})

describe('what pods say about their component', () => {
  const aPod = (status: Pod['status'], annotations: Record<string, string> = {}): Pod => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'demo-worker-0', annotations }, status },
  })
  const unscheduled = (message: string): Pod =>
    aPod({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] })
  const crowded = `0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.`
  const exclusive = aCache().dataset
  const shared = aCache({ dataset: { placement: 'Shared' } }).dataset
  const waiting = (reason: string): Pod => aPod({ containerStatuses: [{ name: 'w', state: { waiting: { reason } } }] } as Pod['status'])
  const simulated = aPod({ phase: 'Running' }, { 'sluice.dev/simulated-because': 'no such program' })

  const CASES: [string, Pod, boolean, Dataset, string | undefined][] = [
    [
      'no room for a second worker',
      unscheduled(crowded),
      false,
      exclusive,
      `${crowded.slice(0, -1)}: set placement: Shared on Dataset demo, or add nodes`,
    ],
    ['the same where nodes are shared', unscheduled(crowded), false, shared, crowded],
    ['another reason', unscheduled('0/1 nodes: 1 Insufficient cpu'), false, exclusive, '0/1 nodes: 1 Insufficient cpu'],
    ['an image that cannot be pulled', waiting('ImagePullBackOff'), false, exclusive, 'does not start'],
    ['what passes by itself', waiting('ContainerCreating'), false, exclusive, undefined],
    ['simulation', simulated, true, exclusive, 'no such program'],
    ['trouble of one that is ready all the same', waiting('ImagePullBackOff'), true, exclusive, undefined],
  ]
  for (const [name, pod, isReady, dataset, expected] of CASES)
    it(name, () => {
      const said = becauseOf([pod], isReady, dataset)?.message
      if (expected === undefined) assert.equal(said, undefined)
      else assert.ok(said?.includes(expected), said)
    })
})

describe('a patch', () => {
  it('has what differs, and null for what is to go', () => {
    const before = { a: 1, gone: 'x', deep: { b: [1], gone: 1, same: {} } }
    assert.deepEqual(mergePatchTo(before, { a: 1, deep: { b: [2], same: {} }, new: { c: 1 } }), {
      ...{ gone: null, deep: { b: [2], gone: null }, new: { c: 1 } },
    })
    assert.equal(mergePatchTo(before, structuredClone(before)), undefined)
  })
})
