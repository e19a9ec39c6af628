import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AdvancedStatefulSet, Dataset } from '../../kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS } from '../../kinds/fluid/resources.ts'
import { DAEMON_SETS } from '../../kinds/kubernetes/resources.ts'
import type { DaemonSet, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Effect, Outcome, Reader } from '../../runtime/controller.ts'
import { cacheObjects } from '../engines/cache/objects.ts'
import { aCache } from '../engines/cache/testing.ts'
import type { Prepared } from '../engines/engine.ts'
import { canonical } from './canonical.ts'
import { type Cleared, clearEffect, type ToClear } from './clear.ts'
import { decide } from './decide.ts'
import { keyOf } from './key.ts'
import type { Observed } from './observe.ts'
import { partsOf } from './parts.ts'
import { plan } from './plan.ts'
import { withOrdinals } from './scale.ts'
import { DEPS } from './testing.ts'

const FINALIZER = 'cache-runtime-controller-finalizer'
const NOW_MS = Date.UTC(2026, 0, 1)

const cache = aCache()
const prepared: Prepared = {
  objects: cacheObjects(cache),
  components: { master: { name: 'demo-master', replicas: 1 }, worker: { name: 'demo-worker', replicas: 1 } },
  ...{ keySecret: 'demo-key', mountUfs: undefined, reportSummary: undefined, mountPaths: [], servedBy: undefined },
  quotas: { memoryBytes: 0, diskBytes: 0 },
}
const joined: KubeObject['metadata'] = {
  ...cache.runtime.metadata,
  labels: { 'fluid.io/dataset-id': 'default-demo' },
  finalizers: [FINALIZER],
  ownerReferences: [{ apiVersion: 'data.fluid.io/v1alpha1', kind: 'Dataset', name: 'demo', uid: 'd1' }],
}
const DELETED = '2026-01-01T00:00:00Z'

const observed = (more: Partial<Observed> = {}, metadata: KubeObject['metadata'] = joined): Observed => ({
  engine: DEPS.cache.engine,
  runtime: { ...cache.runtime, metadata },
  isStale: false,
  dataset: cache.dataset,
  serving: { served: { prepared }, parts: partsOf(prepared, () => undefined), surplus: [], states: {}, key: {}, scaleIn: undefined },
  nowMs: NOW_MS,
  ...more,
})
const going = (volume?: string, toClear?: ToClear): Observed => observed({ volume, toClear }, { ...joined, deletionTimestamp: DELETED })
const cleanedBy = (outcome?: Outcome<Cleared>): ToClear => ({
  where: 'blocks may be left in /x',
  by: { request: { effect: clearEffect('cache', DEPS.cache.clock) as Effect, key: 'k', input: {} }, outcome },
})
const datasetWith = (status: Partial<NonNullable<Dataset['status']>>, deletionTimestamp?: string): Dataset => ({
  ...cache.dataset,
  metadata: { ...cache.dataset.metadata, deletionTimestamp },
  status: { conditions: [], ...status },
})

const refused: Observed['serving'] = {
  served: { refused: { reason: 'NoSuchClass', message: 'create it' } },
  ...{ parts: [], surplus: [], states: {}, key: {}, scaleIn: undefined },
}

const saidBy = (one: Observed): string => {
  const decision = decide(one)
  if (decision.do === 'release' && decision.left !== undefined) return 'release with blocks left'
  return decision.do === 'tell' ? `tell ${decision.refused.reason}` : decision.do
}
/** `apply ConfigMap`, in the order of the plan. */
const doneBy = (one: Observed): string[] =>
  plan(one, decide(one)).actions.map((action) =>
    action.do === 'batch'
      ? 'batch'
      : `${action.do} ${action.resource.kind}${'subresource' in action && action.subresource ? '/status' : ''}`,
  )

