import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone, expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import { survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import {
  aDataset,
  aReader,
  aReference,
  aThinRuntime,
  createNamespaces,
  createOriginal,
  member,
  modulesWith,
  ORIGINAL,
  phaseIn,
  REFERENCE,
} from '../reference/testing.ts'
import { volumeController } from './controller.ts'
import { plan } from './plan.ts'
import { referenceClaim, referenceVolume } from './reference.ts'

const volumeIn = async (cluster: WorldCluster): Promise<PersistentVolume> => expectThere(cluster, PERSISTENT_VOLUMES, 'web-images')
const attributesOf = ({ spec }: PersistentVolume): Record<string, string> => spec?.csi?.volumeAttributes ?? {}
const mount = (mountPoint: string) => ({ spec: { mounts: [{ mountPoint }] } })

describe('the volume of a reference', () => {
  story(
    'has the fields of the original one, and its claim names that one',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference(REFERENCE, `dataset://${ORIGINAL}/cats`))
      await world.settle()
      const [original, own] = [await expectThere(cluster, PERSISTENT_VOLUMES, 'data-images'), await volumeIn(cluster)]
      const claim: PersistentVolumeClaim = await expectThere(cluster, PERSISTENT_VOLUME_CLAIMS, REFERENCE)
      assert.deepEqual(attributesOf(own), { ...attributesOf(original), fluid_sub_path: 'cats' })
      assert.equal(own.spec?.csi?.volumeHandle, 'data-images')
      assert.deepEqual(own.metadata.labels, { 'fluid.io/s-web-images': 'true', 'fluid.io/dataset-id': 'web-images' })
      assert.deepEqual(claim.metadata.labels, {
        'fluid.io/s-web-images': 'true',
        'fluid.io/dataset-id': 'web-images',
        'fluid.io/dataset.referring-name': 'images',
        'fluid.io/dataset.referring-namespace': 'data',
      })
      assert.equal(claim.metadata.annotations?.CreatedBy, 'fluid')
      assert.deepEqual([own.status?.phase, claim.status?.phase, claim.spec?.accessModes], ['Bound', 'Bound', ['ReadOnlyMany']])
    },
    member(),
  )

  story(
    'is made again where one of the two is missing, never without access modes',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      await cluster.delete(PERSISTENT_VOLUME_CLAIMS, REFERENCE)
      await world.settle()
      const claim: PersistentVolumeClaim = await expectThere(cluster, PERSISTENT_VOLUME_CLAIMS, REFERENCE)
      assert.deepEqual(claim.spec?.accessModes, ['ReadOnlyMany'])
      await cluster.delete(PERSISTENT_VOLUMES, 'web-images')
      await cluster.delete(PERSISTENT_VOLUME_CLAIMS, REFERENCE)
      await world.settle()
      assert.equal((await volumeIn(cluster)).status?.phase, 'Bound')
    },
    member(),
  )

  story(
    'follows another sub path as soon as no pod uses it',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      await cluster.create(aReader())
      await world.settle()
      await cluster.patch(DATASETS, REFERENCE, mount(`dataset://${ORIGINAL}/cats`))
      await world.settle()
      assert.equal(attributesOf(await volumeIn(cluster)).fluid_sub_path, undefined)
      await cluster.delete(PODS, 'web/reader', { gracePeriodSeconds: 0 })
      await world.settle()
      assert.equal(attributesOf(await volumeIn(cluster)).fluid_sub_path, 'cats')
      assert.equal((await volumeIn(cluster)).status?.phase, 'Bound')
      await assert.rejects(cluster.patch(DATASETS, REFERENCE, mount(`dataset://${ORIGINAL}/../../etc`)), /contains "\.\."/)
    },
    member(),
  )
})

