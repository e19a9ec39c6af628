import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { type Invariant, type Survival, survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { CLUSTER_SCOPED_BINDINGS, NAMESPACED_BINDINGS } from '../../../kinds/karmada/binding-kinds.ts'
import type { Binding, BindingSpec, Work } from '../../../kinds/karmada/index.ts'
import { CLUSTER_RESOURCE_BINDINGS, OVERRIDE_POLICIES, RESOURCE_BINDINGS, WORKS } from '../../../kinds/karmada/resources.ts'
import { CLUSTER_ROLES, DEPLOYMENTS } from '../../../kinds/kubernetes/resources.ts'
import type { FleetDeps } from '../../services.ts'
import { hubCast, joined } from '../../testing.ts'
import { bindingControllers } from '../index.ts'
import { targetsOf } from '../targets.ts'
import { aBinding, aClusterRole, aDeployment, anOverride, manifestOf, placesOf, targets, willing, worksIn } from '../testing.ts'
import { bindingWorks } from './controller.ts'

type Step = (hub: WorldCluster) => Promise<unknown>

const bound =
  (name: string, spec: Partial<BindingSpec>): Step =>
  async (hub) =>
    hub.create(aBinding(await hub.create(aDeployment(name)), spec))
const change =
  (name: string, spec: Record<string, unknown>): Step =>
  (hub) =>
    hub.patch(RESOURCE_BINDINGS, `default/${name}-deployment`, { spec })
const directly = { fromCluster: 'member1', purgeMode: 'Directly', reason: 'TaintUntolerated', producer: 'TaintManager' }

const worksOf = (objects: { list(plural: string): readonly unknown[] }, name: string): Work[] =>
  (objects.list('works') as Work[]).filter(
    ({ metadata }) => metadata.annotations?.['resourcebinding.karmada.io/name'] === `${name}-deployment`,
  )

const INVARIANTS: readonly Invariant[] = [
  {
    says: 'what moves directly is never in two places',
    broken: (objects) => (worksOf(objects, 'one').length > 1 ? 'two Works of one' : undefined),
  },
  {
    says: 'what is preserved says so before it goes',
    broken: (objects) =>
      worksOf(objects, 'kept').some(
        ({ metadata, spec }) => metadata.deletionTimestamp !== undefined && spec.preserveResourcesOnDeletion !== true,
      )
        ? 'a Work goes with its object'
        : undefined,
  },
  {
    says: 'a Work is complete from its first moment',
    broken: (objects) => {
      const bare = (objects.list('works') as Work[]).find((work) => manifestOf(work).metadata.labels?.['karmada.io/managed'] !== 'true')
      return bare?.metadata.name
    },
  },
]

const survival: Survival = {
  role: 'hub',
  before: [joined(3)],
  controllers: hubCast((given: FleetDeps) => [...bindingControllers(given), willing]),
  steps: [
    bound('web', { replicas: 2, clusters: targets(['member1', 1], ['member2', 1]) }),
    (hub) => hub.create(anOverride('red', { color: 'red' }, {}, { clusterNames: ['member2', 'member3'] })),
    change('web', { clusters: targets(['member2', 1], ['member3', 1]) }),
    async (hub) => hub.delete(WORKS, `karmada-es-member3/${(await worksIn(hub))[0]?.metadata.name}`),
    (hub) => hub.patch(DEPLOYMENTS, 'default/web', { metadata: { labels: { tier: 'front' } } }),
    bound('one', { clusters: targets('member1') }),
    change('one', { clusters: targets('member2'), gracefulEvictionTasks: [directly] }),
    bound('kept', { clusters: targets('member1', 'member2') }),
    change('kept', { preserveResourcesOnDeletion: true, clusters: targets('member2') }),
    (hub) => hub.delete(RESOURCE_BINDINGS, 'default/kept-deployment'),
    (hub) => hub.delete(OVERRIDE_POLICIES, 'default/red'),
  ],
  invariants: INVARIANTS,
  async atRest(hub) {
    assert.deepEqual(await placesOf(hub), ['member2', 'member2', 'member3'])
    const bindings = (await hub.list(RESOURCE_BINDINGS)) as Binding[]
    const decided = bindings.flatMap(({ metadata, spec }) => targetsOf(spec).map(({ name }) => `karmada-es-${name} ${metadata.name}`))
    const works = await worksIn(hub)
    const placed = works.map(({ metadata }) => `${metadata.namespace} ${metadata.annotations?.['resourcebinding.karmada.io/name']}`)
    assert.deepEqual(placed.sort(), decided.sort())
    assert.ok(works.every((work) => manifestOf(work).metadata.labels?.color === undefined))
  },
}

const nothing = {} as FleetDeps

describe('under every fault', () => {
  survives(bindingWorks(NAMESPACED_BINDINGS, nothing), survival)
  survives(
    {
      name: 'fleet.binding.works.cluster-scoped',
      for: CLUSTER_RESOURCE_BINDINGS,
      ...parts(bindingWorks(CLUSTER_SCOPED_BINDINGS, nothing)),
    },
    {
      ...survival,
      steps: [
        async (hub) => hub.create(aBinding(await hub.create(aClusterRole('viewer')), { clusters: targets('member1') })),
        (hub) => hub.patch(CLUSTER_RESOURCE_BINDINGS, 'viewer-clusterrole', { spec: { clusters: targets('member2', 'member3') } }),
        (hub) => hub.patch(CLUSTER_ROLES, 'viewer', { metadata: { labels: { tier: 'front' } } }),
        (hub) => hub.patch(CLUSTER_RESOURCE_BINDINGS, 'viewer-clusterrole', { spec: { clusters: targets('member3') } }),
      ],
      async atRest(hub) {
        assert.deepEqual(await placesOf(hub), ['member3'])
        assert.equal(manifestOf((await worksIn(hub))[0]).metadata.labels?.tier, 'front')
      },
    },
  )
})

function parts({ watches, indexes, signals }: ReturnType<typeof bindingWorks>) {
  return { watches, indexes, signals }
}
