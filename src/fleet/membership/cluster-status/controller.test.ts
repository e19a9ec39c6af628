import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { conditionsOf, expectQuiet, expectThere } from '../../../faultsim/expect/index.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import type { Cluster, ClusterStatus } from '../../../kinds/karmada/index.ts'
import { CLUSTERS } from '../../../kinds/karmada/resources.ts'
import { DEPLOYMENTS, NODES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { manualClock } from '../../../runtime/testing.ts'
import { aCluster, aTestbed, type Cast, NO_STATE, runWithCast } from '../testing.ts'
import { clusterStatus } from './controller.ts'
import { enablementsOf } from './enablements.ts'
import { coalesce } from './member-state.ts'
import { enablementCondition, type KnownState, mergePatch, type ObservedStatus, planWith } from './plan.ts'

const CAST: Cast = (state) => [clusterStatus(state)]

const statusOf = async (hub: WorldCluster, name = 'member1'): Promise<ClusterStatus> =>
  ((await expectThere(hub, CLUSTERS, name)) as Cluster).status ?? {}
const readyOf = async (hub: WorldCluster, name = 'member1'): Promise<string> => {
  const ready = conditionsOf(await expectThere(hub, CLUSTERS, name)).get('Ready')
  return `${ready?.status} ${ready?.reason}`
}

const aDeployment = (replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'nginx', resources: { requests: { cpu: '250m', memory: '64Mi' } } }] },
    },
  },
})

