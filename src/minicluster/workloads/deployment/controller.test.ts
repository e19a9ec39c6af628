import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { conditionsOf } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { World } from '../../../faultsim/world/index.ts'
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Deployment } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { controllerOf, controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import {
  aDeployment,
  allReady,
  aReplicaSet,
  eventsOf,
  podNames,
  podsIn,
  replicaSetsIn,
  setReady,
  theDeployment,
} from '../../../runtime/workloads/pod/testing.ts'
import { deployment } from './controller.ts'

const MEMBER = { members: 1 }
const REVISION = 'deployment.kubernetes.io/revision'
const ONE_MORE = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }

async function rollTo(world: World, image: string): Promise<void> {
  const spec = { template: { spec: { containers: [{ name: 'main', image }] } } }
  await world.member.patch(DEPLOYMENTS, 'default/web', { spec })
  await world.settle()
}

/** A Deployment `web` whose pods are all ready. */
async function running(world: World, spec: Deployment['spec']): Promise<void> {
  await world.member.create(aDeployment('web', spec))
  await world.settle()
  await allReady(world)
}

const sizes = async (world: World): Promise<(number | undefined)[]> => (await replicaSetsIn(world.member)).map(({ spec }) => spec?.replicas)

const progressOf = (object: KubeObject): string => {
  const { status, reason, message } = conditionsOf(object).get('Progressing') ?? {}
  return `${status} ${reason}: ${message}`
}

