import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aProcessPod, machineOf, processNodes } from '../../faultsim/builders/process-nodes.ts'
import { containerOf, podOf } from '../../faultsim/expect/pods.ts'
import { story } from '../../faultsim/story.ts'
import type { World } from '../../faultsim/world/index.ts'
import { ALLUXIO_RUNTIMES, CACHE_RUNTIMES, DATASETS, THIN_RUNTIMES } from '../../kinds/fluid/resources.ts'
import { LEASES, NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import { requestIdOf } from '../../kube/materialised-volume.ts'
import { otherModules } from '../testing.ts'
import { aDataset, aRuntime, createVolume, driverModule, meetingOf, NODE } from './testing.ts'

const ALL = requestIdOf('/')
const GIB = 2 ** 30
const top = (path: string): string => `/data/nodes/${NODE}/runtime-mnt/cache/default/demo/cache-fuse/${path}`

function inWorld(name: string, report: (w: World) => Promise<void>, hostPathPrefixes: 'all' | readonly string[] = 'all'): void {
  const controllers = processNodes({ serve: {} }, { nodes: 2, volumesRoot: '/data/volumes' })
  const played = async (w: World): Promise<void> => {
    await report(w)
    await renewed(w)
  }
  story(name, played, { members: 1, hub: false, nodes: 1, modules: [...otherModules, driverModule(hostPathPrefixes)], controllers })
}

/** Until the leases of the nodes have just been renewed: what follows must write nothing, and takes less time than a lease has. */
async function renewed(w: World): Promise<void> {
  await w.settle()
  const lease = await w.member.get(LEASES, `kube-node-lease/${NODE}`)
  const { renewTime = '' } = (lease?.spec ?? {}) as { renewTime?: string }
  await w.advance(Math.max(0, Date.parse(renewTime) + 10_001 - w.clock.now()))
}

interface Pod {
  nodeName?: string
  claim?: string
  readOnly?: boolean
  mount?: object
}

const createPod = (w: World, name: string, { nodeName = NODE, claim = 'demo', readOnly, mount = {} }: Pod = {}) =>
  w.member.create(
    aProcessPod(
      `default/${name}`,
      'serve',
      {
        nodeName,
        automountServiceAccountToken: false,
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim, ...(readOnly === undefined ? {} : { readOnly }) } }],
      },
      { volumeMounts: [{ name: 'data', mountPath: '/data', ...mount }] },
    ),
  )
const saidBy = async (w: World, name = 'p'): Promise<string> =>
  (await containerOf(w, 'main', `default/${name}`)).state?.waiting?.message ?? ''
const phaseOf = async (w: World, name = 'p') => (await podOf(w, `default/${name}`)).status?.phase
const mountsOf = (w: World, name = 'p') =>
  machineOf(w.member)
    .specs.filter(({ pod }) => pod === name)
    .flatMap(({ mounts }) => mounts.filter(({ path }) => path.startsWith('/data')))
    .map(({ source, path, readOnly }) => [path, source, readOnly ? 'ro' : 'rw'])
const labelsOf = async (w: World, node: string): Promise<string[]> =>
  Object.keys((await w.member.get(NODES, node))?.metadata.labels ?? {}).filter((key) => key.startsWith('fluid.io/'))
/** Failed mounts are complained about; here they are what is looked at. */
const forgive = (w: World, text: RegExp): void => {
  assert.ok(
    w.member.complaints.every((complaint) => text.test(complaint)),
    w.member.complaints.join('\n'),
  )
  w.member.complaints.length = 0
}

