/** What attackers have tried against the gate, in worlds in which everything runs. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectQuiet } from '../faultsim/expect/index.ts'
import { aWorld, type World, type WorldCluster } from '../faultsim/world/index.ts'
import { aDeployment, aPolicy } from '../fleet/detector/testing.ts'
import { joinMembers } from '../fleet/testing.ts'
import type { Binding } from '../kinds/karmada/index.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../kinds/karmada/resources.ts'
import type { DataSourceClaim } from '../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../kinds/volcano/resources.ts'
import { findCondition } from '../kube/conditions.ts'
import type { KubeObject } from '../kube/meta.ts'
import { aClaim, aSeedClaim, aSource } from './claim/testing.ts'

const WEB = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const BINDING = 'victim/web-deployment'
const HELD = 'sluice.dev/held-reason'

async function start(): Promise<World> {
  const world = await aWorld({ members: 2, nodes: 1 }).settle()
  await joinMembers(world.hub, world.members)
  for (const name of ['victim', 'evil']) await world.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await world.hub.create(policyOf('victim'))
  await world.settle()
  return world
}

const policyOf = (namespace: string, ...clusterNames: string[]): KubeObject =>
  aPolicy(`${namespace}/all`, {
    resourceSelectors: ['Job', 'CronJob']
      .map((kind) => ({ apiVersion: 'batch/v1', kind }))
      .concat([{ apiVersion: 'apps/v1', kind: 'Deployment' }]),
    placement: clusterNames.length === 0 ? {} : { clusterAffinity: { clusterNames } },
  })

const POD = { spec: { restartPolicy: 'Never', containers: [{ name: 'make', image: 'busybox' }] } }
const aJob = (namespace: string, name: string, annotations: Record<string, string>): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace, name, annotations },
  spec: { template: POD },
})

/** `member1`, or `!NoSuchSource`. */
async function stateOf(hub: WorldCluster, where = BINDING): Promise<string> {
  const binding = (await hub.get(RESOURCE_BINDINGS, where)) as Binding | undefined
  if (binding === undefined) return 'no binding'
  const reason = binding.metadata.annotations?.[HELD]
  const clusters = (binding.spec.clusters ?? []).map(({ name }) => name).join()
  return reason === undefined ? clusters : `!${reason}${clusters === '' ? '' : ` ${clusters}`}`
}

async function reasonOf(hub: WorldCluster, where: string): Promise<string | undefined> {
  const claim = (await hub.get(DATA_SOURCE_CLAIMS, where)) as DataSourceClaim | undefined
  return findCondition(claim?.status?.conditions, 'Resolved')?.reason
}

const scenario = (name: string, body: (hub: WorldCluster, world: World) => Promise<void>): void =>
  void it(name, async () => {
    const world = await start()
    await body(world.hub, world)
    await world.settle()
    await expectQuiet(world)
    await world.stop()
  })

describe('another tenant', () => {
  scenario('cannot stand in for what the own namespace makes', async (hub, world) => {
    await hub.create(policyOf('evil', 'member2'))
    await hub.create(aJob('victim', 'real', { 'sluice.dev/produces': 'hive/table/sales', 'sluice.dev/claims': 'not-yet' }))
    await hub.create(aClaim('victim/sales', 'hive/table/sales', { workload: WEB }))
    await hub.create(aDeployment('victim/web'))
    await hub.create(aJob('evil', 'x', { 'sluice.dev/produces': 'hive/table/sales' }))
    await world.advance(120_000)
    await world.settle()
    assert.equal((await hub.list(DATA_SOURCES)).length, 1, 'evil has made its own')
    assert.equal(await reasonOf(hub, 'victim/sales'), 'NotProducedYet')
    assert.equal(await stateOf(hub), '!NotProducedYet')
  })
})

