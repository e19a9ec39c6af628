import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { conditionsOf, expectGone, expectQuiet, expectThere } from '../../../faultsim/expect/index.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import type { Cluster, Taint } from '../../../kinds/karmada/index.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import { EVENTS, NAMESPACES } from '../../../kinds/kubernetes/resources.ts'
import { aBinding, aCluster, aTestbed, runWithCast } from '../testing.ts'
import { cluster } from './controller.ts'
import { type ObservedCluster, plan, taintsFor } from './plan.ts'

const NOW = '2026-01-01T00:00:10Z'
const NOW_MS = Date.parse(NOW)
const OLD = '2026-01-01T00:00:00Z'
const NOT_READY: Taint = { key: 'cluster.karmada.io/not-ready', effect: 'NoSchedule' }
const UNREACHABLE: Taint = { key: 'cluster.karmada.io/unreachable', effect: 'NoSchedule' }
const OWN: Taint = { key: 'mine', value: 'x', effect: 'NoExecute', timeAdded: OLD }

function stored(ready: string | undefined, taints: Taint[] = [], metadata: Record<string, unknown> = {}): Cluster {
  const object = aCluster('m1', { taints }) as Cluster
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: ready, reason: 'R', message: '', lastTransitionTime: OLD }]
  return {
    ...object,
    metadata: { ...object.metadata, uid: 'u', finalizers: ['karmada.io/cluster-controller'], ...metadata },
    status: { conditions },
  }
}

describe('the taints of a cluster', () => {
  const table: [string, Cluster, Taint[]][] = [
    ['not ready before anything is known', stored(undefined), [{ ...NOT_READY, timeAdded: NOW }]],
    ['not ready', stored('False', [OWN]), [OWN, { ...NOT_READY, timeAdded: NOW }]],
    ['a taint that is there keeps its time', stored('False', [{ ...NOT_READY, timeAdded: OLD }]), [{ ...NOT_READY, timeAdded: OLD }]],
    ['unreachable instead of not ready', stored('Unknown', [NOT_READY, OWN]), [OWN, { ...UNREACHABLE, timeAdded: NOW }]],
    ['not ready instead of unreachable', stored('False', [UNREACHABLE]), [{ ...NOT_READY, timeAdded: NOW }]],
    ['both go when it is ready, others stay', stored('True', [NOT_READY, OWN, UNREACHABLE]), [OWN]],
    [
      'the same key with another effect is another taint',
      stored('True', [{ ...NOT_READY, effect: 'NoExecute' }]),
      [{ ...NOT_READY, effect: 'NoExecute' }],
    ],
  ]
  for (const [name, of, expected] of table) it(name, () => assert.deepEqual(taintsFor(of, NOW), expected))
})

describe('the plan for a cluster', () => {
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'karmada-es-m1', uid: 'n' } }
  const going = { ...space, metadata: { ...space.metadata, deletionTimestamp: NOW } }
  const deleted = (conditions: Cluster['status'] = undefined): Cluster => {
    const object = stored('True', [], { deletionTimestamp: NOW })
    return conditions === undefined ? object : { ...object, status: conditions }
  }
  const waits = { conditions: [{ type: 'Terminating', status: 'True', reason: 'WaitingForWorks', message: '', lastTransitionTime: OLD }] }
  const done = (observed: Partial<ObservedCluster>): string[] =>
    plan({ cluster: undefined, space: undefined, isTargeted: false, nowMs: NOW_MS, ...observed }).actions.map((action) =>
      action.do === 'batch'
        ? action.do
        : `${action.do} ${action.resource.plural}${'subresource' in action && action.subresource ? `/${action.subresource}` : ''}`,
    )
  const table: [string, Partial<ObservedCluster>, string[]][] = [
    ['nothing for one that is gone', {}, []],
    [
      'finalizer and taint in one, then the namespace',
      { cluster: stored(undefined, [], { finalizers: [] }) },
      ['patch clusters', 'create namespaces'],
    ],
    ['nothing when all is well', { cluster: stored('True'), space }, []],
    ['the namespace comes back', { cluster: stored('True') }, ['create namespaces']],
    ['bindings first', { cluster: deleted(), space, isTargeted: true }, ['patch clusters/status']],
    ['then the namespace', { cluster: deleted(), space }, ['delete namespaces', 'patch clusters/status']],
    ['which is deleted once', { cluster: deleted(waits), space: going }, []],
    ['then it may go', { cluster: deleted(waits) }, ['patch clusters']],
    ['what is not ours to hold goes', { cluster: stored('True', [], { deletionTimestamp: NOW, finalizers: ['other'] }), space }, []],
  ]
  for (const [name, observed, expected] of table) it(name, () => assert.deepEqual(done(observed), expected))
})

