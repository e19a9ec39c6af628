/** The commands of a cache: its sources are mounted by one, again when they change or its master is another; what is cached is told by the other. */
import assert from 'node:assert/strict'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { answering, FIGURES, ranIn } from '../commands.ts'
import {
  areRecorded,
  becomes,
  conditionTexts,
  datasetOf,
  isBound,
  isGone,
  messageOf,
  phaseOf,
  podsOf,
  uidsOf,
  waitsBecause,
} from '../expectations.ts'
import { aClass, aClassWithCommands, COMMANDS, className, componentOf, MOUNTS, serve } from '../manifests.ts'
import type { DataArea, DataTestbed, EmbeddedTestbed } from '../story.ts'
import { noteWritesOf } from '../written.ts'

const TWO = [...MOUNTS, { mountPoint: 's3://two', name: 'two' }]

const served = (testbed: DataTestbed): Promise<void> => serve(testbed, { runtimeClass: aClassWithCommands(testbed) })

const mount = (testbed: DataTestbed, mounts: readonly object[]): Promise<unknown> => testbed.patch(DATASETS, 'demo', { spec: { mounts } })

/** `Updating (Ready=True, Updating=True)`: what the dataset said, one line for each change. */
function noteSaid({ member: { store } }: EmbeddedTestbed): () => string[] {
  const written = noteWritesOf(store, DATASETS)
  return () => {
    const said = written().map(
      ({ status }) => `${status?.phase} (${status?.conditions.map(({ type, status: is }) => `${type}=${is}`).join(', ')})`,
    )
    return said.filter((line, i) => line !== said[i - 1])
  }
}

const aClaim: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'files' },
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
}

