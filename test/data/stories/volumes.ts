/** The volume and the claim by which pods use a dataset, and the nodes on which they do. */
import assert from 'node:assert/strict'
import { CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { areRecorded, conditionTexts, eventsOf, isBound, isGone, messageOf, nodesUnder, phaseOf, podsOf, there } from '../expectations.ts'
import { aClass, aDataset, aReader, aRuntime, serve } from '../manifests.ts'
import type { DataArea, DataTestbed } from '../story.ts'

const aClaim = (name = 'demo'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, labels: { mine: 'yes' } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})

const aVolume = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    storageClassName: 'mine',
    persistentVolumeReclaimPolicy: 'Retain',
    hostPath: { path: '/srv/mine' },
  },
})

const fuseLabelOn = async (testbed: DataTestbed, node: string): Promise<string | undefined> =>
  (await there(testbed, NODES, node)).metadata.labels?.[`fluid.io/f-${testbed.namespace}-demo`]

const isRunning = (testbed: DataTestbed, name: string): Promise<void> =>
  testbed.until(`${name} runs`, async () => (await testbed.get(PODS, name))?.status?.phase === 'Running')

export const volumes: DataArea = {
  name: 'volumes',
  stories: [
    {
      name: 'volume and claim are what Fluid’s are, and bound to each other',
      isSample: true,
      async run(testbed) {
        const { namespace } = testbed
        await serve(testbed)
        await isBound(testbed)
        const volume = await there(testbed, PERSISTENT_VOLUMES, `${namespace}-demo`)
        const claim = await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
        const labels = { [`fluid.io/s-${namespace}-demo`]: 'true', 'fluid.io/dataset-id': `${namespace}-demo` }
        assert.deepEqual([volume.metadata.labels, claim.metadata.labels], [labels, labels])
        assert.deepEqual([volume.metadata.annotations?.CreatedBy, claim.metadata.annotations?.CreatedBy], ['fluid', 'fluid'])
        const { csi, capacity, accessModes, storageClassName, claimRef, persistentVolumeReclaimPolicy } = volume.spec ?? {}
        assert.deepEqual(
          [capacity, accessModes, storageClassName, persistentVolumeReclaimPolicy, claimRef?.namespace, claimRef?.name],
          [{ storage: '100Pi' }, ['ReadOnlyMany'], 'fluid', 'Retain', namespace, 'demo'],
        )
        assert.deepEqual(csi, {
          driver: 'fuse.csi.fluid.io',
          volumeHandle: `${namespace}-demo`,
          volumeAttributes: {
            fluid_path: `/runtime-mnt/cache/${namespace}/demo/cache-fuse`,
            mount_type: 'cache',
            runtime_namespace: namespace,
            runtime_name: 'demo',
            mount_pod_node_selector_key: `fluid.io/f-${namespace}-demo`,
          },
        })
        assert.deepEqual(
          [
            claim.spec?.volumeName,
            claim.spec?.accessModes,
            claim.spec?.storageClassName,
            claim.spec?.resources?.requests,
            claim.status?.phase,
          ],
          [`${namespace}-demo`, ['ReadOnlyMany'], 'fluid', { storage: '100Pi' }, 'Bound'],
        )
      },
    },
    {
      name: 'access modes, the size that an annotation asks for, and where clients may run',
      async run(testbed) {
        await testbed.create(aClass(testbed))
        const annotations = { 'pvc.fluid.io/resources.requests.storage': '5Gi' }
        await testbed.create(aDataset(testbed, { accessModes: ['ReadWriteMany'] }, { annotations }))
        await testbed.create(aRuntime(testbed, { client: { cleanPolicy: 'OnRuntimeDeleted', nodeSelector: { disk: 'ssd' } } }))
        await isBound(testbed)
        const { spec } = await there(testbed, PERSISTENT_VOLUMES, 'default-demo')
        assert.deepEqual([spec?.capacity, spec?.accessModes], [{ storage: '5Gi' }, ['ReadWriteMany']])
        assert.deepEqual(spec?.nodeAffinity, {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }] },
        })
        const claim = await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
        assert.deepEqual([claim.spec?.resources?.requests, claim.spec?.accessModes], [{ storage: '5Gi' }, ['ReadWriteMany']])
      },
    },
    {
      name: 'metadataList: labels and annotations of the runtime’s author, at once and later',
      async run(testbed) {
        const listed = (team: string) =>
          JSON.stringify([
            {
              selector: { kind: 'PersistentVolume' },
              labels: { 'fluid.io/node-publish-method': 'symlink', team },
              annotations: { note: 'v' },
            },
            { selector: { group: '', version: 'v1', kind: 'PersistentVolumeClaim' }, labels: { team }, annotations: { CreatedBy: 'me' } },
            { selector: { kind: 'ConfigMap' }, labels: { team } },
          ])
        await testbed.create(aClass(testbed))
        await testbed.create(aDataset(testbed))
        await testbed.create(aRuntime(testbed, {}, { annotations: { 'data.fluid.io/metadataList': listed('a') } }))
        await isBound(testbed)
        const volume = await there(testbed, PERSISTENT_VOLUMES, 'default-demo')
        assert.deepEqual([volume.metadata.labels?.team, volume.metadata.annotations?.note], ['a', 'v'])
        assert.equal(volume.spec?.csi?.volumeAttributes?.node_publish_method, 'symlink')
        const claim = await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
        assert.deepEqual([claim.metadata.labels?.team, claim.metadata.annotations?.CreatedBy], ['a', 'fluid'], 'ours stay ours')
        await testbed.patch(CACHE_RUNTIMES, 'demo', { metadata: { annotations: { 'data.fluid.io/metadataList': listed('b') } } })
        await testbed.settle()
        assert.equal((await there(testbed, PERSISTENT_VOLUMES, 'default-demo')).metadata.labels?.team, 'b')
        assert.equal((await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.labels?.team, 'b')
      },
    },
    {
      name: 'a user’s claim of the name: the dataset is refused in words that say what to do, and the claim is left alone',
      async run(testbed) {
        await testbed.create(aClaim())
        await assert.rejects(
          testbed.create(aDataset(testbed)),
          /a PersistentVolumeClaim "demo" that belongs to no dataset exists in this namespace: choose another name, or delete the claim first/,
        )
        await testbed.settle()
        assert.equal((await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.labels?.mine, 'yes')
        await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'demo')
        await isGone(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
        await serve(testbed)
        await isBound(testbed)
      },
    },
    {
      name: 'a user’s claim that comes before the dataset is bound is left alone, and the dataset says so; it goes, and the dataset’s own comes',
      async run(testbed) {
        await testbed.create(aDataset(testbed))
        await testbed.create(aClaim())
        await testbed.create(aClass(testbed))
        await testbed.create(aRuntime(testbed))
        await testbed.settle()
        const claim = await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
        assert.deepEqual([claim.metadata.labels, claim.metadata.annotations?.CreatedBy], [{ mine: 'yes' }, undefined])
        const why = 'a PersistentVolumeClaim demo exists that was not made for this dataset: delete it, or give the dataset another name'
        await areRecorded(testbed, 'ErrorProcessRuntime', [why])
        assert.equal(await messageOf(testbed, 'NameTaken'), why)
        await testbed.restart()
        await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'demo')
        await isBound(testbed)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True'])
        assert.equal((await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.annotations?.CreatedBy, 'fluid')
      },
    },
    {
      name: 'a user’s claim that stays: the dataset says so for as long, and once as an event',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        await testbed.restart(async () => {
          await testbed.patch(PERSISTENT_VOLUME_CLAIMS, 'demo', { metadata: { annotations: { CreatedBy: null } } })
        })
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True', 'NameTaken=True'])
        assert.match(await messageOf(testbed, 'NameTaken'), /^a PersistentVolumeClaim demo exists that was not made for this dataset/)
        await testbed.restart()
        assert.equal((await eventsOf(testbed, 'ErrorProcessRuntime')).length, 1)
      },
    },
    {
      name: 'a user’s volume of the name is left alone, also when the dataset goes',
      async run(testbed) {
        await testbed.create(aVolume('default-demo'))
        await serve(testbed)
        await testbed.settle()
        assert.equal(await testbed.get(PERSISTENT_VOLUME_CLAIMS, 'demo'), undefined)
        assert.match((await eventsOf(testbed, 'ErrorProcessRuntime')).join(), /^a PersistentVolume default-demo exists that was not made/)
        await testbed.delete(DATASETS, 'demo')
        await isGone(testbed, CACHE_RUNTIMES, 'demo')
        assert.equal((await there(testbed, PERSISTENT_VOLUMES, 'default-demo')).spec?.storageClassName, 'mine')
      },
    },
    {
      name: 'a claim that somebody deletes while the dataset is bound is made again',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        const before = await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
        await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'demo')
        await testbed.settle()
        await testbed.until('made again', async () => {
          const now = await testbed.get(PERSISTENT_VOLUME_CLAIMS, 'demo')
          return now !== undefined && now.metadata.uid !== before.metadata.uid
        })
        assert.equal(await phaseOf(testbed), 'Bound')
      },
    },
    {
      name: 'a reader brings a client to its node, which stays as long as the runtime',
      async run(testbed) {
        await serve(testbed)
        await isBound(testbed)
        assert.deepEqual(await podsOf(testbed, 'demo-client'), [])
        await testbed.create(aReader(testbed))
        await isRunning(testbed, 'reader')
        await testbed.settle()
        const { spec } = await there(testbed, PODS, 'reader')
        assert.deepEqual(await nodesUnder(testbed, 'demo-client'), [spec?.nodeName])
        assert.equal(await fuseLabelOn(testbed, spec?.nodeName ?? ''), 'true')
        await testbed.delete(PODS, 'reader')
        await testbed.settle()
        assert.equal((await podsOf(testbed, 'demo-client')).length, 1)
        await testbed.delete(DATASETS, 'demo')
        await isGone(testbed, CACHE_RUNTIMES, 'demo')
        await testbed.settle()
        assert.equal(await fuseLabelOn(testbed, spec?.nodeName ?? ''), undefined)
      },
    },
    {
      name: 'cleanPolicy OnDemand: the client goes with the last reader of its node',
      async run(testbed) {
        await serve(testbed, { runtime: { client: { cleanPolicy: 'OnDemand' } } })
        await isBound(testbed)
        const [first] = testbed.nodes
        const spec = { nodeSelector: { 'kubernetes.io/hostname': first } }
        for (const name of ['a', 'b']) await testbed.create(aReader(testbed, { name, spec }))
        for (const name of ['a', 'b']) await isRunning(testbed, name)
        await testbed.settle()
        assert.deepEqual(await nodesUnder(testbed, 'demo-client'), [first])
        await testbed.delete(PODS, 'a')
        await testbed.settle()
        assert.equal((await podsOf(testbed, 'demo-client')).length, 1)
        await testbed.delete(PODS, 'b')
        await testbed.settle()
        assert.deepEqual([await podsOf(testbed, 'demo-client'), await fuseLabelOn(testbed, first)], [[], undefined])
      },
    },
    {
      name: 'a claim by itself is nothing: one that says it is a dataset’s without one',
      async run(testbed) {
        const claim = aClaim()
        const metadata = { name: 'demo', annotations: { CreatedBy: 'fluid' }, labels: { 'fluid.io/dataset-id': 'default-demo' } }
        await testbed.create({ ...claim, metadata })
        await testbed.settle()
        // Made for a dataset that is not there any more: it is removed, as after a crash.
        await isGone(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
      },
    },
  ],
}
