import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ApiError } from '../../../client/errors.ts'
import { aDefinition, aWidget } from '../../../faultsim/builders/index.ts'
import { expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { POD_DISRUPTION_BUDGETS, PODS, STATEFUL_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from '../../../kinds/kubernetes/types.ts'
import { aDeployment, allReady, aPod, eventsOf, podNames, podsIn } from '../../../runtime/workloads/pod/testing.ts'
import { aStatefulSet } from '../../workloads/stateful-set/testing.ts'
import { podDisruptionBudget } from './controller.ts'

const member = { members: 1 }

const aBudget = (spec: PodDisruptionBudgetSpec): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'guard', namespace: 'default' },
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
})

async function statusIn(cluster: WorldCluster): Promise<PodDisruptionBudgetStatus> {
  return (await expectThere(cluster, POD_DISRUPTION_BUDGETS, 'default/guard')).status as PodDisruptionBudgetStatus
}

const numbers = ({ expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed }: PodDisruptionBudgetStatus): unknown[] => [
  expectedPods,
  desiredHealthy,
  currentHealthy,
  disruptionsAllowed,
]

function evict(cluster: WorldCluster, name: string): Promise<unknown> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' } }
  return cluster.inside(() => cluster.client.create(PODS, eviction, { subresource: 'eviction' }))
}

/** Without a token, whose volume has a random name. */
const plainPod = (name: string) =>
  aPod(name, { labels: { app: 'web' } }, { spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'one' }] } })

const isRefused = (error: unknown): boolean => error instanceof ApiError && error.code === 429