export const mounting: DataArea = {
  name: 'mounting',
  stories: [
    {
      name: 'a dataset is bound once its sources are mounted, and shows what the cache reports',
      async run(testbed) {
        answering(testbed.member)
        await served(testbed)
        const { status } = await isBound(testbed)
        const { ufsTotal, fileNum, ...cacheStates } = FIGURES
        assert.deepEqual([status.ufsTotal, status.fileNum, status.cacheStates], [ufsTotal, fileNum, cacheStates])
        assert.deepEqual(ranIn(testbed.member, 'mount'), ['demo-master-0'])
        assert.ok(ranIn(testbed.member, 'report').every((pod) => pod === 'demo-master-0'))
      },
    },
    {
      name: 'a mount that is added: Updating, then Bound with it, and Ready all the while',
      async run(testbed) {
        answering(testbed.member)
        await served(testbed)
        await isBound(testbed)
        answering(testbed.member, { mounted: ['/one', '/two'] })
        const said = noteSaid(testbed)
        await mount(testbed, TWO)
        await testbed.until('both mounted', async () => (await datasetOf(testbed)).status.mounts?.length === 2)
        const { status } = await isBound(testbed)
        assert.deepEqual(said(), ['Bound (Ready=True)', 'Updating (Ready=True, Updating=True)', 'Bound (Ready=True)'])
        assert.deepEqual([status.mounts, await messageOf(testbed, 'Ready')], [TWO, 'The ddc runtime has updated completely.'])
        assert.equal(ranIn(testbed.member, 'mount').length, 2)
      },
    },
    ...(
      [
        ['a directory', { mountPoint: 'local:///two', name: 'two' }],
        ['a claim', { mountPoint: 'pvc://files', name: 'two' }],
        [
          'a Secret',
          {
            mountPoint: 's3://two',
            name: 'two',
            encryptOptions: [{ name: 'aws.secretKey', valueFrom: { secretKeyRef: { name: 'keys', key: 'secret' } } }],
          },
        ],
      ] as const
    ).map(([what, added]) => ({
      name: `a mount with ${what} is added: Updating while the pods are replaced for it, never Failed, and mounted in the new ones only`,
      async run(testbed: EmbeddedTestbed) {
        answering(testbed.member)
        await testbed.create(aClaim)
        await testbed.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { secret: 'x' } } as KubeObject)
        const annotations = { 'sluice.dev/native-mounts': 'true' }
        await serve(testbed, { runtimeClass: { ...aClassWithCommands(testbed), metadata: { name: className(testbed), annotations } } })
        await isBound(testbed)
        answering(testbed.member, { mounted: ['/one', '/two'] })
        const [said, before] = [noteSaid(testbed), await uidsOf(testbed, 'demo-worker')]
        await mount(testbed, [...MOUNTS, added])
        await testbed.until('both mounted', async () => (await datasetOf(testbed)).status.mounts?.length === 2)
        await isBound(testbed)
        assert.notDeepEqual(await uidsOf(testbed, 'demo-worker'), before)
        assert.deepEqual(said(), ['Bound (Ready=True)', 'Updating (Ready=True, Updating=True)', 'Bound (Ready=True)'])
        assert.equal(ranIn(testbed.member, 'mount').length, 2)
        answering(testbed.member)
        await mount(testbed, MOUNTS)
        await testbed.until('one mounted', async () => (await datasetOf(testbed)).status.mounts?.length === 1)
        await isBound(testbed)
        assert.ok(!said().some((line) => line.startsWith('Failed')), said().join('\n'))
      },
    })),
    {
      name: 'a mount that is removed: Updating, then Bound without it',
      async run(testbed) {
        answering(testbed.member, { mounted: ['/one', '/two'] })
        await serve(testbed, { runtimeClass: aClassWithCommands(testbed), dataset: { mounts: TWO } })
        await isBound(testbed)
        answering(testbed.member)
        const said = noteSaid(testbed)
        await mount(testbed, MOUNTS)
        await testbed.until('one mounted', async () => (await datasetOf(testbed)).status.mounts?.length === 1)
        await isBound(testbed)
        assert.deepEqual(said(), ['Bound (Ready=True)', 'Updating (Ready=True, Updating=True)', 'Bound (Ready=True)'])
      },
    },
    {
      name: 'an option that changes is mounted again: Updating, then Bound with it',
      async run(testbed) {
        answering(testbed.member)
        await served(testbed)
        await isBound(testbed)
        const said = noteSaid(testbed)
        const changed = [{ ...MOUNTS[0], options: { 'aws.region': 'eu-1' } }]
        await mount(testbed, changed)
        await testbed.until('in the status', async () => (await datasetOf(testbed)).status.mounts?.[0]?.options !== undefined)
        const { status } = await isBound(testbed)
        assert.deepEqual(said(), ['Bound (Ready=True)', 'Updating (Ready=True, Updating=True)', 'Bound (Ready=True)'])
        assert.deepEqual([status.mounts, ranIn(testbed.member, 'mount').length], [changed, 2])
      },
    },
    {
      name: 'a mount point that the command does not report is named, said once as an event, and tried again',
      async run(testbed) {
        answering(testbed.member, { mounted: [] })
        await served(testbed)
        await waitsBecause(testbed, /^the sources cannot be mounted: mount point \/one is not yet mounted$/)
        await testbed.pass(300)
        await areRecorded(testbed, 'RuntimeMountUfsFailed', ['Failed to execute mount ufs command'])
        assert.ok(ranIn(testbed.member, 'mount').length > 2)
        answering(testbed.member)
        await isBound(testbed)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True'])
        testbed.member.complaints.length = 0
      },
    },
    {
      name: 'paths that remain mounted are named; the dataset is Updating until they are gone',
      async run(testbed) {
        answering(testbed.member, { mounted: ['/one', '/two'] })
        await serve(testbed, { runtimeClass: aClassWithCommands(testbed), dataset: { mounts: TWO } })
        await isBound(testbed)
        await mount(testbed, MOUNTS)
        await testbed.until('it says so', async () => /unexpected mounted paths remain: \/two$/.test(await messageOf(testbed, 'Updating')))
        assert.equal(await phaseOf(testbed), 'Updating')
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True', 'Updating=True'])
        answering(testbed.member)
        await isBound(testbed)
        testbed.member.complaints.length = 0
      },
    },
    {
      name: 'a change back to what was mounted, while it is tried in vain: Bound again',
      async run(testbed) {
        answering(testbed.member)
        await served(testbed)
        await isBound(testbed)
        await mount(testbed, TWO)
        await testbed.until('it fails', async () => /mount point \/two is not yet mounted/.test(await messageOf(testbed, 'Updating')))
        await mount(testbed, MOUNTS)
        await isBound(testbed)
        assert.deepEqual((await datasetOf(testbed)).status.mounts, MOUNTS)
        testbed.member.complaints.length = 0
      },
    },
    {
      name: 'a master that is another pod mounts again, and nobody notices',
      async run(testbed) {
        answering(testbed.member)
        await served(testbed)
        await isBound(testbed)
        const said = noteSaid(testbed)
        await testbed.delete(PODS, 'demo-master-0')
        await testbed.until('mounted again', async () => ranIn(testbed.member, 'mount').length === 2)
        await isBound(testbed)
        assert.ok(said().every((line) => !line.startsWith('NotBound')))
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True'])
      },
    },
    {
      name: 'a master that cannot mount again: Failed with the reason, and back',
      async run(testbed) {
        answering(testbed.member)
        await served(testbed)
        await isBound(testbed)
        answering(testbed.member, { mounted: { exitCode: 3, stderr: 'no route to one' } })
        await testbed.delete(PODS, 'demo-master-0')
        await becomes(testbed, 'Failed')
        await testbed.until('it says why', async () =>
          /cannot be mounted: exit code 3: no route to one$/.test(await messageOf(testbed, 'NotReady')),
        )
        assert.deepEqual(await conditionTexts(testbed), ['Ready=False', 'NotReady=True'])
        answering(testbed.member)
        await isBound(testbed)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True'])
        testbed.member.complaints.length = 0
      },
    },
    {
      name: 'a set of workers that somebody deletes: Failed while it is missing, made again, Bound',
      async run(testbed) {
        answering(testbed.member)
        await served(testbed)
        await isBound(testbed)
        const said = noteSaid(testbed)
        await testbed.delete(ADVANCED_STATEFUL_SETS, 'demo-worker')
        await testbed.settle()
        await isBound(testbed)
        assert.equal((await podsOf(testbed, 'demo-worker')).length, 1)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True'])
        assert.ok(said().every((line) => /^(Bound|Failed) /.test(line)))
      },
    },
    {
      name: 'workers that find no node any more: Failed with the reason, and back when they do',
      async run(testbed) {
        answering(testbed.member)
        await served(testbed)
        await isBound(testbed)
        await testbed.patch(CACHE_RUNTIMES, 'demo', { spec: { worker: { nodeSelector: { disk: 'none' } } } })
        await becomes(testbed, 'Failed')
        await testbed.until('it says why', async () => /^worker demo-worker-0 finds no node: /.test(await messageOf(testbed, 'NotReady')))
        await testbed.patch(CACHE_RUNTIMES, 'demo', { spec: { worker: { nodeSelector: null } } })

        await isBound(testbed)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True'])
      },
    },
    {
      name: 'a cache that stops to report: what is shown is old, and the dataset says so until it reports again',
      async run(testbed) {
        answering(testbed.member)
        await served(testbed)
        await isBound(testbed)
        answering(testbed.member, { report: { exitCode: 1, stderr: 'out of memory' } })
        await testbed.pass(300)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True', 'Reported=False'])
        assert.match(await messageOf(testbed, 'Reported'), /what is shown is old: exit code 1: out of memory$/)
        assert.equal((await datasetOf(testbed)).status.ufsTotal, FIGURES.ufsTotal)
        answering(testbed.member)
        await testbed.pass(300)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True'])
      },
    },
    {
      name: 'a cache without a master is asked in its first worker, and mounts nothing',
      async run(testbed) {
        answering(testbed.member)
        const runtimeClass = aClass(testbed, { topology: { worker: componentOf('worker', COMMANDS), client: componentOf('client') } })
        await serve(testbed, { runtimeClass })
        const { status } = await isBound(testbed)
        assert.equal(status.ufsTotal, FIGURES.ufsTotal)
        assert.equal(status.runtimes?.[0]?.masterReplicas, 0)
        assert.deepEqual([ranIn(testbed.member, 'mount'), new Set(ranIn(testbed.member, 'report'))], [[], new Set(['demo-worker-0'])])
      },
    },
    {
      name: 'mounts that pods mount themselves are no concern of the command',
      async run(testbed) {
        answering(testbed.member)
        const mounts = [...MOUNTS, { mountPoint: 'local:///srv/data', name: 'dir' }, { mountPoint: 'pvc://mine', name: 'claim' }]
        await serve(testbed, { runtimeClass: aClassWithCommands(testbed), dataset: { mounts } })
        await isBound(testbed)
        assert.equal(ranIn(testbed.member, 'mount').length, 1)
      },
    },
    {
      name: 'a class that gets commands: sources are mounted, and figures come',
      async run(testbed) {
        await serve(testbed)
        assert.equal((await isBound(testbed)).status.ufsTotal, 'N/A')
        answering(testbed.member)
        await testbed.patch(CACHE_RUNTIME_CLASSES, className(testbed), { topology: { master: COMMANDS } })
        await testbed.until('figures', async () => (await datasetOf(testbed)).status.ufsTotal === FIGURES.ufsTotal)
        assert.equal(ranIn(testbed.member, 'mount').length, 1)
      },
    },
    {
      name: 'simulated workers: bound, says Simulated, shows N/A, and no command is run',
      async run(testbed) {
        const { topology } = aClassWithCommands(testbed)
        const plain = (name: string) => ({ template: { spec: { containers: [{ name, image: `example.com/${name}:1` }] } } })
        const runtimeClass = aClass(testbed, {
          topology: { ...topology, master: { ...COMMANDS, ...plain('master') }, worker: plain('worker') },
        })
        await serve(testbed, { runtimeClass })
        const { status } = await isBound(testbed)
        assert.deepEqual(await conditionTexts(testbed), ['Ready=True', 'Simulated=True'])
        assert.match(await messageOf(testbed, 'Simulated'), /^its pods run nothing, so no byte is cached: /)
        assert.deepEqual([status.ufsTotal, status.fileNum, status.cacheStates?.cached], ['N/A', 'N/A', 'N/A'])
        assert.deepEqual(testbed.member.commands.calls, [])
      },
    },
    {
      name: 'a runtime that goes in the middle of mounting leaves nothing running',
      async run(testbed) {
        answering(testbed.member, { mounted: [] })
        await served(testbed)
        await waitsBecause(testbed, /is not yet mounted$/)
        await testbed.delete(CACHE_RUNTIMES, 'demo')
        await isGone(testbed, CACHE_RUNTIMES, 'demo')
        await waitsBecause(testbed, /^no runtime is named demo/)
        await testbed.settle()
        const before = testbed.member.commands.calls.length
        await testbed.pass(600)
        assert.equal(testbed.member.commands.calls.length, before)
        testbed.member.complaints.length = 0
      },
    },
  ],
}
