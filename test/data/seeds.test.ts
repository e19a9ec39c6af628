/** The manifests of examples/seeds/000 and 002, sent to a member as they are, in virtual time: what their pages say comes of them. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { expectThere } from '../../src/faultsim/expect/index.ts'
import { story } from '../../src/faultsim/story.ts'
import type { World, WorldCluster } from '../../src/faultsim/world/index.ts'
import { resourceOfObject } from '../../src/faultsim/world/resources.ts'
import type { AdvancedStatefulSet, AlluxioRuntime, Dataset } from '../../src/kinds/fluid/index.ts'
import { mirrorName } from '../../src/kinds/fluid/reference.ts'
import { ADVANCED_STATEFUL_SETS, ALLUXIO_RUNTIMES, DATASETS } from '../../src/kinds/fluid/resources.ts'
import { CONFIG_MAPS, EVENTS, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../src/kinds/kubernetes/resources.ts'
import type { Pod } from '../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../src/kube/meta.ts'

const MEMBER = { hub: false, members: 1, nodes: 3 }

const folderOf = (seed: string): string => path.resolve('examples/seeds', seed)
const manifestsOf = (seed: string): string[] => readdirSync(folderOf(seed)).filter((name) => name.endsWith('.yaml'))
const textOf = (seed: string, file: string): string => readFileSync(path.join(folderOf(seed), file), 'utf8')
const objectsIn = (seed: string, file: string): KubeObject[] =>
  parseAllDocuments(textOf(seed, file)).map((document) => document.toJS() as KubeObject)

/** As `kubectl apply -f` with each of them. */
async function apply(world: World, seed: string, ...files: string[]): Promise<void> {
  for (const object of files.flatMap((file) => objectsIn(seed, file))) {
    const { spec } = await world.inside(() =>
      world.member.client.apply(resourceOfObject(object), withNamespace(object), { fieldManager: 'kubectl' }),
    )
    assert.ok(isKept(object.spec ?? {}, spec ?? {}), `something of ${object.kind} ${object.metadata.name} is lost`)
  }
}

/** What was given is there; defaults may have come. */
function isKept(given: unknown, stored: unknown): boolean {
  if (typeof given !== 'object' || given === null) return given === stored
  if (typeof stored !== 'object' || stored === null) return false
  return Object.entries(given).every(([key, value]) => isKept(value, Reflect.get(stored, key)))
}

function withNamespace(object: KubeObject): KubeObject {
  const { namespace = 'default' } = object.metadata
  return object.kind === 'Namespace' ? object : { ...object, metadata: { ...object.metadata, namespace } }
}