describe('Deployments', () => {
  story(
    'make a ReplicaSet with revision 1 and tell how they get on',
    async (world) => {
      const { member } = world
      const made = await member.create(aDeployment('web', { replicas: 3 }, { annotations: { 'kubernetes.io/change-cause': 'first' } }))
      await world.settle()
      const [set, ...none] = await replicaSetsIn(member)
      assert.ok(set !== undefined && none.length === 0)
      const name = set.metadata.name ?? ''
      const hash = set.metadata.labels?.['pod-template-hash']
      assert.equal(name, `web-${hash}`)
      assert.deepEqual(set.metadata.ownerReferences, [controllerReference(made)])
      assert.deepEqual(set.metadata.annotations, {
        'kubernetes.io/change-cause': 'first',
        [REVISION]: '1',
        'deployment.kubernetes.io/desired-replicas': '3',
        'deployment.kubernetes.io/max-replicas': '4',
      })
      for (const pod of await podsIn(member)) {
        assert.match(pod.metadata.name ?? '', new RegExp(`^web-${hash}-\\w{5}$`))
        assert.deepEqual(pod.metadata.labels, { app: 'web', 'pod-template-hash': hash })
      }
      const waiting = await theDeployment(member, 'web')
      assert.equal(waiting.metadata.annotations?.[REVISION], '1')
      assert.equal(progressOf(waiting), `True ReplicaSetUpdated: ReplicaSet "${name}" is progressing.`)
      assert.equal(conditionsOf(waiting).get('Available')?.reason, 'MinimumReplicasUnavailable')
      assert.equal(waiting.status?.unavailableReplicas, 3)

      await allReady(world)
      const done = await theDeployment(member, 'web')
      const { conditions, ...counts } = done.status ?? {}
      assert.deepEqual(counts, {
        observedGeneration: 1,
        replicas: 3,
        updatedReplicas: 3,
        readyReplicas: 3,
        availableReplicas: 3,
        terminatingReplicas: 0,
      })
      assert.deepEqual(
        conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
        ['Available True MinimumReplicasAvailable', 'Progressing True NewReplicaSetAvailable'],
      )
      assert.equal(progressOf(done), `True NewReplicaSetAvailable: ReplicaSet "${name}" has successfully progressed.`)
      assert.deepEqual(await eventsOf(member, 'Deployment', 'web'), [`ScalingReplicaSet: Scaled up replica set ${name} from 0 to 3`])
    },
    MEMBER,
  )

  story(
    'roll out one by one, within surge and availability',
    async (world) => {
      const { member } = world
      await running(world, { replicas: 3, strategy: ONE_MORE })
      await rollTo(world, 'two')
      assert.deepEqual(await sizes(world), [3, 1], 'no old pod goes before a new one is there')
      await allReady(world)
      assert.deepEqual(await sizes(world), [0, 3])
      const [old, young] = (await replicaSetsIn(member)).map(({ metadata }) => metadata.name)
      assert.deepEqual((await eventsOf(member, 'Deployment', 'web')).slice(1), [
        `ScalingReplicaSet: Scaled up replica set ${young} from 0 to 1`,
        `ScalingReplicaSet: Scaled down replica set ${old} from 3 to 2`,
        `ScalingReplicaSet: Scaled up replica set ${young} from 1 to 2`,
        `ScalingReplicaSet: Scaled down replica set ${old} from 2 to 1`,
        `ScalingReplicaSet: Scaled up replica set ${young} from 2 to 3`,
        `ScalingReplicaSet: Scaled down replica set ${old} from 1 to 0`,
      ])
      const done = await theDeployment(member, 'web')
      assert.equal(done.metadata.annotations?.[REVISION], '2')
      assert.equal(done.status?.observedGeneration, 2)
      assert.equal(done.status?.replicas, 3)
      assert.equal(done.status?.updatedReplicas, 3)
    },
    MEMBER,
  )

  story(
    'go back to a former template with its ReplicaSet and a new revision',
    async (world) => {
      const { member } = world
      await running(world, { replicas: 2, strategy: ONE_MORE })
      const [first] = await replicaSetsIn(member)
      await rollTo(world, 'two')
      await allReady(world)
      await rollTo(world, 'one')
      await allReady(world)
      await rollTo(world, 'two')
      await allReady(world)
      await rollTo(world, 'one')
      await allReady(world)
      const sets = await replicaSetsIn(member)
      assert.equal(sets.length, 2)
      const newest = sets.at(-1)
      assert.equal(newest?.metadata.uid, first?.metadata.uid)
      assert.equal(newest?.metadata.annotations?.[REVISION], '5')
      assert.equal(newest?.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1,3')
      assert.equal((await theDeployment(member, 'web')).metadata.annotations?.[REVISION], '5')
      assert.deepEqual(await sizes(world), [0, 2])
    },
    MEMBER,
  )

  story(
    'keep as many old ReplicaSets as they are told to',
    async (world) => {
      await running(world, { replicas: 1, revisionHistoryLimit: 1 })
      for (const image of ['two', 'three', 'four']) {
        await rollTo(world, image)
        await allReady(world)
      }
      const revisions = (await replicaSetsIn(world.member)).map(({ metadata }) => metadata.annotations?.[REVISION])
      assert.deepEqual(revisions, ['3', '4'])
    },
    MEMBER,
  )

  story(
    'with Recreate end all old pods before a new one begins',
    async (world) => {
      const { member } = world
      // Bound to a node without a kubelet: pods are gone only when the test deletes them.
      const spec = { nodeName: 'far', containers: [{ name: 'main', image: 'one' }] }
      const template = { metadata: { labels: { app: 'web' } }, spec }
      await running(world, { replicas: 2, strategy: { type: 'Recreate' }, template })
      const before = await podsIn(member)
      await rollTo(world, 'two')
      assert.deepEqual(await sizes(world), [0], 'no new ReplicaSet yet')
      const [first, second] = before.map(({ metadata }) => metadata.name)
      await member.delete(PODS, `default/${first}`, { gracePeriodSeconds: 0 })
      await world.settle()
      assert.deepEqual(await podNames(member), [second])
      await member.delete(PODS, `default/${second}`, { gracePeriodSeconds: 0 })
      await world.settle()
      assert.deepEqual(await sizes(world), [0, 2])
      await allReady(world)
      assert.match(progressOf(await theDeployment(member, 'web')), /^True NewReplicaSetAvailable/)
    },
    MEMBER,
  )

  story(
    'do nothing but scale while they are paused, and roll out when resumed',
    async (world) => {
      const { member } = world
      await running(world, { replicas: 2 })
      await member.patch(DEPLOYMENTS, 'default/web', { spec: { paused: true } })
      await rollTo(world, 'two')
      assert.deepEqual(await sizes(world), [2])
      assert.equal(progressOf(await theDeployment(member, 'web')), 'Unknown DeploymentPaused: Deployment is paused')
      await member.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 4 } })
      await world.settle()
      await allReady(world)
      assert.deepEqual(await sizes(world), [4])
      assert.equal((await theDeployment(member, 'web')).status?.observedGeneration, 4)
      await member.patch(DEPLOYMENTS, 'default/web', { spec: { paused: null } })
      await world.settle()
      await allReady(world)
      assert.deepEqual(await sizes(world), [0, 4])
      assert.match(progressOf(await theDeployment(member, 'web')), /^True NewReplicaSetAvailable/)
    },
    MEMBER,
  )

  story(
    'share out in proportion when they are scaled in the middle of a rollout',
    async (world) => {
      const { member } = world
      const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } }
      await running(world, { replicas: 10, strategy })
      await rollTo(world, 'broken')
      assert.deepEqual(await sizes(world), [8, 5])
      await member.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 15 } })
      await world.settle()
      assert.deepEqual(await sizes(world), [11, 7])
      const [old, young] = (await replicaSetsIn(member)).map(({ metadata }) => metadata.name)
      const events = await eventsOf(member, 'Deployment', 'web')
      assert.deepEqual(events.slice(-2).sort(), [
        `ScalingReplicaSet: Scaled up replica set ${old} from 8 to 11`,
        `ScalingReplicaSet: Scaled up replica set ${young} from 5 to 7`,
      ])
      for (const set of await replicaSetsIn(member)) {
        assert.equal(set.metadata.annotations?.['deployment.kubernetes.io/desired-replicas'], '15')
        assert.equal(set.metadata.annotations?.['deployment.kubernetes.io/max-replicas'], '18')
      }
    },
    MEMBER,
  )

  story(
    'take unhealthy old pods away first, so that a rollout is not blocked by them',
    async (world) => {
      await running(world, { replicas: 4, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } })
      const [sick] = await podsIn(world.member)
      assert.ok(sick !== undefined)
      await setReady(world, sick, false)
      await world.settle()
      await rollTo(world, 'two')
      assert.equal((await podNames(world.member)).includes(sick.metadata.name ?? ''), false)
      assert.deepEqual(await sizes(world), [3, 1])
    },
    MEMBER,
  )

  story(
    'say that they do not progress when their time is up, and recover',
    async (world) => {
      const { member } = world
      await member.create(aDeployment('web', { replicas: 1, progressDeadlineSeconds: 30 }))
      await world.advance(30_000)
      const [set] = await replicaSetsIn(member)
      const name = set?.metadata.name
      assert.equal(progressOf(await theDeployment(member, 'web')), `True ReplicaSetUpdated: ReplicaSet "${name}" is progressing.`)
      await world.advance(2000)
      assert.equal(
        progressOf(await theDeployment(member, 'web')),
        `False ProgressDeadlineExceeded: ReplicaSet "${name}" has timed out progressing.`,
      )
      await world.settle()
      await allReady(world)
      assert.match(progressOf(await theDeployment(member, 'web')), /^True NewReplicaSetAvailable/)
    },
    MEMBER,
  )

  story(
    'wait for minReadySeconds at each step',
    async (world) => {
      const { member } = world
      await running(world, { replicas: 2, minReadySeconds: 60, strategy: ONE_MORE })
      await world.advance(60_000)
      await rollTo(world, 'two')
      for (const pod of await podsIn(member)) await setReady(world, pod)
      await world.advance(30_000)
      assert.deepEqual(await sizes(world), [2, 1])
      await world.advance(31_000)
      assert.deepEqual(await sizes(world), [1, 2])
      await member.patch(DEPLOYMENTS, 'default/web', { spec: { minReadySeconds: null } })
      await world.settle()
      await allReady(world)
      assert.deepEqual(await sizes(world), [0, 2])
      assert.equal((await replicaSetsIn(member)).at(-1)?.spec?.minReadySeconds, undefined)
    },
    MEMBER,
  )

  story(
    'adopt ReplicaSets they select, and release those that no longer match',
    async (world) => {
      const { member } = world
      const labels = { app: 'web', 'pod-template-hash': 'by-hand' }
      const template = { metadata: { labels }, spec: aDeployment('web').spec?.template?.spec }
      await member.create(aReplicaSet('lone', { replicas: 1, selector: { matchLabels: labels }, template }, { labels }))
      await world.settle()
      const [pod] = await podNames(member)
      const made = await member.create(aDeployment('web', { replicas: 1 }))
      await world.settle()
      const [adopted, ...others] = await replicaSetsIn(member)
      assert.deepEqual(others, [], 'it has the template: it is the one')
      assert.deepEqual(adopted?.metadata.ownerReferences, [controllerReference(made)])
      assert.deepEqual(await podNames(member), [pod])
      assert.equal((await theDeployment(member, 'web')).metadata.annotations?.[REVISION], '1')
      await member.patch(REPLICA_SETS, 'default/lone', { metadata: { labels: { app: 'other' } } })
      await world.settle()
      const sets = await replicaSetsIn(member)
      assert.equal(sets.find(({ metadata }) => metadata.name === 'lone')?.metadata.ownerReferences, undefined)
      assert.equal(sets.length, 2, 'and a new one takes its place')
    },
    MEMBER,
  )

  story(
    'with overlapping selectors leave each other alone',
    async (world) => {
      const { member } = world
      const spec = { selector: { matchLabels: { app: 'web' } }, template: aDeployment('web').spec?.template }
      await member.create(aDeployment('web', { ...spec, replicas: 2 }))
      await member.create(aDeployment('twin', { ...spec, replicas: 3 }))
      await world.settle()
      const owners = (await replicaSetsIn(member)).map((set) => [controllerOf(set)?.name, set.status?.replicas])
      assert.deepEqual(owners.sort(), [
        ['twin', 3],
        ['web', 2],
      ])
    },
    MEMBER,
  )

  story(
    'find another name when theirs is taken',
    async (world) => {
      const { member } = world
      await running(world, { replicas: 1 })
      const [first] = await replicaSetsIn(member)
      const name = first?.metadata.name ?? ''
      await member.delete(DEPLOYMENTS, 'default/web')
      await world.settle()
      await member.create(aReplicaSet(name, { replicas: 0 }))
      await member.create(aDeployment('web', { replicas: 1 }))
      await world.settle()
      const own = (await replicaSetsIn(member)).filter((set) => controllerOf(set) !== undefined)
      assert.equal(own.length, 1)
      assert.notEqual(own[0]?.metadata.name, name)
      assert.equal((await theDeployment(member, 'web')).status?.collisionCount, 1)
    },
    MEMBER,
  )

  story(
    'make their ReplicaSet again when somebody deletes it, and undo its scaling by hand',
    async (world) => {
      const { member } = world
      await running(world, { replicas: 2 })
      const [set] = await replicaSetsIn(member)
      await member.patch(REPLICA_SETS, `default/${set?.metadata.name}`, { spec: { replicas: 5 } })
      await world.settle()
      assert.deepEqual(await sizes(world), [2])
      await member.delete(REPLICA_SETS, `default/${set?.metadata.name}`)
      await world.settle()
      const [again] = await replicaSetsIn(member)
      assert.equal(again?.metadata.name, set?.metadata.name)
      assert.notEqual(again?.metadata.uid, set?.metadata.uid)
      assert.equal((await podsIn(member)).length, 2)
    },
    MEMBER,
  )

  story(
    'carry the failures of their ReplicaSets',
    async (world) => {
      const { member } = world
      const spec = { serviceAccountName: 'robot', containers: [{ name: 'main', image: 'one' }] }
      await member.create(aDeployment('web', { replicas: 1, template: { metadata: { labels: { app: 'web' } }, spec } }))
      await world.advance(5000)
      const failure = conditionsOf(await theDeployment(member, 'web')).get('ReplicaFailure')
      assert.equal(failure?.reason, 'FailedCreate')
      assert.match(failure?.message ?? '', /is forbidden: error looking up service account default\/robot/)
      await member.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } })
      await world.settle()
      assert.equal(conditionsOf(await theDeployment(member, 'web')).has('ReplicaFailure'), false)
      assert.ok(member.complaints.every((text) => text.includes('error looking up service account')))
      member.complaints.length = 0
    },
    MEMBER,
  )

  story(
    'go with everything they made',
    async (world) => {
      const { member } = world
      await running(world, { replicas: 2 })
      await rollTo(world, 'two')
      await member.delete(DEPLOYMENTS, 'default/web', { propagationPolicy: 'Foreground' })
      await world.settle()
      assert.deepEqual(await replicaSetsIn(member), [])
      assert.deepEqual(await podNames(member), [])
    },
    MEMBER,
  )
})

