import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { eventsOf } from '../../../runtime/workloads/pod/testing.ts'
import { PROVISIONED_BY, SELECTED_NODE } from '../names.ts'
import { aClaim, aClass, aVolume, ScriptedDirectories, theClaim, theVolume } from '../testing.ts'
import { localProvisioning } from './provision/controller.ts'
import { localReclaim } from './reclaim/controller.ts'
import { LOCAL_FINALIZER, LOCAL_PROVISIONER, NAMED_VOLUMES, ownPathOf } from './volume.ts'

const IMMEDIATE = aClass('now', { provisioner: LOCAL_PROVISIONER, volumeBindingMode: 'Immediate' })
const LOCAL = { storageClassName: 'local' }

const aNode = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': `${name}.example` } },
})

/** What the scheduler does when it has chosen a node for the first consumer. */
const select = (cluster: WorldCluster, claim: string, node: string): Promise<KubeObject> =>
  cluster.patch(PERSISTENT_VOLUME_CLAIMS, `default/${claim}`, { metadata: { annotations: { [SELECTED_NODE]: node } } })

/** A story over directories in memory. */
function localStory(
  name: string,
  body: (world: Parameters<Parameters<typeof story>[1]>[0], on: ScriptedDirectories) => Promise<void>,
): void {
  const directories = new ScriptedDirectories()
  story(name, (world) => body(world, directories), { members: 1, controllers: directories.controllers })
}

describe('volumes of the class local', () => {
  localStory('are made for the node of their first consumer, the directory first', async (world, on) => {
    const { member } = world
    await member.create(aNode('here'))
    const { metadata } = await member.create(aClaim('mine', LOCAL))
    await world.settle()
    assert.deepEqual(on.calls, [], 'nobody uses it yet')
    await select(member, 'mine', 'here')
    await world.settle()
    const name = `pvc-${metadata.uid}`
    const volume = await theVolume(member, name)
    assert.deepEqual(on.calls, [`make /data/volumes/${name}`])
    assert.deepEqual(volume?.spec?.local, { path: `/data/volumes/${name}` })
    assert.deepEqual(volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms, [
      { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['here.example'] }] },
    ])
    assert.equal(volume?.spec?.persistentVolumeReclaimPolicy, 'Delete')
    assert.equal(volume?.spec?.storageClassName, 'local')
    assert.deepEqual(volume?.metadata.annotations, { [PROVISIONED_BY]: LOCAL_PROVISIONER })
    assert.deepEqual(volume?.metadata.finalizers?.sort(), [LOCAL_FINALIZER, 'kubernetes.io/pv-protection'])
    const claim = await theClaim(member, 'mine')
    assert.deepEqual([claim?.status?.phase, claim?.spec?.volumeName, volume?.status?.phase], ['Bound', name, 'Bound'])
    const events = await eventsOf(member, 'PersistentVolumeClaim', 'mine')
    assert.ok(events.includes(`ProvisioningSucceeded: Successfully provisioned volume ${name}`), events.join('\n'))
  })

  localStory('lose their directory before their object, when the claim goes', async (world, on) => {
    const { member } = world
    await member.create(IMMEDIATE)
    const { metadata } = await member.create(aClaim('mine', { storageClassName: 'now' }))
    await world.settle()
    const name = `pvc-${metadata.uid}`
    assert.deepEqual((await theVolume(member, name))?.spec?.hostPath?.path, `/data/volumes/${name}`)
    assert.ok(on.present.has(`/data/volumes/${name}`))
    on.failures = ['the disk is busy', 'the disk is busy']
    await member.delete(PERSISTENT_VOLUME_CLAIMS, 'default/mine')
    await world.settle()
    assert.equal(await theVolume(member, name), undefined)
    assert.equal(on.present.size, 0)
    assert.deepEqual(
      on.calls.filter((call) => call.startsWith('remove')),
      Array.from({ length: 3 }, () => `remove /data/volumes/${name}`),
    )
    member.complaints.length = 0
  })

  localStory('keep it when their policy is Retain, and are held when it becomes Delete', async (world, on) => {
    const { member } = world
    await member.create({ ...IMMEDIATE, metadata: { name: 'kept' }, reclaimPolicy: 'Retain' })
    const { metadata } = await member.create(aClaim('mine', { storageClassName: 'kept' }))
    await world.settle()
    const name = `pvc-${metadata.uid}`
    assert.deepEqual((await theVolume(member, name))?.metadata.finalizers, ['kubernetes.io/pv-protection'])
    await member.delete(PERSISTENT_VOLUME_CLAIMS, 'default/mine')
    await world.settle()
    assert.equal((await theVolume(member, name))?.status?.phase, 'Released')
    assert.equal(on.present.size, 1)
    await member.patch(PERSISTENT_VOLUMES, name, { spec: { persistentVolumeReclaimPolicy: 'Delete' } })
    await world.settle()
    assert.equal(await theVolume(member, name), undefined)
    assert.equal(on.present.size, 0)
  })

  localStory('are not made of blocks, and say so', async (world, on) => {
    const { member } = world
    await member.create(IMMEDIATE)
    await member.create(aClaim('mine', { storageClassName: 'now', volumeMode: 'Block' }))
    await world.settle()
    const events = await eventsOf(member, 'PersistentVolumeClaim', 'mine')
    assert.ok(events.some((line) => line.startsWith('ProvisioningFailed: failed to provision volume with StorageClass "now": ')))
    assert.deepEqual(on.calls, [])
  })

  localStory('are tried again when the directory cannot be made, and the claim is told', async (world, on) => {
    const { member } = world
    on.failures = ['no space left on device']
    await member.create(IMMEDIATE)
    await member.create(aClaim('mine', { storageClassName: 'now' }))
    await world.settle()
    assert.equal((await theClaim(member, 'mine'))?.status?.phase, 'Bound')
    const events = await eventsOf(member, 'PersistentVolumeClaim', 'mine')
    assert.ok(events.includes('ProvisioningFailed: failed to provision volume with StorageClass "now": no space left on device'))
    assert.equal(on.calls.length, 2)
    member.complaints.length = 0
  })

  localStory('go back to the scheduler when their node is gone', async (world, on) => {
    const { member } = world
    await member.create(aClaim('mine', LOCAL))
    await select(member, 'mine', 'nowhere')
    await world.settle()
    assert.equal((await theClaim(member, 'mine'))?.metadata.annotations?.[SELECTED_NODE], undefined)
    const events = await eventsOf(member, 'PersistentVolumeClaim', 'mine')
    assert.ok(events.includes('ProvisioningFailed: failed to get target node: nodes "nowhere" not found'))
    assert.deepEqual(on.calls, [])
  })

  localStory('of strangers are never touched', async (world, on) => {
    const { member } = world
    const gone = { namespace: 'default', name: 'gone', uid: '00000000-0000-4000-8000-000000000000' }
    const spec = { persistentVolumeReclaimPolicy: 'Delete', claimRef: gone }
    const annotations = { [PROVISIONED_BY]: LOCAL_PROVISIONER }
    await member.create(aVolume('trick', { ...spec, hostPath: { path: '/etc' } }, { annotations }))
    await world.settle()
    assert.deepEqual(on.calls, [])
    assert.equal((await theVolume(member, 'trick'))?.status?.phase, 'Released')
    const [events] = await eventsOf(member, 'PersistentVolume', 'trick')
    assert.match(events ?? '', /^VolumeFailedDelete: the path of this volume is not its own directory/)
    await member.delete(PERSISTENT_VOLUMES, 'trick')
    await world.settle()
    assert.equal(await theVolume(member, 'trick'), undefined)
    assert.deepEqual(on.calls, [])
  })
})