describe('what is decided about a runtime', () => {
  const CASES: [string, Observed, string][] = [
    ['a dataset and an engine', observed(), 'serve'],
    ['no dataset', observed({ dataset: undefined, serving: undefined }, cache.runtime.metadata), 'tell NoDataset'],
    ['a dataset that is gone', observed({ dataset: undefined, serving: undefined }), 'nothing'],
    ['refused', observed({ serving: refused }), 'tell NoSuchClass'],
    ['refused, and not yet owned', observed({ serving: refused }, cache.runtime.metadata), 'belong'],
    [
      'refused, of a dataset that is bound to another',
      observed({ serving: refused, dataset: datasetWith({ runtimes: [{ type: 'alluxio' }] }) }, cache.runtime.metadata),
      'tell BoundToAnother',
    ],
    ['a cache that is behind', observed({ isStale: true }), 'nothing'],
    ['not yet the one of its dataset', observed({}, cache.runtime.metadata), 'join'],
    ['a dataset that was made again', observed({}, { ...joined, ownerReferences: [] }), 'join'],
    ['a dataset that goes', observed({ dataset: datasetWith({}, DELETED) }, cache.runtime.metadata), 'tell DatasetDeleted'],
    ['a dataset that goes while it is served', observed({ dataset: datasetWith({}, DELETED) }), 'serve'],
    ['a dataset of another runtime', observed({ dataset: datasetWith({ runtimes: [{ type: 'alluxio' }] }) }), 'tell BoundToAnother'],
    ['a dataset that is bound to it', observed({ dataset: datasetWith({ runtimes: [{ type: 'cache' }] }) }), 'serve'],
    ['going, with a claim left', going('PersistentVolumeClaim demo'), 'tell Deleted'],
    ['going, with nothing left', going(), 'release'],
    ['going, with blocks on nodes', going(undefined, cleanedBy()), 'clear'],
    ['going, while they are removed', going(undefined, cleanedBy({ state: 'running' })), 'clear'],
    ['going, and they are removed', going(undefined, cleanedBy({ state: 'done', value: { problem: undefined } })), 'release'],
    ['going, and they are not', going(undefined, cleanedBy({ state: 'done', value: { problem: 'no' } })), 'release with blocks left'],
    ['going, and it took too long', going(undefined, cleanedBy({ state: 'failed', message: 'no' })), 'release with blocks left'],
    ['going, with nobody to remove them', going(undefined, { where: 'blocks', by: undefined }), 'release with blocks left'],
    ['going, with both', going('PersistentVolumeClaim demo', cleanedBy()), 'tell Deleted'],
    ['going, and never served', observed({}, { ...cache.runtime.metadata, deletionTimestamp: DELETED }), 'nothing'],
  ]
  for (const [name, one, expected] of CASES) it(name, () => assert.equal(saidBy(one), expected))

  it('what belongs to somebody else is named, with its owner', () => {
    const reasonFor = (owner: object | undefined): string => {
      const metadata = {
        name: 'demo-worker',
        ownerReferences: owner === undefined ? [] : [{ apiVersion: 'v1', controller: true, ...owner }],
      }
      const live = { apiVersion: 'v1', kind: 'AdvancedStatefulSet', metadata, spec: {} } as unknown as KubeObject
      const parts = partsOf(prepared, (resource, name) =>
        resource === ADVANCED_STATEFUL_SETS && name === 'demo-worker' ? live : undefined,
      )
      const decision = decide(observed({ serving: { served: { prepared }, parts, surplus: [], states: {}, key: {}, scaleIn: undefined } }))
      return decision.do === 'tell' ? decision.refused.message : decision.do
    }
    assert.match(reasonFor(undefined), /^AdvancedStatefulSet demo-worker exists and was not made for this runtime: delete it, or /)
    assert.match(reasonFor({ kind: 'Other', name: 'x', uid: 'o' }), /belongs to Other x: delete it/)
    assert.match(reasonFor({ kind: 'CacheRuntime', name: 'demo', uid: 'old' }), /an earlier CacheRuntime of this name: it is waited for/)
    assert.equal(reasonFor({ kind: 'CacheRuntime', name: 'demo', uid: 'r1' }), 'serve')
  })
})