const aDefinition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.sea.dev' },
  spec: {
    group: 'sea.dev',
    scope: 'Namespaced',
    names: { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

describe('the status of a cluster', () => {
  it('reports what the member is, serves and has, and follows it', async () => {
    const { world, hub } = await aTestbed(CAST, { members: 1, nodes: 2 })
    await hub.create(aCluster('member1'))
    await world.settle()
    const status = await statusOf(hub)
    assert.match(status.kubernetesVersion ?? '', /^v1\.\d+\.\d+/)
    assert.deepEqual(
      status.conditions?.map(({ type, status: is, reason, message }) => [type, is, reason, message]),
      [
        ['CompleteAPIEnablements', 'True', 'Complete', 'collected complete APIEnablements from the cluster'],
        ['Ready', 'True', 'ClusterReady', 'cluster is healthy and ready to accept workloads'],
      ],
    )
    const groups = status.apiEnablements?.map(({ groupVersion }) => groupVersion) ?? []
    assert.deepEqual(groups, [...groups].sort())
    assert.deepEqual(
      status.apiEnablements?.find(({ groupVersion }) => groupVersion === 'apps/v1')?.resources?.find(({ name }) => name === 'deployments'),
      { name: 'deployments', kind: 'Deployment' },
    )
    assert.ok(!JSON.stringify(status.apiEnablements).includes('/status'))
    assert.deepEqual(status.nodeSummary, { totalNum: 2, readyNum: 2 })
    assert.equal(status.resourceSummary?.allocatable?.pods, '220')
    assert.equal(status.resourceSummary?.allocated, undefined)
    await world.member.create(aDeployment(3))
    await world.member.create(aDefinition)
    await world.settle()
    const later = await statusOf(hub)
    assert.deepEqual(later.resourceSummary?.allocated, { cpu: '750m', memory: '192Mi', pods: '3' })
    assert.ok(later.apiEnablements?.some(({ groupVersion }) => groupVersion === 'sea.dev/v1'))
    await world.member.delete(DEPLOYMENTS, 'default/web')
    const [node] = await world.member.list(NODES)
    await world.member.patch(NODES, node?.metadata.name ?? '', { status: { allocatable: { 'nvidia.com/gpu': '4' } } }, 'status')
    await world.settle()
    const last = await statusOf(hub)
    assert.deepEqual([last.resourceSummary?.allocated, last.resourceSummary?.allocatable?.['nvidia.com/gpu']], [undefined, '4'])
    await expectQuiet(world)
    await world.stop()
  })

  it('leaves the conditions of others alone, and heartbeats write nothing', async () => {
    const { world, hub } = await aTestbed(CAST, { members: 1 })
    await hub.create(aCluster('member1'))
    await world.settle()
    const { conditions = [] } = await statusOf(hub)
    const foreign = { type: 'NetworkReady', status: 'False', reason: 'Test', message: 'no', lastTransitionTime: '2026-01-01T00:00:00Z' }
    await hub.patch(CLUSTERS, 'member1', { status: { conditions: [...conditions, foreign] } }, 'status')
    await world.settle()
    hub.takeControllerWrites()
    await world.advance(600_000)
    assert.deepEqual(hub.takeControllerWrites(), [])
    assert.deepEqual((await statusOf(hub)).conditions?.at(-1), foreign)
    await world.member.create(aDefinition)
    await world.settle()
    assert.deepEqual((await statusOf(hub)).conditions?.at(-1), foreign)
    await world.stop()
  })

  it('gives a member that stops answering its time, says so, and takes it back when it has stayed', async () => {
    const { world, hub } = await aTestbed(CAST, { members: 2, nodes: 1 })
    await hub.create(aCluster('member1'))
    await hub.create(aCluster('member2'))
    await world.settle()
    const before = await statusOf(hub)
    world.member.link.cut()
    await world.advance(25_000)
    assert.equal(await readyOf(hub), 'True ClusterReady')
    await world.advance(20_000)
    await world.settle()
    assert.equal(await readyOf(hub), 'False ClusterNotReachable')
    assert.equal(await readyOf(hub, 'member2'), 'True ClusterReady')
    assert.deepEqual((await statusOf(hub)).resourceSummary, before.resourceSummary)
    await restarted(world)
    assert.equal(await readyOf(hub), 'False ClusterNotReachable')
    world.member.link.mend()
    await world.advance(25_000)
    assert.equal(await readyOf(hub), 'False ClusterNotReachable')
    await world.advance(45_000)
    assert.equal(await readyOf(hub), 'True ClusterReady')
    await expectQuiet(world)
    await world.stop()
  })

  it('says that there is no way to a member, and begins at once when there is', async () => {
    const { world, hub } = await aTestbed(CAST, { members: 1 })
    await hub.create(aCluster('member1', { apiEndpoint: undefined }))
    await hub.create(aCluster('pull', { syncMode: 'Pull' }))
    await world.advance(15_000)
    assert.equal(await readyOf(hub), 'False StatusCollectionFailed')
    assert.deepEqual(await statusOf(hub, 'pull'), {})
    await hub.patch(CLUSTERS, 'member1', { spec: { apiEndpoint: 'https://member1' } })
    await world.settle()
    assert.equal(await readyOf(hub), 'True ClusterReady')
    await world.stop()
  })

  it('is written at most once a second while pods come and go', async () => {
    const { world, hub } = await aTestbed(CAST, { members: 1, nodes: 3 })
    await hub.create(aCluster('member1'))
    await world.settle()
    hub.takeControllerWrites()
    for (let replicas = 1; replicas <= 20; replicas++) {
      if (replicas === 1) await world.member.create(aDeployment(1))
      else await world.member.patch(DEPLOYMENTS, 'default/web', { spec: { replicas } })
      await world.advance(250)
    }
    await world.settle()
    const writes = hub.takeControllerWrites()
    assert.ok(writes.length >= 2 && writes.length <= 8, `${writes.length} writes in about 5 seconds`)
    assert.equal((await statusOf(hub)).resourceSummary?.allocated?.pods, '20')
    await world.stop()
  })
})

async function restarted(world: World): Promise<void> {
  await world.restartControllers()
  await world.settle()
}

describe('the plan for a status', () => {
  const plan = planWith({ successThresholdMs: 30_000, failureThresholdMs: 30_000 })
  const cluster = aCluster('m1') as Cluster
  const ready = { health: 'ready', sinceMs: 0, isFirst: true } as const
  const state: KnownState = { isComplete: true, version: 'v1.30.0', enablements: { list: [], isComplete: true }, summary: undefined }
  const patched = (observed: Partial<ObservedStatus>): unknown =>
    plan({ cluster, streak: ready, state, nowMs: 1000, ...observed }).actions.map((action) =>
      action.do === 'patch' ? action.patch : action,
    )

  it('waits until what is said is known', () => {
    assert.deepEqual(patched({ state: { ...state, isComplete: false } }), [])
    assert.deepEqual(patched({ streak: undefined }), [])
    assert.deepEqual(patched({ cluster: undefined }), [])
  })

  it('says what is known, and keeps what is not', () => {
    const [{ status }] = patched({}) as [{ status: ClusterStatus }]
    assert.equal(status.kubernetesVersion, 'v1.30.0')
    assert.deepEqual(
      status.conditions?.map(({ type, reason }) => `${type} ${reason}`),
      ['CompleteAPIEnablements Empty', 'Ready ClusterReady'],
    )
    assert.ok(!('resourceSummary' in status))
  })

  it('says only that it is not ready when it is not', () => {
    const [{ status }] = patched({ streak: { health: 'unreachable', sinceMs: 0, isFirst: true } }) as [{ status: ClusterStatus }]
    assert.deepEqual(Object.keys(status), ['conditions'])
    assert.deepEqual(
      status.conditions?.map(({ reason }) => reason),
      ['ClusterNotReachable'],
    )
  })

  it('takes out what a field no longer has', () => {
    const before = { a: { x: '1', y: '2' }, b: 1, c: [1] }
    assert.deepEqual(mergePatch(before, { a: { x: '3' }, b: 1, c: [1, 2] }), { a: { x: '3', y: null }, c: [1, 2] })
    assert.equal(mergePatch(before, { a: { x: '1', y: '2' }, b: undefined }), undefined)
  })
})

describe('what a member serves', () => {
  const group = (name: string, versions: object[]) => ({ metadata: { name }, versions })
  const pods = { resource: 'pods', responseKind: { kind: 'Pod' }, subresources: [{ subresource: 'status' }] }

  it('is reported with every version, the core group without a name', () => {
    const items = [
      group('', [{ version: 'v1', resources: [pods, { resource: 'nodes', responseKind: { kind: 'Node' } }] }]),
      group('b', [{ version: 'v1' }, { version: 'v2', freshness: 'Stale' }]),
    ]
    assert.deepEqual(enablementsOf({ items }), {
      isComplete: false,
      list: [
        {
          groupVersion: 'v1',
          resources: [
            { name: 'nodes', kind: 'Node' },
            { name: 'pods', kind: 'Pod' },
          ],
        },
        { groupVersion: 'b/v1', resources: [] },
        { groupVersion: 'b/v2', resources: [] },
      ],
    })
  })

  it('is complete, partial or empty', () => {
    const list = [{ groupVersion: 'v1', resources: [] }]
    assert.deepEqual(
      [
        enablementCondition({ list, isComplete: true }),
        enablementCondition({ list, isComplete: false }),
        enablementCondition({ list: [], isComplete: true }),
      ].map(({ status, reason, message }) => `${status} ${reason} ${message}`),
      [
        'True Complete collected complete APIEnablements from the cluster',
        'False Partial might collect partial APIEnablements(1) from the cluster',
        'False Empty collected empty APIEnablements from the cluster',
      ],
    )
  })
})

it('a change is reported at once, then at the end of each interval, and never lost', () => {
  const clock = manualClock()
  const reported: number[] = []
  const changes = coalesce(clock, 1000, () => reported.push(clock.now()))
  changes.notify()
  for (let i = 0; i < 25; i++) {
    clock.move(100)
    changes.notify()
  }
  clock.move(5000)
  changes.notify()
  assert.deepEqual(reported, [0, 1000, 2000, 3000, 7500])
})

survives(clusterStatus(NO_STATE), {
  role: 'hub',
  members: 1,
  nodes: 1,
  controllers: runWithCast(CAST),
  steps: [
    (hub) => hub.create(aCluster('member1')),
    (hub) => hub.create(aCluster('nowhere', { apiEndpoint: undefined })),
    (hub) => hub.advance(60_000),
    (hub) => hub.delete(CLUSTERS, 'nowhere'),
    (hub) => hub.delete(CLUSTERS, 'member1'),
    (hub) => hub.create(aCluster('member1')),
  ],
  async atRest(hub) {
    assert.equal(await readyOf(hub), 'True ClusterReady')
    assert.deepEqual((await statusOf(hub)).nodeSummary, { totalNum: 1, readyNum: 1 })
  },
})
