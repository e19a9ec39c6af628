/** Pods that are deleted and not gone yet, held by a finalizer: who waits for them, who counts them, who goes on. */
import {
  DAEMON_SETS,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  JOBS,
  PERSISTENT_VOLUME_CLAIMS,
  POD_DISRUPTION_BUDGETS,
  PODS,
  REPLICA_SETS,
  STATEFUL_SETS,
} from '../../../src/kinds/kubernetes/resources.ts'
import type { Pod } from '../../../src/kinds/kubernetes/types.ts'
import { HOLD, type Scenario, type Stage, scenario } from '../scenario.ts'
import { budget, claim, daemonSet, deployment, job, pod, replicaSet, service, statefulSet, template, using, volume } from './objects.ts'
import { daemonsAreUp, gone, isUp, jobIs, podsIn, rolledOut, seen, setImage, setIsUp, setIsUpdated } from './waits.ts'

/** Pods of this template stay after their deletion until they are let go. */
const held = (app: string) => {
  const plain = template(app)
  return { template: { ...plain, metadata: { ...plain.metadata, finalizers: [HOLD] } } }
}

const leaving = async (stage: Stage): Promise<Pod[]> =>
  (await stage.list(PODS)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)

const someLeave = (stage: Stage, count: number) => stage.until(`${count} pods leave`, async () => (await leaving(stage)).length === count)

/** As a kubelet ends them. */
async function remove(stage: Stage, pods: readonly Pod[]): Promise<void> {
  for (const { metadata } of pods) {
    await stage.update(PODS, metadata.name ?? '', (live) => {
      live.metadata.finalizers = live.metadata.finalizers?.filter((name) => name !== HOLD)
    })
    if ((await stage.get(PODS, metadata.name ?? ''))?.metadata.uid === metadata.uid)
      await stage.delete(PODS, metadata.name ?? '', { gracePeriodSeconds: 0 })
  }
}

/** Those that leave may go. */
const letGo = async (stage: Stage): Promise<void> => remove(stage, await leaving(stage))

/** Nothing may be left that would hold the namespace. */
async function end(stage: Stage): Promise<void> {
  for (const { metadata } of await stage.list(PODS)) await stage.patch(PODS, metadata.name ?? '', { metadata: { finalizers: null } })
}

const jobHolding = (spec: Record<string, unknown>) => {
  const one = job('work', spec)
  return { ...one, spec: { ...one.spec, template: { ...one.spec?.template, metadata: { finalizers: [HOLD] } } } }
}

const WORKLOADS = [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS, PODS] as const

/** As a kubelet reports it, the containers of a pod that leaves have ended before the pod is gone. */
const ended = (name: string, begin: (stage: Stage) => Promise<void>): Scenario =>
  scenario(`leaving: ${name}, and the pod has ended`, async (stage) => {
    await begin(stage)
    await someLeave(stage, 1)
    for (const one of await leaving(stage)) await stage.finish(one, 137)
    await stage.noteAll('ended', ...WORKLOADS)
    await letGo(stage)
    await stage.noteAll('gone', ...WORKLOADS)
    await end(stage)
  })

