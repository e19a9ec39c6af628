/** What users see of locality in a member: where pods go, and what they are told when they cannot be created. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../faultsim/story.ts'
import { aWorld, type WorldCluster } from '../../faultsim/world/index.ts'
import { fluidKinds } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { EVENTS, NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Event, Node, Pod } from '../../kinds/kubernetes/types.ts'
import { findCondition } from '../../kube/conditions.ts'
import { defineModule } from '../../runtime/module/module.ts'
import { otherModules } from '../testing.ts'
import { datasetLocality } from './admission.ts'
import { aBoundDataset, aClaim, aDataset, aPod, zone } from './testing.ts'

/** Nothing but the admission and the kinds that it reads. */
const locality = defineModule<object, object>({
  name: 'locality',
  roles: ['member'],
  kinds: { member: fluidKinds },
  upstreamLeases: [],
  defaults: {},
  services: () => ({}),
  controllers: () => [],
  seams: { podAdmissions: () => [datasetLocality()] },
})
const PLACE = { hub: false, members: 1, nodes: 4, modules: [...otherModules, locality] }

/** Creates the objects of a dataset that is bound, and says where its workers are. */
async function bind(
  member: WorldCluster,
  name: string,
  on: readonly string[],
  runtime: { spec?: object; status?: object } = {},
): Promise<void> {
  const { status: datasetStatus } = aDataset(`default/${name}`)
  for (const object of aBoundDataset(name, runtime)) await member.create(object)
  await member.patch(DATASETS, `default/${name}`, { status: datasetStatus }, 'status')
  if (runtime.status !== undefined) await member.patch(CACHE_RUNTIMES, `default/${name}`, { status: runtime.status }, 'status')
  const held = { [`fluid.io/s-default-${name}`]: 'true', 'fluid.io/dataset-num': '1' }
  for (const node of on) await member.patch(NODES, node, { metadata: { labels: held } })
}

async function nodesOf(member: WorldCluster): Promise<[string, string, string, string]> {
  const nodes = (await member.list(NODES)) as Node[]
  const [a = '', b = '', c = '', d = ''] = nodes.map(({ metadata }) => metadata.name ?? '').sort()
  return [a, b, c, d]
}

const named = (name: string, pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, name } })
const required = (...claims: string[]) => ({
  labels: Object.fromEntries(claims.map((claim) => [`fluid.io/dataset.${claim}.sched`, 'required'])),
})
const whereIs = async (member: WorldCluster, name: string) =>
  ((await member.get(PODS, `default/${name}`)) as Pod | undefined)?.spec?.nodeName

describe('pods with datasets', () => {
  story(
    'go where the data is, and pods without leave that node alone',
    async (world) => {
      const { member } = world
      const nodes = await nodesOf(member)
      await bind(member, 'demo', [nodes[2]])
      for (const name of ['one', 'two', 'three']) await member.create(named(name, aPod(['demo'])))
      for (const name of ['four', 'five', 'six']) await member.create(named(name, aPod([])))
      await world.settle()
      for (const name of ['one', 'two', 'three']) assert.equal(await whereIs(member, name), nodes[2], name)
      for (const name of ['four', 'five', 'six']) assert.notEqual(await whereIs(member, name), nodes[2], name)
      const pod = (await member.get(PODS, 'default/one')) as Pod | undefined
      assert.equal(pod?.metadata.annotations?.['fluid.io/datasets-in-use'], 'demo')
      assert.equal(pod?.spec?.containers?.[0]?.volumeMounts?.[0]?.mountPropagation, 'HostToContainer')
      assert.equal(pod?.status?.phase, 'Running')
    },
    PLACE,
  )

  story(
    'that require two of them go where both are, and wait where no node has both',
    async (world) => {
      const { member } = world
      const [a, b, c] = await nodesOf(member)
      await bind(member, 'left', [a, b])
      await bind(member, 'right', [b, c])
      await member.create(named('both', aPod(['left', 'right'], {}, required('left', 'right'))))
      await world.settle()
      assert.equal(await whereIs(member, 'both'), b)
      await member.patch(NODES, b, { metadata: { labels: { 'fluid.io/s-default-right': null } } })
      await member.create(named('waits', aPod(['left', 'right'], {}, required('left', 'right'))))
      await world.settle()
      assert.equal(await whereIs(member, 'waits'), undefined)
      const waits = (await member.get(PODS, 'default/waits')) as Pod | undefined
      const conditions = (waits?.status?.conditions ?? []) as { type: string; message?: string }[]
      assert.match(findCondition(conditions, 'PodScheduled')?.message ?? '', /4 node\(s\) didn't match Pod's node affinity\/selector/)
      await member.patch(NODES, a, { metadata: { labels: { 'fluid.io/s-default-right': 'true' } } })
      await world.settle()
      assert.equal(await whereIs(member, 'waits'), a, 'the cache came to it')
    },
    PLACE,
  )

  story(
    'stay in the zone of the cache when its nodes cannot be had, and where clients may run in any case',
    async (world) => {
      const { member } = world
      const [a, b, c, d] = await nodesOf(member)
      for (const [node, name] of [
        [a, 'x'],
        [b, 'y'],
        [c, 'x'],
        [d, 'y'],
      ] as const)
        await member.patch(NODES, node, { metadata: { labels: { 'topology.kubernetes.io/zone': name } } })
      const inZone = { cacheAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zone('y')] } } }
      await bind(member, 'zoned', [b], { status: inZone })
      await member.patch(NODES, b, { spec: { unschedulable: true } })
      await member.create(named('near', aPod(['zoned'])))
      await member.patch(NODES, c, { metadata: { labels: { disk: 'ssd' } } })
      await bind(member, 'picky', [a], { spec: { runtimeClassName: 'builtin', client: { nodeSelector: { disk: 'ssd' } } } })
      await member.create(named('client', aPod(['picky'])))
      await world.settle()
      assert.deepEqual([await whereIs(member, 'near'), await whereIs(member, 'client')], [d, c])
    },
    PLACE,
  )

  it('are refused with the reason until their datasets are there, and their Deployment makes them then', async () => {
    const world = await aWorld(PLACE).settle()
    const { member } = world
    const [, node] = await nodesOf(member)
    await member.create(aClaim('half'))
    await assert.rejects(member.create(aPod(['half'])), /pods "p" is forbidden: dataset "default\/half" not found/)
    await member.create(aDataset('default/half'))
    await assert.rejects(member.create(aPod(['half'])), /dataset "default\/half" not bound/)
    const { metadata, spec } = aPod(['demo'], {}, { labels: { app: 'web' } })
    await member.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'default', name: 'web' },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: metadata.labels }, spec } },
    })
    await world.advance(1000)
    const events = ((await member.list(EVENTS)) as Event[]).filter(({ reason }) => reason === 'FailedCreate')
    assert.match(events[0]?.message ?? '', /failed to get the following PVCs \[demo\]: create them first/)
    await bind(member, 'demo', [node])
    await world.advance(60_000)
    const pods = (await member.list(PODS)) as Pod[]
    assert.deepEqual(
      pods.map((pod) => pod.spec?.nodeName),
      [node],
    )
    assert.deepEqual(
      member.complaints.filter((complaint) => !complaint.includes('failed to get the following PVCs')),
      [],
      'nothing went wrong but this',
    )
    await world.stop()
  })
})