story(
  'on simulated nodes a path is only a name',
  async (world) => {
    const { member } = world
    const [node] = await member.list(NODES)
    await member.create(aClaim('mine', LOCAL))
    await select(member, 'mine', node?.metadata.name ?? '')
    await world.settle()
    const claim = await theClaim(member, 'mine')
    const volume = await theVolume(member, claim?.spec?.volumeName ?? '')
    assert.equal(volume?.spec?.local?.path, `${NAMED_VOLUMES.root}/pvc-${claim?.metadata.uid}`)
  },
  { members: 1, nodes: 1 },
)

describe('the directory of a volume is its own', () => {
  const cases: [string, string, boolean][] = [
    ['pvc-1', '/data/volumes/pvc-1', true],
    ['pvc-1', '/data/volumes/pvc-2', false],
    ['pvc-1', '/data/volumes/pvc-1/', false],
    ['pvc-1', '/data/volumes/x/../pvc-1', false],
    ['pvc-1', '/data/volumes', false],
    ['pvc-1', '/', false],
    ['..', '/data/volumes/..', false],
    ['.', '/data/volumes/.', false],
    ['', '/data/volumes/', false],
  ]
  for (const [name, path, isOwn] of cases)
    it(`${name} at ${path}: ${isOwn}`, () => {
      assert.equal(ownPathOf(aVolume(name, { hostPath: { path } }), '/data/volumes'), isOwn ? path : undefined)
    })
})

const oneClaimComesAndGoes = {
  before: [(cluster: WorldCluster) => cluster.create(IMMEDIATE)],
  steps: [
    (cluster: WorldCluster) => cluster.create(aClaim('mine', { storageClassName: 'now' })),
    (cluster: WorldCluster) => cluster.delete(PERSISTENT_VOLUME_CLAIMS, 'default/mine'),
  ],
}

survives(localProvisioning(NAMED_VOLUMES), {
  ...oneClaimComesAndGoes,
  steps: oneClaimComesAndGoes.steps.slice(0, 1),
  async atRest(cluster) {
    assert.equal((await theClaim(cluster, 'mine'))?.status?.phase, 'Bound')
  },
})

survives(localReclaim(NAMED_VOLUMES), {
  ...oneClaimComesAndGoes,
  async atRest(cluster) {
    assert.deepEqual(await cluster.list(PERSISTENT_VOLUMES), [])
  },
})
