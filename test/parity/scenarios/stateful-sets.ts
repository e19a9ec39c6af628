/** StatefulSets: order, identity, updates, revisions and claims. */
import { CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { StatefulSet } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { NOWHERE, pod, statefulSet, stuck, template } from './objects.ts'
import { gone, podsIn, seen, setImage, setIsUp, setIsUpdated } from './waits.ts'

const ALL = [STATEFUL_SETS, PODS, CONTROLLER_REVISIONS] as const
const CLAIMS = {
  volumeClaimTemplates: [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
    },
  ],
}
const rolling = (rollingUpdate: Record<string, unknown>) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })

async function up(testbed: Testbed, replicas: number, spec: Record<string, unknown> = {}): Promise<void> {
  await testbed.create(statefulSet('db', replicas, spec))
  await setIsUp(testbed, 'db')
}

const change = (testbed: Testbed, how: (spec: NonNullable<StatefulSet['spec']>) => void) =>
  testbed.update(STATEFUL_SETS, 'db', ({ spec }) => {
    if (spec !== undefined) how(spec)
  })

/** Pods with these claims never run, for there are no volumes: so they are made at once. */
const claiming = { ...CLAIMS, podManagementPolicy: 'Parallel' }

export const STATEFUL_SET_SCENARIOS: readonly Scenario[] = [
  scenario('stateful set: comes up', async (testbed) => {
    await up(testbed, 3)
    await testbed.noteAll('up', ...ALL)
    await testbed.noteEvents('up')
  }),
  scenario('stateful set: one after the other, and the first is stuck', async (testbed) => {
    await testbed.create(statefulSet('db', 3, { template: template('db', 'app:1', NOWHERE) }))
    await podsIn(testbed, 1, 'Pending')
    await testbed.noteAll('stuck', ...ALL)
    await testbed.noteEvents('stuck')
  }),
  scenario('stateful set: Parallel does not wait', async (testbed) => {
    await testbed.create(statefulSet('db', 3, { podManagementPolicy: 'Parallel', template: template('db', 'app:1', NOWHERE) }))
    await podsIn(testbed, 3, 'Pending')
    await testbed.noteAll('all', ...ALL)
  }),
  scenario('stateful set: the last goes first when scaled down', async (testbed) => {
    await up(testbed, 3)
    await testbed.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await setIsUp(testbed, 'db')
    await testbed.noteAll('one', ...ALL)
    await testbed.noteEvents('one')
  }),
  scenario('stateful set: scaling down waits for pods that are not ready', async (testbed) => {
    await up(testbed, 4)
    await testbed.setReady(pod('db-1'), false)
    await seen(testbed, STATEFUL_SETS, 'db', ({ status }) => status?.readyReplicas === 3)
    await testbed.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await seen(testbed, STATEFUL_SETS, 'db')
    await testbed.noteAll('waits', ...ALL)
    await testbed.setReady(pod('db-1'), true)
    await setIsUp(testbed, 'db')
    await testbed.noteAll('down', ...ALL)
  }),
  scenario('stateful set: scaled up continues the numbers', async (testbed) => {
    await up(testbed, 1)
    await testbed.patch(STATEFUL_SETS, 'db', { spec: { replicas: 3 } })
    await setIsUp(testbed, 'db')
    await testbed.noteAll('three', ...ALL)
  }),
  scenario('stateful set: numbers start elsewhere', async (testbed) => {
    await up(testbed, 2, { ordinals: { start: 5 } })
    await testbed.noteAll('five', ...ALL)
    await change(testbed, (spec) => {
      spec.ordinals = { start: 6 }
    })
    await testbed.until(
      'db-5 is gone',
      async () => (await testbed.get(PODS, 'db-5')) === undefined && (await testbed.get(PODS, 'db-7')) !== undefined,
    )
    await setIsUp(testbed, 'db')
    await testbed.noteAll('six', ...ALL)
  }),
  scenario('stateful set: rolls to a new image', async (testbed) => {
    await up(testbed, 3)
    await testbed.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await setIsUpdated(testbed, 'db')
    await testbed.noteAll('rolled', ...ALL)
    await testbed.noteEvents('rolled')
  }),
  scenario('stateful set: rolls down to its partition', async (testbed) => {
    await up(testbed, 4, rolling({ partition: 2 }))
    await testbed.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await seen(testbed, STATEFUL_SETS, 'db', ({ status }) => status?.updatedReplicas === 2 && status.availableReplicas === 4)
    await testbed.noteAll('half', ...ALL)
    await testbed.patch(STATEFUL_SETS, 'db', { spec: rolling({ partition: 0 }) })
    await setIsUpdated(testbed, 'db')
    await testbed.noteAll('whole', ...ALL)
  }),
  scenario('stateful set: a pod below the partition comes back as it was', async (testbed) => {
    await up(testbed, 2, rolling({ partition: 1 }))
    await testbed.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await seen(testbed, STATEFUL_SETS, 'db', ({ status }) => status?.updatedReplicas === 1 && status.availableReplicas === 2)
    const before = await testbed.get(PODS, 'db-0')
    await testbed.delete(PODS, 'db-0')
    await testbed.until('again', async () => {
      const now = await testbed.get(PODS, 'db-0')
      return now !== undefined && now.metadata.uid !== before?.metadata.uid
    })
    await setIsUp(testbed, 'db')
    await testbed.noteAll('again', ...ALL)
  }),
  scenario('stateful set: OnDelete updates what is deleted', async (testbed) => {
    await up(testbed, 2, { updateStrategy: { type: 'OnDelete' } })
    await testbed.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await seen(testbed, STATEFUL_SETS, 'db')
    await testbed.noteAll('waits', ...ALL)
    await testbed.delete(PODS, 'db-1')
    await seen(testbed, STATEFUL_SETS, 'db', ({ status }) => status?.updatedReplicas === 1 && status.availableReplicas === 2)
    await testbed.noteAll('one', ...ALL)
  }),
  scenario('stateful set: an update stops at the first pod that does not run', async (testbed) => {
    await up(testbed, 3)
    await change(testbed, (spec) => {
      spec.template = stuck('db')
    })
    await seen(testbed, STATEFUL_SETS, 'db', ({ status }) => status?.updatedReplicas === 1)
    await podsIn(testbed, 1, 'Pending')
    await testbed.noteAll('stopped', ...ALL)
  }),
  scenario('stateful set: rolled back has its old revision again', async (testbed) => {
    await up(testbed, 2)
    await testbed.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await setIsUpdated(testbed, 'db')
    await testbed.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:1'))
    await seen(
      testbed,
      STATEFUL_SETS,
      'db',
      ({ status }) => status?.currentRevision === status?.updateRevision && status?.availableReplicas === 2,
    )
    await testbed.until('old image', async () => (await testbed.list(PODS)).every(({ spec }) => spec?.containers?.[0]?.image === 'app:1'))
    await testbed.noteAll('back', ...ALL)
  }),
  scenario('stateful set: keeps revisionHistoryLimit revisions', async (testbed) => {
    await up(testbed, 1, { revisionHistoryLimit: 1 })
    for (const image of ['app:2', 'app:3', 'app:4']) {
      await testbed.update(STATEFUL_SETS, 'db', (db) => setImage(db, image))
      await setIsUpdated(testbed, 'db')
    }
    await testbed.noteAll('kept', ...ALL)
  }),
  scenario('stateful set: waits minReadySeconds', async (testbed) => {
    await testbed.create(statefulSet('db', 2, { minReadySeconds: 8 }))
    await seen(testbed, STATEFUL_SETS, 'db', ({ status }) => status?.readyReplicas === 1)
    await testbed.noteAll('first', ...ALL)
    await setIsUp(testbed, 'db')
    await testbed.noteAll('both', ...ALL)
  }),
  scenario('stateful set: a deleted pod comes back with its name', async (testbed) => {
    await up(testbed, 2)
    const before = await testbed.get(PODS, 'db-0')
    await testbed.delete(PODS, 'db-0')
    await testbed.until('again', async () => {
      const now = await testbed.get(PODS, 'db-0')
      return now?.status?.phase === 'Running' && now.metadata.uid !== before?.metadata.uid
    })
    await setIsUp(testbed, 'db')
    await testbed.noteAll('again', ...ALL)
  }),
  scenario('stateful set: a failed pod is made anew', async (testbed) => {
    await up(testbed, 2)
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.finish(first ?? pod(''), 1)
    await testbed.until('again', async () => {
      const now = await testbed.get(PODS, 'db-0')
      return now?.status?.phase === 'Running' && now.metadata.uid !== first?.metadata.uid
    })
    await setIsUp(testbed, 'db')
    await testbed.noteAll('anew', ...ALL)
    await testbed.noteEvents('anew')
  }),
  scenario('stateful set: makes a claim for each pod and keeps it', async (testbed) => {
    await testbed.create(statefulSet('db', 2, claiming))
    await podsIn(testbed, 2, 'Pending')
    await testbed.noteAll('claims', ...ALL, PERSISTENT_VOLUME_CLAIMS)
    await testbed.noteEvents('claims')
    await testbed.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await podsIn(testbed, 1, 'Pending')
    await testbed.noteAll('fewer', ...ALL, PERSISTENT_VOLUME_CLAIMS)
  }),
  scenario('stateful set: claims go with pods scaled away', async (testbed) => {
    await testbed.create(
      statefulSet('db', 2, { ...claiming, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' } }),
    )
    await podsIn(testbed, 2, 'Pending')
    await testbed.noteAll('claims', ...ALL, PERSISTENT_VOLUME_CLAIMS)
    await testbed.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await gone(testbed, PERSISTENT_VOLUME_CLAIMS, 'data-db-1')
    await testbed.noteAll('fewer', ...ALL, PERSISTENT_VOLUME_CLAIMS)
    await testbed.delete(STATEFUL_SETS, 'db')
    await testbed.until('no pods', async () => (await testbed.list(PODS)).length === 0)
    await testbed.noteAll('deleted', ...ALL, PERSISTENT_VOLUME_CLAIMS)
  }),
  scenario('stateful set: claims go with the set', async (testbed) => {
    await testbed.create(
      statefulSet('db', 2, { ...claiming, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' } }),
    )
    await podsIn(testbed, 2, 'Pending')
    await testbed.noteAll('claims', ...ALL, PERSISTENT_VOLUME_CLAIMS)
    await testbed.delete(STATEFUL_SETS, 'db')
    await testbed.until('no claims', async () => (await testbed.list(PERSISTENT_VOLUME_CLAIMS)).length === 0)
    await testbed.noteAll('deleted', ...ALL, PERSISTENT_VOLUME_CLAIMS)
  }),
  scenario('stateful set: deleted, its pods orphaned and adopted again', async (testbed) => {
    await up(testbed, 2)
    await testbed.delete(STATEFUL_SETS, 'db', { propagationPolicy: 'Orphan' })
    await gone(testbed, STATEFUL_SETS, 'db')
    await testbed.noteAll('orphans', ...ALL)
    await up(testbed, 2)
    await testbed.noteAll('adopted', ...ALL)
  }),
  scenario('stateful set: maxUnavailable is not honoured yet', async (testbed) => {
    await up(testbed, 4, { ...rolling({ maxUnavailable: 2 }), podManagementPolicy: 'Parallel' })
    await change(testbed, (spec) => {
      spec.template = stuck('db')
    })
    await seen(testbed, STATEFUL_SETS, 'db', ({ status }) => (status?.updatedReplicas ?? 0) > 0)
    await testbed.noteAll('one', ...ALL)
  }),
  scenario('stateful set: Parallel still updates one after the other', async (testbed) => {
    await up(testbed, 3, { podManagementPolicy: 'Parallel' })
    await change(testbed, (spec) => {
      spec.template = stuck('db')
    })
    await podsIn(testbed, 1, 'Pending')
    await testbed.noteAll('one', ...ALL)
  }),
  scenario('stateful set: deleted in the foreground', async (testbed) => {
    await up(testbed, 2)
    await testbed.delete(STATEFUL_SETS, 'db', { propagationPolicy: 'Foreground' })
    await gone(testbed, STATEFUL_SETS, 'db')
    await testbed.noteAll('gone', ...ALL)
  }),
]
