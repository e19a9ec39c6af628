/** Rollouts of Deployments: their bounds, strategies, history, and what scaling does in the middle of one. */
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Deployment, ReplicaSet } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { deployment, stuck, template } from './objects.ts'
import { rolledOut, seen, setImage } from './waits.ts'

const ALL = [DEPLOYMENTS, REPLICA_SETS, PODS] as const
const REVISION = 'deployment.kubernetes.io/revision'

const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
})

const change = (stage: Stage, how: (web: NonNullable<Deployment['spec']>) => void) =>
  stage.update(DEPLOYMENTS, 'web', (web) => {
    if (web.spec !== undefined) how(web.spec)
  })

async function up(stage: Stage, replicas: number, spec: Record<string, unknown> = {}): Promise<void> {
  await stage.create(deployment('web', replicas, spec))
  await rolledOut(stage, 'web')
}

/** A rollout to pods that never run stops where its bounds end. */
async function stalled(stage: Stage, replicas: number, spec: Record<string, unknown>): Promise<void> {
  await up(stage, replicas, spec)
  await change(stage, (web) => {
    web.template = stuck('web')
  })
  await seen(stage, DEPLOYMENTS, 'web')
  await stage.steady()
}

const stalls = (name: string, replicas: number, spec: Record<string, unknown>): Scenario =>
  scenario(`rollout: ${name}, stalled at its bounds`, async (stage) => {
    await stalled(stage, replicas, spec)
    await stage.noteAll('stalled', ...ALL)
  })

/** Rolls while looking on, and notes whether the bounds held at every look. */
const holds = (name: string, replicas: number, [surge, unavailable]: readonly [number, number]): Scenario =>
  scenario(`rollout: ${name}, bounds watched`, async (stage) => {
    await up(stage, replicas, { ...rolling(surge, unavailable), minReadySeconds: 1 })
    await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    let most = 0
    let fewest = replicas
    await stage.until('rolled out', async () => {
      const web = await stage.get(DEPLOYMENTS, 'web')
      const sets = await stage.list(REPLICA_SETS)
      most = Math.max(
        most,
        sets.reduce((sum, set) => sum + (set.spec?.replicas ?? 0), 0),
      )
      if (web?.status?.observedGeneration === web?.metadata.generation) fewest = Math.min(fewest, web?.status?.availableReplicas ?? 0)
      const { status } = web ?? {}
      return status?.updatedReplicas === replicas && status.availableReplicas === replicas && status.replicas === replicas
    })
    // Not every moment is looked at in real time: the extremes themselves may be missed.
    stage.note('bounds', { staysBelow: most <= replicas + surge, staysAbove: fewest >= replicas - unavailable })
    await stage.noteAll('rolled', ...ALL)
    // Two at a time may become available together or one by one: then the steps differ.
    if (surge + unavailable === 1) await stage.noteEvents('rolled')
  })

const setOfRevision = async (stage: Stage, revision: string): Promise<ReplicaSet | undefined> =>
  (await stage.list(REPLICA_SETS)).find(({ metadata }) => metadata.annotations?.[REVISION] === revision)

/** As `kubectl rollout undo --to-revision`: the template of that replica set, without its hash. */
async function undo(stage: Stage, revision: string): Promise<void> {
  const set = await setOfRevision(stage, revision)
  const { 'pod-template-hash': _hash, ...labels } = set?.spec?.template?.metadata?.labels ?? {}
  await change(stage, (web) => {
    web.template = { ...set?.spec?.template, metadata: { ...set?.spec?.template?.metadata, labels } }
  })
}