const reasons = async (hub: WorldCluster): Promise<[unknown, unknown][]> =>
  (await hub.list(EVENTS, { namespace: 'default' })).map(({ reason, message }) => [reason, message])

const setReady = (hub: WorldCluster, status: string): Promise<unknown> => {
  const condition = { type: 'Ready', status, reason: 'R', message: '', lastTransitionTime: OLD }
  return hub.patch(CLUSTERS, 'm1', { status: { conditions: [condition] } }, 'status')
}

describe('a cluster', () => {
  it('gets its namespace and taint, loses the taint when it is ready, and says so once', async () => {
    const { world, hub } = await aTestbed(() => [cluster])
    await hub.create(aCluster('m1'))
    await world.settle()
    const space = await expectThere(hub, NAMESPACES, 'karmada-es-m1')
    assert.equal(space.metadata.labels?.['karmada.io/system'], 'true')
    const found = (await expectThere(hub, CLUSTERS, 'm1')) as Cluster
    assert.deepEqual(found.metadata.finalizers, ['karmada.io/cluster-controller'])
    assert.deepEqual(
      found.spec.taints?.map(({ key, effect }) => [key, effect]),
      [['cluster.karmada.io/not-ready', 'NoSchedule']],
    )
    await setReady(hub, 'True')
    await world.settle()
    assert.deepEqual(((await expectThere(hub, CLUSTERS, 'm1')) as Cluster).spec.taints, [])
    assert.deepEqual(await reasons(hub), [
      ['TaintClusterSucceed', 'Taint cluster succeed: cluster now has taints([{Key:cluster.karmada.io/not-ready,Effect:NoSchedule}]).'],
      ['CreateExecutionSpaceSucceed', 'Created execution space(karmada-es-m1) for cluster(m1).'],
      ['TaintClusterSucceed', 'Taint cluster succeed: cluster now does not have taints.'],
    ])
    await expectQuiet(world)
    await world.stop()
  })

  it('waits for its bindings, then for its Works, says for which, and goes', async () => {
    const { world, hub } = await aTestbed(() => [cluster])
    await hub.create(aCluster('m1'))
    await hub.create(aBinding('default/web', ['m1', 'm2']))
    await world.settle()
    await hub.create({
      apiVersion: 'work.karmada.io/v1alpha1',
      kind: 'Work',
      metadata: { namespace: 'karmada-es-m1', name: 'web', finalizers: ['karmada.io/execution-controller'] },
      spec: {},
    })
    await hub.delete(CLUSTERS, 'm1')
    await world.settle()
    const waitsFor = async () => conditionsOf(await expectThere(hub, CLUSTERS, 'm1')).get('Terminating')?.reason
    assert.equal(await waitsFor(), 'WaitingForBindings')
    assert.equal((await expectThere(hub, NAMESPACES, 'karmada-es-m1')).metadata.deletionTimestamp, undefined)
    await hub.patch(RESOURCE_BINDINGS, 'default/web-deployment', { spec: { clusters: [{ name: 'm2', replicas: 1 }] } })
    await world.settle()
    assert.equal(await waitsFor(), 'WaitingForWorks')
    const works = { group: 'work.karmada.io', version: 'v1alpha1', plural: 'works', kind: 'Work', namespaced: true }
    await hub.patch(works, 'karmada-es-m1/web', { metadata: { finalizers: null } })
    await world.settle()
    await expectGone(hub, CLUSTERS, 'm1')
    await expectGone(hub, NAMESPACES, 'karmada-es-m1')
    assert.deepEqual((await reasons(hub)).at(-1), ['RemoveExecutionSpaceSucceed', 'Removed execution space for cluster(m1).'])
    await world.stop()
  })
})

survives(cluster, {
  role: 'hub',
  controllers: runWithCast(() => [cluster]),
  steps: [
    (hub) => hub.create(aCluster('m1')),
    (hub) => setReady(hub, 'True'),
    (hub) => hub.create(aBinding('default/web', ['m1'])),
    (hub) => setReady(hub, 'Unknown'),
    (hub) => hub.delete(NAMESPACES, 'karmada-es-m1'),
    (hub) => hub.delete(CLUSTERS, 'm1'),
    (hub) => hub.patch(RESOURCE_BINDINGS, 'default/web-deployment', { spec: { clusters: [] } }),
    (hub) => hub.create(aCluster('m1')),
  ],
  async atRest(hub) {
    await expectThere(hub, NAMESPACES, 'karmada-es-m1')
  },
})