describe('volumes of datasets that are read', () => {
  inWorld('are asked for, waited for in words, and taken back', async (w) => {
    const meeting = meetingOf(w.member)
    await createVolume(w.member)
    await createPod(w, 'p')
    await w.advance(500)
    assert.equal(await saidBy(w), 'waiting for volume "data": waiting for the client of the node (pod demo-client-… in namespace default)')
    assert.ok(meeting.names().includes(`requests/${ALL}.json`))
    meeting.say({ state: 'waiting', message: "the dataset's files are still being listed" })
    await w.advance(8000)
    assert.equal(await saidBy(w), 'waiting for volume "data": the dataset\'s files are still being listed')
    meeting.say({ doneBytes: Math.floor(1.2 * GIB), totalBytes: 2 * GIB, doneFiles: 12, totalFiles: 40 })
    await w.advance(8000)
    assert.equal(await saidBy(w), 'waiting for volume "data": 1.2 of 2.0 GiB, 12 of 40 files')
    await w.advance(70_000)
    assert.match(await saidBy(w), /12 of 40 files; unchanged for a while: see pod demo-client-… in namespace default$/)
    await meeting.complete(1)
    await w.advance(5000)
    assert.equal(await phaseOf(w), 'Running')
    assert.deepEqual(mountsOf(w), [['/data', top(`generations/${ALL}/1`), 'ro']])
    const { uid = '' } = (await podOf(w)).metadata
    assert.ok(meeting.names().includes(`users/${ALL}/1/${uid}`))
    await w.member.delete(PODS, 'default/p')
    await w.settle()
    assert.deepEqual(meeting.names(), [])
  })

  inWorld('stay as they are for running pods; new pods get the new generation, also after a restart', async (w) => {
    const meeting = meetingOf(w.member)
    await createVolume(w.member)
    await meeting.complete(1)
    await createPod(w, 'p')
    await w.settle()
    await meeting.complete(2)
    await createPod(w, 'q')
    await w.settle()
    await w.restartControllers()
    await createPod(w, 'r')
    await w.settle()
    assert.deepEqual(
      ['p', 'q', 'r'].map((name) => mountsOf(w, name)[0]?.[1]?.slice(-1)),
      ['1', '2', '2'],
    )
    await w.member.delete(PODS, 'default/q')
    await w.settle()
    const { uid } = (await podOf(w)).metadata
    const { uid: other } = (await podOf(w, 'default/r')).metadata
    assert.deepEqual(
      meeting.names().filter((name) => name.startsWith('users/')),
      [`users/${ALL}/1/${uid}`, `users/${ALL}/2/${other}`],
    )
  })

  inWorld('are not given to pods while what a client says is torn, hostile, or not there', async (w) => {
    const meeting = meetingOf(w.member)
    await createVolume(w.member)
    await meeting.complete(1)
    meeting.write(`states/${ALL}.json`, '{"subPath":"/","state":"ready","generation":1,"dir')
    await createPod(w, 'p')
    await w.advance(3000)
    assert.match(await saidBy(w), /what it said last cannot be read$/)
    const [file, state] = [`states/${ALL}.json`, { subPath: '/', state: 'ready', doneBytes: 0, totalBytes: 0, doneFiles: 0, totalFiles: 0 }]
    meeting.write(file, JSON.stringify({ ...state, generation: 1, directory: '../../../../../etc' }))
    await w.advance(8000)
    assert.match(await saidBy(w), /what it said last cannot be read$/)
    // The generation was removed just now: no trace of a use is left.
    meeting.say({ state: 'ready', generation: 7 })
    await w.advance(8000)
    assert.match(await saidBy(w), /its files are being replaced$/)
    assert.deepEqual(
      meeting.names().filter((name) => name.startsWith('users/')),
      [],
    )
    await meeting.complete(8)
    await w.settle()
    assert.equal(mountsOf(w)[0]?.[1], top(`generations/${ALL}/8`))
  })

  inWorld('are one sub path where the volume names one, and shared by the volumes that name the same', async (w) => {
    const meeting = meetingOf(w.member)
    const id = requestIdOf('/train/images')
    await createVolume(w.member, { attributes: { fluid_sub_path: 'train/images/' } })
    await createVolume(w.member, { name: 'other', attributes: { fluid_sub_path: '/train/images' } })
    await meeting.complete(1, '/train/images')
    await createPod(w, 'p')
    await createPod(w, 'q', { claim: 'other' })
    await w.settle()
    assert.deepEqual([mountsOf(w)[0]?.[1], mountsOf(w, 'q')[0]?.[1]], [top(`generations/${id}/1`), top(`generations/${id}/1`)])
    await w.member.delete(PODS, 'default/p')
    await w.settle()
    assert.ok(meeting.names().includes(`requests/${id}.json`), 'the other volume still wants it')
    await w.member.delete(PODS, 'default/q')
    await w.settle()
    assert.deepEqual(meeting.names(), [])
  })

  inWorld('leave nothing when the pod goes before they are ready', async (w) => {
    const meeting = meetingOf(w.member)
    await createVolume(w.member)
    await createPod(w, 'p')
    await w.advance(5000)
    meeting.say({ state: 'ready', generation: 3 })
    await w.advance(300)
    await w.member.delete(PODS, 'default/p')
    await w.settle()
    assert.deepEqual(meeting.names(), [])
  })

  inWorld('leave no directory on the node when the client has gone as well', async (w) => {
    const meeting = meetingOf(w.member)
    await createVolume(w.member)
    const root = '/runtime-mnt/cache/default/demo/cache-fuse'
    const volumes = [{ name: 'shared', hostPath: { path: root, type: 'DirectoryOrCreate' } }]
    const client = { nodeName: NODE, automountServiceAccountToken: false, volumes }
    await w.member.create(aProcessPod('default/client', 'serve', client, { volumeMounts: [{ name: 'shared', mountPath: root }] }))
    for (const directory of ['requests', 'users', 'generations']) await meeting.makeDirectory(directory)
    await meeting.complete(1)
    await createPod(w, 'p')
    await w.settle()
    await w.member.delete(PODS, 'default/client')
    await w.settle()
    assert.ok(meeting.names().includes(`generations/${ALL}/1`), 'a pod reads them')
    await w.member.create(aProcessPod('default/client', 'serve', client, { volumeMounts: [{ name: 'shared', mountPath: root }] }))
    await w.settle()
    await w.member.delete(PODS, 'default/p')
    await w.settle()
    assert.deepEqual(meeting.names().sort(), ['generations', 'requests', 'users'])
    await w.member.delete(PODS, 'default/client')
    await w.settle()
    const left = [...machineOf(w.member).files.keys()].filter((path) => path.startsWith(`/data/nodes/${NODE}/`))
    assert.deepEqual(
      left,
      [`/data/nodes/${NODE}/runtime-mnt`].filter((path) => left.includes(path)),
    )
  })

  inWorld('go on waiting after a restart in the middle', async (w) => {
    await createVolume(w.member)
    await createPod(w, 'p')
    await w.advance(5000)
    w.member.killControllers()
    await w.inside(() => w.member.startControllers())
    await w.advance(5000)
    await meetingOf(w.member).complete(1)
    await w.settle()
    assert.equal(await phaseOf(w), 'Running')
  })

  inWorld('say what is wrong with a volume', async (w) => {
    await createVolume(w.member, { attributes: { fluid_path: '' } })
    await createVolume(w.member, { name: 'other', attributes: { fluid_path: '/etc' } })
    await createPod(w, 'p')
    await createPod(w, 'q', { claim: 'other' })
    await w.advance(3000)
    assert.match(await saidBy(w), /fluid_path is not set in the attributes of PersistentVolume default-demo/)
    assert.match(await saidBy(w, 'q'), /fluid_path "\/etc" of PersistentVolume default-other is not a path below \/runtime-mnt/)
    for (const name of ['p', 'q']) await w.member.delete(PODS, `default/${name}`)
    await w.settle()
    forgive(w, /fluid_path/)
  })
})

