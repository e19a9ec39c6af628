/** StatefulSets: order, identity, updates, revisions and claims. */
import { CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { StatefulSet } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
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

async function up(stage: Stage, replicas: number, spec: Record<string, unknown> = {}): Promise<void> {
  await stage.create(statefulSet('db', replicas, spec))
  await setIsUp(stage, 'db')
}

const change = (stage: Stage, how: (spec: NonNullable<StatefulSet['spec']>) => void) =>
  stage.update(STATEFUL_SETS, 'db', ({ spec }) => {
    if (spec !== undefined) how(spec)
  })

/** Pods with these claims never run, for there are no volumes: so they are made at once. */
const claiming = { ...CLAIMS, podManagementPolicy: 'Parallel' }

export const STATEFUL_SET_SCENARIOS: readonly Scenario[] = [
  scenario('stateful set: comes up', async (stage) => {
    await up(stage, 3)
    await stage.noteAll('up', ...ALL)
    await stage.noteEvents('up')
  }),
  scenario('stateful set: one after the other, and the first is stuck', async (stage) => {
    await stage.create(statefulSet('db', 3, { template: template('db', 'app:1', NOWHERE) }))
    await podsIn(stage, 1, 'Pending')
    await stage.noteAll('stuck', ...ALL)
    await stage.noteEvents('stuck')
  }),
  scenario('stateful set: Parallel does not wait', async (stage) => {
    await stage.create(statefulSet('db', 3, { podManagementPolicy: 'Parallel', template: template('db', 'app:1', NOWHERE) }))
    await podsIn(stage, 3, 'Pending')
    await stage.noteAll('all', ...ALL)
  }),
  scenario('stateful set: the last goes first when scaled down', async (stage) => {
    await up(stage, 3)
    await stage.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await setIsUp(stage, 'db')
    await stage.noteAll('one', ...ALL)
    await stage.noteEvents('one')
  }),
  scenario('stateful set: scaling down waits for pods that are not ready', async (stage) => {
    await up(stage, 4)
    await stage.setReady(pod('db-1'), false)
    await seen(stage, STATEFUL_SETS, 'db', ({ status }) => status?.readyReplicas === 3)
    await stage.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await seen(stage, STATEFUL_SETS, 'db')
    await stage.noteAll('waits', ...ALL)
    await stage.setReady(pod('db-1'), true)
    await setIsUp(stage, 'db')
    await stage.noteAll('down', ...ALL)
  }),
  scenario('stateful set: scaled up continues the numbers', async (stage) => {
    await up(stage, 1)
    await stage.patch(STATEFUL_SETS, 'db', { spec: { replicas: 3 } })
    await setIsUp(stage, 'db')
    await stage.noteAll('three', ...ALL)
  }),
  scenario('stateful set: numbers start elsewhere', async (stage) => {
    await up(stage, 2, { ordinals: { start: 5 } })
    await stage.noteAll('five', ...ALL)
    await change(stage, (spec) => {
      spec.ordinals = { start: 6 }
    })
    await stage.until(
      'db-5 is gone',
      async () => (await stage.get(PODS, 'db-5')) === undefined && (await stage.get(PODS, 'db-7')) !== undefined,
    )
    await setIsUp(stage, 'db')
    await stage.noteAll('six', ...ALL)
  }),
  scenario('stateful set: rolls to a new image', async (stage) => {
    await up(stage, 3)
    await stage.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await setIsUpdated(stage, 'db')
    await stage.noteAll('rolled', ...ALL)
    await stage.noteEvents('rolled')
  }),
  scenario('stateful set: rolls down to its partition', async (stage) => {
    await up(stage, 4, rolling({ partition: 2 }))
    await stage.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await seen(stage, STATEFUL_SETS, 'db', ({ status }) => status?.updatedReplicas === 2 && status.availableReplicas === 4)
    await stage.noteAll('half', ...ALL)
    await stage.patch(STATEFUL_SETS, 'db', { spec: rolling({ partition: 0 }) })
    await setIsUpdated(stage, 'db')
    await stage.noteAll('whole', ...ALL)
  }),
  scenario('stateful set: a pod below the partition comes back as it was', async (stage) => {
    await up(stage, 2, rolling({ partition: 1 }))
    await stage.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await seen(stage, STATEFUL_SETS, 'db', ({ status }) => status?.updatedReplicas === 1 && status.availableReplicas === 2)
    const before = await stage.get(PODS, 'db-0')
    await stage.delete(PODS, 'db-0')
    await stage.until('again', async () => {
      const now = await stage.get(PODS, 'db-0')
      return now !== undefined && now.metadata.uid !== before?.metadata.uid
    })
    await setIsUp(stage, 'db')
    await stage.noteAll('again', ...ALL)
  }),
  scenario('stateful set: OnDelete updates what is deleted', async (stage) => {
    await up(stage, 2, { updateStrategy: { type: 'OnDelete' } })
    await stage.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await seen(stage, STATEFUL_SETS, 'db')
    await stage.noteAll('waits', ...ALL)
    await stage.delete(PODS, 'db-1')
    await seen(stage, STATEFUL_SETS, 'db', ({ status }) => status?.updatedReplicas === 1 && status.availableReplicas === 2)
    await stage.noteAll('one', ...ALL)
  }),
  scenario('stateful set: an update stops at the first pod that does not run', async (stage) => {
    await up(stage, 3)
    await change(stage, (spec) => {
      spec.template = stuck('db')
    })
    await seen(stage, STATEFUL_SETS, 'db', ({ status }) => status?.updatedReplicas === 1)
    await podsIn(stage, 1, 'Pending')
    await stage.noteAll('stopped', ...ALL)
  }),
  scenario('stateful set: rolled back has its old revision again', async (stage) => {
    await up(stage, 2)
    await stage.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await setIsUpdated(stage, 'db')
    await stage.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:1'))
    await seen(
      stage,
      STATEFUL_SETS,
      'db',
      ({ status }) => status?.currentRevision === status?.updateRevision && status?.availableReplicas === 2,
    )
    await stage.until('old image', async () => (await stage.list(PODS)).every(({ spec }) => spec?.containers?.[0]?.image === 'app:1'))
    await stage.noteAll('back', ...ALL)
  }),
  scenario('stateful set: keeps revisionHistoryLimit revisions', async (stage) => {
    await up(stage, 1, { revisionHistoryLimit: 1 })
    for (const image of ['app:2', 'app:3', 'app:4']) {
      await stage.update(STATEFUL_SETS, 'db', (db) => setImage(db, image))
      await setIsUpdated(stage, 'db')
    }
    await stage.noteAll('kept', ...ALL)
  }),
  scenario('stateful set: waits minReadySeconds', async (stage) => {
    await stage.create(statefulSet('db', 2, { minReadySeconds: 8 }))
    await seen(stage, STATEFUL_SETS, 'db', ({ status }) => status?.readyReplicas === 1)
    await stage.noteAll('first', ...ALL)
    await setIsUp(stage, 'db')
    await stage.noteAll('both', ...ALL)
  }),
  scenario('stateful set: a deleted pod comes back with its name', async (stage) => {
    await up(stage, 2)
    const before = await stage.get(PODS, 'db-0')
    await stage.delete(PODS, 'db-0')
    await stage.until('again', async () => {
      const now = await stage.get(PODS, 'db-0')
      return now?.status?.phase === 'Running' && now.metadata.uid !== before?.metadata.uid
    })
    await setIsUp(stage, 'db')
    await stage.noteAll('again', ...ALL)
  }),
  scenario('stateful set: a failed pod is made anew', async (stage) => {
    await up(stage, 2)
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.finish(first ?? pod(''), 1)
    await stage.until('again', async () => {
      const now = await stage.get(PODS, 'db-0')
      return now?.status?.phase === 'Running' && now.metadata.uid !== first?.metadata.uid
    })
    await setIsUp(stage, 'db')
    await stage.noteAll('anew', ...ALL)
    await stage.noteEvents('anew')
  }),
  scenario('stateful set: makes a claim for each pod and keeps it', async (stage) => {
    await stage.create(statefulSet('db', 2, claiming))
    await podsIn(stage, 2, 'Pending')
    await stage.noteAll('claims', ...ALL, PERSISTENT_VOLUME_CLAIMS)
    await stage.noteEvents('claims')
    await stage.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await podsIn(stage, 1, 'Pending')
    await stage.noteAll('fewer', ...ALL, PERSISTENT_VOLUME_CLAIMS)
  }),
  scenario('stateful set: claims go with pods scaled away', async (stage) => {
    await stage.create(
      statefulSet('db', 2, { ...claiming, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' } }),
    )
    await podsIn(stage, 2, 'Pending')
    await stage.noteAll('claims', ...ALL, PERSISTENT_VOLUME_CLAIMS)
    await stage.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await gone(stage, PERSISTENT_VOLUME_CLAIMS, 'data-db-1')
    await stage.noteAll('fewer', ...ALL, PERSISTENT_VOLUME_CLAIMS)
    await stage.delete(STATEFUL_SETS, 'db')
    await stage.until('no pods', async () => (await stage.list(PODS)).length === 0)
    await stage.noteAll('deleted', ...ALL, PERSISTENT_VOLUME_CLAIMS)
  }),
  scenario('stateful set: claims go with the set', async (stage) => {
    await stage.create(
      statefulSet('db', 2, { ...claiming, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' } }),
    )
    await podsIn(stage, 2, 'Pending')
    await stage.noteAll('claims', ...ALL, PERSISTENT_VOLUME_CLAIMS)
    await stage.delete(STATEFUL_SETS, 'db')
    await stage.until('no claims', async () => (await stage.list(PERSISTENT_VOLUME_CLAIMS)).length === 0)
    await stage.noteAll('deleted', ...ALL, PERSISTENT_VOLUME_CLAIMS)
  }),
  scenario('stateful set: deleted, its pods orphaned and adopted again', async (stage) => {
    await up(stage, 2)
    await stage.delete(STATEFUL_SETS, 'db', { propagationPolicy: 'Orphan' })
    await gone(stage, STATEFUL_SETS, 'db')
    await stage.noteAll('orphans', ...ALL)
    await up(stage, 2)
    await stage.noteAll('adopted', ...ALL)
  }),
  scenario('stateful set: maxUnavailable is not honoured yet', async (stage) => {
    await up(stage, 4, { ...rolling({ maxUnavailable: 2 }), podManagementPolicy: 'Parallel' })
    await change(stage, (spec) => {
      spec.template = stuck('db')
    })
    await seen(stage, STATEFUL_SETS, 'db', ({ status }) => (status?.updatedReplicas ?? 0) > 0)
    await stage.noteAll('one', ...ALL)
  }),
  scenario('stateful set: Parallel still updates one after the other', async (stage) => {
    await up(stage, 3, { podManagementPolicy: 'Parallel' })
    await change(stage, (spec) => {
      spec.template = stuck('db')
    })
    await podsIn(stage, 1, 'Pending')
    await stage.noteAll('one', ...ALL)
  }),
  scenario('stateful set: deleted in the foreground', async (stage) => {
    await up(stage, 2)
    await stage.delete(STATEFUL_SETS, 'db', { propagationPolicy: 'Foreground' })
    await gone(stage, STATEFUL_SETS, 'db')
    await stage.noteAll('gone', ...ALL)
  }),
]