describe('the writes of a runtime', () => {
  const OBJECTS = ['apply ConfigMap', 'apply Service', 'apply AdvancedStatefulSet', 'apply AdvancedStatefulSet', 'apply DaemonSet']
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'demo-key' } }

  it('are the key first, the status last', () => {
    const { serving } = observed()
    assert.ok(serving !== undefined)
    assert.deepEqual(doneBy(observed({ serving: { ...serving, key: { secret } } })), [
      'create Secret',
      ...OBJECTS,
      'patch CacheRuntime/status',
    ])
  })

  it('replace a set whose name in the network is another one, because no set can change it', () => {
    const { serving } = observed()
    assert.ok(serving !== undefined)
    const own = { ownerReferences: [{ apiVersion: 'v1', kind: 'CacheRuntime', name: 'demo', uid: 'r1', controller: true }] }
    const parts = partsOf(prepared, (resource, name) => {
      const wanted = prepared.objects.sets.find(({ metadata }) => metadata.name === name)
      if (resource !== ADVANCED_STATEFUL_SETS || wanted === undefined) return undefined
      const spec = name === 'demo-worker' ? { ...wanted.spec, serviceName: 'svc-of-another-class' } : wanted.spec
      return { ...wanted, metadata: { ...wanted.metadata, ...own }, spec }
    })
    const { actions } = plan(observed({ serving: { ...serving, parts } }), decide(observed({ serving: { ...serving, parts } })))
    const ofSets = actions.flatMap((action) =>
      action.do === 'delete' ? `${action.do} ${action.of.metadata.name}` : action.do === 'apply' ? (action.object.metadata.name ?? '') : [],
    )
    assert.deepEqual(
      ofSets.filter((text) => /^(delete )?demo-(master|worker)$/.test(text)),
      ['demo-master', 'delete demo-worker'],
    )
  })

  it('complain of a volume that is left only where the dataset is not gone', () => {
    const events = (of: Observed): number =>
      plan(of, decide(of)).actions.flatMap((action) =>
        'events' in action ? ((action.events as readonly unknown[] | undefined) ?? []) : [],
      ).length
    const held = going('PersistentVolumeClaim demo')
    assert.deepEqual([events(held), events({ ...held, dataset: undefined })], [1, 0])
  })

  it('are none but the status while the dataset goes', () => {
    assert.deepEqual(doneBy(observed({ dataset: datasetWith({}, DELETED) })), ['patch CacheRuntime/status'])
  })

  it('begin with the reason when the server did not accept something, and the reason is taken back soon after', () => {
    const refused = observed({ failure: { message: 'no', code: 422 } })
    assert.deepEqual(doneBy(refused), ['patch CacheRuntime/status', ...OBJECTS])
    assert.equal(plan(refused, decide(refused)).requeueAfterMs, 1)
    const decision = decide(refused)
    assert.equal(decision.do === 'serve' && decision.served.status, 'False')
    const passing = decide(observed({ failure: { message: 'no', code: 503 } }))
    assert.equal(passing.do === 'serve' && passing.served.reason, 'Served')
  })

  it('delete what is surplus, exactly as it was seen', () => {
    const { serving } = observed()
    assert.ok(serving !== undefined)
    const object = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'demo-old', uid: 'x' } }
    const done = doneBy(observed({ serving: { ...serving, surplus: [{ resource: DAEMON_SETS, object }] } }))
    assert.deepEqual(done.slice(-2), ['delete DaemonSet', 'patch CacheRuntime/status'])
  })
})

describe('the ordinals of workers', () => {
  const set = (replicas: number, reserveOrdinals?: number[]): AdvancedStatefulSet => {
    const [, worker] = cacheObjects(cache).sets
    assert.ok(worker !== undefined)
    return { ...worker, spec: { ...worker.spec, replicas, ...(reserveOrdinals === undefined ? {} : { reserveOrdinals }) } }
  }
  const CASES: [string, AdvancedStatefulSet | undefined, number, number[]][] = [
    ['at the beginning', undefined, 2, []],
    ['with more workers', set(2, [0]), 3, []],
    ['with fewer workers', set(3, [0]), 1, [0]],
    ['with as many', set(2, [1]), 2, [1]],
  ]
  for (const [name, live, replicas, expected] of CASES)
    it(name, () => assert.deepEqual(withOrdinals(set(replicas), live).spec.reserveOrdinals, expected))
})

