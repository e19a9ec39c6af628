/** Claims and volumes: how they find each other, what protects them, what becomes of a released volume. */
import { NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { StorageClass } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { claim, pod, using, volume } from './objects.ts'
import { gone, podsIn } from './waits.ts'

const ALL = [PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES] as const

/** Volumes and classes belong to no namespace: their names carry the scenario's. */
const named = (stage: Stage, name: string): string => `${stage.namespace}-${name}`

const storageClass = (name: string, volumeBindingMode: string, annotations?: Record<string, string>): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, annotations },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode,
})

/** A class of the scenario's own, whose volumes are directories that nobody looks at. */
async function withClass(stage: Stage, mode: 'Immediate' | 'WaitForFirstConsumer'): Promise<string> {
  const name = named(stage, 'class')
  await stage.create(storageClass(name, mode))
  return name
}

async function addVolume(stage: Stage, name: string, size: string, spec: Record<string, unknown> = {}): Promise<void> {
  const source = spec.csi === undefined && spec.nfs === undefined ? { hostPath: { path: '/parity' }, csi: undefined } : { csi: undefined }
  await stage.create(volume(named(stage, name), size, { ...source, ...spec }))
  await stage.until(
    'the volume is known',
    async () => (await stage.get(PERSISTENT_VOLUMES, named(stage, name)))?.status?.phase !== 'Pending',
  )
}

const bound = (stage: Stage, name: string) =>
  stage.until(`claim ${name} is bound`, async () => (await stage.get(PERSISTENT_VOLUME_CLAIMS, name))?.status?.phase === 'Bound')

const volumeIs = (stage: Stage, name: string, phase: string) =>
  stage.until(`volume ${name} is ${phase}`, async () => (await stage.get(PERSISTENT_VOLUMES, named(stage, name)))?.status?.phase === phase)