describe('volumes of datasets that are written', () => {
  const writable = async (w: World, mounts: object[], attributes: Record<string, string> = {}): Promise<void> => {
    await w.member.create(aDataset(mounts))
    await createVolume(w.member, { accessModes: ['ReadWriteMany'], attributes })
  }

  inWorld('are the directory of the node itself, and nothing is copied', async (w) => {
    await machineOf(w.member).makeDirectory('/srv/images')
    await writable(w, [{ mountPoint: 'local:///srv/images', path: '/' }])
    await createPod(w, 'p')
    await w.settle()
    assert.deepEqual(mountsOf(w), [['/data', '/srv/images', 'rw']])
    assert.deepEqual(
      meetingOf(w.member)
        .names()
        .filter((name) => name.startsWith('requests/')),
      [],
    )
    await w.member.delete(PODS, 'default/p')
    await w.settle()
    assert.deepEqual(meetingOf(w.member).names(), [])
    assert.equal(await machineOf(w.member).kindOf('/srv/images'), 'directory')
  })

  inWorld('have each mount at its path, also for sub paths of a container', async (w) => {
    const machine = machineOf(w.member)
    for (const directory of ['/srv/a', '/srv/b', '/data/volumes/pvc']) await machine.makeDirectory(directory)
    await writable(w, [
      { mountPoint: 'local:///srv/a', name: 'a' },
      { mountPoint: 'local:///srv/b', path: '/b/deep' },
    ])
    await createPod(w, 'p')
    await createPod(w, 'q', { mount: { subPath: 'a/x' } })
    await createPod(w, 'r', { mount: { subPath: 'b', readOnly: true } })
    await w.settle()
    const points = top(`mount-points/${ALL}`)
    assert.deepEqual(mountsOf(w), [
      ['/data', points, 'ro'],
      ['/data/a', '/srv/a', 'rw'],
      ['/data/b/deep', '/srv/b', 'rw'],
    ])
    assert.deepEqual(mountsOf(w, 'q'), [['/data', '/srv/a/x', 'rw']])
    assert.deepEqual(mountsOf(w, 'r'), [
      ['/data', `${points}/b`, 'ro'],
      ['/data/deep', '/srv/b', 'ro'],
    ])
  })

  inWorld('are the directory of a claim, where it is one of this machine', async (w) => {
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'store' }
    const spec = { accessModes: ['ReadWriteMany'], storageClassName: 'own' }
    const storage = { storage: '1Gi' }
    await w.member.create({
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'store' } },
      spec: { ...spec, capacity: storage, claimRef, hostPath: { path: '/srv/store' } },
    })
    await w.member.create({
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name: 'store' } },
      spec: { ...spec, volumeName: 'store', resources: { requests: storage } },
    })
    await machineOf(w.member).makeDirectory('/srv/store')
    await writable(w, [{ mountPoint: 'pvc://store/train', path: '/in' }], { fluid_sub_path: 'in/2026' })
    await createPod(w, 'p')
    await w.settle()
    assert.deepEqual(mountsOf(w), [['/data', '/srv/store/train/2026', 'rw']])
  })

  inWorld('wait where a source is no directory, and say how to read them; pods that only read get files', async (w) => {
    await writable(w, [{ mountPoint: 's3://lake/secret-prefix', path: '/' }])
    await meetingOf(w.member).complete(1)
    await createPod(w, 'p')
    await createPod(w, 'q', { readOnly: true })
    await w.advance(20_000)
    const said = await saidBy(w)
    assert.match(said, /writing to s3:\/\/ needs FUSE, which is not there yet: .* set readOnly: true on the pod's persistentVolumeClaim/)
    assert.doesNotMatch(said, /secret-prefix/)
    assert.deepEqual(mountsOf(w, 'q'), [['/data', top(`generations/${ALL}/1`), 'ro']])
    await w.member.delete(PODS, 'default/p')
    await w.settle()
    forgive(w, /needs FUSE/)
  })

  inWorld(
    'are not made of directories that the administrator does not list, also when the dataset came in otherwise',
    async (w) => {
      await machineOf(w.member).makeDirectory('/etc/secrets')
      await writable(w, [{ mountPoint: 'local:///etc/secrets', path: '/' }])
      await createPod(w, 'p')
      await w.advance(3000)
      assert.match(await saidBy(w), /dataset default\/demo is not given to pods: "\/etc\/secrets" is a directory of the node, and the/)
      assert.deepEqual(mountsOf(w), [])
      await w.member.delete(PODS, 'default/p')
      await w.settle()
      forgive(w, /directory of the node/)
    },
    ['/srv'],
  )

  inWorld('say which directory is not there', async (w) => {
    await writable(w, [{ mountPoint: 'local:///srv/missing', path: '/' }])
    await createPod(w, 'p')
    await w.advance(3000)
    assert.match(await saidBy(w), /\/srv\/missing is not a directory/)
    await machineOf(w.member).makeDirectory('/srv/missing')
    await w.settle()
    assert.deepEqual(mountsOf(w), [['/data', '/srv/missing', 'rw']])
    forgive(w, /srv\/missing/)
  })
})

