import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Registry } from 'prom-client'
import { joinedCluster } from '../../../test/fleet/joining.ts'
import { aDeployment, aPropagationPolicy, on, selectorOf } from '../../../test/fleet/manifests.ts'
import { runControllers } from '../../composition.ts'
import { World } from '../../faultsim/world/index.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../kinds/kubernetes/resources.ts'
import { manualClock } from '../../runtime/testing.ts'
import { KARMADA_METRICS } from './declared.ts'
import { createFleetMetrics } from './index.ts'

/** As Karmada's programs export them: type and labels by name. */
const EXPECTED: Readonly<Record<string, readonly [string, ...string[]]>> = {
  cluster_ready_state: ['gauge', 'member_cluster'],
  cluster_node_number: ['gauge', 'member_cluster'],
  cluster_ready_node_number: ['gauge', 'member_cluster'],
  cluster_memory_allocatable_bytes: ['gauge', 'member_cluster'],
  cluster_cpu_allocatable_number: ['gauge', 'member_cluster'],
  cluster_pod_allocatable_number: ['gauge', 'member_cluster'],
  cluster_memory_allocated_bytes: ['gauge', 'member_cluster'],
  cluster_cpu_allocated_number: ['gauge', 'member_cluster'],
  cluster_pod_allocated_number: ['gauge', 'member_cluster'],
  cluster_sync_status_duration_seconds: ['histogram', 'member_cluster'],
  resource_match_policy_duration_seconds: ['histogram'],
  resource_apply_policy_duration_seconds: ['histogram', 'result'],
  policy_apply_attempts_total: ['counter', 'result'],
  policy_preemption_total: ['counter', 'result'],
  binding_sync_work_duration_seconds: ['histogram', 'result'],
  work_sync_workload_duration_seconds: ['histogram', 'result'],
  create_resource_to_cluster: ['counter', 'result', 'apiversion', 'kind', 'member_cluster', 'recreate'],
  update_resource_to_cluster: ['counter', 'result', 'apiversion', 'kind', 'member_cluster', 'operationResult'],
  delete_resource_from_cluster: ['counter', 'result', 'apiversion', 'kind', 'member_cluster'],
  eviction_queue_depth: ['gauge', 'name'],
  eviction_kind_total: ['gauge', 'member_cluster', 'resource_kind'],
  eviction_processing_latency_seconds: ['histogram', 'name'],
  eviction_processing_total: ['counter', 'name', 'result'],
  karmada_scheduler_schedule_attempts_total: ['counter', 'result', 'schedule_type'],
  karmada_scheduler_e2e_scheduling_duration_seconds: ['histogram', 'result', 'schedule_type'],
  karmada_scheduler_scheduling_algorithm_duration_seconds: ['histogram', 'schedule_step'],
  karmada_scheduler_queue_incoming_bindings_total: ['counter', 'event'],
  scheduler_pending_bindings: ['gauge', 'queue'],
}

/** The upper bounds of its buckets: the first, how many, and the last. */
const BUCKETS: Readonly<Record<string, readonly [number, number, number]>> = {
  cluster_sync_status_duration_seconds: [0.005, 11, 10],
  resource_match_policy_duration_seconds: [0.001, 12, 2.048],
  resource_apply_policy_duration_seconds: [0.001, 12, 2.048],
  binding_sync_work_duration_seconds: [0.001, 12, 2.048],
  work_sync_workload_duration_seconds: [0.001, 12, 2.048],
  eviction_processing_latency_seconds: [0.001, 15, 16.384],
  karmada_scheduler_e2e_scheduling_duration_seconds: [0.001, 15, 16.384],
  karmada_scheduler_scheduling_algorithm_duration_seconds: [0.001, 15, 16.384],
}