survives(deployment, {
  steps: [
    (cluster) =>
      cluster.create(
        aDeployment('web', { replicas: 2, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
      ),
    (cluster) =>
      cluster.patch(DEPLOYMENTS, 'default/web', { spec: { template: { spec: { containers: [{ name: 'main', image: 'two' }] } } } }),
    (cluster) => cluster.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 1, paused: true } }),
  ],
  invariants: [
    {
      says: 'no more than one ReplicaSet for a template',
      broken(stored) {
        const images = stored
          .list('replicasets')
          .map(({ spec }) => JSON.stringify((spec as { template?: { spec?: unknown } }).template?.spec))
        return new Set(images).size < images.length ? `${images.length} ReplicaSets for ${new Set(images).size} templates` : undefined
      },
    },
    {
      says: 'all ReplicaSets together are never larger than replicas and surge',
      broken(stored) {
        const total = stored.list('replicasets').reduce((sum, { spec }) => sum + ((spec as { replicas?: number }).replicas ?? 1), 0)
        return total > 3 ? `${total} replicas` : undefined
      },
    },
  ],
  async atRest(cluster) {
    const { status } = await theDeployment(cluster, 'web')
    assert.equal(status?.observedGeneration, 3)
    assert.equal((await replicaSetsIn(cluster)).length, 2)
  },
})