describe('volumes of datasets whose pods run nothing', () => {
  const simulated = (status: string) => ({
    status: { conditions: [{ type: 'Simulated', status, reason: 'Simulated', message: 'no image runs here' }] },
  })

  inWorld('say that no file comes, and are there when that is over', async (w) => {
    await w.member.create(aDataset([{ mountPoint: 's3://one', name: 'one' }], ['ReadOnlyMany']))
    await w.member.patch(DATASETS, 'default/demo', simulated('True'), 'status')
    await createVolume(w.member)
    await createPod(w, 'p')
    await w.settle()
    assert.match(
      await saidBy(w),
      /no file of dataset default\/demo comes to node member1-process-1, because the dataset is simulated: no image runs here\. A pod with/,
    )
    forgive(w, /is simulated: no image runs here/)
    await w.member.patch(DATASETS, 'default/demo', simulated('False'), 'status')
    await meetingOf(w.member).complete(1)
    await w.advance(300_000)
    await w.settle()
    assert.equal(await phaseOf(w), 'Running')
    forgive(w, /is simulated: no image runs here/)
  })
})

describe('nodes with volumes of datasets', () => {
  const simulated = 'member1-simulated-1'

  inWorld('are labelled for the client of the dataset, simulated ones too, and keep the label with the runtime', async (w) => {
    await w.member.create(aRuntime('CacheRuntime', { runtimeClassName: 'builtin', client: {} }))
    await createVolume(w.member)
    await meetingOf(w.member).complete(1)
    await createPod(w, 'p')
    await createPod(w, 's', { nodeName: simulated })
    await w.settle()
    assert.deepEqual([await labelsOf(w, NODE), await labelsOf(w, simulated)], [['fluid.io/f-default-demo'], ['fluid.io/f-default-demo']])
    assert.equal(await phaseOf(w, 's'), 'Running')
    for (const name of ['p', 's']) await w.member.delete(PODS, `default/${name}`)
    await w.settle()
    assert.deepEqual([await labelsOf(w, NODE), await labelsOf(w, simulated)], [['fluid.io/f-default-demo'], ['fluid.io/f-default-demo']])
    await w.member.patch(CACHE_RUNTIMES, 'default/demo', { spec: { client: { cleanPolicy: 'OnDemand' } } })
    await w.settle()
    assert.deepEqual([await labelsOf(w, NODE), await labelsOf(w, simulated)], [[], []])
  })

  inWorld('lose it with the last pod where the runtime says so, and with the runtime', async (w) => {
    await w.member.create(aRuntime('AlluxioRuntime', { replicas: 1, fuse: { cleanPolicy: 'OnDemand' } }))
    await createVolume(w.member)
    await createPod(w, 's', { nodeName: simulated })
    await w.settle()
    assert.deepEqual(await labelsOf(w, simulated), ['fluid.io/f-default-demo'])
    await w.member.delete(PODS, 'default/s')
    await w.settle()
    assert.deepEqual(await labelsOf(w, simulated), [])
    await w.member.patch(ALLUXIO_RUNTIMES, 'default/demo', { spec: { fuse: { cleanPolicy: 'OnRuntimeDeleted' } } })
    await createPod(w, 's', { nodeName: simulated })
    await w.settle()
    await w.member.delete(PODS, 'default/s')
    await w.settle()
    assert.deepEqual(await labelsOf(w, simulated), ['fluid.io/f-default-demo'])
    await w.member.delete(ALLUXIO_RUNTIMES, 'default/demo')
    await w.settle()
    assert.deepEqual(await labelsOf(w, simulated), [])
  })

  inWorld('lose it with the last pod where the profile of a ThinRuntime says so, unless the runtime says otherwise', async (w) => {
    const fuse = { cleanPolicy: 'OnDemand' }
    await w.member.create({ ...aRuntime('ThinRuntimeProfile', { fileSystemType: 'nfs', fuse }), metadata: { name: 'nfs' } })
    await w.member.create(aRuntime('ThinRuntime', { profileName: 'nfs', fuse: { cleanPolicy: 'OnRuntimeDeleted' } }))
    await createVolume(w.member)
    await createPod(w, 's', { nodeName: simulated })
    await w.settle()
    await w.member.delete(PODS, 'default/s')
    await w.settle()
    assert.deepEqual(await labelsOf(w, simulated), ['fluid.io/f-default-demo'])
    await w.member.patch(THIN_RUNTIMES, 'default/demo', { spec: { fuse: { cleanPolicy: null } } })
    await w.settle()
    assert.deepEqual(await labelsOf(w, simulated), [])
  })

  inWorld('are not labelled with anything else that a volume names', async (w) => {
    await createVolume(w.member, { attributes: { mount_pod_node_selector_key: 'node-role.kubernetes.io/control-plane' } })
    await createVolume(w.member, { name: 'other', attributes: { mount_pod_node_selector_key: 'fluid.io/f-no label' } })
    await createPod(w, 's', { nodeName: simulated })
    await createPod(w, 't', { nodeName: simulated, claim: 'other' })
    await w.settle()
    const { labels = {} } = (await w.member.get(NODES, simulated))?.metadata ?? {}
    assert.deepEqual(
      Object.keys(labels).filter((key) => /fluid|role/.test(key)),
      [],
    )
  })
})