describe('marks on a binding', () => {
  scenario('that are all removed at once come back, and the hold ends when it should', async (hub, world) => {
    await hub.create(aClaim('victim/sales', 'hive/table/sales', { workload: WEB }))
    await hub.create(aDeployment('victim/web'))
    await world.settle()
    await hub.patch(RESOURCE_BINDINGS, BINDING, {
      metadata: { annotations: { 'sluice.dev/held-because': null, [HELD]: null, 'sluice.dev/held-by': null } },
    })
    await world.settle()
    assert.equal(await stateOf(hub), '!NoSuchSource')
    await hub.patch(RESOURCE_BINDINGS, BINDING, { spec: { suspension: null } })
    await world.settle()
    assert.equal(await stateOf(hub), '!NoSuchSource', 'nor is it let through by hand')
    await hub.create(aSource('ds', 'hive/table/sales', { locality: { clusterNames: ['member1'] } }))
    await world.settle()
    assert.equal(await stateOf(hub), 'member1')
  })

  scenario('that are forged neither open anything nor grow with every pass', async (hub, world) => {
    await hub.create(aClaim('victim/sales', 'hive/table/sales', { workload: WEB }))
    await hub.create(aDeployment('victim/web'))
    await world.settle()
    await hub.patch(RESOURCE_BINDINGS, BINDING, {
      metadata: {
        annotations: {
          'sluice.dev/released': '{"allow":["member1"],"claims":{"sales":"x"},"seen":{"sales":"x"},"policy":"x"}',
          'sluice.dev/narrowed-by': 'nobody,nothing',
          'datadependency.volcano.sh/placement-injected': 'true',
        },
      },
    })
    await world.settle()
    const binding = (await hub.get(RESOURCE_BINDINGS, BINDING)) as Binding
    assert.equal(await stateOf(hub), '!NoSuchSource')
    assert.ok(JSON.stringify(binding.metadata.annotations).length < 2000)
    await expectQuiet(world)
  })
})

describe('a workload', () => {
  scenario('that was released and found no place follows a cluster that comes to hold the data', async (hub, world) => {
    const labelled = async (name: string, taints: unknown[]): Promise<void> => {
      await hub.update(CLUSTERS, name, (cluster) => {
        cluster.metadata.labels = { ...cluster.metadata.labels, data: 'yes' }
        ;(cluster.spec as { taints: unknown }).taints = taints
      })
    }
    await labelled('member1', [{ key: 'full', value: 'x', effect: 'NoSchedule' }])
    const locality = { clusterAffinity: { labelSelector: { matchLabels: { data: 'yes' } } } }
    await hub.create(aSource('ds', 'hive/table/sales', { locality }))
    await hub.create(aClaim('victim/sales', 'hive/table/sales', { workload: WEB }))
    await hub.create(aDeployment('victim/web'))
    await world.settle()
    assert.equal(await stateOf(hub), '')
    await labelled('member2', [])
    await world.settle()
    assert.equal(await stateOf(hub), 'member2')
  })

  scenario('is a CronJob, too: a claim that selects it holds it', async (hub, world) => {
    await hub.create(aSeedClaim('victim/sales', 'hive/table', { workloadSelector: { matchLabels: { app: 'x' } } }))
    await hub.create({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { namespace: 'victim', name: 'nightly', labels: { app: 'x' } },
      spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: POD } } },
    } as KubeObject)
    await world.settle()
    assert.equal(await stateOf(hub, 'victim/nightly-cronjob'), '!NoSuchSource')
  })

  scenario('is not sent to a source that was changed to something else in the same moment', async (hub, world) => {
    await hub.create(aSource('ds', 'hive/table/sales', { locality: { clusterNames: ['gone'] } }))
    await hub.create(aClaim('victim/sales', 'hive/table/sales', { workload: WEB }))
    await hub.create(aDeployment('victim/web'))
    await world.settle()
    assert.equal(await stateOf(hub), '!NoLocality')
    await hub.update(DATA_SOURCES, 'ds', (source) => {
      source.spec = { ...(source.spec as object), name: 'other', locality: { clusterNames: ['member2'] } }
    })
    await world.settle()
    assert.equal(await stateOf(hub), '!NoSuchSource')
  })

  scenario('with very many claims of very long names waits with a reason that fits', async (hub, world) => {
    const names = Array.from({ length: 101 }, (_, i) => `${'n'.repeat(230)}-${i}`)
    for (const [i, name] of names.entries()) {
      await hub.create(aSource(name, `hive/table/t${i}`, { locality: { clusterNames: [i === 0 ? 'member1' : 'member2'] } }))
      if (i < 100) await hub.create(aClaim(`victim/${name}`, `hive/table/t${i}`, { workload: WEB }))
    }
    await hub.create(aDeployment('victim/web'))
    await world.settle()
    assert.equal(await stateOf(hub), '!NoCommonCluster')
    await hub.create(aClaim(`victim/${names[100]}`, 'hive/table/t100', { workload: WEB }))
    await world.settle()
    assert.equal(await stateOf(hub), '!TooManyClaims')
  })
})
