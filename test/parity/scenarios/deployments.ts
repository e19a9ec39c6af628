/** Deployments that come up, are scaled, paused, adopted and deleted. Rollouts are in rollouts.ts. */
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { deployment, NOWHERE, replicaSet, template } from './objects.ts'
import { gone, podsIn, rolledOut, seen, setImage } from './waits.ts'

const ALL = [DEPLOYMENTS, REPLICA_SETS, PODS] as const

async function up(stage: Stage, replicas: number, spec: Record<string, unknown> = {}): Promise<void> {
  await stage.create(deployment('web', replicas, spec))
  await rolledOut(stage, 'web')
}

export const DEPLOYMENT_SCENARIOS: readonly Scenario[] = [
  scenario('deployment: comes up', async (stage) => {
    await up(stage, 3)
    await stage.noteAll('up', ...ALL)
    await stage.noteEvents('up')
  }),
  scenario('deployment: with no pods at all', async (stage) => {
    await up(stage, 0)
    await stage.noteAll('empty', ...ALL)
    await stage.noteEvents('empty')
  }),
  scenario('deployment: scaled up and down', async (stage) => {
    await up(stage, 2)
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 5 } })
    await rolledOut(stage, 'web')
    await stage.noteAll('more', ...ALL)
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 1 } })
    await rolledOut(stage, 'web')
    await stage.noteAll('fewer', ...ALL)
    await stage.noteEvents('scaled')
  }),
  scenario('deployment: scaled to zero', async (stage) => {
    await up(stage, 2)
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 0 } })
    await rolledOut(stage, 'web')
    await stage.noteAll('zero', ...ALL)
    await stage.noteEvents('zero')
  }),
  scenario('deployment: a lost pod is replaced', async (stage) => {
    await up(stage, 2)
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
    await gone(stage, PODS, first?.metadata.name ?? '')
    await rolledOut(stage, 'web')
    await stage.noteAll('replaced', ...ALL)
    await stage.noteEvents('replaced')
  }),
  scenario('deployment: its deleted replica set is made again', async (stage) => {
    await up(stage, 2)
    const [set] = await stage.list(REPLICA_SETS)
    await stage.delete(REPLICA_SETS, set?.metadata.name ?? '', { propagationPolicy: 'Foreground' })
    await stage.until('another set', async () =>
      (await stage.list(REPLICA_SETS)).some(({ metadata }) => metadata.uid !== set?.metadata.uid),
    )
    await rolledOut(stage, 'web')
    await stage.until('the old one is gone', async () => (await stage.list(REPLICA_SETS)).length === 1)
    await stage.noteAll('again', ...ALL)
  }),
  scenario('deployment: annotations travel to the replica set, labels do not', async (stage) => {
    await up(stage, 1)
    await stage.patch(DEPLOYMENTS, 'web', { metadata: { annotations: { 'parity.test/note': 'one' }, labels: { tier: 'front' } } })
    await stage.until('copied', async () =>
      (await stage.list(REPLICA_SETS)).some(({ metadata }) => metadata.annotations?.['parity.test/note'] === 'one'),
    )
    await stage.noteAll('annotated', ...ALL)
  }),
  scenario('deployment: paused from the start has no replica set', async (stage) => {
    await stage.create(deployment('web', 2, { paused: true }))
    await seen(stage, DEPLOYMENTS, 'web')
    await stage.noteAll('paused', ...ALL)
    await stage.noteEvents('paused')
  }),
  scenario('deployment: paused, changed, resumed', async (stage) => {
    await up(stage, 2)
    await stage.patch(DEPLOYMENTS, 'web', { spec: { paused: true } })
    await seen(stage, DEPLOYMENTS, 'web')
    await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await seen(stage, DEPLOYMENTS, 'web')
    await stage.noteAll('paused', ...ALL)
    await stage.patch(DEPLOYMENTS, 'web', { spec: { paused: false } })
    await rolledOut(stage, 'web')
    await stage.noteAll('resumed', ...ALL)
    await stage.noteEvents('resumed')
  }),
  scenario('deployment: scaled while paused', async (stage) => {
    await up(stage, 2)
    await stage.patch(DEPLOYMENTS, 'web', { spec: { paused: true } })
    await seen(stage, DEPLOYMENTS, 'web')
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 4 } })
    await rolledOut(stage, 'web')
    await stage.noteAll('scaled', ...ALL)
    await stage.noteEvents('scaled')
  }),
  scenario('deployment: waits minReadySeconds', async (stage) => {
    await stage.create(deployment('web', 2, { minReadySeconds: 8 }))
    await seen(stage, DEPLOYMENTS, 'web', ({ status }) => status?.readyReplicas === 2)
    await stage.noteAll('ready', ...ALL)
    await rolledOut(stage, 'web')
    await stage.noteAll('available', ...ALL)
  }),
  scenario('deployment: progress deadline exceeded', async (stage) => {
    await stage.create(deployment('web', 2, { progressDeadlineSeconds: 2, template: template('web', 'app:1', NOWHERE) }))
    await seen(
      stage,
      DEPLOYMENTS,
      'web',
      ({ status }) => status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded') === true,
    )
    await stage.noteAll('late', ...ALL)
    await stage.noteEvents('late')
    await stage.update(DEPLOYMENTS, 'web', (web) => {
      if (web.spec !== undefined) web.spec.template = template('web', 'app:2')
    })
    await rolledOut(stage, 'web')
    await stage.noteAll('repaired', ...ALL)
  }),
  scenario('deployment: adopts a replica set with its template', async (stage) => {
    await stage.create(replicaSet('web', 2))
    await podsIn(stage, 2, 'Running')
    await up(stage, 2)
    await stage.noteAll('adopted', ...ALL)
    await stage.noteEvents('adopted')
  }),
  scenario('deployment: adopts a replica set with another template and rolls', async (stage) => {
    await stage.create(replicaSet('web', 2, { template: template('web', 'app:0') }))
    await podsIn(stage, 2, 'Running')
    await up(stage, 2)
    await stage.noteAll('adopted', ...ALL)
  }),
  scenario('deployment: lets go of a relabelled replica set', async (stage) => {
    await up(stage, 1)
    const [set] = await stage.list(REPLICA_SETS)
    await stage.patch(REPLICA_SETS, set?.metadata.name ?? '', { metadata: { labels: { app: 'other' } } })
    await stage.until(
      'let go',
      async () => ((await stage.get(REPLICA_SETS, set?.metadata.name ?? ''))?.metadata.ownerReferences ?? []).length === 0,
    )
    await stage.noteAll('released', ...ALL)
  }),
  scenario('deployment: deleted in the background', async (stage) => {
    await up(stage, 2)
    await stage.delete(DEPLOYMENTS, 'web', { propagationPolicy: 'Background' })
    await stage.until('no pods', async () => (await stage.list(PODS)).length === 0)
    await stage.noteAll('gone', ...ALL)
    await stage.noteEvents('gone')
  }),
  scenario('deployment: deleted in the foreground', async (stage) => {
    await up(stage, 2)
    await stage.delete(DEPLOYMENTS, 'web', { propagationPolicy: 'Foreground' })
    await gone(stage, DEPLOYMENTS, 'web')
    await stage.noteAll('gone', ...ALL)
  }),
  scenario('deployment: deleted, its replica sets orphaned', async (stage) => {
    await up(stage, 2)
    await stage.delete(DEPLOYMENTS, 'web', { propagationPolicy: 'Orphan' })
    await gone(stage, DEPLOYMENTS, 'web')
    await stage.noteAll('orphaned', ...ALL)
  }),
]