describe('a disruption budget', () => {
  story(
    'grants evictions one by one and makes up for them when new pods are ready',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aBudget({ maxUnavailable: 1 }))
      await world.settle()
      assert.deepEqual(numbers(await statusIn(cluster)), [0, 0, 0, 0])
      assert.deepEqual(await eventsOf(cluster, 'PodDisruptionBudget', 'guard'), ['NoPods: No matching pods found'])
      await cluster.create(aDeployment('web', { replicas: 3 }))
      await world.settle()
      assert.deepEqual(numbers(await statusIn(cluster)), [3, 2, 0, 0])
      await allReady(world)
      assert.deepEqual(numbers(await statusIn(cluster)), [3, 2, 3, 1])

      const [first = '', second = ''] = await podNames(cluster)
      await evict(cluster, first)
      await assert.rejects(evict(cluster, second), isRefused)
      await world.settle()
      await expectGone(cluster, PODS, `default/${first}`)
      const after = await statusIn(cluster)
      assert.deepEqual([numbers(after), after.disruptedPods], [[3, 2, 2, 0], undefined])
      await assert.rejects(evict(cluster, second), isRefused)
      await allReady(world)
      await evict(cluster, second)
      await world.settle()
      await allReady(world)
      assert.deepEqual(numbers(await statusIn(cluster)), [3, 2, 3, 1])
    },
    member,
  )

  story(
    'gives an eviction up that has not shown after two minutes',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aBudget({ minAvailable: 1 }))
      for (const name of ['one', 'two']) await cluster.create(aPod(name, { labels: { app: 'web' } }))
      await world.settle()
      await allReady(world)
      assert.deepEqual(numbers(await statusIn(cluster)), [2, 1, 2, 1])
      const now = new Date(world.clock.now()).toISOString().replace(/\.\d+Z/, 'Z')
      await cluster.patch(POD_DISRUPTION_BUDGETS, 'default/guard', { status: { disruptedPods: { one: now } } }, 'status')
      await world.settle()
      assert.deepEqual(numbers(await statusIn(cluster)), [2, 1, 1, 0])
      await world.advance(121_000)
      await world.settle()
      const after = await statusIn(cluster)
      assert.deepEqual([numbers(after), after.disruptedPods], [[2, 1, 2, 1], undefined])
      const events = (await eventsOf(cluster, 'Pod', 'one')).filter((one) => one.startsWith('NotDeleted'))
      assert.deepEqual(events, ["NotDeleted: Pod was expected by PDB default/default to be deleted but it wasn't"])
    },
    member,
  )

  story(
    'follows the scale of owners, also before their pods do',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aBudget({ minAvailable: '50%' }))
      await cluster.create(aStatefulSet({ replicas: 2, podManagementPolicy: 'Parallel' }))
      await world.settle()
      await allReady(world)
      assert.deepEqual(numbers(await statusIn(cluster)), [2, 1, 2, 1])
      await cluster.patch(STATEFUL_SETS, 'default/web', { spec: { replicas: 4 } })
      await world.settle()
      assert.deepEqual(numbers(await statusIn(cluster)), [4, 2, 2, 0])
      await allReady(world)
      assert.deepEqual(numbers(await statusIn(cluster)), [4, 2, 4, 2])
    },
    member,
  )

  story(
    'asks owners of other kinds for their scale, and says when they have none',
    async (world) => {
      const { member: cluster } = world
      const definition = aDefinition('Widget')
      const [version] = (definition.spec as { versions: Record<string, unknown>[] }).versions
      assert.ok(version !== undefined)
      version.subresources = { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } }
      await cluster.create(definition)
      await cluster.create(aDefinition('Gadget'))
      await world.settle()
      const owner = await cluster.create(aWidget('default/w', { spec: { size: 4 } }))
      const ownedBy = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: typeof owner) => ({
        labels: { app: 'web' },
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
      })
      await cluster.create(aPod('one', ownedBy(owner)))
      await cluster.create(aBudget({ maxUnavailable: 2 }))
      await world.settle()
      await allReady(world)
      assert.deepEqual(numbers(await statusIn(cluster)), [4, 2, 1, 0])

      const gadget = await cluster.create({ apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'g', namespace: 'default' } })
      await cluster.create(aPod('two', ownedBy(gadget)))
      await world.settle()
      const [condition] = (await statusIn(cluster)).conditions ?? []
      assert.deepEqual(
        [condition?.reason, condition?.message],
        ['SyncFailed', 'gadgets.example.com does not implement the scale subresource'],
      )
      const nobody = { ...owner, metadata: { name: 'nobody', uid: 'gone' } }
      await cluster.delete(PODS, 'default/two')
      await cluster.delete(PODS, 'default/one')
      await cluster.create(aPod('three', { ...ownedBy(nobody), finalizers: ['example.com/hold'] }))
      await world.settle()
      assert.equal((await statusIn(cluster)).conditions?.[0]?.message, 'found no controllers for pod "three"')
    },
    member,
  )

  story(
    'counts pods without an owner only where it can',
    async (world) => {
      const { member: cluster } = world
      await cluster.create(aPod('alone', { labels: { app: 'web' } }))
      await cluster.create(aBudget({ maxUnavailable: 1 }))
      await world.settle()
      await allReady(world)
      assert.deepEqual(numbers(await statusIn(cluster)), [0, 0, 1, 0])
      assert.ok(
        (await eventsOf(cluster, 'PodDisruptionBudget', 'guard'))[0]?.startsWith(
          'UnmanagedPods: Pods selected by this PodDisruptionBudget',
        ),
      )
      await assert.rejects(evict(cluster, 'alone'), isRefused)
    },
    member,
  )
})

describe('minicluster.policy.pod-disruption-budget', () => {
  survives(podDisruptionBudget, {
    steps: [
      (cluster) => cluster.create(aBudget({ minAvailable: 1 })),
      (cluster) => cluster.create(plainPod('one')),
      (cluster) => cluster.create(plainPod('two')),
      async (cluster) => {
        const conditions = [{ type: 'Ready', status: 'True' }]
        for (const { metadata } of await podsIn(cluster))
          await cluster.patch(PODS, `default/${metadata.name}`, { status: { phase: 'Running', conditions } }, 'status')
      },
      (cluster) => evict(cluster, 'one'),
    ],
    async atRest(cluster) {
      assert.deepEqual(numbers(await statusIn(cluster)), [1, 1, 1, 0])
      assert.equal((await statusIn(cluster)).disruptedPods, undefined)
    },
  })
})
