/** What controllers of members write on datasets that the hub applies, what goes along with them, how they are scaled, and how they end. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectThere } from '../../../src/faultsim/expect/index.ts'
import type { WorldCluster } from '../../../src/faultsim/world/index.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { DEPLOYMENTS, PERSISTENT_VOLUME_CLAIMS, PODS, SECRETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { noteWritesOf } from '../written.ts'
import {
  aDataset,
  aReader,
  aReference,
  aRuntime,
  askedAgain,
  bindingOf,
  carrying,
  carryingDatasets,
  create,
  phasesOf,
  saidBy,
  statusIn,
  story,
} from './scene.ts'

const IMAGES = 'data/images'
const API_VERSION = 'data.fluid.io/v1alpha1'
const RETAINED = { labels: { 'resourcetemplate.karmada.io/retain-replicas': 'true' } }

const workersIn = async (cluster: WorldCluster): Promise<number | undefined> =>
  ((await cluster.get(ADVANCED_STATEFUL_SETS, 'data/images-worker'))?.spec as { replicas?: number } | undefined)?.replicas

const askedIn = async (cluster: WorldCluster): Promise<number | undefined> =>
  ((await cluster.get(CACHE_RUNTIMES, IMAGES))?.spec as { worker?: { replicas?: number } } | undefined)?.worker?.replicas

const scaleIn = (cluster: WorldCluster, replicas: number): Promise<KubeObject> =>
  cluster.patch(CACHE_RUNTIMES, IMAGES, { spec: { replicas } }, 'scale')

describe('on a dataset that the hub applies', () => {
  story('what members write stays, and nobody writes against anybody', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime(), aReference())
    await askedAgain(scene)
    const [member] = members
    const dataset = await member.get(DATASETS, IMAGES)
    assert.deepEqual(dataset?.metadata.finalizers, ['fluid-dataset-controller-finalizer'])
    assert.equal(dataset?.metadata.labels?.['fluid.io/dataset-id'], 'data-images')
    const runtime = await member.get(CACHE_RUNTIMES, IMAGES)
    assert.deepEqual(
      runtime?.metadata.ownerReferences?.map(({ kind }) => kind),
      ['Dataset'],
    )
    const written = [DATASETS, CACHE_RUNTIMES].map((resource) => noteWritesOf<KubeObject>(member.store, resource))
    await hub.patch(DATASETS, IMAGES, { metadata: { labels: { team: 'vision' } } })
    await world.settle()
    const [datasets = [], runtimes = []] = written.map((stop) => stop())
    const own = datasets.filter(({ metadata }) => metadata.namespace === 'data')
    assert.deepEqual([own.length, runtimes.length], [1, 0], 'one write for one change, and no answer to it')
    assert.deepEqual(
      [own[0]?.metadata.labels?.team, own[0]?.metadata.labels?.['fluid.io/dataset-id'], own[0]?.metadata.finalizers],
      ['vision', 'data-images', ['fluid-dataset-controller-finalizer']],
    )
    assert.deepEqual((await statusIn(member)).datasetRef, ['web/images'])
  })

  story('neither hub nor members write anything more after restarts in the middle', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset())
    members[0].crashControllers()
    await create(scene, aRuntime())
    hub.crashControllers()
    await create(scene, aReference())
    members[1].crashControllers()
    await world.advance(1000)
    await askedAgain(scene)
    for (const where of [IMAGES, 'web/images']) assert.deepEqual(await phasesOf(scene, where), ['Bound', 'Bound', 'Bound'])
  })

  story('a runtime that the dataset asks for by annotation is made in each member, and is none of the hub', async (scene) => {
    const { hub, members } = scene
    const annotations = { 'sluice.dev/runtime': 'sample', 'sluice.dev/cache-quota': '1Gi' }
    await create(scene, carryingDatasets(), aDataset(IMAGES, {}, { annotations }))
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene), ['Bound', 'Bound', 'Bound'])
    assert.equal(await hub.get(CACHE_RUNTIMES, IMAGES), undefined)
    for (const member of members) {
      assert.equal((await member.get(CACHE_RUNTIMES, IMAGES))?.metadata.labels?.['karmada.io/managed'], undefined)
      await scaleIn(member, 2)
    }
    await askedAgain(scene)
    assert.deepEqual(await Promise.all(members.map(workersIn)), [2, 2])
  })
})

describe('the workers of a runtime that a policy carries', () => {
  story('are scaled on the hub, in all members', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    await scaleIn(hub, 2)
    await world.settle()
    assert.deepEqual(await Promise.all(members.map(workersIn)), [2, 2])
    const status = (await hub.get(CACHE_RUNTIMES, IMAGES))?.status as { worker?: { readyReplicas?: number } } | undefined
    assert.equal(status?.worker?.readyReplicas, 4, 'the sum')
    const sets = await Promise.all(members.map((member) => member.get(ADVANCED_STATEFUL_SETS, 'data/images-worker')))
    for (const set of sets) assert.equal(set?.metadata.labels?.['karmada.io/managed'], undefined, 'sets are the member’s own')
    assert.equal(await hub.get(ADVANCED_STATEFUL_SETS, 'data/images-worker'), undefined)
  })

  story('are again as many as the hub says when a member scales them', async (scene) => {
    const { world, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    await scaleIn(members[0], 2)
    await world.settle()
    assert.deepEqual([await askedIn(members[0]), await workersIn(members[0])], [1, 1])
  })

  story('are as many as a member says where the hub leaves it to the members', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime(IMAGES, {}, RETAINED))
    await askedAgain(scene)
    await scaleIn(members[0], 2)
    await world.settle()
    await hub.patch(CACHE_RUNTIMES, IMAGES, { spec: { options: { a: 'b' } } })
    await world.settle()
    assert.deepEqual(await Promise.all(members.map(workersIn)), [2, 1])
    const { spec } = await expectThere(members[0], CACHE_RUNTIMES, IMAGES)
    assert.deepEqual((spec as { options?: object }).options, { a: 'b' })
  })
})

describe('with propagateDeps', () => {
  story('the runtime of a dataset and the Secrets of its sources follow it, and go with it', async (scene) => {
    const { world, hub, members } = scene
    const encryptOptions = [{ name: 'aws.secretKey', valueFrom: { secretKeyRef: { name: 'bucket-key', key: 'secret' } } }]
    const dataset = aDataset(IMAGES, { mounts: [{ mountPoint: 's3://one', name: 'one', encryptOptions }] })
    const policy = carrying('datasets', [{ apiVersion: API_VERSION, kind: 'Dataset' }], ['member1'], { propagateDeps: true })
    const key = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'data', name: 'bucket-key' }, stringData: { secret: 's' } }
    await create(scene, policy, dataset, key)
    assert.deepEqual(await phasesOf(scene), ['NotBound', 'NotBound', ''])
    await create(scene, aRuntime())
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene), ['Bound', 'Bound', ''])
    assert.ok(await members[0].get(SECRETS, 'data/bucket-key'))
    assert.equal(await members[1].get(CACHE_RUNTIMES, IMAGES), undefined)
    await hub.delete(DATASETS, IMAGES)
    await world.settle()
    for (const [resource, where] of [
      [DATASETS, IMAGES],
      [CACHE_RUNTIMES, IMAGES],
      [SECRETS, 'data/bucket-key'],
    ] as const)
      assert.equal(await members[0].get(resource, where), undefined, `${resource.kind} in member1`)
    assert.ok(await hub.get(CACHE_RUNTIMES, IMAGES), 'the template of the runtime stays')
  })

  story('a workload that mounts the claim takes nothing along, and starts where its dataset is', async (scene) => {
    const { world, hub, members } = scene
    const { metadata: _, spec } = aReader('data/x', 'images')
    const selector = { matchLabels: { app: 'web' } }
    const template = {
      metadata: { labels: selector.matchLabels, annotations: { 'sluice.dev/run': 'process' } },
      spec: { ...(spec as object) },
    }
    const web = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'data', name: 'web' },
      spec: { replicas: 1, selector, template },
    }
    await create(scene, carrying('web', [{ apiVersion: 'apps/v1', kind: 'Deployment' }], undefined, { propagateDeps: true }), web)
    await world.settle()
    assert.deepEqual(await Promise.all(members.map((member) => member.get(PERSISTENT_VOLUME_CLAIMS, IMAGES))), [undefined, undefined])
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene), ['Bound', 'Bound', 'Bound'])
    for (const member of members) assert.ok(await member.get(PERSISTENT_VOLUME_CLAIMS, IMAGES), `${member.name} has the claim`)
    assert.ok(await hub.get(DEPLOYMENTS, 'data/web'))
    const pods = await Promise.all(members.map((member) => member.list(PODS, { labelSelector: 'app=web' })))
    for (const [pod] of pods) assert.ok((pod?.spec as { nodeName?: string } | undefined)?.nodeName, 'a node took it')
    await hub.delete(DEPLOYMENTS, 'data/web', { propagationPolicy: 'Background' })
    await world.settle()
    assert.deepEqual(await Promise.all(members.map((member) => member.list(PODS, { labelSelector: 'app=web' }))), [[], []])
  })
})

describe('the end of a dataset that a policy carried', () => {
  story('is held in the member where a pod reads it, and only there', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    await members[1].create(aReader('data/reader', 'images'))
    await world.settle()
    await hub.delete(DATASETS, IMAGES)
    await world.settle()
    assert.deepEqual(await phasesOf(scene), ['', '', 'Bound'])
    assert.match(await saidBy(members[1], 'DeletionHeld'), /reader/)
    await members[1].delete(PODS, 'data/reader', { gracePeriodSeconds: 0 })
    await world.settle()
    assert.deepEqual(await phasesOf(scene), ['', '', ''])
    assert.equal(await bindingOf(scene, 'images-dataset'), undefined)
  })

  story('is followed by a new one of the name, also where the old one was held', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    await members[1].create(aReader('data/reader', 'images'))
    await world.settle()
    await hub.delete(DATASETS, IMAGES)
    await world.settle()
    await create(scene, aDataset())
    await askedAgain(scene)
    assert.equal((await phasesOf(scene))[1], 'Bound')
    assert.match(await saidBy(members[1], 'DeletionHeld'), /reader/, 'the old one is still there')
    await members[1].delete(PODS, 'data/reader', { gracePeriodSeconds: 0 })
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene), ['Bound', 'Bound', 'Bound'])
    assert.equal(await saidBy(members[1], 'DeletionHeld'), '')
  })
})
