/** Rollouts of Deployments: their bounds, strategies, history, and what scaling does in the middle of one. */
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Deployment, ReplicaSet } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { deployment, stuck, template } from './objects.ts'
import { rolledOut, seen, setImage } from './waits.ts'

const ALL = [DEPLOYMENTS, REPLICA_SETS, PODS] as const
const REVISION = 'deployment.kubernetes.io/revision'

const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
})

const change = (testbed: Testbed, how: (web: NonNullable<Deployment['spec']>) => void) =>
  testbed.update(DEPLOYMENTS, 'web', (web) => {
    if (web.spec !== undefined) how(web.spec)
  })

async function up(testbed: Testbed, replicas: number, spec: Record<string, unknown> = {}): Promise<void> {
  await testbed.create(deployment('web', replicas, spec))
  await rolledOut(testbed, 'web')
}

/** A rollout to pods that never run stops where its bounds end. */
async function stalled(testbed: Testbed, replicas: number, spec: Record<string, unknown>): Promise<void> {
  await up(testbed, replicas, spec)
  await change(testbed, (web) => {
    web.template = stuck('web')
  })
  await seen(testbed, DEPLOYMENTS, 'web')
  await testbed.steady()
}

const stalls = (name: string, replicas: number, spec: Record<string, unknown>): Scenario =>
  scenario(`rollout: ${name}, stalled at its bounds`, async (testbed) => {
    await stalled(testbed, replicas, spec)
    await testbed.noteAll('stalled', ...ALL)
  })

/** Observes a rollout, and notes whether the bounds held each time. */
const holds = (name: string, replicas: number, [surge, unavailable]: readonly [number, number]): Scenario =>
  scenario(`rollout: ${name}, bounds watched`, async (testbed) => {
    await up(testbed, replicas, { ...rolling(surge, unavailable), minReadySeconds: 1 })
    await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    let most = 0
    let fewest = replicas
    await testbed.until('rolled out', async () => {
      const web = await testbed.get(DEPLOYMENTS, 'web')
      const sets = await testbed.list(REPLICA_SETS)
      most = Math.max(
        most,
        sets.reduce((sum, set) => sum + (set.spec?.replicas ?? 0), 0),
      )
      if (web?.status?.observedGeneration === web?.metadata.generation) fewest = Math.min(fewest, web?.status?.availableReplicas ?? 0)
      const { status } = web ?? {}
      return status?.updatedReplicas === replicas && status.availableReplicas === replicas && status.replicas === replicas
    })
    // Not every moment is observed in real time: the extremes themselves may be missed.
    testbed.note('bounds', { staysBelow: most <= replicas + surge, staysAbove: fewest >= replicas - unavailable })
    await testbed.noteAll('rolled', ...ALL)
    // Two at a time may become available together or one by one: then the steps differ.
    if (surge + unavailable === 1) await testbed.noteEvents('rolled')
  })

const setOfRevision = async (testbed: Testbed, revision: string): Promise<ReplicaSet | undefined> =>
  (await testbed.list(REPLICA_SETS)).find(({ metadata }) => metadata.annotations?.[REVISION] === revision)

/** As `kubectl rollout undo --to-revision`: the template of that replica set, without its hash. */
async function undo(testbed: Testbed, revision: string): Promise<void> {
  const set = await setOfRevision(testbed, revision)
  const { 'pod-template-hash': _hash, ...labels } = set?.spec?.template?.metadata?.labels ?? {}
  await change(testbed, (web) => {
    web.template = { ...set?.spec?.template, metadata: { ...set?.spec?.template?.metadata, labels } }
  })
}

export const ROLLOUT_SCENARIOS: readonly Scenario[] = [
  scenario('rollout: to a new image', async (testbed) => {
    await up(testbed, 3)
    await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await rolledOut(testbed, 'web')
    await testbed.noteAll('rolled', ...ALL)
  }),
  scenario('rollout: undone to an earlier revision', async (testbed) => {
    await up(testbed, 2)
    for (const image of ['app:2', 'app:3']) {
      await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, image))
      await rolledOut(testbed, 'web')
    }
    await undo(testbed, '1')
    await rolledOut(testbed, 'web')
    await testbed.noteAll('undone', ...ALL)
    await undo(testbed, '3')
    await rolledOut(testbed, 'web')
    await testbed.noteAll('redone', ...ALL)
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
  scenario('rollout: Recreate', async (testbed) => {
    await up(testbed, 3, { strategy: { type: 'Recreate' } })
    await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await rolledOut(testbed, 'web')
    await testbed.noteAll('recreated', ...ALL)
    await testbed.noteEvents('recreated')
  }),
  scenario('rollout: Recreate to pods that never run', async (testbed) => {
    await stalled(testbed, 2, { strategy: { type: 'Recreate' } })
    await testbed.until('no old pods', async () => (await testbed.list(PODS)).every(({ status }) => status?.phase === 'Pending'))
    await testbed.noteAll('stuck', ...ALL)
  }),
  scenario('rollout: scaled up in the middle, in proportion', async (testbed) => {
    await stalled(testbed, 4, rolling(2, 1))
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 10 } })
    await seen(testbed, DEPLOYMENTS, 'web', ({ status }) => (status?.replicas ?? 0) >= 12)
    await testbed.noteAll('scaled', ...ALL)
  }),
  scenario('rollout: scaled down in the middle, in proportion', async (testbed) => {
    await stalled(testbed, 10, rolling(3, 2))
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 5 } })
    await seen(testbed, DEPLOYMENTS, 'web', ({ status }) => (status?.replicas ?? 0) <= 8)
    await testbed.noteAll('scaled', ...ALL)
  }),
  scenario('rollout: scaled while paused in the middle', async (testbed) => {
    await stalled(testbed, 6, rolling(3, 0))
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { paused: true } })
    await seen(testbed, DEPLOYMENTS, 'web')
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 12 } })
    await seen(testbed, DEPLOYMENTS, 'web', ({ status }) => (status?.replicas ?? 0) >= 15)
    await testbed.noteAll('scaled', ...ALL)
  }),
  scenario('rollout: changed again while stalled', async (testbed) => {
    await stalled(testbed, 4, rolling(2, 1))
    await change(testbed, (web) => {
      web.template = stuck('web', 'app:3')
    })
    await seen(testbed, DEPLOYMENTS, 'web')
    await testbed.noteAll('changed', ...ALL)
    await change(testbed, (web) => {
      web.template = template('web', 'app:4')
    })
    await rolledOut(testbed, 'web')
    await testbed.noteAll('rolled', ...ALL)
  }),
  scenario('rollout: broken, then undone', async (testbed) => {
    await stalled(testbed, 3, rolling(1, 1))
    await undo(testbed, '1')
    await rolledOut(testbed, 'web')
    await testbed.noteAll('undone', ...ALL)
  }),
  scenario('rollout: keeps revisionHistoryLimit old replica sets', async (testbed) => {
    await up(testbed, 1, { revisionHistoryLimit: 1 })
    for (const image of ['app:2', 'app:3', 'app:4']) {
      await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, image))
      await rolledOut(testbed, 'web')
    }
    await testbed.until('old ones are gone', async () => (await testbed.list(REPLICA_SETS)).length === 2)
    await testbed.noteAll('kept', ...ALL)
  }),
  scenario('rollout: waits minReadySeconds for each step', async (testbed) => {
    await up(testbed, 2, { ...rolling(1, 0), minReadySeconds: 3 })
    await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await rolledOut(testbed, 'web')
    await testbed.noteAll('rolled', ...ALL)
    await testbed.noteEvents('rolled')
  }),
]
