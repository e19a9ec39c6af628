/** A dataset of another namespace is read from its cache: no second one is made, and what readers need comes to them. */
import assert from 'node:assert/strict'
import {
  ADVANCED_STATEFUL_SETS,
  CACHE_RUNTIME_CLASSES,
  CACHE_RUNTIMES,
  DATASETS,
  THIN_RUNTIMES,
} from '../../../src/kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { becomes, conditionTexts, datasetOf, isBound, isGone, messageOf, nodesUnder, podsOf, there } from '../expectations.ts'
import { aClass, aDataset, another, aReader, aRuntime, className, MOUNTS, requiring } from '../manifests.ts'
import {
  aGrant,
  aNamespace,
  aReference,
  attributesOf,
  copiedClient,
  copiedConfig,
  copyName,
  end,
  guestsOf,
  isRunning,
  listedIn,
  OFFERED,
  ownersOf,
  referTo,
  SECRET_MOUNTS,
  SHARED,
  volumeOf,
} from '../sharing.ts'
import type { DataArea, DataTestbed } from '../story.ts'

const repoint = (guests: DataTestbed, mountPoint: string, name = 'demo'): Promise<unknown> =>
  guests.patch(DATASETS, name, { spec: { mounts: [{ mountPoint }] } })

const configOf = async (testbed: DataTestbed, guests: DataTestbed): Promise<{ mounts: object[] }> =>
  JSON.parse((await copiedConfig(testbed, guests)).data?.['runtime.json'] ?? '{}') as { mounts: object[] }

