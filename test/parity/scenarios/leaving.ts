/** Pods that are deleted but not gone yet, held by a finalizer: which controllers wait for them, count them, or proceed. */
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
import { HOLD, type Scenario, scenario, type Testbed } from '../scenario.ts'
import { budget, claim, daemonSet, deployment, job, pod, replicaSet, service, statefulSet, template, using, volume } from './objects.ts'
import { daemonsAreUp, gone, isUp, jobIs, podsIn, rolledOut, seen, setImage, setIsUp, setIsUpdated } from './waits.ts'

/** Pods of this template stay after their deletion until they are let go. */
const held = (app: string) => {
  const plain = template(app)
  return { template: { ...plain, metadata: { ...plain.metadata, finalizers: [HOLD] } } }
}

const leaving = async (testbed: Testbed): Promise<Pod[]> =>
  (await testbed.list(PODS)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)

const someLeave = (testbed: Testbed, count: number) =>
  testbed.until(`${count} pods leave`, async () => (await leaving(testbed)).length === count)

/** As a kubelet ends them. */
async function remove(testbed: Testbed, pods: readonly Pod[]): Promise<void> {
  for (const { metadata } of pods) {
    await testbed.update(PODS, metadata.name ?? '', (live) => {
      live.metadata.finalizers = live.metadata.finalizers?.filter((name) => name !== HOLD)
    })
    if ((await testbed.get(PODS, metadata.name ?? ''))?.metadata.uid === metadata.uid)
      await testbed.delete(PODS, metadata.name ?? '', { gracePeriodSeconds: 0 })
  }
}

/** Releases the terminating pods. */
const letGo = async (testbed: Testbed): Promise<void> => remove(testbed, await leaving(testbed))

/** Nothing may remain that would block the namespace. */
async function end(testbed: Testbed): Promise<void> {
  for (const { metadata } of await testbed.list(PODS)) await testbed.patch(PODS, metadata.name ?? '', { metadata: { finalizers: null } })
}

const jobHolding = (spec: Record<string, unknown>) => {
  const one = job('work', spec)
  return { ...one, spec: { ...one.spec, template: { ...one.spec?.template, metadata: { finalizers: [HOLD] } } } }
}

const WORKLOADS = [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS, PODS] as const

/** As a kubelet reports it, the containers of a terminating pod have ended before the pod is gone. */
const ended = (name: string, begin: (testbed: Testbed) => Promise<void>): Scenario =>
  scenario(`leaving: ${name}, and the pod has ended`, async (testbed) => {
    await begin(testbed)
    await someLeave(testbed, 1)
    for (const one of await leaving(testbed)) await testbed.finish(one, 137)
    await testbed.noteAll('ended', ...WORKLOADS)
    await letGo(testbed)
    await testbed.noteAll('gone', ...WORKLOADS)
    await end(testbed)
  })