describe("Karmada's metrics", () => {
  it('have its names, types and labels', async () => {
    const registry = new Registry()
    createFleetMetrics(registry, manualClock())
    const types = new Map([...(await registry.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
    assert.deepEqual([...types.keys()].sort(), Object.keys(EXPECTED).sort())
    for (const [name, [type, ...labels]] of Object.entries(EXPECTED)) {
      assert.equal(types.get(name), type, name)
      assert.deepEqual(KARMADA_METRICS[name as keyof typeof KARMADA_METRICS].labels, labels, name)
    }
  })

  it('have its buckets', async () => {
    const registry = new Registry()
    const { measures, observer } = createFleetMetrics(registry, manualClock())
    // A histogram exposes its buckets only once it has observations.
    measures.heartbeat('member1', 1)
    for (const what of ['MatchPolicy', 'Filter'] as const) measures.timed(what, () => undefined)
    for (const controller of ['fleet.detector.binding', 'fleet.binding.works', 'fleet.execution', 'fleet.failover.taint-eviction'])
      observer.pass?.({ controller, key: 'a/b', result: 'done', writes: 1, durationMs: 1 })
    measures.decided({ controller: 'fleet.scheduler', key: 'a/b', type: 'ReconcileSchedule', isSuccess: true })
    observer.pass?.({ controller: 'fleet.scheduler', key: 'a/b', result: 'done', writes: 1, durationMs: 1 })
    const text = await registry.metrics()
    for (const [name, expected] of Object.entries(BUCKETS)) {
      const ends = [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"+]+)"`, 'gm'))].map(([, end]) => Number(end))
      assert.deepEqual([ends[0], ends.length, ends.at(-1)], expected, name)
    }
    const histograms = Object.entries(EXPECTED).flatMap(([name, [type]]) => (type === 'histogram' ? [name] : []))
    assert.deepEqual(Object.keys(BUCKETS).sort(), histograms.sort())
  })
})

type Scraped = (series: string) => number

/** The value of a series, `name{label="value",…}` as it is exposed; 0 when it is not. */
async function scrape(registry: Registry): Promise<Scraped> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const values = new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
  return (series) => values.get(series) ?? 0
}

async function aMeasuredFleet(registry: Registry): Promise<World> {
  const world = new World({
    members: 2,
    nodes: 2,
    controllers: (options) => runControllers(options.role === 'hub' ? { ...options, registry } : options),
  })
  await world.start()
  await world.settle()
  await world.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'karmada-cluster' } })
  for (const [i, { name }] of world.members.entries())
    for (const object of joinedCluster(i, { name, server: `https://${name}.world:6443`, token: 'token', authority: '' }))
      await world.hub.create(object)
  await world.settle()
  return world
}

describe('a fleet whose metrics are read', () => {
  it('reports its clusters, what went to them, and decisions', async () => {
    const registry = new Registry()
    const world = await aMeasuredFleet(registry)
    const { hub, members } = world
    const web = aDeployment('web')
    const inDefault = { ...web, metadata: { ...web.metadata, namespace: 'default' } }
    const placement = { ...on(...members), replicaScheduling: { replicaSchedulingType: 'Duplicated' } }
    const policy = aPropagationPolicy('web', [selectorOf(web)], placement)
    await hub.create({ ...policy, metadata: { ...policy.metadata, namespace: 'default' } })
    await hub.create(inDefault)
    await world.settle()
    let scraped = await scrape(registry)
    assert.deepEqual(
      ['cluster_ready_state', 'cluster_node_number', 'cluster_ready_node_number'].map((name) =>
        scraped(`${name}{member_cluster="member1"}`),
      ),
      [1, 2, 2],
    )
    assert.ok(scraped('cluster_cpu_allocatable_number{member_cluster="member2"}') > 1)
    assert.ok(scraped('cluster_memory_allocatable_bytes{member_cluster="member2"}') > 2 ** 30)
    assert.equal(scraped('cluster_pod_allocated_number{member_cluster="member1"}'), 2)
    assert.ok(scraped('cluster_sync_status_duration_seconds_count{member_cluster="member1"}') > 0)
    const deployment = 'apiversion="apps/v1",kind="Deployment",member_cluster="member1"'
    assert.equal(scraped(`create_resource_to_cluster{result="success",${deployment},recreate="false"}`), 1)
    assert.ok(scraped('resource_match_policy_duration_seconds_count') > 0)
    assert.ok(scraped('policy_apply_attempts_total{result="success"}') > 0)
    assert.equal(scraped('policy_apply_attempts_total{result="error"}'), 0)
    assert.equal(
      scraped('policy_apply_attempts_total{result="success"}'),
      scraped('resource_apply_policy_duration_seconds_count{result="success"}'),
    )
    for (const name of ['binding_sync_work', 'work_sync_workload'])
      assert.ok(scraped(`${name}_duration_seconds_count{result="success"}`) > 0, name)
    const attempt = 'result="scheduled",schedule_type="ReconcileSchedule"'
    assert.ok(scraped(`karmada_scheduler_schedule_attempts_total{${attempt}}`) > 0)
    assert.equal(
      scraped(`karmada_scheduler_schedule_attempts_total{${attempt}}`),
      scraped(`karmada_scheduler_e2e_scheduling_duration_seconds_count{${attempt}}`),
    )
    for (const step of ['Filter', 'Score', 'Select', 'AssignReplicas'])
      assert.ok(scraped(`karmada_scheduler_scheduling_algorithm_duration_seconds_count{schedule_step="${step}"}`) > 0, step)
    assert.ok(scraped('karmada_scheduler_queue_incoming_bindings_total{event="BindingAdd"}') > 0)

    await hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 3 } })
    await world.settle()
    scraped = await scrape(registry)
    assert.ok(scraped('karmada_scheduler_schedule_attempts_total{result="scheduled",schedule_type="ScaleSchedule"}') > 0)
    assert.ok(scraped(`update_resource_to_cluster{result="success",${deployment},operationResult="updated"}`) > 0)

    await hub.delete(DEPLOYMENTS, 'default/web')
    await world.settle()
    scraped = await scrape(registry)
    assert.equal(scraped(`delete_resource_from_cluster{result="success",${deployment}}`), 1)
    await world.stop()
  })

  it('reports what waits and what is evicted, and forgets a cluster that is gone', async () => {
    const registry = new Registry()
    const world = await aMeasuredFleet(registry)
    const { hub, members } = world
    const named = (name: string): ReturnType<typeof aDeployment> => {
      const one = aDeployment(name)
      return { ...one, metadata: { ...one.metadata, namespace: 'default' } }
    }
    for (const [name, where] of [
      ['nowhere', { name: 'elsewhere' }],
      ['first', members[0] ?? { name: '' }],
      ['second', members[0] ?? { name: '' }],
    ] as const) {
      const policy = aPropagationPolicy(name, [selectorOf(named(name))], on(where))
      await hub.create({ ...policy, metadata: { ...policy.metadata, namespace: 'default' } })
      await hub.create(named(name))
    }
    await world.settle()
    let scraped = await scrape(registry)
    assert.equal(scraped('scheduler_pending_bindings{queue="unschedulable"}'), 1)
    assert.ok(scraped('karmada_scheduler_schedule_attempts_total{result="error",schedule_type="ReconcileSchedule"}') > 0)

    await hub.patch(CLUSTERS, 'member1', { spec: { taints: [{ key: 'down', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }] } })
    await world.advance(100)
    scraped = await scrape(registry)
    assert.equal(scraped('eviction_queue_depth{name="binding-eviction"}'), 1)
    assert.equal(scraped('eviction_kind_total{member_cluster="member1",resource_kind="ResourceBinding"}'), 1)
    await world.settle()
    await world.advance(10_000)
    scraped = await scrape(registry)
    assert.equal(scraped('eviction_queue_depth{name="binding-eviction"}'), 0)
    assert.equal(scraped('eviction_processing_total{name="binding-eviction",result="success"}'), 2)
    assert.equal(scraped('eviction_processing_latency_seconds_count{name="binding-eviction"}'), 2)

    for (const { metadata } of await hub.list(RESOURCE_BINDINGS, { namespace: 'default' }))
      await hub.delete(DEPLOYMENTS, `default/${(metadata.name ?? '').replace('-deployment', '')}`)
    await world.settle()
    await hub.delete(CLUSTERS, 'member1')
    await world.settle()
    await scrape(registry)
    assert.doesNotMatch(await registry.metrics(), /member1/)
    assert.match(await registry.metrics(), /cluster_ready_state\{member_cluster="member2"\} 1/)
    await world.stop()
  })
})
