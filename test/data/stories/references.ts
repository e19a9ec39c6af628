/** What a reference shows of the dataset of another namespace, and what no reference can be, whether admission sees it or not. */
import assert from 'node:assert/strict'
import { CACHE_RUNTIMES, DATASETS, THIN_RUNTIMES } from '../../../src/kinds/fluid/resources.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { answering, FIGURES } from '../commands.ts'
import {
  becomes,
  conditionTexts,
  datasetOf,
  isBound,
  isGone,
  isServedAs,
  messageOf,
  phaseOf,
  runtimeOf,
  there,
  waitsBecause,
} from '../expectations.ts'
import { aClassWithCommands, aDataset, aReader, aRuntime, aRuntimeOf, MOUNTS } from '../manifests.ts'
import { aGrant, aNamespace, aReference, end, guestsOf, isRunning, listedIn, OFFERED, referTo, SECRET_MOUNTS, SHARED } from '../sharing.ts'
import type { Beginning, DataArea, DataTestbed } from '../story.ts'
import { noteWritesOf } from '../written.ts'

/** As `SHARED`, of a class whose programs mount and report. */
const REPORTED: Beginning = {
  name: 'reported',
  answers: (member) => answering(member),
  async make(testbed) {
    const guests = await aNamespace(testbed, 'guests')
    await testbed.create(aGrant(guests.namespace))
    await testbed.create(aClassWithCommands(testbed))
    await testbed.create(aDataset(testbed, { mounts: SECRET_MOUNTS, placement: 'Shared' }))
    await testbed.create(aRuntime(testbed))
    await isBound(testbed)
    await referTo(testbed, guests)
    await isBound(guests)
  },
}

/** When its status was written last, to the second. */
const writtenAt = ({ metadata }: KubeObject): string | undefined =>
  metadata.managedFields?.find(({ subresource }) => subresource === 'status')?.time

const mounting = (...mountPoints: string[]) => ({ mounts: mountPoints.map((mountPoint, i) => ({ mountPoint, name: `m${i}` })) })
const CHAIN = /itself refers to another dataset, and references do not chain: mount the dataset that it refers to/
const ONLY_THIN = /dataset mounting another dataset can only use thin runtime/

const profiled = (profileName: string): KubeObject => ({
  apiVersion: 'data.fluid.io/v1alpha1',
  kind: 'ThinRuntime',
  metadata: { name: 'demo' },
  spec: { profileName },
})

const isNowhere = async (guests: DataTestbed, name: string): Promise<void> => {
  assert.equal(await guests.get(PERSISTENT_VOLUME_CLAIMS, name), undefined)
  assert.equal(await guests.get(PERSISTENT_VOLUMES, `${guests.namespace}-${name}`), undefined)
}