const SCENARIOS: readonly Scenario[] = [
  scenario('leaving: a replica set does not wait, and counts them', async (testbed) => {
    await testbed.create(replicaSet('web', 2, held('web')))
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
    await someLeave(testbed, 1)
    await podsIn(testbed, 2, 'Running')
    await isUp(testbed, 'web')
    await testbed.noteAll('replaced', REPLICA_SETS, PODS)
    await letGo(testbed)
    await someLeave(testbed, 0)
    await testbed.noteAll('gone', REPLICA_SETS, PODS)
    await end(testbed)
  }),
  scenario('leaving: a rolling deployment does not wait', async (testbed) => {
    await testbed.create(deployment('web', 2, held('web')))
    await rolledOut(testbed, 'web')
    await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await rolledOut(testbed, 'web')
    await someLeave(testbed, 2)
    await testbed.noteAll('rolled', DEPLOYMENTS, REPLICA_SETS, PODS)
    await letGo(testbed)
    await someLeave(testbed, 0)
    await testbed.noteAll('gone', DEPLOYMENTS, REPLICA_SETS, PODS)
    await end(testbed)
  }),
  scenario('leaving: Recreate waits', async (testbed) => {
    await testbed.create(deployment('web', 2, { ...held('web'), strategy: { type: 'Recreate' } }))
    await rolledOut(testbed, 'web')
    await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
    await someLeave(testbed, 2)
    await testbed.noteAll('waits', DEPLOYMENTS, REPLICA_SETS, PODS)
    await letGo(testbed)
    await rolledOut(testbed, 'web')
    await testbed.noteAll('recreated', DEPLOYMENTS, REPLICA_SETS, PODS)
    await testbed.noteEvents('recreated')
    await end(testbed)
  }),
  scenario('leaving: scaled down, and up again', async (testbed) => {
    await testbed.create(deployment('web', 3, held('web')))
    await rolledOut(testbed, 'web')
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 1 } })
    await someLeave(testbed, 2)
    await testbed.noteAll('down', DEPLOYMENTS, REPLICA_SETS, PODS)
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 3 } })
    await rolledOut(testbed, 'web')
    await testbed.noteAll('up', DEPLOYMENTS, REPLICA_SETS, PODS)
    await end(testbed)
  }),
  scenario('leaving: a stateful set waits for the name', async (testbed) => {
    await testbed.create(statefulSet('db', 2, held('db')))
    await setIsUp(testbed, 'db')
    await testbed.delete(PODS, 'db-0')
    await someLeave(testbed, 1)
    await testbed.noteAll('waits', STATEFUL_SETS, PODS)
    await letGo(testbed)
    await podsIn(testbed, 2, 'Running')
    await setIsUp(testbed, 'db')
    await testbed.noteAll('again', STATEFUL_SETS, PODS)
    await end(testbed)
  }),
  scenario('leaving: a stateful set is updated one by one', async (testbed) => {
    await testbed.create(statefulSet('db', 3, held('db')))
    await setIsUp(testbed, 'db')
    await testbed.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
    await someLeave(testbed, 1)
    await testbed.noteAll('the last first', STATEFUL_SETS, PODS)
    for (let i = 0; i < 3; i++) {
      await someLeave(testbed, 1)
      const [last] = await leaving(testbed)
      await letGo(testbed)
      await testbed.until(`${last?.metadata.name} is new`, async () => {
        const now = await testbed.get(PODS, last?.metadata.name ?? '')
        return now?.status?.phase === 'Running' && now.metadata.uid !== last?.metadata.uid
      })
    }
    await setIsUpdated(testbed, 'db')
    await testbed.noteAll('updated', STATEFUL_SETS, PODS)
    await end(testbed)
  }),
  scenario('leaving: a stateful set is scaled down one by one', async (testbed) => {
    await testbed.create(statefulSet('db', 3, held('db')))
    await setIsUp(testbed, 'db')
    await testbed.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await someLeave(testbed, 1)
    await testbed.noteAll('one', STATEFUL_SETS, PODS)
    await letGo(testbed)
    await gone(testbed, PODS, 'db-2')
    await someLeave(testbed, 1)
    await testbed.noteAll('two', STATEFUL_SETS, PODS)
    await letGo(testbed)
    await setIsUp(testbed, 'db')
    await testbed.noteAll('down', STATEFUL_SETS, PODS)
    await end(testbed)
  }),
  scenario('leaving: Parallel is scaled down at once', async (testbed) => {
    await testbed.create(statefulSet('db', 3, { ...held('db'), podManagementPolicy: 'Parallel' }))
    await setIsUp(testbed, 'db')
    await testbed.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
    await someLeave(testbed, 2)
    await testbed.noteAll('two', STATEFUL_SETS, PODS)
    await end(testbed)
  }),
  scenario('leaving: a daemon set waits for the place', async (testbed) => {
    await testbed.create(daemonSet('agent', held('agent')))
    await daemonsAreUp(testbed, 'agent')
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
    await someLeave(testbed, 1)
    await testbed.noteAll('waits', DAEMON_SETS, PODS)
    await letGo(testbed)
    await podsIn(testbed, 2, 'Running')
    await daemonsAreUp(testbed, 'agent')
    await testbed.noteAll('again', DAEMON_SETS, PODS)
    await end(testbed)
  }),
  scenario('leaving: a daemon set is updated node by node', async (testbed) => {
    await testbed.create(daemonSet('agent', held('agent')))
    await daemonsAreUp(testbed, 'agent')
    await testbed.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
    await someLeave(testbed, 1)
    await seen(testbed, DAEMON_SETS, 'agent')
    await testbed.noteAll('one', DAEMON_SETS, PODS)
    await end(testbed)
  }),
  scenario(
    'leaving: a job replaces at once',
    async (testbed) => {
      await testbed.create(jobHolding({ backoffLimit: 3 }))
      const [first] = await podsIn(testbed, 1, 'Running')
      await testbed.delete(PODS, first?.metadata.name ?? '')
      await someLeave(testbed, 1)
      await testbed.until('another', async () => (await podsIn(testbed, 1, 'Running'))[0]?.metadata.uid !== first?.metadata.uid)
      await testbed.noteAll('replaced', JOBS, PODS)
      await end(testbed)
    },
    { slow: true },
  ),
  scenario('leaving: a job with podReplacementPolicy Failed waits', async (testbed) => {
    await testbed.create(jobHolding({ podReplacementPolicy: 'Failed' }))
    const [first] = await podsIn(testbed, 1, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
    await someLeave(testbed, 1)
    await testbed.noteAll('waits', JOBS, PODS)
    await end(testbed)
  }),
  scenario('leaving: a job that failed is over when its pods are gone', async (testbed) => {
    await testbed.create(jobHolding({ backoffLimit: 0, parallelism: 2, completions: 2 }))
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.finish(first ?? pod(''), 1)
    await someLeave(testbed, 1)
    await testbed.noteAll('decided', JOBS, PODS)
    await letGo(testbed)
    await jobIs(testbed, 'work', 'Failed')
    await testbed.noteAll('over', JOBS, PODS)
    await testbed.noteEvents('over')
    await end(testbed)
  }),
  scenario('leaving: a suspended job counts them', async (testbed) => {
    await testbed.create(jobHolding({ parallelism: 2, completions: 2 }))
    await podsIn(testbed, 2, 'Running')
    await testbed.patch(JOBS, 'work', { spec: { suspend: true } })
    await someLeave(testbed, 2)
    await jobIs(testbed, 'work', 'Suspended')
    await testbed.noteAll('suspended', JOBS, PODS)
    await letGo(testbed)
    await someLeave(testbed, 0)
    await testbed.noteAll('gone', JOBS, PODS)
    await end(testbed)
  }),
  scenario('leaving: endpoints still serve, and are not ready', async (testbed) => {
    await testbed.create(replicaSet('web', 1, held('web')))
    await isUp(testbed, 'web')
    await testbed.create(service('web'))
    await testbed.until('an endpoint', async () => (await testbed.list(ENDPOINT_SLICES)).some(({ endpoints }) => endpoints?.length === 1))
    const [first] = await podsIn(testbed, 1, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
    await podsIn(testbed, 1, 'Running')
    await testbed.until('two endpoints', async () => (await testbed.list(ENDPOINT_SLICES)).some(({ endpoints }) => endpoints?.length === 2))
    await testbed.noteAll('both', ENDPOINT_SLICES, ENDPOINTS)
    await letGo(testbed)
    await testbed.until('one endpoint', async () => (await testbed.list(ENDPOINT_SLICES)).some(({ endpoints }) => endpoints?.length === 1))
    await testbed.noteAll('one', ENDPOINT_SLICES, ENDPOINTS)
    await end(testbed)
  }),
  scenario('leaving: a budget does not count on them', async (testbed) => {
    await testbed.create(replicaSet('web', 2, held('web')))
    await isUp(testbed, 'web')
    await testbed.create(budget('web', { minAvailable: 1 }))
    await seen(testbed, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.disruptionsAllowed === 1)
    const [first] = await podsIn(testbed, 2, 'Running')
    testbed.note('evicted', await testbed.evict(first?.metadata.name ?? ''))
    await someLeave(testbed, 1)
    await isUp(testbed, 'web')
    await seen(testbed, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.currentHealthy === 2)
    await testbed.noteAll('replaced', POD_DISRUPTION_BUDGETS, PODS)
    await end(testbed)
  }),
  scenario('leaving: a claim waits for the pod', async (testbed) => {
    const name = `${testbed.namespace}-v`
    await testbed.create(volume(name, '1Gi', { csi: undefined, hostPath: { path: '/parity' }, persistentVolumeReclaimPolicy: 'Retain' }))
    await testbed.create(claim('data', '1Gi', { storageClassName: '', volumeName: name }))
    const user = pod('user', {}, using('data'))
    await testbed.create({ ...user, metadata: { ...user.metadata, finalizers: [HOLD] } })
    await podsIn(testbed, 1, 'Running')
    await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await testbed.delete(PODS, 'user')
    await someLeave(testbed, 1)
    await testbed.noteAll('held', PERSISTENT_VOLUME_CLAIMS, PODS)
    await letGo(testbed)
    await gone(testbed, PERSISTENT_VOLUME_CLAIMS, 'data')
    await testbed.noteAll('gone', PERSISTENT_VOLUME_CLAIMS, PODS)
  }),
  scenario('leaving: the foreground waits for them', async (testbed) => {
    await testbed.create(deployment('web', 1, held('web')))
    await rolledOut(testbed, 'web')
    await testbed.delete(DEPLOYMENTS, 'web', { propagationPolicy: 'Foreground' })
    await someLeave(testbed, 1)
    await testbed.noteAll('waits', DEPLOYMENTS, REPLICA_SETS, PODS)
    await letGo(testbed)
    await gone(testbed, DEPLOYMENTS, 'web')
    await testbed.noteAll('gone', DEPLOYMENTS, REPLICA_SETS, PODS)
  }),
  ended('a daemon set is updated', async (testbed) => {
    await testbed.create(daemonSet('agent', held('agent')))
    await daemonsAreUp(testbed, 'agent')
    await testbed.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
  }),
  ended('a stateful set is updated', async (testbed) => {
    await testbed.create(statefulSet('db', 3, held('db')))
    await setIsUp(testbed, 'db')
    await testbed.update(STATEFUL_SETS, 'db', (db) => setImage(db, 'app:2'))
  }),
  ended('a stateful set is scaled down', async (testbed) => {
    await testbed.create(statefulSet('db', 3, held('db')))
    await setIsUp(testbed, 'db')
    await testbed.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
  }),
  ended('a deployment is recreated', async (testbed) => {
    await testbed.create(deployment('web', 1, { ...held('web'), strategy: { type: 'Recreate' } }))
    await rolledOut(testbed, 'web')
    await testbed.update(DEPLOYMENTS, 'web', (web) => setImage(web, 'app:2'))
  }),
  ended('a replica set replaces', async (testbed) => {
    await testbed.create(replicaSet('web', 2, held('web')))
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
  }),
  ended('a job replaces what failed', async (testbed) => {
    await testbed.create(jobHolding({ podReplacementPolicy: 'Failed', backoffLimit: 0 }))
    const [first] = await podsIn(testbed, 1, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
  }),
  ended('a job is suspended', async (testbed) => {
    await testbed.create(jobHolding({}))
    await podsIn(testbed, 1, 'Running')
    await testbed.patch(JOBS, 'work', { spec: { suspend: true } })
  }),
]

export const LEAVING_SCENARIOS: readonly Scenario[] = SCENARIOS.map((one) => ({ ...one, holds: true }))