const datasetIn = async (member: WorldCluster, where: string): Promise<Dataset> => expectThere(member, DATASETS, where) as Promise<Dataset>
const podOf = async (member: WorldCluster, job: string): Promise<Pod | undefined> =>
  ((await member.list(PODS)) as Pod[]).find(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name'] === job)
const saidIn = async (member: WorldCluster, reason: string): Promise<unknown[]> =>
  (await member.list(EVENTS)).filter((event) => event.reason === reason).map(({ message }) => message)

for (const seed of ['000', '002'])
  describe(`examples/seeds/${seed}`, () => {
    it('is described file by file', () => {
      const page = textOf(seed, 'README.md')
      for (const file of manifestsOf(seed))
        assert.ok(page.includes(`\`${file}\``) && new RegExp(`^(kubectl|sed) .*${file}`, 'm').test(page), file)
    })
  })

describe('the manifests of seed 000', () => {
  const ORDERS = [
    ['dataset-a.yaml', 'thin-runtime.yaml', 'dataset-b.yaml'],
    ['dataset-b.yaml', 'thin-runtime.yaml', 'dataset-a.yaml'],
    ['dataset-a.yaml', 'dataset-b.yaml'],
  ]
  for (const files of ORDERS)
    story(
      `bind dataset B to a ThinRuntime, applied as ${files.join(', ')}`,
      async (world) => {
        const { member } = world
        await apply(world, '000', 'namespaces.yaml', ...files)
        await world.settle()
        const [a, b] = [await datasetIn(member, 'ns-a/dataset-a'), await datasetIn(member, 'ns-b/dataset-b')]
        assert.deepEqual([a.status?.phase, b.status?.phase], ['Bound', 'Bound'])
        assert.deepEqual(a.status?.datasetRef, ['ns-b/dataset-b'])
        assert.deepEqual(
          b.status?.runtimes?.map(({ name, namespace, type }) => [name, namespace, type]),
          [['dataset-b', 'ns-b', 'thin']],
        )
      },
      MEMBER,
    )

  story(
    'make what the pages of the design name, in the namespace of dataset B',
    async (world) => {
      const { member } = world
      await apply(world, '000', 'namespaces.yaml', 'dataset-a.yaml', 'dataset-b.yaml')
      await world.settle()
      await apply(world, '000', 'application.yaml', 'application-serverless.yaml')
      await world.settle()
      const attributesOf = async (name: string): Promise<unknown> =>
        ((await expectThere(member, PERSISTENT_VOLUMES, name)).spec as { csi?: { volumeAttributes?: unknown } }).csi?.volumeAttributes
      assert.deepEqual(await attributesOf('ns-b-dataset-b'), await attributesOf('ns-a-dataset-a'))
      await expectThere(member, PERSISTENT_VOLUME_CLAIMS, 'ns-b/dataset-b')
      const maps = (await member.list(CONFIG_MAPS))
        .filter(({ metadata }) => metadata.namespace === 'ns-b')
        .map(({ metadata }) => metadata.name)
      assert.deepEqual(maps, [
        'check-fluid-mount-ready',
        'dataset-b-cache-check-mount',
        mirrorName('fluid-runtime-config-dataset-a', { namespace: 'ns-a', name: 'dataset-a' }),
        'kube-root-ca.crt',
      ])
      const containersOf = async (job: string) => (await podOf(member, job))?.spec?.initContainers?.map(({ name }) => name)
      assert.deepEqual([await containersOf('application'), await containersOf('application-serverless')], [undefined, ['fluid-fuse-0']])
    },
    MEMBER,
  )

  story(
    'refuse what the design excludes, and the deletion of dataset A before B',
    async (world) => {
      const { member } = world
      await apply(world, '000', 'namespaces.yaml', 'dataset-a.yaml', 'dataset-b.yaml')
      await world.settle()
      const refusals = [/references do not chain/, /also contains other types of mounts/, /can only use thin runtime/]
      for (const [i, object] of objectsIn('000', 'refused.yaml').entries()) await assert.rejects(member.create(object), refusals[i] ?? /^$/)
      await member.delete(DATASETS, 'ns-a/dataset-a')
      await world.settle()
      assert.match(String(await saidIn(member, 'ErrorDeleteDataset')), /ns-b\/dataset-b/)
      await member.delete(DATASETS, 'ns-b/dataset-b')
      await world.settle()
      assert.deepEqual(await member.list(DATASETS), [])
    },
    MEMBER,
  )
})

describe('the manifests of seed 002', () => {
  const workersOf = async (member: WorldCluster, name: string): Promise<AdvancedStatefulSet> =>
    (await expectThere(member, ADVANCED_STATEFUL_SETS, `default/${name}-worker`)) as AdvancedStatefulSet

  story(
    'leave one worker of two, and take the label from its node',
    async (world) => {
      const { member } = world
      await apply(world, '002', 'dataset.yaml', 'alluxio-runtime.yaml')
      await world.settle()
      const labelled = async (): Promise<number> =>
        (await member.list(NODES)).filter(({ metadata }) => metadata.labels?.['fluid.io/s-default-demo'] === 'true').length
      assert.equal(await labelled(), 2)
      await apply(world, '002', 'alluxio-runtime-scaled-in.yaml')
      await world.settle()
      assert.equal((await workersOf(member, 'demo')).status?.replicas, 1)
      assert.equal(await labelled(), 1)
      const { status } = (await expectThere(member, ALLUXIO_RUNTIMES, 'default/demo')) as AlluxioRuntime
      assert.equal(status?.currentWorkerNumberScheduled, 1)
    },
    MEMBER,
  )

  it('differ from each other in the number of replicas alone', () => {
    const [before, after] = ['alluxio-runtime.yaml', 'alluxio-runtime-scaled-in.yaml'].flatMap((file) => objectsIn('002', file))
    assert.deepEqual({ ...(before?.spec as object), replicas: 1 }, after?.spec)
    assert.match(textOf('002', 'alluxio-runtime-scaled-in.yaml'), /^ {2}replicas: 1 # from 2\(previous\) to 1\(current\)$/m)
  })

  story(
    'keep both workers while an application reads beside each, and say so in an event',
    async (world) => {
      const { member } = world
      await apply(world, '002', 'co-located.yaml')
      await world.settle()
      await apply(world, '002', 'application.yaml')
      await world.settle()
      await member.patch(ALLUXIO_RUNTIMES, 'default/beside', { spec: { replicas: 1 } }, 'scale')
      await world.settle()
      assert.equal((await workersOf(member, 'beside')).status?.replicas, 2)
      assert.match(String(await saidIn(member, 'RuntimeScaleInFailed')), /pods read beside every worker: .*pod application-/)
    },
    MEMBER,
  )
})
