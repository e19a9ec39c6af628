/** Deployments that come up, are scaled, paused, adopted and deleted. Rollouts are in rollouts.ts. */
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { deployment, NOWHERE, replicaSet, template } from './objects.ts'
import { gone, podsIn, rolledOut, seen, setImage } from './waits.ts'

const ALL = [DEPLOYMENTS, REPLICA_SETS, PODS] as const

async function up(testbed: Testbed, replicas: number, spec: Record<string, unknown> = {}): Promise<void> {
  await testbed.create(deployment('web', replicas, spec))
  await rolledOut(testbed, 'web')
}

export const DEPLOYMENT_SCENARIOS: readonly Scenario[] = [
  scenario('deployment: comes up', async (testbed) => {
    await up(testbed, 3)
    await testbed.noteAll('up', ...ALL)
    await testbed.noteEvents('up')
  }),
  scenario('deployment: with no pods at all', async (testbed) => {
    await up(testbed, 0)
    await testbed.noteAll('empty', ...ALL)
    await testbed.noteEvents('empty')
  }),
  scenario('deployment: scaled up and down', async (testbed) => {
    await up(testbed, 2)
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 5 } })
    await rolledOut(testbed, 'web')
    await testbed.noteAll('more', ...ALL)
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 1 } })
    await rolledOut(testbed, 'web')
    await testbed.noteAll('fewer', ...ALL)
    await testbed.noteEvents('scaled')
  }),
  scenario('deployment: scaled to zero', async (testbed) => {
    await up(testbed, 2)
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 0 } })
    await rolledOut(testbed, 'web')
    await testbed.noteAll('zero', ...ALL)
    await testbed.noteEvents('zero')
  }),
  scenario('deployment: a lost pod is replaced', async (testbed) => {
    await up(testbed, 2)
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
    await gone(testbed, PODS, first?.metadata.name ?? '')
    await rolledOut(testbed, 'web')
    await testbed.noteAll('replaced', ...ALL)
    await testbed.noteEvents('replaced')
  }),
  scenario('deployment: its deleted replica set is made again', async (testbed) => {
    await up(testbed, 2)
    const [set] = await testbed.list(REPLICA_SETS)
    await testbed.delete(REPLICA_SETS, set?.metadata.name ?? '', { propagationPolicy: 'Foreground' })
    await testbed.until('another set', async () =>
      (await testbed.list(REPLICA_SETS)).some(({ metadata }) => metadata.uid !== set?.metadata.uid),
    )
    await rolledOut(testbed, 'web')
    await testbed.until('the old one is gone', async () => (await testbed.list(REPLICA_SETS)).length === 1)
    await testbed.noteAll('again', ...ALL)
  }),
  scenario('deployment: annotations travel to the replica set, labels do not', async (testbed) => {
    await up(testbed, 1)
    await testbed.patch(DEPLOYMENTS, 'web', { metadata: { annotations: { 'parity.test/note': 'one' }, labels: { tier: 'front' } } })
    await testbed.until('copied', async () =>
      (await testbed.list(REPLICA_SETS)).some(({ metadata }) => metadata.annotations?.['parity.test/note'] === 'one'),
    )
    await testbed.noteAll('annotated', ...ALL)
  }),
  scenario('deployment: paused from the start has no replica set', async (testbed) => {
    await testbed.create(deployment('web', 2, { paused: true }))
    await seen(testbed, DEPLOYMENTS, 'web')
    await testbed.noteAll('paused', ...ALL)
    await testbed.noteEvents('paused')
  }),
  scenario('deployment: paused, changed, resumed', async (testbed) => {
    await up(testbed, 2)
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { paused: true } })
    await seen(testbed, DEPLOYMENTS, 'web')
    await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await seen(testbed, DEPLOYMENTS, 'web')
    await testbed.noteAll('paused', ...ALL)
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { paused: false } })
    await rolledOut(testbed, 'web')
    await testbed.noteAll('resumed', ...ALL)
    await testbed.noteEvents('resumed')
  }),
  scenario('deployment: scaled while paused', async (testbed) => {
    await up(testbed, 2)
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { paused: true } })
    await seen(testbed, DEPLOYMENTS, 'web')
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 4 } })
    await rolledOut(testbed, 'web')
    await testbed.noteAll('scaled', ...ALL)
    await testbed.noteEvents('scaled')
  }),
  scenario('deployment: waits minReadySeconds', async (testbed) => {
    await testbed.create(deployment('web', 2, { minReadySeconds: 8 }))
    await seen(testbed, DEPLOYMENTS, 'web', ({ status }) => status?.readyReplicas === 2)
    await testbed.noteAll('ready', ...ALL)
    await rolledOut(testbed, 'web')
    await testbed.noteAll('available', ...ALL)
  }),
  scenario('deployment: progress deadline exceeded', async (testbed) => {
    await testbed.create(deployment('web', 2, { progressDeadlineSeconds: 2, template: template('web', 'app:1', NOWHERE) }))
    await seen(
      testbed,
      DEPLOYMENTS,
      'web',
      ({ status }) => status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded') === true,
    )
    await testbed.noteAll('late', ...ALL)
    await testbed.noteEvents('late')
    await testbed.update(DEPLOYMENTS, 'web', (web) => {
      if (web.spec !== undefined) web.spec.template = template('web', 'app:2')
    })
    await rolledOut(testbed, 'web')
    await testbed.noteAll('repaired', ...ALL)
  }),
  scenario('deployment: adopts a replica set with its template', async (testbed) => {
    await testbed.create(replicaSet('web', 2))
    await podsIn(testbed, 2, 'Running')
    await up(testbed, 2)
    await testbed.noteAll('adopted', ...ALL)
    await testbed.noteEvents('adopted')
  }),
  scenario('deployment: adopts a replica set with another template and rolls', async (testbed) => {
    await testbed.create(replicaSet('web', 2, { template: template('web', 'app:0') }))
    await podsIn(testbed, 2, 'Running')
    await up(testbed, 2)
    await testbed.noteAll('adopted', ...ALL)
  }),
  scenario('deployment: lets go of a relabelled replica set', async (testbed) => {
    await up(testbed, 1)
    const [set] = await testbed.list(REPLICA_SETS)
    await testbed.patch(REPLICA_SETS, set?.metadata.name ?? '', { metadata: { labels: { app: 'other' } } })
    await testbed.until(
      'let go',
      async () => ((await testbed.get(REPLICA_SETS, set?.metadata.name ?? ''))?.metadata.ownerReferences ?? []).length === 0,
    )
    await testbed.noteAll('released', ...ALL)
  }),
  scenario('deployment: deleted in the background', async (testbed) => {
    await up(testbed, 2)
    await testbed.delete(DEPLOYMENTS, 'web', { propagationPolicy: 'Background' })
    await testbed.until('no pods', async () => (await testbed.list(PODS)).length === 0)
    await testbed.noteAll('gone', ...ALL)
    await testbed.noteEvents('gone')
  }),
  scenario('deployment: deleted in the foreground', async (testbed) => {
    await up(testbed, 2)
    await testbed.delete(DEPLOYMENTS, 'web', { propagationPolicy: 'Foreground' })
    await gone(testbed, DEPLOYMENTS, 'web')
    await testbed.noteAll('gone', ...ALL)
  }),
  scenario('deployment: deleted, its replica sets orphaned', async (testbed) => {
    await up(testbed, 2)
    await testbed.delete(DEPLOYMENTS, 'web', { propagationPolicy: 'Orphan' })
    await gone(testbed, DEPLOYMENTS, 'web')
    await testbed.noteAll('orphaned', ...ALL)
  }),
]