export const sharing: DataArea = {
  name: 'sharing',
  stories: [
    {
      name: 'a pod reads a dataset of another namespace by a claim with the fields of that one, and no second cache is made',
      isSample: true,
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await guests.create(aReader(guests))
        await isRunning(guests)
        const [original, own] = [await volumeOf(testbed), await volumeOf(guests)]
        assert.deepEqual(attributesOf(own), attributesOf(original))
        const { csi, capacity, accessModes, storageClassName, persistentVolumeReclaimPolicy } = original.spec ?? {}
        assert.deepEqual(
          [own.spec?.csi, own.spec?.capacity, own.spec?.accessModes, own.spec?.storageClassName, own.spec?.persistentVolumeReclaimPolicy],
          [csi, capacity, accessModes, storageClassName, persistentVolumeReclaimPolicy],
        )
        const { metadata, spec, status } = await there(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')
        assert.deepEqual([spec?.volumeName, spec?.accessModes, status?.phase], [own.metadata.name, ['ReadOnlyMany'], 'Bound'])
        assert.deepEqual(metadata.labels, {
          [`fluid.io/s-${guests.namespace}-demo`]: 'true',
          'fluid.io/dataset-id': `${guests.namespace}-demo`,
          'fluid.io/dataset.referring-name': 'demo',
          'fluid.io/dataset.referring-namespace': testbed.namespace,
        })
        assert.deepEqual(await guests.list(ADVANCED_STATEFUL_SETS), [])
        assert.deepEqual(
          (await guests.list(PODS)).map(({ metadata: { name } }) => name),
          ['reader'],
        )
      },
    },
    {
      name: 'readers of both namespaces on one node have one client, which is the owner’s',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const [node] = testbed.nodes
        const spec = { nodeSelector: { 'kubernetes.io/hostname': node } }
        for (const place of [testbed, guests]) await place.create(aReader(place, { spec }))
        for (const place of [testbed, guests]) await isRunning(place)
        await testbed.settle()
        assert.deepEqual(await nodesUnder(testbed, 'demo-client'), [node])
        assert.deepEqual(
          (await guests.list(PODS)).map(({ metadata: { name } }) => name),
          ['reader'],
        )
      },
    },
    {
      name: 'what clients are configured with comes along without options, follows the owner, and is repaired',
      isSample: true,
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        assert.match(JSON.stringify(await there(testbed, CONFIG_MAPS, 'fluid-runtime-config-demo')), /open-sesame/)
        assert.deepEqual((await configOf(testbed, guests)).mounts, [{ mountPoint: 's3://one', name: 'one', path: '/one' }])
        await testbed.patch(DATASETS, 'demo', {
          spec: { mounts: [...SECRET_MOUNTS, { ...SECRET_MOUNTS[0], mountPoint: 's3://two', name: 'two' }] },
        })
        await testbed.until('both sources', async () => (await configOf(testbed, guests)).mounts.length === 2)
        await guests.patch(CONFIG_MAPS, copyName(testbed, 'fluid-runtime-config-demo'), { data: { 'runtime.json': '{}' } })
        await guests.delete(DAEMON_SETS, copyName(testbed, 'demo-client'))
        await testbed.until('both repaired', async () => {
          const client = await guests.get(DAEMON_SETS, copyName(testbed, 'demo-client'))
          return client !== undefined && (await configOf(testbed, guests)).mounts?.length === 2
        })
        await isBound(guests)
        const all = [await datasetOf(guests), await copiedConfig(testbed, guests), await copiedClient(testbed, guests)]
        assert.doesNotMatch(JSON.stringify(all), /open-sesame|aws\.secretKey/)
      },
    },
    {
      name: 'references to parts of a dataset share one copy of what clients need, which outlives the first of them',
      isSample: true,
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await referTo(testbed, guests, { name: 'cats', subPath: '/cats' })
        await referTo(testbed, guests, { name: 'dogs', subPath: '/dogs/2024/' })
        for (const name of ['cats', 'dogs']) await isBound(guests, name)
        assert.deepEqual(
          [attributesOf(await volumeOf(guests, 'cats')).fluid_sub_path, attributesOf(await volumeOf(guests, 'dogs')).fluid_sub_path],
          ['cats', 'dogs/2024'],
        )
        const [client, config] = [await copiedClient(testbed, guests), await copiedConfig(testbed, guests)]
        assert.deepEqual(
          [ownersOf(client), ownersOf(config)],
          [
            ['cats', 'dogs'],
            ['cats', 'dogs'],
          ],
        )
        await guests.delete(DATASETS, 'cats')
        await testbed.until('only the second owns', async () => ownersOf(await copiedClient(testbed, guests)).join() === 'dogs')
        await isGone(guests, DATASETS, 'cats')
        assert.deepEqual(
          [(await copiedClient(testbed, guests)).metadata.uid, (await copiedConfig(testbed, guests)).metadata.uid],
          [client.metadata.uid, config.metadata.uid],
        )
        await guests.delete(DATASETS, 'dogs')
        await isGone(guests, DAEMON_SETS, client.metadata.name ?? '')
        await isGone(guests, CONFIG_MAPS, config.metadata.name ?? '')
      },
    },
    {
      name: 'many datasets stand on one runtime: each has its own claim, the owner lists them, and pods mount several at once',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        for (const name of ['a', 'b', 'c']) await referTo(testbed, guests, { name, subPath: `/${name}` })
        await referTo(testbed, testbed, { name: 'mine', subPath: '/mine' })
        for (const name of ['a', 'b', 'c']) await isBound(guests, name)
        await isBound(testbed, 'mine')
        const { namespace } = guests
        assert.deepEqual(
          await listedIn(testbed),
          [`${testbed.namespace}/mine`, `${namespace}/a`, `${namespace}/b`, `${namespace}/c`].sort(),
        )
        await guests.create(aReader(guests, { claims: ['a', 'b', 'c'] }))
        await isRunning(guests)
        assert.equal((await podsOf(testbed, 'demo-worker')).length, 1)
        assert.deepEqual(
          (await testbed.list(CACHE_RUNTIMES)).map(({ metadata }) => metadata.name),
          ['demo'],
        )
      },
    },
    {
      name: 'modes of access: who asks for writing gets it where the owner gives nothing but writing, and reads otherwise',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await another(testbed, 'written', { dataset: { accessModes: ['ReadWriteMany'], placement: 'Shared' } })
        await another(testbed, 'both', { dataset: { accessModes: ['ReadOnlyMany', 'ReadWriteMany'], placement: 'Shared' } })
        const WRITING = { accessModes: ['ReadWriteMany'] }
        const CASES = [
          { name: 'read-read', to: 'demo', spec: {}, modes: 'ReadOnlyMany' },
          { name: 'write-read', to: 'demo', spec: WRITING, modes: 'ReadOnlyMany' },
          { name: 'write-both', to: 'both', spec: WRITING, modes: 'ReadOnlyMany' },
          { name: 'write-write', to: 'written', spec: WRITING, modes: 'ReadWriteMany' },
          { name: 'read-write', to: 'written', spec: {}, modes: 'ReadOnlyMany' },
        ]
        for (const { name, to, spec } of CASES) await referTo(testbed, guests, { name, to, spec })
        for (const { name, modes } of CASES) {
          await isBound(guests, name)
          const [volume, claim] = [await volumeOf(guests, name), await there(guests, PERSISTENT_VOLUME_CLAIMS, name)]
          assert.deepEqual([volume.spec?.accessModes, claim.spec?.accessModes], [[modes], [modes]], name)
        }
      },
    },
    {
      name: 'the size and the nodes of the owner’s volume hold for readers of other namespaces',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const [, , third] = testbed.nodes
        const annotations = { 'pvc.fluid.io/resources.requests.storage': '5Gi' }
        await testbed.create(aDataset(testbed, { placement: 'Shared' }, { name: 'here', annotations }))
        await testbed.create(
          aRuntime(
            testbed,
            { client: { cleanPolicy: 'OnRuntimeDeleted', nodeSelector: { 'kubernetes.io/hostname': third } } },
            { name: 'here' },
          ),
        )
        await isBound(testbed, 'here')
        await referTo(testbed, guests, { name: 'here', to: 'here' })
        await isBound(guests, 'here')
        assert.deepEqual((await there(guests, PERSISTENT_VOLUME_CLAIMS, 'here')).spec?.resources?.requests, { storage: '5Gi' })
        assert.deepEqual((await volumeOf(guests, 'here')).spec?.nodeAffinity, (await volumeOf(testbed, 'here')).spec?.nodeAffinity)
        await guests.create(aReader(guests, { claims: ['here'] }))
        assert.equal((await isRunning(guests)).spec?.nodeName, third)
      },
    },
    {
      name: 'a reader goes to the node of the owner’s cache, by the key that nodes have',
      isSample: true,
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const [node] = await nodesUnder(testbed, 'demo-worker')
        const key = `fluid.io/s-${testbed.namespace}-demo`
        const near = await guests.create(aReader(guests, { name: 'near' }))
        assert.deepEqual(near.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution, [
          { weight: 100, preference: { matchExpressions: [{ key, operator: 'In', values: ['true'] }] } },
        ])
        await guests.create(aReader(guests, { name: 'there', labels: requiring('demo') }))
        for (const name of ['near', 'there']) assert.equal((await isRunning(guests, name)).spec?.nodeName, node, name)
      },
    },
    {
      name: 'a ThinRuntime that its user made is used as it is, and goes with the reference',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const { apiVersion } = aReference(testbed)
        const own: KubeObject = await guests.create<KubeObject>({
          apiVersion,
          kind: 'ThinRuntime',
          metadata: { name: 'demo', labels: { mine: 'yes' } },
          spec: {},
        })
        const { metadata: dataset } = await referTo(testbed, guests)
        await isBound(guests)
        await testbed.until('served', async () => {
          const { status } = await there(guests, THIN_RUNTIMES, 'demo')
          return status?.conditions?.some(({ type, status: is }) => type === 'Served' && is === 'True') === true
        })
        const { metadata } = await there(guests, THIN_RUNTIMES, 'demo')
        assert.deepEqual([metadata.uid, metadata.labels?.mine, metadata.ownerReferences?.[0]?.uid], [own.metadata.uid, 'yes', dataset.uid])
        await guests.delete(DATASETS, 'demo')
        await isGone(guests, THIN_RUNTIMES, 'demo')
      },
    },
    {
      name: 'a reference that is pointed to another dataset leaves nothing at the first: list, volume and copies follow',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await another(testbed, 'other', { dataset: { placement: 'Shared' } })
        await isBound(testbed, 'other')
        await repoint(guests, `dataset://${testbed.namespace}/other/part`)
        await testbed.until('listed there', async () => (await listedIn(testbed, 'other')).length === 1)
        await isBound(guests)
        assert.deepEqual(await listedIn(testbed), [])
        const { csi } = (await volumeOf(guests)).spec ?? {}
        assert.deepEqual([csi?.volumeHandle, csi?.volumeAttributes?.fluid_sub_path], [`${testbed.namespace}-other`, 'part'])
        await copiedClient(testbed, guests, 'other')
        await isGone(guests, DAEMON_SETS, copyName(testbed, 'demo-client'))
      },
    },
    {
      name: 'a reference that gets sources of its own shows nothing of the other dataset any more, as soon as its pods have ended',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await guests.create(aReader(guests))
        await isRunning(guests)
        await guests.patch(DATASETS, 'demo', { spec: { mounts: MOUNTS } })
        await becomes(guests, 'Failed')
        await testbed.settle()
        assert.deepEqual(await listedIn(testbed), [])
        assert.match(await messageOf(guests, 'NotReady'), /ThinRuntime without profileName .* this one has no mount dataset:\/\//)
        assert.equal((await isRunning(guests)).status?.phase, 'Running')
        await end(guests)
        await isGone(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')
        await isGone(testbed, PERSISTENT_VOLUMES, `${guests.namespace}-demo`)
        await isGone(guests, DAEMON_SETS, copyName(testbed, 'demo-client'))
      },
    },
    {
      name: 'a user’s claim with the name of a reference is left alone, and the reference says so until it goes',
      begin: OFFERED,
      async run(testbed) {
        const guests = await aNamespace(testbed, 'others')
        await testbed.create(aGrant(guests.namespace))
        // Admission looks at names that are taken when a dataset comes; this one is taken a moment later.
        await referTo(testbed, guests, { to: 'later' })
        await guests.create({
          ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'demo', labels: { mine: 'yes' } } },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        })
        await another(testbed, 'later', { dataset: { placement: 'Shared' } })
        await becomes(guests, 'Bound')
        await testbed.settle()
        assert.match(await messageOf(guests, 'NameTaken'), /^a PersistentVolumeClaim demo exists that was not made for this dataset/)
        assert.equal((await there(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.labels?.mine, 'yes')
        await guests.delete(PERSISTENT_VOLUME_CLAIMS, 'demo')
        await isBound(guests)
        assert.deepEqual(await conditionTexts(guests), ['Ready=True'])
      },
    },
    {
      name: 'datasets of one name in three namespaces never get into each other’s way',
      begin: SHARED,
      async run(testbed) {
        const [guests, third] = [guestsOf(testbed), await aNamespace(testbed, 'third')]
        await third.create(aDataset(third, { mounts: [{ mountPoint: 's3://third', name: 'third' }], placement: 'Shared' }))
        await third.create(aRuntime(third))
        await isBound(third)
        await referTo(third, guests, { name: 'third' })
        await isBound(guests, 'third')
        const configs = (await guests.list(CONFIG_MAPS)).filter(({ metadata }) => metadata.name?.startsWith('fluid-runtime-config-demo-'))
        const mounted = configs.map(({ data }) => /s3:\/\/\w+/.exec(data?.['runtime.json'] ?? '')?.[0])
        assert.deepEqual(mounted.sort(), ['s3://one', 's3://third'])
        for (const [place, name] of [
          [testbed, 'demo'],
          [third, 'third'],
        ] as const) {
          const client = await copiedClient(place, guests)
          assert.deepEqual(ownersOf(client), [name])
          assert.match(JSON.stringify(client.spec), new RegExp(copyName(place, 'fluid-runtime-config-demo')))
        }
        assert.deepEqual((await guests.list(THIN_RUNTIMES)).map(({ metadata }) => metadata.name).sort(), ['demo', 'third'])
        assert.equal(className(third), className(testbed))
      },
    },
    {
      name: 'a class that changes its client changes the copies, and none of them ever runs',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const { topology } = aClass(testbed)
        const client = structuredClone(topology?.client ?? {})
        const [container] = client.template?.spec?.containers ?? []
        if (container !== undefined) container.image = 'example.com/client:2'
        await testbed.patch(CACHE_RUNTIME_CLASSES, className(testbed), { topology: { client } })
        await testbed.until('the new image', async () => {
          const set = await copiedClient(testbed, guests)
          return set.spec?.template?.spec?.containers?.[0]?.image === 'example.com/client:2'
        })
        await testbed.settle()
        assert.deepEqual(await guests.list(PODS), [])
        const { nodeSelector } = (await copiedClient(testbed, guests)).spec?.template?.spec ?? {}
        assert.equal(nodeSelector?.['fluid.io/fuse-balloon'], 'true')
      },
    },
  ],
}