describe('what the volume of a reference is made of', () => {
  const dataset = (accessModes?: string[]): Dataset => ({
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: 'Dataset',
    metadata: { namespace: 'web', name: 'images', uid: 'u' },
    spec: { mounts: [{ mountPoint: 'dataset://data/images' }], ...(accessModes === undefined ? {} : { accessModes }) },
  })
  const original = (accessModes: string[], more: object = {}): PersistentVolume => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'data-images', annotations: { note: 'of another tenant' } },
    spec: {
      accessModes,
      capacity: { storage: '1Gi' },
      csi: { driver: 'd', volumeHandle: 'h', volumeAttributes: { a: 'b' }, nodePublishSecretRef: { name: 's', namespace: 'data' } },
      ...more,
    },
  })
  const runtime: KubeObject = { apiVersion: 'data.fluid.io/v1alpha1', kind: 'ThinRuntime', metadata: { namespace: 'web', name: 'images' } }
  const source = (own: string[] | undefined, theirs: string[], more: object = {}) => ({
    dataset: dataset(own),
    runtime,
    referred: { namespace: 'data', name: 'images', subPath: '' },
    original: original(theirs, more),
  })

  const modes: [string[] | undefined, string[], string[]][] = [
    [undefined, ['ReadWriteMany'], ['ReadOnlyMany']],
    [[], ['ReadWriteMany'], ['ReadOnlyMany']],
    [['ReadWriteMany'], ['ReadOnlyMany'], ['ReadOnlyMany']],
    [['ReadWriteMany'], ['ReadWriteMany', 'ReadOnlyMany'], ['ReadOnlyMany']],
    [['ReadWriteMany'], ['ReadWriteMany'], ['ReadWriteMany']],
  ]
  for (const [own, theirs, expected] of modes)
    it(`asks for ${own ?? 'nothing'} of ${theirs}: ${expected}`, () => {
      assert.deepEqual(referenceVolume(source(own, theirs)).spec?.accessModes, expected)
      assert.deepEqual(referenceClaim(source(own, theirs)).spec?.accessModes, expected)
    })

  it('keeps where the original can be used, and neither its Secrets nor its annotations', () => {
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Exists' }] }] } }
    const volume = referenceVolume(source(undefined, ['ReadOnlyMany'], { nodeAffinity }))
    assert.deepEqual(volume.spec?.nodeAffinity, nodeAffinity)
    assert.deepEqual(volume.spec?.csi, { driver: 'd', volumeHandle: 'h', volumeAttributes: { a: 'b' } })
    assert.deepEqual(volume.metadata.annotations, { CreatedBy: 'fluid' })
  })
})

describe('what is left of a reference that has sources of its own now', () => {
  const key = { namespace: 'web', name: 'images' }
  const ours = { annotations: { CreatedBy: 'fluid' }, labels: { 'fluid.io/dataset-id': 'web-images' } }
  const volume = (of: string): PersistentVolume => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'web-images', ...ours },
    spec: {
      claimRef: key,
      csi: { driver: 'fuse.csi.fluid.io', volumeHandle: of, volumeAttributes: { runtime_namespace: of, runtime_name: 'images' } },
    },
  })
  const claim: PersistentVolumeClaim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { ...key, ...ours } }
  const dataset = aDataset(REFERENCE, { mounts: [{ mountPoint: 's3://own', name: 'own' }] }) as Dataset
  const source = { dataset, runtime: aThinRuntime(), mount: { path: '/runtime-mnt/thin/web/images/thin-fuse', type: undefined } }
  const verbs = (live: PersistentVolume) =>
    plan({ key, dataset, source, isStale: false, volume: live, claim, isHeld: false, nowMs: 0 }).actions.map((action) => action.do)

  it('is taken back: it would still show the files of the other dataset', () => assert.deepEqual(verbs(volume('data')), ['delete']))
  it('stays, where it is its own', () => assert.deepEqual(verbs(volume('web')), ['apply', 'apply']))
})

describe('data.volume', () => {
  survives(volumeController(), {
    modules: modulesWith('open'),
    nodes: 1,
    before: [createNamespaces, createOriginal],
    steps: [
      (cluster) => cluster.create(aReference()),
      (cluster) => cluster.delete(PERSISTENT_VOLUME_CLAIMS, REFERENCE),
      (cluster) => cluster.patch(DATASETS, REFERENCE, mount(`dataset://${ORIGINAL}/cats`)),
      async (cluster) => {
        assert.equal(await phaseIn(cluster), 'Bound')
        assert.equal(attributesOf(await volumeIn(cluster)).fluid_sub_path, 'cats')
        await cluster.delete(DATASETS, REFERENCE)
      },
    ],
    async atRest(cluster) {
      await expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, REFERENCE)
      await expectGone(cluster, PERSISTENT_VOLUMES, 'web-images')
      await expectThere(cluster, PERSISTENT_VOLUMES, 'data-images')
    },
  })
})
