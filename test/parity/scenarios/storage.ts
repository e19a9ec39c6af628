/** Claims and volumes: how they are matched, what protects them, what happens to a released volume. */
import { NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { StorageClass } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { claim, pod, using, volume } from './objects.ts'
import { gone, podsIn } from './waits.ts'

const ALL = [PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES] as const

/** Volumes and classes belong to no namespace: their names carry the scenario's. */
const named = (testbed: Testbed, name: string): string => `${testbed.namespace}-${name}`

const storageClass = (name: string, volumeBindingMode: string, annotations?: Record<string, string>): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, annotations },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode,
})

/** A class of the scenario's own, whose volumes are unused directories. */
async function withClass(testbed: Testbed, mode: 'Immediate' | 'WaitForFirstConsumer'): Promise<string> {
  const name = named(testbed, 'class')
  await testbed.create(storageClass(name, mode))
  return name
}

async function addVolume(testbed: Testbed, name: string, size: string, spec: Record<string, unknown> = {}): Promise<void> {
  const source = spec.csi === undefined && spec.nfs === undefined ? { hostPath: { path: '/parity' }, csi: undefined } : { csi: undefined }
  await testbed.create(volume(named(testbed, name), size, { ...source, ...spec }))
  await testbed.until(
    'the volume is known',
    async () => (await testbed.get(PERSISTENT_VOLUMES, named(testbed, name)))?.status?.phase !== 'Pending',
  )
}

const bound = (testbed: Testbed, name: string) =>
  testbed.until(`claim ${name} is bound`, async () => (await testbed.get(PERSISTENT_VOLUME_CLAIMS, name))?.status?.phase === 'Bound')

const volumeIs = (testbed: Testbed, name: string, phase: string) =>
  testbed.until(
    `volume ${name} is ${phase}`,
    async () => (await testbed.get(PERSISTENT_VOLUMES, named(testbed, name)))?.status?.phase === phase,
  )