export const references: DataArea = {
  name: 'references',
  stories: [
    {
      name: 'what the cache reports is shown in the same moment on each reference, with one write',
      begin: REPORTED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        for (const name of ['second', 'third']) await referTo(testbed, guests, { name })
        for (const name of ['second', 'third']) await isBound(guests, name)
        const written = noteWritesOf(testbed.member.store, DATASETS)
        answering(testbed.member, { report: { stdout: JSON.stringify({ ...FIGURES, cached: '2.00GiB' }) } })
        await testbed.until('the new figure', async () => (await datasetOf(testbed)).status.cacheStates?.cached === '2.00GiB')
        await testbed.settle()
        const writes = written()
        const original = await datasetOf(testbed)
        for (const name of ['demo', 'second', 'third']) {
          const reference = await datasetOf(guests, name)
          assert.deepEqual(
            [reference.status.cacheStates, reference.status.ufsTotal, reference.status.fileNum, writtenAt(reference)],
            [original.status.cacheStates, FIGURES.ufsTotal, FIGURES.fileNum, writtenAt(original)],
          )
          const own = writes.filter(({ metadata }) => metadata.namespace === guests.namespace && metadata.name === name)
          assert.equal(own.length, 1, name)
        }
      },
    },
    {
      name: 'Updating and Failed are the owner’s, in words that repeat nothing of what runs there',
      begin: REPORTED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        answering(testbed.member, { mounted: { exitCode: 3, stderr: 'no route to open-sesame' } })
        await testbed.patch(DATASETS, 'demo', { spec: { mounts: [...SECRET_MOUNTS, { mountPoint: 's3://two', name: 'two' }] } })
        await testbed.until('it fails', async () => /open-sesame/.test(await messageOf(testbed, 'Updating')))
        await becomes(guests, 'Updating')
        const { namespace } = testbed
        assert.equal(
          await messageOf(guests, 'Updating'),
          `the mounts of Dataset ${namespace}/demo are being changed: see Dataset ${namespace}/demo, or ask its owner`,
        )
        answering(testbed.member)
        await testbed.patch(DATASETS, 'demo', { spec: { mounts: SECRET_MOUNTS } })
        await isBound(testbed)
        answering(testbed.member, { mounted: { exitCode: 3, stderr: 'no route to open-sesame' } })
        await testbed.delete(PODS, 'demo-master-0')
        await becomes(testbed, 'Failed')
        await becomes(guests, 'Failed')
        assert.equal(
          await messageOf(guests, 'NotReady'),
          `Dataset ${namespace}/demo, to which this one refers, has failed: see Dataset ${namespace}/demo, or ask its owner`,
        )
        assert.doesNotMatch(JSON.stringify([await datasetOf(guests), await there(guests, THIN_RUNTIMES, 'demo')]), /open-sesame/)
        answering(testbed.member)
        await isBound(guests)
        assert.deepEqual(await conditionTexts(guests), ['Ready=True'])
        testbed.member.complaints.length = 0
      },
    },
    {
      name: 'it shows a runtime of its own and no references; how many workers there are, its ThinRuntime shows as they come',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const { status } = await datasetOf(guests)
        assert.deepEqual(status.runtimes, [
          { name: 'demo', namespace: guests.namespace, category: 'Accelerate', type: 'thin', masterReplicas: 0 },
        ])
        assert.deepEqual(status.mounts, [{ mountPoint: 's3://one', name: 'one' }])
        assert.deepEqual([status.datasetRef, await listedIn(testbed)], [undefined, [`${guests.namespace}/demo`]])
        await testbed.patch(CACHE_RUNTIMES, 'demo', { spec: { worker: { replicas: 2 } } })
        const workersOf = async () => (await there(guests, THIN_RUNTIMES, 'demo')).status?.workerNumberReady
        await testbed.until('two workers', async () => (await workersOf()) === 2)
        assert.equal((await runtimeOf(testbed)).status.selector, (await there(guests, THIN_RUNTIMES, 'demo')).status?.selector)
      },
    },
    {
      name: 'the owner’s runtime goes: a pod that reads keeps its claim, new ones wait, and all is there again with the next runtime',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await guests.create(aReader(guests))
        await isRunning(guests)
        await testbed.delete(CACHE_RUNTIMES, 'demo')
        await waitsBecause(guests, /^mounting dataset is not bound to a runtime yet: Dataset \S+\/demo is waited for/)
        await isGone(testbed, CACHE_RUNTIMES, 'demo')
        await testbed.settle()
        const { metadata } = await there(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')
        assert.notEqual(metadata.deletionTimestamp, undefined)
        await assert.rejects(guests.create(aReader(guests, { name: 'late' })), /not bound/)
        await testbed.create(aRuntime(testbed))
        await isBound(testbed)
        await end(guests)
        await isBound(guests)
        assert.notEqual((await there(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.uid, metadata.uid)
        await guests.create(aReader(guests, { name: 'late' }))
        await isRunning(guests, 'late')
      },
    },
    {
      name: 'references do not chain: who tries is told which dataset to mount',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await assert.rejects(referTo(guests, guests, { name: 'more' }), CHAIN)
        await assert.rejects(
          guests.patch(DATASETS, 'demo', { spec: mounting(`dataset://${guests.namespace}/demo`) }),
          /cannot refer to itself/,
        )
        await referTo(testbed, guests, { name: 'more' })
        await isBound(guests, 'more')
      },
    },
    {
      name: 'a chain that came about otherwise is reported by its end, which is never bound, and the middle serves',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await guests.create(aReference(guests, { name: 'end', to: 'middle' }))
        await waitsBecause(guests, /^there is no Dataset \S+\/middle, to which this one refers: create it, or correct the name$/, 'end')
        await referTo(testbed, guests, { name: 'middle' })
        await isBound(guests, 'middle')
        await waitsBecause(guests, CHAIN, 'end')
        await isNowhere(guests, 'end')
        assert.deepEqual(await listedIn(guests, 'middle'), [])
        await guests.patch(DATASETS, 'end', { spec: mounting(`dataset://${testbed.namespace}/demo/part`) })
        await isBound(guests, 'end')
      },
    },
    {
      name: 'a mount of a dataset stands alone and names two things: everything else is refused, each with what to do',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const original = `dataset://${testbed.namespace}/demo`
        const CASES: [string[], RegExp][] = [
          [[original, 's3://own'], /it has 1 dataset mounts but also contains other types of mounts: make a Dataset for the others/],
          [['s3://own', `DATASET://${testbed.namespace}/demo`], /1 dataset mounts but also contains other types/],
          [[original, `${original}/part`], /it has 2 dataset mounts which only expects 1: keep one/],
          [['dataset://demo'], /names no dataset: write dataset:\/\/, its namespace and its name/],
          [[`${original}/../../etc`], /contains "\.\."/],
        ]
        for (const [mountPoints, why] of CASES)
          await assert.rejects(guests.create(aDataset(guests, mounting(...mountPoints))), why, mountPoints.join())
        await testbed.settle()
        assert.deepEqual([await guests.list(DATASETS), await listedIn(testbed)], [[], []])
      },
    },
    {
      name: 'what admission did not see: each says the same of itself, and is never bound',
      isUnjudged: true,
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const original = `dataset://${testbed.namespace}/demo`
        const CASES: [string, string[], RegExp][] = [
          ['mixed', [original, 's3://own'], /it has 1 dataset mounts but also contains other types of mounts/],
          ['double', [original, `${original}/part`], /it has 2 dataset mounts which only expects 1: keep one/],
          ['short', ['dataset://demo'], /names no dataset: write dataset:\/\/, its namespace and its name/],
        ]
        for (const [name, mountPoints, why] of CASES) {
          await guests.create(aDataset(guests, mounting(...mountPoints), { name }))
          await guests.create(aRuntime(guests, {}, { name }))
          await waitsBecause(guests, why, name)
          await isNowhere(guests, name)
        }
        assert.deepEqual(await listedIn(testbed), [])
        await guests.delete(CACHE_RUNTIMES, 'mixed')
        await guests.patch(DATASETS, 'mixed', { spec: mounting(original) })
        await isBound(guests, 'mixed')
      },
    },
    {
      name: 'a runtime with a cache of its own is refused for a reference, and a reference where there is one',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        for (const runtime of [aRuntime(guests), aRuntimeOf('AlluxioRuntime', { replicas: 1 })])
          await assert.rejects(guests.create<KubeObject>(runtime), ONLY_THIN, runtime.kind)
        await assert.rejects(guests.patch(THIN_RUNTIMES, 'demo', { spec: { profileName: 'nfs' } }), ONLY_THIN)
        await guests.create(aRuntime(guests, {}, { name: 'cached' }))
        await isServedAs(guests, CACHE_RUNTIMES, /^False /, 'cached')
        await assert.rejects(referTo(testbed, guests, { name: 'cached' }), /delete CacheRuntime "cached" first, or choose another name/)
        assert.equal(await phaseOf(guests), 'Bound')
      },
    },
    {
      name: 'a runtime with a cache that came all the same: both say so, nothing of it runs, and the reference is bound when it goes',
      isUnjudged: true,
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await guests.create(aRuntime(guests))
        await referTo(testbed, guests)
        await waitsBecause(guests, /^dataset mounting another dataset can only use thin runtime: delete CacheRuntime demo$/)
        await isServedAs(guests, CACHE_RUNTIMES, /^False \w+: .*dataset mounting another dataset can only use thin runtime/)
        assert.deepEqual(await guests.list(PODS), [])
        await guests.delete(CACHE_RUNTIMES, 'demo')
        await isBound(guests)
        await guests.delete(THIN_RUNTIMES, 'demo')
        await isBound(guests)
        await guests.delete(DATASETS, 'demo')
        await isGone(guests, DATASETS, 'demo')
        await guests.create(profiled('nfs'))
        await referTo(testbed, guests)
        await waitsBecause(guests, /can only use thin runtime: remove profileName from ThinRuntime demo, or delete it$/)
      },
    },
    {
      name: 'a dataset that is being deleted takes no new references, neither new ones nor such as are pointed to it',
      isSample: true,
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const why = new RegExp(`Dataset ${testbed.namespace}/demo is being deleted, and takes no new references: mount another one`)
        await testbed.create(aDataset(testbed, { mounts: MOUNTS, placement: 'Shared' }, { name: 'other' }))
        await referTo(testbed, guests, { name: 'mover', to: 'other' })
        await testbed.delete(DATASETS, 'demo')
        await testbed.until('it is held', async () => (await messageOf(testbed, 'DeletionHeld')) !== '')
        await assert.rejects(referTo(testbed, guests, { name: 'late' }), why)
        await assert.rejects(guests.patch(DATASETS, 'mover', { spec: mounting(`dataset://${testbed.namespace}/demo`) }), why)
        // The one that is there may still change what does not lead anywhere else.
        await guests.patch(DATASETS, 'demo', { metadata: { labels: { team: 'a' } } })
        assert.equal(await phaseOf(guests), 'Bound')
        await guests.delete(DATASETS, 'demo')
        await isGone(testbed, DATASETS, 'demo')
      },
    },
    {
      name: 'one that admission did not see says that it comes too late, and does not hold what goes',
      isUnjudged: true,
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await testbed.delete(DATASETS, 'demo')
        await testbed.pass(2)
        await referTo(testbed, guests, { name: 'late' })
        await waitsBecause(guests, /^Dataset \S+\/demo is being deleted, and takes no new references: mount another one$/, 'late')
        await guests.delete(DATASETS, 'demo')
        await isGone(testbed, DATASETS, 'demo')
        await waitsBecause(guests, /^there is no Dataset \S+\/demo/, 'late')
      },
    },
  ],
}