export const STORAGE_SCENARIOS: readonly Scenario[] = [
  scenario('claim: Immediate, bound to the smallest volume that fits', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    for (const [name, size] of [
      ['huge', '9Gi'],
      ['right', '2Gi'],
      ['small', '1Mi'],
    ] as const)
      await addVolume(stage, name, size, { storageClassName })
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await bound(stage, 'data')
    await stage.noteAll('bound', ...ALL)
    await stage.noteEvents('bound')
  }),
  scenario('claim: no volume fits', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    await addVolume(stage, 'small', '1Mi', { storageClassName })
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await stage.until('told', async () => (await stage.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Pending')
    await stage.noteAll('pending', ...ALL)
    await stage.noteEvents('pending')
    await addVolume(stage, 'late', '1Gi', { storageClassName })
    await bound(stage, 'data')
    await stage.noteAll('bound', ...ALL)
  }),
  scenario('claim: no class at all', async (stage) => {
    await addVolume(stage, 'plain', '1Gi')
    await stage.create(claim('data', '1Gi', { storageClassName: '', volumeName: named(stage, 'plain') }))
    await bound(stage, 'data')
    await stage.noteAll('bound', ...ALL)
    await stage.noteEvents('bound')
  }),
  scenario('claim: a class that does not exist', async (stage) => {
    await stage.create(claim('data', '1Gi', { storageClassName: named(stage, 'absent') }))
    await stage.until('told', async () => (await stage.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Pending')
    await stage.noteAll('pending', ...ALL)
    await stage.noteEvents('pending')
  }),
  scenario('claim: by selector', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    for (const tier of ['slow', 'fast']) {
      const one = volume(named(stage, tier), '1Gi', { storageClassName, csi: undefined, hostPath: { path: '/parity' } })
      one.metadata.labels = { tier }
      await stage.create(one)
    }
    await stage.create(claim('data', '1Gi', { storageClassName, selector: { matchLabels: { tier: 'fast' } } }))
    await bound(stage, 'data')
    await stage.noteAll('bound', ...ALL)
  }),
  scenario('claim: access modes must fit', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    await addVolume(stage, 'one', '1Gi', { storageClassName })
    await addVolume(stage, 'many', '5Gi', { storageClassName, accessModes: ['ReadWriteOnce', 'ReadWriteMany'] })
    await stage.create(claim('data', '1Gi', { storageClassName, accessModes: ['ReadWriteMany'] }))
    await bound(stage, 'data')
    await stage.noteAll('bound', ...ALL)
  }),
  scenario('claim: a volume kept for it', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    await addVolume(stage, 'small', '1Gi', { storageClassName })
    await addVolume(stage, 'kept', '5Gi', { storageClassName, claimRef: { namespace: stage.namespace, name: 'data' } })
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await bound(stage, 'data')
    await stage.noteAll('bound', ...ALL)
  }),
  scenario('claim: WaitForFirstConsumer waits for a pod', async (stage) => {
    const storageClassName = await withClass(stage, 'WaitForFirstConsumer')
    await addVolume(stage, 'one', '1Gi', { storageClassName })
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await stage.until('pending', async () => (await stage.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Pending')
    await stage.noteAll('waiting', ...ALL)
    await stage.noteEvents('waiting')
    await stage.create(pod('user', {}, using('data')))
    await podsIn(stage, 1, 'Running')
    await bound(stage, 'data')
    await stage.noteAll('bound', ...ALL, PODS)
  }),
  scenario('claim: WaitForFirstConsumer and no volume', async (stage) => {
    const storageClassName = await withClass(stage, 'WaitForFirstConsumer')
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await stage.create(pod('user', {}, using('data')))
    await stage.until('refused', async () => (await stage.get(PODS, 'user'))?.status?.conditions?.[0]?.reason === 'Unschedulable')
    await stage.noteAll('pending', ...ALL, PODS)
  }),
  scenario('claim: protected while a pod uses it', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    await addVolume(stage, 'one', '1Gi', { storageClassName, persistentVolumeReclaimPolicy: 'Retain' })
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await bound(stage, 'data')
    await stage.create(pod('user', {}, using('data')))
    await podsIn(stage, 1, 'Running')
    await stage.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await stage.noteAll('held', ...ALL, PODS)
    await stage.delete(PODS, 'user')
    await gone(stage, PERSISTENT_VOLUME_CLAIMS, 'data')
    await volumeIs(stage, 'one', 'Released')
    await stage.noteAll('released', ...ALL, PODS)
    await stage.noteEvents('released')
  }),
  scenario('volume: protected while bound', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    await addVolume(stage, 'one', '1Gi', { storageClassName })
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await bound(stage, 'data')
    await stage.delete(PERSISTENT_VOLUMES, named(stage, 'one'))
    await stage.noteAll('held', ...ALL)
    await stage.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await gone(stage, PERSISTENT_VOLUMES, named(stage, 'one'))
    await stage.noteAll('gone', ...ALL)
  }),
  scenario('volume: Delete without anybody who can', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    await addVolume(stage, 'one', '1Gi', {
      storageClassName,
      persistentVolumeReclaimPolicy: 'Delete',
      nfs: { server: 'nowhere', path: '/' },
    })
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await bound(stage, 'data')
    await stage.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await volumeIs(stage, 'one', 'Failed')
    await stage.noteAll('failed', ...ALL)
  }),
  scenario('claim: lost when its volume is gone', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    await addVolume(stage, 'one', '1Gi', { storageClassName })
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await bound(stage, 'data')
    await stage.delete(PERSISTENT_VOLUMES, named(stage, 'one'))
    await stage.patch(PERSISTENT_VOLUMES, named(stage, 'one'), { metadata: { finalizers: null } })
    await stage.until('lost', async () => (await stage.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Lost')
    await stage.noteAll('lost', ...ALL)
    await stage.noteEvents('lost')
  }),
  scenario(
    'claim: the newest default class is taken',
    async (stage) => {
      const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' }
      // Classes are as old as their second.
      await stage.pass(1.1)
      await stage.create(storageClass(named(stage, 'class'), 'Immediate', isDefault))
      await stage.pass(1.1)
      await stage.create(claim('data', '1Gi'))
      await stage.until('pending', async () => (await stage.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.status?.phase === 'Pending')
      await stage.noteAll('pending', ...ALL)
    },
    { alone: true },
  ),
  scenario('claim: an ephemeral volume of a pod', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } }
    await addVolume(stage, 'one', '1Gi', { storageClassName })
    await stage.create(pod('user', {}, { volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }] }))
    await podsIn(stage, 1, 'Running')
    await stage.noteAll('running', ...ALL, PODS)
    await stage.delete(PODS, 'user')
    await gone(stage, PERSISTENT_VOLUME_CLAIMS, 'user-scratch')
    await stage.noteAll('gone', ...ALL, PODS)
  }),
  scenario('claim: the pod goes where its volume is', async (stage) => {
    const [first = ''] = (await stage.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()
    const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [first] }] }]
    for (const mode of ['Immediate', 'WaitForFirstConsumer'] as const) {
      const storageClassName = named(stage, mode.toLowerCase())
      await stage.create(storageClass(storageClassName, mode))
      await addVolume(stage, `of-${mode.toLowerCase()}`, '1Gi', {
        storageClassName,
        nodeAffinity: { required: { nodeSelectorTerms: terms } },
      })
      await stage.create(claim(mode.toLowerCase(), '1Gi', { storageClassName }))
      await stage.create(pod(`user-${mode.toLowerCase()}`, {}, using(mode.toLowerCase())))
    }
    const pods = await podsIn(stage, 2, 'Running')
    stage.note(
      'there',
      pods.every(({ spec }) => spec?.nodeName === first),
    )
    await stage.noteAll('there', ...ALL, PODS)
  }),
  scenario('claim: a volume on no node there is', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['elsewhere'] }] }]
    await addVolume(stage, 'far', '1Gi', { storageClassName, nodeAffinity: { required: { nodeSelectorTerms: terms } } })
    await stage.create(claim('data', '1Gi', { storageClassName }))
    await bound(stage, 'data')
    await stage.create(pod('user', {}, using('data')))
    await stage.until('refused', async () => (await stage.get(PODS, 'user'))?.status?.conditions?.[0]?.reason === 'Unschedulable')
    await stage.noteAll('pending', ...ALL, PODS)
    await stage.noteEvents('pending')
  }),
  scenario('claim: ReadWriteOncePod is for one pod', async (stage) => {
    const storageClassName = await withClass(stage, 'Immediate')
    await addVolume(stage, 'one', '1Gi', {
      storageClassName,
      accessModes: ['ReadWriteOncePod'],
      csi: { driver: 'parity.test', volumeHandle: 'one' },
    })
    await stage.create(claim('data', '1Gi', { storageClassName, accessModes: ['ReadWriteOncePod'] }))
    await bound(stage, 'data')
    await stage.create(pod('first', {}, using('data')))
    await stage.until('scheduled', async () => (await stage.get(PODS, 'first'))?.spec?.nodeName !== undefined)
    await stage.create(pod('second', {}, using('data')))
    await stage.until('refused', async () => (await stage.get(PODS, 'second'))?.status?.conditions?.[0]?.reason === 'Unschedulable')
    await stage.noteAll('one of two', ...ALL, PODS)
  }),
  scenario('claim: waits for a provisioner that is not here', async (stage) => {
    const name = named(stage, 'class')
    await stage.create({ ...storageClass(name, 'Immediate'), provisioner: 'parity.test/none' })
    await stage.create(claim('data', '1Gi', { storageClassName: name }))
    await stage.until('asked for', async () => (await stage.get(PERSISTENT_VOLUME_CLAIMS, 'data'))?.metadata.annotations !== undefined)
    await stage.noteAll('asked for', ...ALL)
    await stage.noteEvents('asked for')
  }),
  scenario('claim: a pod makes it wait for a provisioner', async (stage) => {
    const name = named(stage, 'class')
    await stage.create({ ...storageClass(name, 'WaitForFirstConsumer'), provisioner: 'parity.test/none' })
    await stage.create(claim('data', '1Gi', { storageClassName: name }))
    await stage.create(pod('user', {}, using('data')))
    await stage.until('a node is chosen', async () => {
      const { metadata } = (await stage.get(PERSISTENT_VOLUME_CLAIMS, 'data')) ?? { metadata: {} as never }
      return (
        metadata.annotations?.['volume.kubernetes.io/selected-node'] !== undefined &&
        metadata.annotations['volume.kubernetes.io/storage-provisioner'] !== undefined
      )
    })
    await stage.noteAll('asked for', ...ALL, PODS)
  }),
  scenario(
    'claim: a bound one is resized in words only',
    async (stage) => {
      const name = named(stage, 'class')
      await stage.create({ ...storageClass(name, 'Immediate'), allowVolumeExpansion: true })
      await addVolume(stage, 'one', '1Gi', { storageClassName: name })
      await stage.create(claim('data', '1Gi', { storageClassName: name }))
      await bound(stage, 'data')
      await stage.patch(PERSISTENT_VOLUME_CLAIMS, 'data', { spec: { resources: { requests: { storage: '2Gi' } } } })
      await stage.noteAll('asked for more', ...ALL)
      await stage.noteEvents('asked for more')
    },
    { differs: 'volumes are not made larger, and no event says that somebody else should' },
  ),
]