describe('volumes of datasets of another namespace', () => {
  const OWNER = 'data/demo'
  const foreign = { attributes: { runtime_namespace: 'data' } }

  /** As `data.dataset` keeps it, from who consents. */
  const lists = (w: World, datasetRef: string[] | null) =>
    w.member.patch(DATASETS, OWNER, { status: { phase: 'Bound', conditions: [], datasetRef } }, 'status')

  inWorld('are given only while that dataset lists the one of the claim; pods that have them keep them', async (w) => {
    const meeting = meetingOf(w.member)
    await w.member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'data' } })
    const { metadata, ...rest } = aDataset([{ mountPoint: 's3://lake', name: 'lake' }])
    await w.member.create({ ...rest, metadata: { ...metadata, namespace: 'data' } })
    await createVolume(w.member, foreign)
    await createPod(w, 'p')
    await w.advance(3000)
    assert.match(
      await saidBy(w),
      /Dataset data\/demo does not exist, or may not be used from namespace default: ask whoever owns namespace data/,
    )
    assert.deepEqual(meeting.names(), [])
    await lists(w, ['default/demo'])
    await w.advance(60_000)
    await meeting.complete(1)
    await w.advance(5000)
    assert.equal(await phaseOf(w), 'Running')
    await lists(w, null)
    await createPod(w, 'late')
    await w.advance(3000)
    assert.match(await saidBy(w, 'late'), /may not be used from namespace default/)
    assert.equal(await phaseOf(w), 'Running')
    await w.member.delete(PODS, 'default/late', { gracePeriodSeconds: 0 })
    forgive(w, /may not be used from namespace default/)
  })

  inWorld('are not given to a pod that waited for them while consent was withdrawn, and are not held for it', async (w) => {
    const meeting = meetingOf(w.member)
    await w.member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'data' } })
    const { metadata, ...rest } = aDataset([{ mountPoint: 's3://lake', name: 'lake' }])
    await w.member.create({ ...rest, metadata: { ...metadata, namespace: 'data' } })
    await lists(w, ['default/demo'])
    await createVolume(w.member, foreign)
    await createPod(w, 'p')
    await w.advance(500)
    meeting.say({ doneBytes: GIB, totalBytes: 2 * GIB, doneFiles: 1, totalFiles: 2 })
    await w.advance(8000)
    assert.match(await saidBy(w), /1.0 of 2.0 GiB/)
    await lists(w, null)
    await meeting.complete(1)
    await w.advance(8000)
    assert.match(await saidBy(w), /Dataset data\/demo does not exist, or may not be used from namespace default/)
    assert.deepEqual(
      meeting.names().filter((name) => name.startsWith('users/')),
      [],
    )
    await lists(w, ['default/demo'])
    await w.advance(300_000)
    assert.equal(await phaseOf(w), 'Running')
    forgive(w, /may not be used from namespace default/)
  })

  inWorld('say nothing of what the client says about its sources', async (w) => {
    const meeting = meetingOf(w.member)
    await w.member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'data' } })
    const { metadata, ...rest } = aDataset([{ mountPoint: 's3://lake', name: 'lake' }])
    await w.member.create({ ...rest, metadata: { ...metadata, namespace: 'data' } })
    await lists(w, ['default/demo'])
    await createVolume(w.member, foreign)
    await createPod(w, 'p')
    await w.advance(500)
    meeting.say({ state: 'waiting', message: 'https://ann:hunter2@example.com does not answer' })
    await w.advance(8000)
    assert.equal(await saidBy(w), 'waiting for volume "data": the client of the node has begun (pod demo-client-… in namespace data)')
    await meeting.complete(1)
    await w.advance(5000)
    assert.equal(await phaseOf(w), 'Running')
  })
})
