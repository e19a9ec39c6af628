/** References go before what they refer to, and what holds one is named; whatever goes, nothing of it is left. */
import assert from 'node:assert/strict'
import { DATASETS, THIN_RUNTIMES } from '../../../src/kinds/fluid/resources.ts'
import { NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import {
  areRecorded,
  becomes,
  conditionTexts,
  contentsOf,
  datasetOf,
  eventsOf,
  isBound,
  isEmptied,
  isGone,
  messageOf,
  phaseOf,
  there,
} from '../expectations.ts'
import { aClass, aDataset, aReader, aRuntime } from '../manifests.ts'
import { aGrant, aNamespace, end, guestsOf, isRunning, listedIn, OFFERED, referTo, SHARED } from '../sharing.ts'
import type { DataArea, DataTestbed } from '../story.ts'

const heldBy = (...references: string[]): string =>
  `Failed to delete dataset because there are datasets [${references.join(' ')}] mounted to it: delete them first`

const isHeldBecause = (testbed: DataTestbed, why: string | RegExp): Promise<void> =>
  testbed.until(`held: ${why}`, async () => {
    const message = await messageOf(testbed, 'DeletionHeld')
    return typeof why === 'string' ? message === why : why.test(message)
  })

export const referenceDeletion: DataArea = {
  name: 'deletion of references',
  stories: [
    {
      name: 'a dataset waits for its references, says which, serves on, and goes when they do; nothing is left anywhere',
      isSample: true,
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const why = heldBy(`${guests.namespace}/demo`)
        await testbed.delete(DATASETS, 'demo')
        await isHeldBecause(testbed, why)
        await areRecorded(testbed, 'ErrorDeleteDataset', [why])
        await guests.create(aReader(guests))
        await isRunning(guests)
        assert.deepEqual([await phaseOf(testbed), await phaseOf(guests)], ['Bound', 'Bound'])
        await end(guests)
        await guests.delete(DATASETS, 'demo')
        await isEmptied(testbed, (await contentsOf(testbed)).filter(isOfNamespace))
        await isEmptied(guests, (await contentsOf(guests)).filter(isOfNamespace))
      },
    },
    {
      name: 'references of several namespaces hold it until the last is gone: each that goes is no new event',
      begin: SHARED,
      async run(testbed) {
        const [guests, others] = [guestsOf(testbed), await aNamespace(testbed, 'others')]
        await testbed.create(aGrant(others.namespace))
        await referTo(testbed, others, { name: 'theirs' })
        await isBound(others, 'theirs')
        await testbed.delete(DATASETS, 'demo')
        await isHeldBecause(testbed, heldBy(`${guests.namespace}/demo`, `${others.namespace}/theirs`))
        await guests.delete(DATASETS, 'demo')
        await isHeldBecause(testbed, heldBy(`${others.namespace}/theirs`))
        await testbed.restart()
        assert.equal((await eventsOf(testbed, 'ErrorDeleteDataset')).length, 1)
        await others.delete(DATASETS, 'theirs')
        await isGone(testbed, DATASETS, 'demo')
      },
    },
    {
      name: 'of many references the first are named, and how many more there are',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const names = Array.from({ length: 11 }, (_, i) => `r${String(i).padStart(2, '0')}`)
        for (const name of names) await referTo(testbed, guests, { name })
        await testbed.until('all are listed', async () => (await listedIn(testbed)).length === names.length)
        await testbed.delete(DATASETS, 'demo')
        const shown = names.slice(0, 10).map((name) => `${guests.namespace}/${name}`)
        await isHeldBecause(
          testbed,
          `Failed to delete dataset because there are datasets [${shown.join(' ')} and 1 more] mounted to it: delete them first`,
        )
        for (const name of names) await guests.delete(DATASETS, name)
        await isGone(testbed, DATASETS, 'demo')
      },
    },
    {
      name: 'a reference goes alone: of its namespace nothing is left, and the owner’s readers notice nothing',
      begin: OFFERED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await testbed.create(aReader(testbed))
        const { metadata } = await isRunning(testbed)
        await testbed.settle()
        const before = await contentsOf(guests)
        await referTo(testbed, guests, { subPath: '/part' })
        await isBound(guests)
        await guests.delete(DATASETS, 'demo')
        await isEmptied(guests, before)
        assert.deepEqual(await listedIn(testbed), [])
        assert.deepEqual([await phaseOf(testbed), (await isRunning(testbed)).metadata.uid], ['Bound', metadata.uid])
      },
    },
    {
      name: 'only its own pods hold a reference: those of the owner and of other references do not',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await referTo(testbed, guests, { name: 'other' })
        await isBound(guests, 'other')
        await testbed.create(aReader(testbed))
        await guests.create(aReader(guests))
        await guests.create(aReader(guests, { name: 'another', claims: ['other'] }))
        for (const [place, name] of [
          [testbed, 'reader'],
          [guests, 'reader'],
          [guests, 'another'],
        ] as const)
          await isRunning(place, name)
        await guests.delete(DATASETS, 'demo')
        await isHeldBecause(
          guests,
          `Failed to delete dataset because err: can not delete dataset because Pod reader in Namespace ${guests.namespace} is using it`,
        )
        await testbed.settle()
        assert.equal(await phaseOf(guests), 'Bound')
        await end(guests)
        await isGone(guests, DATASETS, 'demo')
        assert.deepEqual(await listedIn(testbed), [`${guests.namespace}/other`])
      },
    },
    {
      name: 'the owner’s namespace goes: its references fail and say why, pods that read keep their claims, and all of it can be deleted',
      isSample: true,
      async run(testbed) {
        const home = await aNamespace(testbed, 'home')
        await home.create(aGrant(testbed.namespace))
        await testbed.create(aClass(testbed))
        await home.create(aDataset(testbed))
        await home.create(aRuntime(testbed))
        await isBound(home)
        await referTo(home, testbed)
        await isBound(testbed)
        await testbed.create(aReader(testbed))
        await isRunning(testbed)
        await testbed.delete(NAMESPACES, home.namespace)
        await becomes(testbed, 'Failed')
        assert.equal(
          await messageOf(testbed, 'NotReady'),
          `namespace ${home.namespace}, which has Dataset ${home.namespace}/demo, is being deleted or gone: mount another dataset`,
        )
        await isGone(testbed, NAMESPACES, home.namespace)
        await testbed.settle()
        assert.equal(await phaseOf(testbed), 'Failed')
        await areRecorded(testbed, 'OriginalLost', [await messageOf(testbed, 'NotReady')])
        assert.equal((await there(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.deletionTimestamp, undefined)
        assert.equal((await isRunning(testbed)).status?.phase, 'Running')
        await end(testbed)
        await testbed.delete(DATASETS, 'demo')
        await isGone(testbed, DATASETS, 'demo')
        await isGone(testbed, PERSISTENT_VOLUMES, `${testbed.namespace}-demo`)
      },
    },
    {
      name: 'the namespace of references goes: what they held is free, and their volumes go with them',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await referTo(testbed, guests, { name: 'other' })
        await isBound(guests, 'other')
        await guests.create(aReader(guests, { claims: ['demo', 'other'] }))
        await isRunning(guests)
        await testbed.delete(DATASETS, 'demo')
        await isHeldBecause(testbed, heldBy(`${guests.namespace}/demo`, `${guests.namespace}/other`))
        await testbed.delete(NAMESPACES, guests.namespace)
        await isGone(testbed, NAMESPACES, guests.namespace)
        await isGone(testbed, DATASETS, 'demo')
        for (const name of ['demo', 'other']) await isGone(testbed, PERSISTENT_VOLUMES, `${guests.namespace}-${name}`)
      },
    },
    {
      name: 'in the wrong order and while the controllers are away: the same end',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await testbed.restart(async () => {
          await testbed.delete(DATASETS, 'demo')
          await guests.delete(THIN_RUNTIMES, 'demo')
          await guests.delete(DATASETS, 'demo')
        })
        await isEmptied(guests, (await contentsOf(guests)).filter(isOfNamespace))
        await isGone(testbed, DATASETS, 'demo')
      },
    },
    {
      name: 'a crash in the middle of both: the same end',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await guests.create(aReader(guests))
        await isRunning(guests)
        await testbed.delete(DATASETS, 'demo')
        await guests.delete(DATASETS, 'demo')
        testbed.member.crashControllers()
        await isHeldBecause(guests, /Pod reader in Namespace/)
        await guests.delete(PODS, 'reader')
        testbed.member.crashControllers()
        await isGone(testbed, DATASETS, 'demo')
        await isEmptied(guests, (await contentsOf(guests)).filter(isOfNamespace))
      },
    },
    {
      name: 'an original that is taken away by force: its references fail, their pods keep the claim, and the next of the name serves them',
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await guests.create(aReader(guests))
        const { metadata } = await isRunning(guests)
        await testbed.delete(DATASETS, 'demo')
        await testbed.patch(DATASETS, 'demo', { metadata: { finalizers: null } })
        await becomes(guests, 'Failed')
        assert.match(
          await messageOf(guests, 'NotReady'),
          /^Dataset \S+\/demo, to which this one refers, is gone: create it again, or mount another one$/,
        )
        await isGone(testbed, PERSISTENT_VOLUME_CLAIMS, 'demo')
        const claim = await there(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')
        assert.equal(claim.metadata.deletionTimestamp, undefined)
        await testbed.create(aDataset(testbed, { placement: 'Shared' }))
        await testbed.create(aRuntime(testbed))
        await isBound(testbed)
        await isBound(guests)
        assert.deepEqual(await conditionTexts(guests), ['Ready=True'])
        assert.equal((await isRunning(guests)).metadata.uid, metadata.uid)
        assert.equal((await there(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.uid, claim.metadata.uid)
        assert.deepEqual((await datasetOf(testbed)).status.datasetRef, [`${guests.namespace}/demo`])
      },
    },
  ],
}

/** What every namespace has. */
function isOfNamespace(one: string): boolean {
  return ['ConfigMap kube-root-ca.crt', 'Service kubernetes'].includes(one)
}
