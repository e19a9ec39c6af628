/** Whoever owns a dataset decides who reads it elsewhere, and may change their mind; who asks learns nothing without consent. */
import assert from 'node:assert/strict'
import { DATASETS, THIN_RUNTIMES } from '../../../src/kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../../src/kinds/gateway/reference-grant.ts'
import { CONFIG_MAPS, DAEMON_SETS, EVENTS, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import {
  areRecorded,
  becomes,
  conditionTexts,
  datasetOf,
  eventsOf,
  isBound,
  isGone,
  messageOf,
  phaseOf,
  there,
  waitsBecause,
} from '../expectations.ts'
import { another, aReader } from '../manifests.ts'
import { aGrant, aNamespace, copyName, end, guestsOf, isRunning, listedIn, OFFERED, referTo, SHARED, withdraw } from '../sharing.ts'
import type { DataArea, DataTestbed } from '../story.ts'

/** Without a grant nothing is permitted, as on Kubernetes. */
const ASKED = { referenceConsent: 'grant' } as const

const WITHHELD = /^Dataset \S+ does not exist, or may not be used from namespace \S+: ask whoever owns namespace \S+ for the dataset/

const isWithheld = (guests: DataTestbed, name?: string): Promise<void> => waitsBecause(guests, WITHHELD, name)

const isWithdrawn = async (guests: DataTestbed): Promise<void> => {
  await testbedSays(guests, /may not use Dataset \S+ any more: pods that run keep their files, new ones are not given any/)
  assert.equal(await phaseOf(guests), 'NotBound')
}
const testbedSays = (guests: DataTestbed, why: RegExp): Promise<void> =>
  guests.until(`it says ${why}`, async () => why.test(await messageOf(guests, 'ConsentWithdrawn')))

const accessOf = async (testbed: DataTestbed): Promise<string | undefined> =>
  (await testbed.get(CONFIG_MAPS, 'demo-cache-access'))?.data?.['namespaces.json']

const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'accepted'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Everything in a namespace about a dataset of this name, as text in which nothing else tells it from one of another name. */
async function saidOf(guests: DataTestbed, name: string): Promise<string> {
  const [dataset, runtime] = [await datasetOf(guests, name), await there(guests, THIN_RUNTIMES, name)]
  const events = ((await guests.list(EVENTS)) as (KubeObject & { involvedObject?: { name?: string } })[]).filter(
    ({ involvedObject }) => involvedObject?.name === name,
  )
  const all = [
    dataset.spec,
    dataset.status,
    runtime.spec,
    runtime.status,
    events.map(({ type, reason, message }) => [type, reason, message]),
  ]
  return JSON.stringify(all)
    .replaceAll(name, 'NAME')
    .replaceAll(/"last\w+Time":"[^"]*"/g, '')
}

export const consent: DataArea = {
  name: 'consent',
  stories: [
    {
      name: 'a reference says whom to ask, and the grant is all that it waits for',
      isSample: true,
      shape: 'kubernetes',
      begin: OFFERED,
      async run(testbed) {
        const strangers = await aNamespace(testbed, 'strangers')
        await referTo(testbed, strangers)
        await isWithheld(strangers)
        const { namespace } = testbed
        assert.equal(
          await messageOf(strangers, 'NotReady'),
          `Dataset ${namespace}/demo does not exist, or may not be used from namespace ${strangers.namespace}: ask whoever owns namespace ${namespace} for the dataset, and for a ReferenceGrant there from kind Dataset of namespace ${strangers.namespace} to kind Dataset`,
        )
        assert.deepEqual(await listedIn(testbed), [])
        await testbed.create(aGrant(strangers.namespace))
        await isBound(strangers)
        await strangers.create(aReader(strangers))
        await isRunning(strangers)
      },
    },
    {
      name: 'without consent everything that is said is the same, whether there is such a dataset or not, and whatever becomes of it',
      begin: OFFERED,
      async run(testbed) {
        const strangers = await aNamespace(testbed, 'strangers')
        const compare = async (when: string): Promise<void> => {
          await testbed.settle()
          const [one, other] = [await saidOf(strangers, 'demo'), await saidOf(strangers, 'none')]
          assert.match(one, /ask whoever owns namespace/)
          assert.equal(one, other, when)
        }
        for (const to of ['demo', 'none']) await referTo(testbed, strangers, { name: to, to })
        await compare('when both are new')
        await referTo(testbed, testbed, { name: 'mine', to: 'demo' })
        await testbed.patch(DATASETS, 'demo', { spec: { mounts: [{ mountPoint: 's3://two', name: 'two' }] } })
        await compare('when the one changes')
        const late = (to: string): Promise<string> => refusalOf(referTo(testbed, strangers, { name: `late-${to}`, to }))
        await testbed.delete(DATASETS, 'demo')
        assert.deepEqual([await late('demo'), await late('mine'), await late('none')], ['accepted', 'accepted', 'accepted'])
        await compare('when the one is being deleted')
        await testbed.delete(DATASETS, 'mine')
        await isGone(testbed, DATASETS, 'demo')
        await compare('when it is gone')
      },
    },
    {
      name: 'withdrawn: a pod that reads keeps its claim, no new one gets it, both datasets say so; given again, all is as before',
      isSample: true,
      begin: SHARED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        // Whoever else has consent keeps the owner’s decision stated.
        await testbed.create(aGrant(testbed.unique('nobody')))
        await guests.create(aReader(guests))
        await isRunning(guests)
        await withdraw(testbed, guests.namespace)
        await isWithdrawn(guests)
        await areRecorded(guests, 'ConsentWithdrawn', [await messageOf(guests, 'ConsentWithdrawn')])
        await testbed.until('the owner sees it', async () =>
          /^consent was withdrawn from /.test(await messageOf(testbed, 'ConsentWithdrawn')),
        )
        assert.match(await messageOf(testbed, 'ConsentWithdrawn'), new RegExp(`from ${guests.namespace}/demo: pods that run there keep`))
        assert.deepEqual(await listedIn(testbed), [])
        await testbed.until(
          'the claim goes',
          async () => (await there(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.deletionTimestamp !== undefined,
        )
        assert.equal((await isRunning(guests)).metadata.deletionTimestamp, undefined)
        await assert.rejects(guests.create(aReader(guests, { name: 'late' })), /may not use Dataset \S+ any more/)
        await testbed.create(aGrant(guests.namespace))
        await becomes(guests, 'Bound')
        await end(guests)
        await isBound(guests)
        await guests.create(aReader(guests, { name: 'late' }))
        await isRunning(guests, 'late')
        assert.equal(await messageOf(testbed, 'ConsentWithdrawn'), '')
      },
    },
    {
      name: 'withdrawn for pods that take the plain way, too: they find no node while the claim goes',
      begin: SHARED,
      options: ASKED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await guests.create(aReader(guests))
        await isRunning(guests)
        await withdraw(testbed, guests.namespace)
        await isWithdrawn(guests)
        await testbed.settle()
        const plain = aReader(guests, { name: 'plain' })
        await guests.create({ ...plain, metadata: { name: 'plain' } })
        await testbed.settle()
        const pods = await guests.list(PODS)
        assert.deepEqual(
          pods.filter(({ spec }) => spec?.nodeName !== undefined).map(({ metadata }) => metadata.name),
          ['reader'],
        )
        await end(guests)
        await isGone(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')
        await testbed.create(aGrant(guests.namespace))
        await isBound(guests)
        await isRunning(guests, 'plain')
      },
    },
    {
      name: 'grants for another dataset, another namespace or another kind are none, and one for this dataset is enough',
      begin: OFFERED,
      options: ASKED,
      async run(testbed) {
        const strangers = await aNamespace(testbed, 'strangers')
        await referTo(testbed, strangers)
        const { namespace } = strangers
        const near = (name: string, change: (grant: KubeObject & { spec: GrantSpec }) => void): KubeObject => {
          const grant = structuredClone(aGrant(namespace, 'demo')) as KubeObject & { spec: GrantSpec }
          grant.metadata = { name }
          change(grant)
          return grant
        }
        const NEARLY: [string, (grant: KubeObject & { spec: GrantSpec }) => void][] = [
          ['another-name', ({ spec }) => (spec.to = [{ group: 'data.fluid.io', kind: 'Dataset', name: 'other' }])],
          ['another-kind', ({ spec }) => (spec.to = [{ group: '', kind: 'Secret' }])],
          ['another-group', ({ spec }) => (spec.from = [{ group: 'example.com', kind: 'Dataset', namespace }])],
          ['another-namespace', ({ spec }) => (spec.from = [{ group: 'data.fluid.io', kind: 'Dataset', namespace: testbed.namespace }])],
        ]
        for (const [name, change] of NEARLY) await testbed.create(near(name, change))
        await strangers.create(near('of-their-own', () => undefined))
        await testbed.settle()
        await isWithheld(strangers)
        await testbed.create(near('exactly', () => undefined))
        await isBound(strangers)
        await referTo(testbed, strangers, { name: 'other', to: 'mine' })
        await isWithheld(strangers, 'other')
      },
    },
    {
      name: 'where nobody stated anything, it is open: the first grant closes it for others, and the last to go opens it again',
      begin: SHARED,
      async run(testbed) {
        const [guests, others] = [guestsOf(testbed), await aNamespace(testbed, 'others')]
        await referTo(testbed, others)
        await isWithheld(others)
        await withdraw(testbed, guests.namespace)
        await isBound(others)
        assert.equal(await phaseOf(guests), 'Bound')
        await testbed.create(aGrant(others.namespace))
        await isWithdrawn(guests)
        assert.equal(await phaseOf(others), 'Bound')
        await withdraw(testbed, others.namespace)
        await isBound(guests)
        assert.deepEqual(await listedIn(testbed), [`${guests.namespace}/demo`, `${others.namespace}/demo`])
      },
    },
    {
      name: 'withdrawn while the controllers are away: they come back to the same end',
      begin: SHARED,
      options: ASKED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await testbed.restart(() => withdraw(testbed, guests.namespace))
        await isWithdrawn(guests)
        assert.equal(await guests.get(PERSISTENT_VOLUME_CLAIMS, 'demo'), undefined)
        assert.equal((await eventsOf(guests, 'ConsentWithdrawn')).length, 1)
        await testbed.restart(() => testbed.create(aGrant(guests.namespace)).then(() => undefined))
        await isBound(guests)
      },
    },
    {
      name: 'withdrawn from one of two: the other reads on, and what the cache is told follows at once',
      begin: SHARED,
      options: ASKED,
      async run(testbed) {
        const [guests, others] = [guestsOf(testbed), await aNamespace(testbed, 'others')]
        await testbed.create(aGrant(others.namespace))
        await referTo(testbed, others, { subPath: '/part' })
        await isBound(others)
        const [one, other] = [
          { namespace: guests.namespace, subPath: '/' },
          { namespace: others.namespace, subPath: '/part' },
        ]
        assert.equal(await accessOf(testbed), JSON.stringify([one, other]))
        const { metadata } = await there(others, PERSISTENT_VOLUME_CLAIMS, 'demo')
        await withdraw(testbed, guests.namespace)
        await isWithdrawn(guests)
        await testbed.settle()
        assert.equal(await accessOf(testbed), JSON.stringify([other]))
        assert.equal((await there(others, PERSISTENT_VOLUME_CLAIMS, 'demo')).metadata.uid, metadata.uid)
        assert.deepEqual([await guests.list(DAEMON_SETS), (await others.list(DAEMON_SETS)).length], [[], 1])
        await withdraw(testbed, others.namespace)
        await testbed.until('nobody may read', async () => (await accessOf(testbed)) === undefined)
      },
    },
    {
      name: 'within a namespace nobody is asked',
      begin: OFFERED,
      options: ASKED,
      async run(testbed) {
        for (const { metadata } of await testbed.list(ReferenceGrant.resource))
          await testbed.delete(ReferenceGrant.resource, metadata.name ?? '')
        await referTo(testbed, testbed, { name: 'part', subPath: '/part' })
        await isBound(testbed, 'part')
        await testbed.create(aReader(testbed, { claims: ['part', 'demo'] }))
        await isRunning(testbed)
        assert.deepEqual(await conditionTexts(testbed, 'part'), ['Ready=True'])
      },
    },
    {
      name: 'a reference without consent holds nothing: its original goes as if there were none',
      begin: OFFERED,
      options: ASKED,
      async run(testbed) {
        const strangers = await aNamespace(testbed, 'strangers')
        await referTo(testbed, strangers)
        await isWithheld(strangers)
        await testbed.delete(DATASETS, 'demo')
        await isGone(testbed, DATASETS, 'demo')
        assert.deepEqual(await eventsOf(testbed, 'ErrorDeleteDataset'), [])
        await isWithheld(strangers)
      },
    },
    {
      name: 'a reference that lost consent holds nothing either, although its pods run on; the owner’s report goes with it',
      begin: SHARED,
      options: ASKED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        await another(testbed, 'other', { dataset: { placement: 'Shared' } })
        await referTo(testbed, guests, { name: 'other', to: 'other' })
        for (const name of ['demo', 'other']) await isBound(guests, name)
        await guests.create(aReader(guests))
        await isRunning(guests)
        await withdraw(testbed, guests.namespace)
        await isWithdrawn(guests)
        await testbed.delete(DATASETS, 'demo')
        await isGone(testbed, DATASETS, 'demo')
        await isRunning(guests)
        await testbed.until('the owner sees it', async () => (await messageOf(testbed, 'ConsentWithdrawn', 'other')) !== '')
        await guests.delete(DATASETS, 'other')
        await testbed.until('nothing to report', async () => (await messageOf(testbed, 'ConsentWithdrawn', 'other')) === '')
        await end(guests)
        await guests.delete(DATASETS, 'demo')
        await isGone(guests, PERSISTENT_VOLUME_CLAIMS, 'demo')
      },
    },
    {
      name: 'a copy is taken back with the consent, and comes with it: a pod with a sidecar is refused in between',
      begin: SHARED,
      options: ASKED,
      async run(testbed) {
        const guests = guestsOf(testbed)
        const injected = (name: string) => aReader(guests, { name, labels: { 'serverless.fluid.io/inject': 'true' } })
        await guests.create(injected('before'))
        await withdraw(testbed, guests.namespace)
        await isGone(guests, DAEMON_SETS, copyName(testbed, 'demo-client'))
        await assert.rejects(guests.create(injected('between')), /dataset "\S+\/demo" not bound|failed to get the following PVCs/)
        await testbed.create(aGrant(guests.namespace))
        await isBound(guests)
        await guests.create(injected('after'))
        await isRunning(guests, 'after')
      },
    },
  ],
}

interface GrantSpec {
  from: { group: string; kind: string; namespace: string }[]
  to: { group: string; kind: string; name?: string }[]
}