export const STORAGE_SCENARIOS: readonly Scenario[] = [
  scenario('claim: Immediate, bound to the smallest volume that fits', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    for (const [name, size] of [
      ['huge', '9Gi'],
      ['right', '2Gi'],
      ['small', '1Mi'],
    ] as const)
      await addVolume(testbed, name, size, { storageClassName })
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await bound(testbed, 'data')
    await testbed.noteAll('bound', ...ALL)
    await testbed.noteEvents('bound')
  }),
  scenario('claim: no volume fits', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    await addVolume(testbed, 'small', '1Mi', { storageClassName })
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await testbed.until('told', async () => (await testbed.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Pending')
    await testbed.noteAll('pending', ...ALL)
    await testbed.noteEvents('pending')
    await addVolume(testbed, 'late', '1Gi', { storageClassName })
    await bound(testbed, 'data')
    await testbed.noteAll('bound', ...ALL)
  }),
  scenario('claim: no class at all', async (testbed) => {
    await addVolume(testbed, 'plain', '1Gi')
    await testbed.create(claim('data', '1Gi', { storageClassName: '', volumeName: named(testbed, 'plain') }))
    await bound(testbed, 'data')
    await testbed.noteAll('bound', ...ALL)
    await testbed.noteEvents('bound')
  }),
  scenario('claim: a class that does not exist', async (testbed) => {
    await testbed.create(claim('data', '1Gi', { storageClassName: named(testbed, 'absent') }))
    await testbed.until('told', async () => (await testbed.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Pending')
    await testbed.noteAll('pending', ...ALL)
    await testbed.noteEvents('pending')
  }),
  scenario('claim: by selector', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    for (const tier of ['slow', 'fast']) {
      const one = volume(named(testbed, tier), '1Gi', { storageClassName, csi: undefined, hostPath: { path: '/parity' } })
      one.metadata.labels = { tier }
      await testbed.create(one)
    }
    await testbed.create(claim('data', '1Gi', { storageClassName, selector: { matchLabels: { tier: 'fast' } } }))
    await bound(testbed, 'data')
    await testbed.noteAll('bound', ...ALL)
  }),
  scenario('claim: access modes must fit', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    await addVolume(testbed, 'one', '1Gi', { storageClassName })
    await addVolume(testbed, 'many', '5Gi', { storageClassName, accessModes: ['ReadWriteOnce', 'ReadWriteMany'] })
    await testbed.create(claim('data', '1Gi', { storageClassName, accessModes: ['ReadWriteMany'] }))
    await bound(testbed, 'data')
    await testbed.noteAll('bound', ...ALL)
  }),
  scenario('claim: a volume kept for it', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    await addVolume(testbed, 'small', '1Gi', { storageClassName })
    await addVolume(testbed, 'kept', '5Gi', { storageClassName, claimRef: { namespace: testbed.namespace, name: 'data' } })
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await bound(testbed, 'data')
    await testbed.noteAll('bound', ...ALL)
  }),
  scenario('claim: WaitForFirstConsumer waits for a pod', async (testbed) => {
    const storageClassName = await withClass(testbed, 'WaitForFirstConsumer')
    await addVolume(testbed, 'one', '1Gi', { storageClassName })
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await testbed.until('pending', async () => (await testbed.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Pending')
    await testbed.noteAll('waiting', ...ALL)
    await testbed.noteEvents('waiting')
    await testbed.create(pod('user', {}, using('data')))
    await podsIn(testbed, 1, 'Running')
    await bound(testbed, 'data')
    await testbed.noteAll('bound', ...ALL, PODS)
  }),
  scenario('claim: WaitForFirstConsumer and no volume', async (testbed) => {
    const storageClassName = await withClass(testbed, 'WaitForFirstConsumer')
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await testbed.create(pod('user', {}, using('data')))
    await testbed.until('refused', async () => (await testbed.get(PODS, 'user'))?.status?.conditions?.[0]?.reason === 'Unschedulable')
    await testbed.noteAll('pending', ...ALL, PODS)
  }),
  scenario('claim: protected while a pod uses it', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    await addVolume(testbed, 'one', '1Gi', { storageClassName, persistentVolumeReclaimPolicy: 'Retain' })
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await bound(testbed, 'data')
    await testbed.create(pod('user', {}, using('data')))
    await podsIn(testbed, 1, 'Running')
    await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await testbed.noteAll('held', ...ALL, PODS)
    await testbed.delete(PODS, 'user')
    await gone(testbed, PERSISTENT_VOLUME_CLAIMS, 'data')
    await volumeIs(testbed, 'one', 'Released')
    await testbed.noteAll('released', ...ALL, PODS)
    await testbed.noteEvents('released')
  }),
  scenario('volume: protected while bound', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    await addVolume(testbed, 'one', '1Gi', { storageClassName })
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await bound(testbed, 'data')
    await testbed.delete(PERSISTENT_VOLUMES, named(testbed, 'one'))
    await testbed.noteAll('held', ...ALL)
    await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await gone(testbed, PERSISTENT_VOLUMES, named(testbed, 'one'))
    await testbed.noteAll('gone', ...ALL)
  }),
  scenario('volume: Delete without anybody who can', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    await addVolume(testbed, 'one', '1Gi', {
      storageClassName,
      persistentVolumeReclaimPolicy: 'Delete',
      nfs: { server: 'nowhere', path: '/' },
    })
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await bound(testbed, 'data')
    await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await volumeIs(testbed, 'one', 'Failed')
    await testbed.noteAll('failed', ...ALL)
  }),
  scenario('claim: lost when its volume is gone', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    await addVolume(testbed, 'one', '1Gi', { storageClassName })
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await bound(testbed, 'data')
    await testbed.delete(PERSISTENT_VOLUMES, named(testbed, 'one'))
    await testbed.patch(PERSISTENT_VOLUMES, named(testbed, 'one'), { metadata: { finalizers: null } })
    await testbed.until('lost', async () => (await testbed.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Lost')
    await testbed.noteAll('lost', ...ALL)
    await testbed.noteEvents('lost')
  }),
  scenario(
    'claim: the newest default class is taken',
    async (testbed) => {
      const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' }
      // The age of a class has a resolution of one second.
      await testbed.pass(1.1)
      await testbed.create(storageClass(named(testbed, 'class'), 'Immediate', isDefault))
      await testbed.pass(1.1)
      await testbed.create(claim('data', '1Gi'))
      await testbed.until('pending', async () => (await testbed.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Pending')
      await testbed.noteAll('pending', ...ALL)
    },
    { alone: true },
  ),
  scenario('claim: an ephemeral volume of a pod', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } }
    await addVolume(testbed, 'one', '1Gi', { storageClassName })
    await testbed.create(pod('user', {}, { volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }] }))
    await podsIn(testbed, 1, 'Running')
    await testbed.noteAll('running', ...ALL, PODS)
    await testbed.delete(PODS, 'user')
    await gone(testbed, PERSISTENT_VOLUME_CLAIMS, 'user-scratch')
    await testbed.noteAll('gone', ...ALL, PODS)
  }),
  scenario('claim: the pod goes where its volume is', async (testbed) => {
    const [first = ''] = (await testbed.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()
    const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [first] }] }]
    for (const mode of ['Immediate', 'WaitForFirstConsumer'] as const) {
      const storageClassName = named(testbed, mode.toLowerCase())
      await testbed.create(storageClass(storageClassName, mode))
      await addVolume(testbed, `of-${mode.toLowerCase()}`, '1Gi', {
        storageClassName,
        nodeAffinity: { required: { nodeSelectorTerms: terms } },
      })
      await testbed.create(claim(mode.toLowerCase(), '1Gi', { storageClassName }))
      await testbed.create(pod(`user-${mode.toLowerCase()}`, {}, using(mode.toLowerCase())))
    }
    const pods = await podsIn(testbed, 2, 'Running')
    testbed.note(
      'there',
      pods.every(({ spec }) => spec?.nodeName === first),
    )
    await testbed.noteAll('there', ...ALL, PODS)
  }),
  scenario('claim: a volume on no node there is', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['elsewhere'] }] }]
    await addVolume(testbed, 'far', '1Gi', { storageClassName, nodeAffinity: { required: { nodeSelectorTerms: terms } } })
    await testbed.create(claim('data', '1Gi', { storageClassName }))
    await bound(testbed, 'data')
    await testbed.create(pod('user', {}, using('data')))
    await testbed.until('refused', async () => (await testbed.get(PODS, 'user'))?.status?.conditions?.[0]?.reason === 'Unschedulable')
    await testbed.noteAll('pending', ...ALL, PODS)
    await testbed.noteEvents('pending')
  }),
  scenario('claim: ReadWriteOncePod is for one pod', async (testbed) => {
    const storageClassName = await withClass(testbed, 'Immediate')
    await addVolume(testbed, 'one', '1Gi', {
      storageClassName,
      accessModes: ['ReadWriteOncePod'],
      csi: { driver: 'parity.test', volumeHandle: 'one' },
    })
    await testbed.create(claim('data', '1Gi', { storageClassName, accessModes: ['ReadWriteOncePod'] }))
    await bound(testbed, 'data')
    await testbed.create(pod('first', {}, using('data')))
    await testbed.until('scheduled', async () => (await testbed.get(PODS, 'first'))?.spec?.nodeName !== undefined)
    await testbed.create(pod('second', {}, using('data')))
    await testbed.until('refused', async () => (await testbed.get(PODS, 'second'))?.status?.conditions?.[0]?.reason === 'Unschedulable')
    await testbed.noteAll('one of two', ...ALL, PODS)
  }),
  scenario('claim: waits for a provisioner that is not here', async (testbed) => {
    const name = named(testbed, 'class')
    await testbed.create({ ...storageClass(name, 'Immediate'), provisioner: 'parity.test/none' })
    await testbed.create(claim('data', '1Gi', { storageClassName: name }))
    await testbed.until('asked for', async () => (await testbed.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.metadata.annotations !== undefined)
    await testbed.noteAll('asked for', ...ALL)
    await testbed.noteEvents('asked for')
  }),
  scenario('claim: a pod makes it wait for a provisioner', async (testbed) => {
    const name = named(testbed, 'class')
    await testbed.create({ ...storageClass(name, 'WaitForFirstConsumer'), provisioner: 'parity.test/none' })
    await testbed.create(claim('data', '1Gi', { storageClassName: name }))
    await testbed.create(pod('user', {}, using('data')))
    await testbed.until('a node is chosen', async () => {
      const { metadata } = (await testbed.get(PERSISTENT_VOLUME_CLAIMS, 'data')) ?? { metadata: {} as never }
      return (
        metadata.annotations?.['volume.kubernetes.io/selected-node'] !== undefined &&
        metadata.annotations['volume.kubernetes.io/storage-provisioner'] !== undefined
      )
    })
    await testbed.noteAll('asked for', ...ALL, PODS)
  }),
  scenario(
    'claim: a bound one is resized in words only',
    async (testbed) => {
      const name = named(testbed, 'class')
      await testbed.create({ ...storageClass(name, 'Immediate'), allowVolumeExpansion: true })
      await addVolume(testbed, 'one', '1Gi', { storageClassName: name })
      await testbed.create(claim('data', '1Gi', { storageClassName: name }))
      await bound(testbed, 'data')
      await testbed.patch(PERSISTENT_VOLUME_CLAIMS, 'data', { spec: { resources: { requests: { storage: '2Gi' } } } })
      await testbed.noteAll('asked for more', ...ALL)
      await testbed.noteEvents('asked for more')
    },
    { differs: 'volumes are not made larger, and no event says that somebody else should' },
  ),
]