describe('the key of a runtime', () => {
  const set = (uid: string): KubeObject => {
    const [master] = cacheObjects(cache).sets
    assert.ok(master !== undefined)
    return {
      ...master,
      metadata: { ...master.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid, controller: true }] },
    }
  }
  const aPod = (ageMs: number, nodeName = 'n'): Pod => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'demo-master-0' }, spec: { containers: [], nodeName } },
    status: { phase: 'Pending', startTime: new Date(NOW_MS - ageMs).toISOString() },
  })
  const keyWith = (objects: Record<string, KubeObject>, of = prepared) => {
    const read = { get: (_of: unknown, _namespace: string, name: string) => objects[name], nowMs: () => NOW_MS } as unknown as Reader
    const { secret, againMs } = keyOf({ runtime: cache.runtime, prepared: of, read, random: DEPS.cache.random })
    return [secret !== undefined, againMs]
  }
  const CASES: [string, Record<string, KubeObject>, [boolean, number | undefined]][] = [
    ['before there is a master', {}, [true, undefined]],
    ['beside the master of somebody else', { 'demo-master': set('other') }, [false, undefined]],
    ['while the master has no pod', { 'demo-master': set('r1') }, [false, undefined]],
    ['while the pod has no node', { 'demo-master': set('r1'), 'demo-master-0': aPod(60_000, '') }, [false, undefined]],
    ['while the pod has only begun', { 'demo-master': set('r1'), 'demo-master-0': aPod(4_000) }, [false, 6_000]],
    ['when the pod does not start', { 'demo-master': set('r1'), 'demo-master-0': aPod(60_000) }, [true, 60_000]],
    ['when the pod has not started for days', { 'demo-master': set('r1'), 'demo-master-0': aPod(1e9) }, [true, 600_000]],
  ]
  for (const [name, objects, expected] of CASES) it(`is made or not ${name}`, () => assert.deepEqual(keyWith(objects), expected))

  it('is 32 bytes, belongs to the runtime, and is not made where nobody needs it', () => {
    const read = { get: () => undefined, nowMs: () => NOW_MS } as unknown as Reader
    const { secret } = keyOf({ runtime: cache.runtime, prepared, read, random: DEPS.cache.random })
    assert.equal(Buffer.from(secret?.data?.key ?? '', 'base64').length, 32)
    assert.equal(secret?.metadata.ownerReferences?.[0]?.uid, 'r1')
    assert.deepEqual(keyWith({}, { ...prepared, keySecret: undefined }), [false, undefined])
  })
})

describe('an object as a server will have it', () => {
  const daemonSet = (container: object): DaemonSet => ({
    ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'x', labels: { empty: '' } } },
    spec: { selector: {}, template: { spec: { containers: [{ name: 'c', ...container }] } } },
  })
  const containerOf = (of: DaemonSet) => canonical(DAEMON_SETS, of).spec?.template?.spec?.containers?.[0]

  it('has no empty texts, and amounts in their usual form; empty labels stay, and nothing is added', () => {
    const env = [{ name: 'A', value: '' }]
    assert.deepEqual(containerOf(daemonSet({ env, resources: { limits: { cpu: '1000m', memory: '1024Mi' } } })), {
      ...{ name: 'c', env: [{ name: 'A' }], resources: { limits: { cpu: '1', memory: '1Gi' } } },
    })
    assert.deepEqual(canonical(DAEMON_SETS, daemonSet({})).metadata, { name: 'x', labels: { empty: '' } })
  })

  it('is left alone where it cannot be read', () => {
    const odd = daemonSet({ image: 7 })
    assert.equal(canonical(DAEMON_SETS, odd), odd)
  })
})