export const ROLLOUT_SCENARIOS: readonly Scenario[] = [
  scenario('rollout: to a new image', async (stage) => {
    await up(stage, 3)
    await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await rolledOut(stage, 'web')
    await stage.noteAll('rolled', ...ALL)
  }),
  scenario('rollout: undone to an earlier revision', async (stage) => {
    await up(stage, 2)
    for (const image of ['app:2', 'app:3']) {
      await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, image))
      await rolledOut(stage, 'web')
    }
    await undo(stage, '1')
    await rolledOut(stage, 'web')
    await stage.noteAll('undone', ...ALL)
    await undo(stage, '3')
    await rolledOut(stage, 'web')
    await stage.noteAll('redone', ...ALL)
  }),
  holds('one more, none fewer', 3, [1, 0]),
  holds('none more, one fewer', 3, [0, 1]),
  holds('two more, one fewer', 4, [2, 1]),
  stalls('1 more, 0 fewer', 3, rolling(1, 0)),
  stalls('0 more, 2 fewer', 4, rolling(0, 2)),
  stalls('2 more, 1 fewer', 5, rolling(2, 1)),
  stalls('25% and 25% of 10', 10, {}),
  stalls('30% and 30% of 3', 3, rolling('30%', '30%')),
  stalls('100% more', 3, rolling('100%', 0)),
  stalls('100% fewer', 3, rolling(0, '100%')),
  stalls('0% and 0% is one fewer', 2, rolling('1%', '0%')),
  scenario('rollout: Recreate', async (stage) => {
    await up(stage, 3, { strategy: { type: 'Recreate' } })
    await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await rolledOut(stage, 'web')
    await stage.noteAll('recreated', ...ALL)
    await stage.noteEvents('recreated')
  }),
  scenario('rollout: Recreate to pods that never run', async (stage) => {
    await stalled(stage, 2, { strategy: { type: 'Recreate' } })
    await stage.until('no old pods', async () => (await stage.list(PODS)).every(({ status }) => status?.phase === 'Pending'))
    await stage.noteAll('stuck', ...ALL)
  }),
  scenario('rollout: scaled up in the middle, in proportion', async (stage) => {
    await stalled(stage, 4, rolling(2, 1))
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 10 } })
    await seen(stage, DEPLOYMENTS, 'web', ({ status }) => (status?.replicas ?? 0) >= 12)
    await stage.noteAll('scaled', ...ALL)
  }),
  scenario('rollout: scaled down in the middle, in proportion', async (stage) => {
    await stalled(stage, 10, rolling(3, 2))
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 5 } })
    await seen(stage, DEPLOYMENTS, 'web', ({ status }) => (status?.replicas ?? 0) <= 8)
    await stage.noteAll('scaled', ...ALL)
  }),
  scenario('rollout: scaled while paused in the middle', async (stage) => {
    await stalled(stage, 6, rolling(3, 0))
    await stage.patch(DEPLOYMENTS, 'web', { spec: { paused: true } })
    await seen(stage, DEPLOYMENTS, 'web')
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 12 } })
    await seen(stage, DEPLOYMENTS, 'web', ({ status }) => (status?.replicas ?? 0) >= 15)
    await stage.noteAll('scaled', ...ALL)
  }),
  scenario('rollout: changed again while stalled', async (stage) => {
    await stalled(stage, 4, rolling(2, 1))
    await change(stage, (web) => {
      web.template = stuck('web', 'app:3')
    })
    await seen(stage, DEPLOYMENTS, 'web')
    await stage.noteAll('changed', ...ALL)
    await change(stage, (web) => {
      web.template = template('web', 'app:4')
    })
    await rolledOut(stage, 'web')
    await stage.noteAll('rolled', ...ALL)
  }),
  scenario('rollout: broken, then undone', async (stage) => {
    await stalled(stage, 3, rolling(1, 1))
    await undo(stage, '1')
    await rolledOut(stage, 'web')
    await stage.noteAll('undone', ...ALL)
  }),
  scenario('rollout: keeps revisionHistoryLimit old replica sets', async (stage) => {
    await up(stage, 1, { revisionHistoryLimit: 1 })
    for (const image of ['app:2', 'app:3', 'app:4']) {
      await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, image))
      await rolledOut(stage, 'web')
    }
    await stage.until('old ones are gone', async () => (await stage.list(REPLICA_SETS)).length === 2)
    await stage.noteAll('kept', ...ALL)
  }),
  scenario('rollout: waits minReadySeconds for each step', async (stage) => {
    await up(stage, 2, { ...rolling(1, 0), minReadySeconds: 3 })
    await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await rolledOut(stage, 'web')
    await stage.noteAll('rolled', ...ALL)
    await stage.noteEvents('rolled')
  }),
]