const SCENARIOS: readonly Scenario[] = [
  scenario('leaving: a replica set does not wait, and counts them', async (stage) => {
    await stage.create(replicaSet('web', 2, held('web')))
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
    await someLeave(stage, 1)
    await podsIn(stage, 2, 'Running')
    await isUp(stage, 'web')
    await stage.noteAll('replaced', REPLICA_SETS, PODS)
    await letGo(stage)
    await someLeave(stage, 0)
    await stage.noteAll('gone', REPLICA_SETS, PODS)
    await end(stage)
  }),
  scenario('leaving: a rolling deployment does not wait', async (stage) => {
    await stage.create(deployment('web', 2, held('web')))
    await rolledOut(stage, 'web')
    await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await rolledOut(stage, 'web')
    await someLeave(stage, 2)
    await stage.noteAll('rolled', DEPLOYMENTS, REPLICA_SETS, PODS)
    await letGo(stage)
    await someLeave(stage, 0)
    await stage.noteAll('gone', DEPLOYMENTS, REPLICA_SETS, PODS)
    await end(stage)
  }),
  scenario('leaving: Recreate waits', async (stage) => {
    await stage.create(deployment('web', 2, { ...held('web'), strategy: { type: 'Recreate' } }))
    await rolledOut(stage, 'web')
    await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await someLeave(stage, 2)
    await stage.noteAll('waits', DEPLOYMENTS, REPLICA_SETS, PODS)
    await letGo(stage)
    await rolledOut(stage, 'web')
    await stage.noteAll('recreated', DEPLOYMENTS, REPLICA_SETS, PODS)
    await stage.noteEvents('recreated')
    await end(stage)
  }),
  scenario('leaving: scaled down, and up again', async (stage) => {
    await stage.create(deployment('web', 3, held('web')))
    await rolledOut(stage, 'web')
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 1 } })
    await someLeave(stage, 2)
    await stage.noteAll('down', DEPLOYMENTS, REPLICA_SETS, PODS)
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 3 } })
    await rolledOut(stage, 'web')
    await stage.noteAll('up', DEPLOYMENTS, REPLICA_SETS, PODS)
    await end(stage)
  }),
  scenario('leaving: a stateful set waits for the name', async (stage) => {
    await stage.create(statefulSet('db', 2, held('db')))
    await setIsUp(stage, 'db')
    await stage.delete(PODS, 'db-0')
    await someLeave(stage, 1)
    await stage.noteAll('waits', STATEFUL_SETS, PODS)
    await letGo(stage)
    await podsIn(stage, 2, 'Running')
    await setIsUp(stage, 'db')
    await stage.noteAll('again', STATEFUL_SETS, PODS)
    await end(stage)
  }),
  scenario('leaving: a stateful set is updated one by one', async (stage) => {
    await stage.create(statefulSet('db', 3, held('db')))
    await setIsUp(stage, 'db')
    await stage.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await someLeave(stage, 1)
    await stage.noteAll('the last first', STATEFUL_SETS, PODS)
    for (let i = 0; i < 3; i++) {
      await someLeave(stage, 1)
      const [last] = await leaving(stage)
      await letGo(stage)
      await stage.until(`${last?.metadata.name} is new`, async () => {
        const now = await stage.get(PODS, last?.metadata.name ?? '')
        return now?.status?.phase === 'Running' && now.metadata.uid !== last?.metadata.uid
      })
    }
    await setIsUpdated(stage, 'db')
    await stage.noteAll('updated', STATEFUL_SETS, PODS)
    await end(stage)
  }),
  scenario('leaving: a stateful set is scaled down one by one', async (stage) => {
    await stage.create(statefulSet('db', 3, held('db')))
    await setIsUp(stage, 'db')
    await stage.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await someLeave(stage, 1)
    await stage.noteAll('one', STATEFUL_SETS, PODS)
    await letGo(stage)
    await gone(stage, PODS, 'db-2')
    await someLeave(stage, 1)
    await stage.noteAll('two', STATEFUL_SETS, PODS)
    await letGo(stage)
    await setIsUp(stage, 'db')
    await stage.noteAll('down', STATEFUL_SETS, PODS)
    await end(stage)
  }),
  scenario('leaving: Parallel is scaled down at once', async (stage) => {
    await stage.create(statefulSet('db', 3, { ...held('db'), podManagementPolicy: 'Parallel' }))
    await setIsUp(stage, 'db')
    await stage.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await someLeave(stage, 2)
    await stage.noteAll('two', STATEFUL_SETS, PODS)
    await end(stage)
  }),
  scenario('leaving: a daemon set waits for the place', async (stage) => {
    await stage.create(daemonSet('agent', held('agent')))
    await daemonsAreUp(stage, 'agent')
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
    await someLeave(stage, 1)
    await stage.noteAll('waits', DAEMON_SETS, PODS)
    await letGo(stage)
    await podsIn(stage, 2, 'Running')
    await daemonsAreUp(stage, 'agent')
    await stage.noteAll('again', DAEMON_SETS, PODS)
    await end(stage)
  }),
  scenario('leaving: a daemon set is updated node by node', async (stage) => {
    await stage.create(daemonSet('agent', held('agent')))
    await daemonsAreUp(stage, 'agent')
    await stage.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
    await someLeave(stage, 1)
    await seen(stage, DAEMON_SETS, 'agent')
    await stage.noteAll('one', DAEMON_SETS, PODS)
    await end(stage)
  }),
  scenario(
    'leaving: a job replaces at once',
    async (stage) => {
      await stage.create(jobHolding({ backoffLimit: 3 }))
      const [first] = await podsIn(stage, 1, 'Running')
      await stage.delete(PODS, first?.metadata.name ?? '')
      await someLeave(stage, 1)
      await stage.until('another', async () => (await podsIn(stage, 1, 'Running'))[0]?.metadata.uid !== first?.metadata.uid)
      await stage.noteAll('replaced', JOBS, PODS)
      await end(stage)
    },
    { slow: true },
  ),
  scenario('leaving: a job with podReplacementPolicy Failed waits', async (stage) => {
    await stage.create(jobHolding({ podReplacementPolicy: 'Failed' }))
    const [first] = await podsIn(stage, 1, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
    await someLeave(stage, 1)
    await stage.noteAll('waits', JOBS, PODS)
    await end(stage)
  }),
  scenario('leaving: a job that failed is over when its pods are gone', async (stage) => {
    await stage.create(jobHolding({ backoffLimit: 0, parallelism: 2, completions: 2 }))
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.finish(first ?? pod(''), 1)
    await someLeave(stage, 1)
    await stage.noteAll('decided', JOBS, PODS)
    await letGo(stage)
    await jobIs(stage, 'work', 'Failed')
    await stage.noteAll('over', JOBS, PODS)
    await stage.noteEvents('over')
    await end(stage)
  }),
  scenario('leaving: a suspended job counts them', async (stage) => {
    await stage.create(jobHolding({ parallelism: 2, completions: 2 }))
    await podsIn(stage, 2, 'Running')
    await stage.patch(JOBS, 'work', { spec: { suspend: true } })
    await someLeave(stage, 2)
    await jobIs(stage, 'work', 'Suspended')
    await stage.noteAll('suspended', JOBS, PODS)
    await letGo(stage)
    await someLeave(stage, 0)
    await stage.noteAll('gone', JOBS, PODS)
    await end(stage)
  }),
  scenario('leaving: endpoints still serve, and are not ready', async (stage) => {
    await stage.create(replicaSet('web', 1, held('web')))
    await isUp(stage, 'web')
    await stage.create(service('web'))
    await stage.until('an endpoint', async () => (await stage.list(ENDPOINT_SLICES)).some(({ endpoints }) => endpoints?.length === 1))
    const [first] = await podsIn(stage, 1, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
    await podsIn(stage, 1, 'Running')
    await stage.until('two endpoints', async () => (await stage.list(ENDPOINT_SLICES)).some(({ endpoints }) => endpoints?.length === 2))
    await stage.noteAll('both', ENDPOINT_SLICES, ENDPOINTS)
    await letGo(stage)
    await stage.until('one endpoint', async () => (await stage.list(ENDPOINT_SLICES)).some(({ endpoints }) => endpoints?.length === 1))
    await stage.noteAll('one', ENDPOINT_SLICES, ENDPOINTS)
    await end(stage)
  }),
  scenario('leaving: a budget does not count on them', async (stage) => {
    await stage.create(replicaSet('web', 2, held('web')))
    await isUp(stage, 'web')
    await stage.create(budget('web', { minAvailable: 1 }))
    await seen(stage, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.disruptionsAllowed === 1)
    const [first] = await podsIn(stage, 2, 'Running')
    stage.note('evicted', await stage.evict(first?.metadata.name ?? ''))
    await someLeave(stage, 1)
    await isUp(stage, 'web')
    await seen(stage, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.currentHealthy === 2)
    await stage.noteAll('replaced', POD_DISRUPTION_BUDGETS, PODS)
    await end(stage)
  }),
  scenario('leaving: a claim waits for the pod', async (stage) => {
    const name = `${stage.namespace}-v`
    await stage.create(volume(name, '1Gi', { csi: undefined, hostPath: { path: '/parity' }, persistentVolumeReclaimPolicy: 'Retain' }))
    await stage.create(claim('data', '1Gi', { storageClassName: '', volumeName: name }))
    const user = pod('user', {}, using('data'))
    await stage.create({ ...user, metadata: { ...user.metadata, finalizers: [HOLD] } })
    await podsIn(stage, 1, 'Running')
    await stage.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await stage.delete(PODS, 'user')
    await someLeave(stage, 1)
    await stage.noteAll('held', PERSISTENT_VOLUME_CLAIMS, PODS)
    await letGo(stage)
    await gone(stage, PERSISTENT_VOLUME_CLAIMS, 'data')
    await stage.noteAll('gone', PERSISTENT_VOLUME_CLAIMS, PODS)
  }),
  scenario('leaving: the foreground waits for them', async (stage) => {
    await stage.create(deployment('web', 1, held('web')))
    await rolledOut(stage, 'web')
    await stage.delete(DEPLOYMENTS, 'web', { propagationPolicy: 'Foreground' })
    await someLeave(stage, 1)
    await stage.noteAll('waits', DEPLOYMENTS, REPLICA_SETS, PODS)
    await letGo(stage)
    await gone(stage, DEPLOYMENTS, 'web')
    await stage.noteAll('gone', DEPLOYMENTS, REPLICA_SETS, PODS)
  }),
  ended('a daemon set is updated', async (stage) => {
    await stage.create(daemonSet('agent', held('agent')))
    await daemonsAreUp(stage, 'agent')
    await stage.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
  }),
  ended('a stateful set is updated', async (stage) => {
    await stage.create(statefulSet('db', 3, held('db')))
    await setIsUp(stage, 'db')
    await stage.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
  }),
  ended('a stateful set is scaled down', async (stage) => {
    await stage.create(statefulSet('db', 3, held('db')))
    await setIsUp(stage, 'db')
    await stage.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
  }),
  ended('a deployment is recreated', async (stage) => {
    await stage.create(deployment('web', 1, { ...held('web'), strategy: { type: 'Recreate' } }))
    await rolledOut(stage, 'web')
    await stage.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
  }),
  ended('a replica set replaces', async (stage) => {
    await stage.create(replicaSet('web', 2, held('web')))
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
  }),
  ended('a job replaces what failed', async (stage) => {
    await stage.create(jobHolding({ podReplacementPolicy: 'Failed', backoffLimit: 0 }))
    const [first] = await podsIn(stage, 1, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
  }),
  ended('a job is suspended', async (stage) => {
    await stage.create(jobHolding({}))
    await podsIn(stage, 1, 'Running')
    await stage.patch(JOBS, 'work', { spec: { suspend: true } })
  }),
]

export const LEAVING_SCENARIOS: readonly Scenario[] = SCENARIOS.map((one) => ({ ...one, holds: true }))
