/** A dataset goes when nobody uses it, and leaves nothing; while somebody does, it stays, serves, and says so once. */
import assert from 'node:assert/strict'
import { ALLUXIO_RUNTIMES, CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, SECRETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { answering } from '../commands.ts'
import {
  areRecorded,
  becomes,
  conditionTexts,
  contentsOf,
  eventsOf,
  isBound,
  isEmptied,
  isGone,
  messageOf,
  phaseOf,
  podsOf,
  there,
} from '../expectations.ts'
import { aClass, aDataset, another, aReader, aRuntime, aRuntimeOf, RUNS, serve } from '../manifests.ts'
import type { DataArea, DataTestbed } from '../story.ts'

const held = ({ namespace }: DataTestbed, pod: string): string =>
  `Failed to delete dataset because err: can not delete dataset because Pod ${pod} in Namespace ${namespace} is using it`

const aUsersClaim = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})

const isReading = (testbed: DataTestbed, name = 'reader'): Promise<void> =>
  testbed.until(`${name} runs`, async () => (await testbed.get(PODS, name))?.status?.phase === 'Running')

export const deletion: DataArea = {
  name: 'deletion',
  stories: [
    {
      name: 'leaves no labels, volume, claim, ConfigMaps, Services, sets, pods',
      isSample: true,
      async run(testbed) {
        const before = await contentsOf(testbed)
        await serve(testbed, { runtime: { worker: { replicas: 2 } } })
        await isBound(testbed)
        await testbed.until(
          'both nodes labelled',
          async () => (await contentsOf(testbed)).filter((one) => / fluid_excl/.test(one)).length === 2,
        )
        assert.ok((await contentsOf(testbed)).length > before.length + 10)
        await testbed.delete(DATASETS, 'demo')
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'leaves no Secret of the builtin cache either, nor the runtime that an annotation asked for',
      async run(testbed) {
        const before = await contentsOf(testbed)
        await testbed.create(aDataset(testbed, {}, { annotations: { 'sluice.dev/runtime': 'builtin' } }))
        await isBound(testbed)
        await there(testbed, SECRETS, 'demo-cache-key')
        await testbed.delete(DATASETS, 'demo')
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'leaves nothing of a translated AlluxioRuntime and of its readers’ clients',
      async run(testbed) {
        answering(testbed.member)
        const before = await contentsOf(testbed)
        await testbed.create(aDataset(testbed, { tolerations: [...RUNS.tolerations] }))
        await testbed.create(aRuntimeOf('AlluxioRuntime', { replicas: 2 }))
        await isBound(testbed)
        await testbed.create(aReader(testbed))
        await isReading(testbed)
        await testbed.until('a client', async () => (await podsOf(testbed, 'demo-fuse')).length === 1)
        await testbed.delete(PODS, 'reader')
        await testbed.delete(DATASETS, 'demo')
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'the runtime first, the dataset next: the same end',
      async run(testbed) {
        const before = await contentsOf(testbed)
        await serve(testbed)
        await isBound(testbed)
        await testbed.delete(CACHE_RUNTIMES, 'demo')
        await testbed.delete(DATASETS, 'demo')
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'while the controllers are away: they come back to the same end',
      async run(testbed) {
        const before = await contentsOf(testbed)
        await serve(testbed)
        await isBound(testbed)
        await testbed.restart(() => testbed.delete(DATASETS, 'demo'))
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'before it is bound: the same end',
      async run(testbed) {
        const before = await contentsOf(testbed)
        await serve(testbed)
        await testbed.delete(DATASETS, 'demo')
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'its class first: the dataset fails, says why, and goes without a trace',
      async run(testbed) {
        const before = await contentsOf(testbed)
        await serve(testbed)
        await isBound(testbed)
        await testbed.delete(CACHE_RUNTIME_CLASSES, 'sample-story')
        await becomes(testbed, 'Failed')
        assert.match(await messageOf(testbed, 'NotReady'), /^failed to get CacheRuntimeClass sample-story: create it/)
        await testbed.settle()
        assert.equal((await podsOf(testbed, 'demo-worker')).length, 1, 'what runs goes on')
        await testbed.delete(DATASETS, 'demo')
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'is held by a pod that uses it, said once however long it takes, and goes on by itself',
      async run(testbed) {
        const before = await contentsOf(testbed)
        await serve(testbed)
        await isBound(testbed)
        await testbed.create(aReader(testbed))
        await isReading(testbed)
        await testbed.delete(DATASETS, 'demo')
        await testbed.pass(600)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True', 'DeletionHeld=True'])
        assert.equal(await messageOf(testbed, 'DeletionHeld'), held(testbed, 'reader'))
        await areRecorded(testbed, 'ErrorDeleteDataset', [held(testbed, 'reader')])
        await testbed.restart()
        await areRecorded(testbed, 'ErrorDeleteDataset', [held(testbed, 'reader')])
        await testbed.delete(PODS, 'reader')
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'held by a pod: the dataset serves on, and goes when the pod does',
      isSample: true,
      async run(testbed) {
        const before = await contentsOf(testbed)
        await serve(testbed)
        await isBound(testbed)
        await testbed.create(aReader(testbed))
        await isReading(testbed)
        await testbed.delete(DATASETS, 'demo')
        await testbed.until('it says so', async () => (await messageOf(testbed, 'DeletionHeld')) === held(testbed, 'reader'))
        await testbed.settle()
        assert.equal(await phaseOf(testbed), 'Bound')
        assert.equal((await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')).status?.phase, 'Bound')
        await areRecorded(testbed, 'ErrorDeleteDataset', [held(testbed, 'reader')])
        await testbed.delete(PODS, 'reader')
        await isEmptied(testbed, before)
      },
    },
    {
      name: 'held by two pods: another name in the condition is no new event',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        for (const name of ['a', 'b']) await testbed.create(aReader(testbed, { name }))
        for (const name of ['a', 'b']) await isReading(testbed, name)
        await testbed.delete(DATASETS, 'demo')
        await testbed.settle()
        assert.equal(await messageOf(testbed, 'DeletionHeld'), held(testbed, 'a'))
        await testbed.delete(PODS, 'a')
        await testbed.settle()
        assert.equal(await messageOf(testbed, 'DeletionHeld'), held(testbed, 'b'))
        await areRecorded(testbed, 'ErrorDeleteDataset', [held(testbed, 'a')])
        await testbed.delete(PODS, 'b')
        await isGone(testbed, DATASETS, 'demo')
      },
    },
    {
      name: 'pods that have ended do not hold it',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        await testbed.create(aReader(testbed, { spec: { restartPolicy: 'Never' } }))
        await testbed.until('it is done', async () => (await testbed.get(PODS, 'reader'))?.status?.phase === 'Succeeded')
        await testbed.delete(DATASETS, 'demo')
        await isGone(testbed, DATASETS, 'demo')
        assert.deepEqual(await eventsOf(testbed, 'ErrorDeleteDataset'), [])
      },
    },
    {
      name: 'pods of other datasets and of users’ claims do not hold it',
      async run(testbed) {
        await serve(testbed, { dataset: { placement: 'Shared' } })
        await another(testbed, 'other', { dataset: { placement: 'Shared' } })
        await testbed.create(aUsersClaim('mine'))
        for (const name of ['demo', 'other']) await isBound(testbed, name)
        await testbed.create(aReader(testbed, { claims: ['other', 'mine'] }))
        await isReading(testbed)
        await testbed.delete(DATASETS, 'demo')
        await isGone(testbed, DATASETS, 'demo')
        await isBound(testbed, 'other')
      },
    },
    {
      name: 'a dataset of the same name right after it is a new one, and is bound',
      async run(testbed) {
        await serve(testbed)
        const first = await isBound(testbed)
        const claim = await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
        await testbed.delete(DATASETS, 'demo')
        await isGone(testbed, DATASETS, 'demo')
        await testbed.create(aDataset(testbed))
        await isGone(testbed, CACHE_RUNTIMES, 'demo')
        await testbed.create(aRuntime(testbed))
        const second = await isBound(testbed)
        assert.notEqual(second.metadata.uid, first.metadata.uid)
        assert.notEqual((await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.uid, claim.metadata.uid)
      },
    },
    {
      name: 'with its namespace: everything goes, the volume and the labels too',
      async run(testbed) {
        const before = await contentsOf(testbed)
        const name = testbed.unique('whole')
        const at = { metadata: { namespace: name } }
        await testbed.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
        await testbed.create(aClass(testbed))
        const [dataset, runtime] = [aDataset(testbed), aRuntime(testbed)]
        await testbed.create({ ...dataset, metadata: { ...dataset.metadata, ...at.metadata } })
        await testbed.create({ ...runtime, metadata: { ...runtime.metadata, ...at.metadata } })
        await testbed.until(
          'bound there',
          async () => (await testbed.get(DATASETS, 'demo', { namespace: name }))?.status?.phase === 'Bound',
        )
        await testbed.settle()
        await there(testbed, PERSISTENT_VOLUMES, `${name}-demo`)
        await testbed.delete(NAMESPACES, name)
        await isGone(testbed, NAMESPACES, name)
        await isGone(testbed, PERSISTENT_VOLUMES, `${name}-demo`)
        await isEmptied(testbed, before)
        // A claim that is made again must be new, or that is an error: so the log says why it is not.
        const { complaints } = testbed.member
        assert.ok(complaints.splice(0).every((complaint) => /^data\.volume: .* because it is being terminated$/.test(complaint)))
      },
    },
    {
      name: 'the runtime alone, while a pod reads: it waits for the claim, and says so',
      async run(testbed) {
        answering(testbed.member)
        await testbed.create(aDataset(testbed, { tolerations: [...RUNS.tolerations] }))
        await testbed.create(aRuntimeOf('AlluxioRuntime'))
        await isBound(testbed)
        await testbed.create(aReader(testbed))
        await isReading(testbed)
        await testbed.delete(ALLUXIO_RUNTIMES, 'demo')
        await testbed.settle()
        const runtime = await there(testbed, ALLUXIO_RUNTIMES, 'demo')
        const served = runtime.status?.conditions?.find(({ type }) => type === 'Served')
        assert.match(
          served?.message ?? '',
          /^it is being deleted, and waits until PersistentVolumeClaim demo is gone: delete the pods that use it/,
        )
        assert.equal((await podsOf(testbed, 'demo-worker')).length, 1, 'the reader keeps its cache')
        await testbed.delete(PODS, 'reader')
        await isGone(testbed, ALLUXIO_RUNTIMES, 'demo')
        assert.equal(await phaseOf(testbed), 'NotBound')
      },
    },
  ],
}
