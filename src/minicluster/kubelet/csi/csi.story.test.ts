import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aProcessPod, machineOf, processNodes } from '../../../faultsim/builders/process-nodes.ts'
import { expectGone } from '../../../faultsim/expect/index.ts'
import { containerOf, eventsOf, podOf } from '../../../faultsim/expect/pods.ts'
import { story } from '../../../faultsim/story.ts'
import type { World } from '../../../faultsim/world/index.ts'
import { CSI_DRIVERS, CSI_NODES, LEASES, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import { MODULES } from '../../../modules.ts'
import { createToyVolume, deleteToyVolume, mounting, TOY, topOf, toyModule } from './testing.ts'

const NODE = 'member1-process-1'
const WAITING =
  'WaitingForVolumes: the pod starts when its volumes are ready; how far they are: sluice why pod/p -n default, with the --context of this cluster'

/** A world with process nodes and the driver; `calls` are its calls, over all restarts. */
function withDriver(report: (w: World, calls: string[]) => Promise<void>): [(w: World) => Promise<void>, object] {
  const calls: string[] = []
  const options = {
    members: 1,
    hub: false,
    nodes: 1,
    modules: [...MODULES, toyModule(calls)],
    controllers: processNodes({ serve: {}, work: { runMs: 2000 } }, { nodes: 2 }),
  }
  const played = async (w: World): Promise<void> => {
    await report(w, calls)
    await renewed(w)
  }
  return [played, options]
}

/** Until the leases of the nodes have just been renewed: what follows must write nothing, and takes less time than a lease has. */
async function renewed(w: World): Promise<void> {
  const lease = await w.member.get(LEASES, `kube-node-lease/${NODE}`)
  const { renewTime = '' } = (lease?.spec ?? {}) as { renewTime?: string }
  await w.advance(Math.max(0, Date.parse(renewTime) + 10_001 - w.clock.now()))
}

const createPod = (w: World, name: string, { nodeName = NODE, program = 'serve', claims = ['data'], more = {} } = {}) => {
  const { spec, container } = mounting(...claims)
  return w.member.create(aProcessPod(`default/${name}`, program, { ...spec, nodeName, ...more }, container))
}
const filesOf = (w: World, node = NODE): string[] =>
  [...machineOf(w.member).files.keys()]
    .filter((path) => path.startsWith(`/data/nodes/${node}/`))
    .map((path) => path.slice(`/data/nodes/${node}`.length))
const waitingOf = async (w: World, name = 'p') => (await containerOf(w, 'main', `default/${name}`)).state?.waiting
const labelsOf = async (w: World, node = NODE): Promise<string[]> =>
  Object.keys((await w.member.get(NODES, node))?.metadata.labels ?? {}).filter((key) => key.startsWith('toy.'))
const mountsOf = (w: World) =>
  machineOf(w.member).specs.map(({ pod, mounts }) => [pod, mounts[0]?.source.replace('/data/nodes/', ''), mounts[0]?.readOnly])

describe('volumes of a CSI driver', () => {
  story(
    'are staged once per node, published once per pod, and taken back when the last pod is gone',
    ...withDriver(async (w, calls) => {
      await createToyVolume(w.member, 'data')
      await createPod(w, 'p')
      await createPod(w, 'q')
      await createPod(w, 'r', { nodeName: 'member1-process-2' })
      await w.settle()
      assert.deepEqual(mountsOf(w).sort(), [
        ['p', 'member1-process-1/runtime-mnt/toy/data/generations/1', false],
        ['q', 'member1-process-1/runtime-mnt/toy/data/generations/1', false],
        ['r', 'member1-process-2/runtime-mnt/toy/data/generations/1', false],
      ])
      assert.deepEqual([...calls].sort(), ['publish data for p', 'publish data for q', 'publish data for r', 'stage data', 'stage data'])
      calls.length = 0
      await w.member.delete(PODS, 'default/p')
      await w.settle()
      assert.deepEqual(calls, ['unpublish data for p'])
      await w.member.delete(PODS, 'default/q')
      await w.settle()
      assert.deepEqual(calls, ['unpublish data for p', 'unpublish data for q', 'unstage data'])
      assert.deepEqual(filesOf(w), [])
      await createPod(w, 'p')
      await w.settle()
      assert.deepEqual(calls.slice(3), ['stage data', 'publish data for p'])
    }),
  )

  story(
    'say how far they are, and no more often than every few seconds',
    ...withDriver(async (w) => {
      await createToyVolume(w.member, 'data', { attributes: { seconds: '60' } })
      await createPod(w, 'p')
      await w.advance(500)
      assert.deepEqual(await waitingOf(w), { reason: 'ContainerCreating', message: 'waiting for volume "data": 0 of 60 GiB' })
      const before = w.member.store.revision
      await w.advance(20_000)
      assert.match((await waitingOf(w))?.message ?? '', /^waiting for volume "data": (19|20) of 60 GiB$/)
      const leases = 2 * 2
      assert.ok(w.member.store.revision - before <= 4 + leases, `${w.member.store.revision - before} writes`)
      assert.deepEqual(await eventsOf(w), [WAITING])
      await w.advance(60_000)
      assert.equal((await podOf(w)).status?.phase, 'Running')
      assert.deepEqual(
        (await eventsOf(w)).filter((event) => event.startsWith('FailedMount')),
        [],
      )
    }),
  )

  story(
    'that take very long are worth an event, once',
    ...withDriver(async (w, calls) => {
      await createToyVolume(w.member, 'data', { attributes: { seconds: '300' } })
      await createPod(w, 'p')
      await w.advance(122_000)
      assert.deepEqual(await eventsOf(w), [WAITING])
      await w.advance(100_000)
      const [event, ...others] = (await eventsOf(w)).filter((one) => one !== WAITING)
      assert.match(
        event ?? '',
        /^FailedMount: Unable to attach or mount volumes: unmounted volumes=\[data\].*; waiting for volume "data": 1\d\d of 300 GiB$/,
      )
      assert.deepEqual(others, [])
      await w.advance(100_000)
      assert.equal((await podOf(w)).status?.phase, 'Running')
      // One driver call went on over many effects.
      assert.deepEqual(calls, ['stage data', 'publish data for p'])
    }),
  )

  story(
    'survive a restart: what is staged or published is not done again, and what was half done goes on',
    ...withDriver(async (w, calls) => {
      await createToyVolume(w.member, 'data', { attributes: { seconds: '20' } })
      await createPod(w, 'p')
      await w.advance(10_500)
      w.member.killControllers()
      await w.inside(() => w.member.startControllers())
      await w.advance(11_000)
      assert.equal((await podOf(w)).status?.phase, 'Running')
      assert.deepEqual(calls, ['stage data', 'stage data', 'publish data for p'])
      await w.settle()
      w.member.killControllers()
      await w.inside(() => w.member.startControllers())
      await w.settle()
      await createPod(w, 'q')
      await w.settle()
      assert.deepEqual(calls.slice(3), ['publish data for q'])
      w.member.killControllers()
      await w.member.delete(PODS, 'default/p', { gracePeriodSeconds: 0 })
      await w.inside(() => w.member.startControllers())
      await w.settle()
      assert.deepEqual(calls.slice(4), ['unpublish data for p'])
      assert.equal((await podOf(w, 'default/q')).status?.phase, 'Running')
    }),
  )

  story(
    'stop being staged when the pod is deleted meanwhile, and leave nothing',
    ...withDriver(async (w, calls) => {
      await createToyVolume(w.member, 'data', { attributes: { seconds: '600' } })
      await createPod(w, 'p')
      await w.advance(5000)
      await w.member.delete(PODS, 'default/p')
      await w.settle()
      await expectGone(w.member, PODS, 'default/p')
      assert.deepEqual(calls, ['stage data', 'unstage data'])
      assert.deepEqual(filesOf(w), [])
      assert.deepEqual(await labelsOf(w), [])
    }),
  )

  story(
    'are tried again when a driver fails, and the pod says why',
    ...withDriver(async (w, calls) => {
      await createToyVolume(w.member, 'data', { attributes: { failures: '6' } })
      await createPod(w, 'p')
      await w.advance(1000)
      const message = 'MountVolume.MountDevice failed for volume "data" : the source said no'
      assert.ok((await waitingOf(w))?.message?.startsWith(message), (await waitingOf(w))?.message)
      await w.settle()
      assert.equal((await podOf(w)).status?.phase, 'Running')
      assert.equal(calls.filter((call) => call === 'stage data').length, 7)
      assert.ok((await eventsOf(w)).some((event) => event.startsWith(`FailedMount: ${message}`)))
      assert.ok(
        w.member.complaints.every((complaint) => complaint.includes('the source said no')),
        w.member.complaints.join('\n'),
      )
      w.member.complaints.length = 0
    }),
  )

  story(
    'are read-only where the access modes, the pod or the driver say so',
    ...withDriver(async (w) => {
      await createToyVolume(w.member, 'data', { accessModes: ['ReadOnlyMany'] })
      await createToyVolume(w.member, 'both', { accessModes: ['ReadOnlyMany', 'ReadWriteMany'] })
      await createToyVolume(w.member, 'fixed', { attributes: { writable: 'no' } })
      await createPod(w, 'p', { claims: ['data'] })
      await createPod(w, 'q', { claims: ['both'] })
      await createPod(w, 'r', { claims: ['fixed'] })
      const volumes = [{ name: 'both', persistentVolumeClaim: { claimName: 'both', readOnly: true } }]
      await createPod(w, 's', { claims: ['both'], more: { volumes } })
      await w.settle()
      assert.deepEqual(Object.fromEntries(mountsOf(w).map(([pod, , readOnly]) => [pod, readOnly])), { p: true, q: false, r: true, s: true })
    }),
  )

  story(
    'stay as they are for pods that run; new pods get the new generation, and ended ones give theirs back',
    ...withDriver(async (w, calls) => {
      await createToyVolume(w.member, 'data')
      await createPod(w, 'p')
      await w.settle()
      machineOf(w.member).files.set(`/data/nodes/${NODE}${topOf('data')}/generation`, '2')
      await createPod(w, 'q', { program: 'work', more: { restartPolicy: 'Never' } })
      await w.settle()
      await w.restartControllers()
      await w.settle()
      assert.deepEqual(
        mountsOf(w).map(([pod, source]) => [pod, String(source).slice(-1)]),
        [
          ['p', '1'],
          ['q', '2'],
        ],
      )
      assert.equal((await podOf(w, 'default/q')).status?.phase, 'Succeeded')
      assert.deepEqual(calls.slice(-1), ['unpublish data for q'])
    }),
  )

  story(
    'that a pod writes into its own spec are refused, with what to do',
    ...withDriver(async (w) => {
      const volumes = [{ name: 'data', csi: { driver: TOY } }]
      await createPod(w, 'p', { more: { volumes } })
      await w.settle()
      assert.match(
        (await waitingOf(w))?.message ?? '',
        /inline volumes of driver toy\.csi\.example\.com are refused.*persistentVolumeClaim/,
      )
      await w.member.delete(PODS, 'default/p')
    }),
  )
})

describe('what a CSI driver shows', () => {
  story(
    'are a CSIDriver, a CSINode per node of either kind, and the labels of volumes in use',
    ...withDriver(async (w) => {
      assert.deepEqual((await w.member.get(CSI_DRIVERS, TOY))?.spec, {
        ...{ attachRequired: false, podInfoOnMount: true, storageCapacity: false, fsGroupPolicy: 'ReadWriteOnceWithFSType' },
        ...{ volumeLifecycleModes: ['Persistent'], requiresRepublish: false, seLinuxMount: false },
      })
      assert.deepEqual(
        (await w.member.list(CSI_NODES)).map(({ metadata, spec }) => [
          metadata.name,
          (spec as { drivers: { name: string }[] }).drivers.some(({ name }) => name === TOY),
        ]),
        ['member1-process-1', 'member1-process-2', 'member1-simulated-1'].map((name) => [name, true]),
      )
      await createToyVolume(w.member, 'data', { attributes: { seconds: '3' } })
      await createToyVolume(w.member, 'kept', { attributes: { keep: 'yes' } })
      await createPod(w, 'p', { claims: ['data', 'kept'] })
      await createPod(w, 's', { claims: ['data', 'kept'], nodeName: 'member1-simulated-1' })
      await w.advance(1500)
      const both = ['toy.example.com/uses-data', 'toy.example.com/uses-kept']
      assert.deepEqual([await labelsOf(w), await labelsOf(w, 'member1-simulated-1')], [both, both])
      await w.settle()
      assert.equal((await podOf(w, 'default/s')).status?.phase, 'Running')
      assert.deepEqual(await labelsOf(w, 'member1-process-2'), [])
      for (const name of ['p', 's']) await w.member.delete(PODS, `default/${name}`)
      await w.settle()
      const kept = ['toy.example.com/uses-kept']
      assert.deepEqual([await labelsOf(w), await labelsOf(w, 'member1-simulated-1')], [kept, kept])
    }),
  )

  story(
    'goes with its volume',
    ...withDriver(async (w) => {
      await createToyVolume(w.member, 'kept', { attributes: { keep: 'yes' } })
      await createPod(w, 'p', { claims: ['kept'] })
      await w.settle()
      await w.member.delete(PODS, 'default/p')
      await w.settle()
      assert.deepEqual(await labelsOf(w), ['toy.example.com/uses-kept'])
      await deleteToyVolume(w.member, 'kept')
      await w.settle()
      assert.deepEqual(await labelsOf(w), [])
    }),
  )
})
