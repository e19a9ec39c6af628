/**
 * The narrowing under the prover: the real detector and scheduler, with claims and sources bound by their own controllers.
 * Whatever the caches of claims, sources and clusters miss or show late, nothing is scheduled before its data is known.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runControllers } from '../../composition.ts'
import { compare } from '../../faultsim/prover/compare.ts'
import { beginningOf, runStory, type Story } from '../../faultsim/prover/run-story.ts'
import { type Survival, survives } from '../../faultsim/survives.ts'
import type { RunControllers, WorldCluster } from '../../faultsim/world/cluster.ts'
import { aWorld } from '../../faultsim/world/index.ts'
import { detectedBindings } from '../../fleet/detector/binding/controller.ts'
import { aDeployment, aPolicy, bindingAt, DEPLOYMENT, theBinding } from '../../fleet/detector/testing.ts'
import { nativeInterpreter } from '../../fleet/interpreter/testing.ts'
import { scheduler } from '../../fleet/scheduler/index.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { CLAIMS_ANNOTATION } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { collectionPath, type Resource } from '../../kube/resource.ts'
import { GARBAGE_COLLECTOR, runGarbageCollector } from '../../minicluster/housekeeping/garbage/run.ts'
import { propagatableBy } from '../../runtime/module/run-modules.ts'
import { unconnected } from '../../runtime/module/unconnected.ts'
import { runAll } from '../../runtime/run-all.ts'
import { HELD_REASON } from '../../runtime/seams/narrowing.ts'
import { createTemplates, type Templates } from '../../runtime/templates.ts'
import { claimController } from '../claim/controller.ts'
import { createWaitingClaims } from '../claim/deps.ts'
import { aClaim, aSource, joined, stateOf } from '../claim/testing.ts'
import { createProducers } from '../output/producers.ts'
import { INVARIANTS } from '../seeded/invariants.ts'
import { sourceController } from '../source/controller.ts'
import { type ClaimedTemplates, createClaimedTemplates } from './claimed-templates.ts'
import { gateNarrowing } from './narrowing.ts'

/** The detector with the narrowing, the scheduler, and who binds claims to sources. */
const cast: RunControllers = (options) => {
  if (options.role === 'member') return runControllers(options)
  const propagatable = propagatableBy(options.modules)
  return runAll({ ...options, keepsWhole: propagatable.isPropagatable }, ({ caches, clusterCache, clientOf, observer }) => {
    const templates = createTemplates(clusterCache, propagatable)
    const claims = caches.of(DATA_SOURCE_CLAIMS)
    const claimed = createClaimedTemplates(templates, claims)
    const producers = createProducers(templates)
    const waiting = createWaitingClaims(claims)
    return {
      controllers: [
        detectedBindings({ templates, interpreter: nativeInterpreter(), narrowings: [gateNarrowing({ claimed })] }),
        scheduler(RESOURCE_BINDINGS, { isSummaryCurrent: () => true }),
        claimController({ templates, producers, claimed, waiting, referenceConsent: 'open' }),
        sourceController(),
      ],
      loops: [runGarbageCollector({ client: clientOf(GARBAGE_COLLECTOR), clusterCache, ...observer })],
    }
  })
}

const SALES = 'hive/table/sales'
const USERS = 'hive/table/users'
const GOLD = { labelSelector: { matchLabels: { tier: 'gold' } } }

const claimFor = (name: string, data: string, workload: string): KubeObject =>
  aClaim(`default/${name}`, data, { workload: { ...DEPLOYMENT, name: workload } })

const naming = (name: string, claims: string): KubeObject => {
  const deployment = aDeployment(`default/${name}`)
  return { ...deployment, metadata: { ...deployment.metadata, annotations: { [CLAIMS_ANNOTATION]: claims } } }
}

type Step = Survival['steps'][number]

const step =
  (...objects: KubeObject[]): Step =>
  async (hub) => {
    for (const object of objects) await hub.create(object)
  }

/** A claim is written right before its workload, so that a late event of the one meets the other. */
const STEPS: readonly Step[] = [
  step(aPolicy('default/all', { resourceSelectors: [DEPLOYMENT], placement: {} })),
  step(claimFor('sales', SALES, 'web'), aDeployment('default/web')),
  step(aSource('sales', SALES)),
  step(claimFor('users', USERS, 'nobody'), naming('report', 'sales,users')),
  step(aSource('users', USERS, { locality: { clusterAffinity: GOLD } })),
  (hub) => hub.patch(CLUSTERS, 'west', { metadata: { labels: { tier: 'gold' } } }),
  (hub) => hub.patch(DATA_SOURCES, 'sales', { spec: { locality: { clusterNames: ['east'] } } }),
  step(naming('late', 'sales')),
  (hub) => hub.delete(DATA_SOURCES, 'sales'),
  step(naming('new', 'sales')),
  (hub) => hub.patch(DEPLOYMENTS, 'default/web', { spec: { replicas: 5 } }),
  step(aSource('sales-2', SALES, { locality: { clusterNames: ['west', 'east'] } })),
  (hub) => hub.delete(DATA_SOURCE_CLAIMS, 'default/users'),
]

const placesOf = async (hub: WorldCluster, name: string): Promise<string> => {
  const { metadata, spec } = await theBinding(hub, `default/${name}-deployment`)
  const places = (spec?.clusters ?? []).map((cluster) => `${cluster.name}:${cluster.replicas}`)
  return [...places, metadata.annotations?.[HELD_REASON] ?? []].flat().join(' ')
}

const placesOfAll = (hub: WorldCluster): Promise<string[]> =>
  Promise.all(['web', 'report', 'late', 'new'].map((name) => placesOf(hub, name)))

/** Data that moved or was lost has moved nothing, and the claim that is gone was released. */
async function atRest(hub: WorldCluster): Promise<void> {
  assert.deepEqual(await placesOfAll(hub), ['west:5', 'west:2', 'east:2', 'east:2 west:2'])
  assert.equal(await stateOf(hub, 'default/sales'), 'Bound sales-2')
}

const STORY = {
  before: [(hub: WorldCluster) => joined(hub, 'west'), (hub: WorldCluster) => joined(hub, 'east')],
  steps: STEPS,
  invariants: INVARIANTS,
  atRest,
}

const declared = {
  templates: unconnected<Templates>('templates'),
  interpreter: nativeInterpreter(),
  narrowings: [gateNarrowing({ claimed: unconnected<ClaimedTemplates>('claimed templates') })],
}

survives(detectedBindings(declared), { role: 'hub', controllers: cast, ...STORY })

describe('after a restart in which a first list comes late', () => {
  const READ: readonly Resource[] = [DATA_SOURCE_CLAIMS, DATA_SOURCES, CLUSTERS]
  const world = { controllers: cast }
  const story = (steps: readonly Step[]): Story => ({ ...STORY, steps, world, cluster: ({ hub }) => hub })

  /** The controllers restart; for two seconds nobody can read this resource, and everything else can be read. */
  const lateList =
    (resource: Resource): Step =>
    async (hub) => {
      const path = collectionPath(resource, undefined)
      let refused = 0
      hub.killControllers()
      hub.interference = {
        onRequest({ part, request }) {
          if (part !== 'caches' || request.path.split('?')[0] !== path) return undefined
          refused++
          return { do: 'fail-before' }
        },
      }
      await hub.inside(() => hub.startControllers())
      await hub.advance(2000)
      hub.interference = undefined
      assert.ok(refused > 0, `nobody has read ${resource.plural}`)
    }

  /** Without `SURVIVES=all`, a few of them. */
  const isTried = (i: number): boolean => process.env.SURVIVES === 'all' || i % 7 === 3

  it('nothing is let through, whichever it is and whenever it happens', async () => {
    const from = await beginningOf(story(STEPS))
    const free = await runStory(story(STEPS), from)
    const cases = STEPS.flatMap((one, at) =>
      READ.flatMap((resource) => [
        { one, at, resource, isSettled: false },
        { one, at, resource, isSettled: true },
      ]),
    )
    for (const { one, at, resource, isSettled } of cases.filter((_, i) => isTried(i))) {
      const late = lateList(resource)
      // Right after a step, or when everything that follows from it is done.
      const both: Step = async (hub) => {
        await one(hub)
        await late(hub)
      }
      const steps = isSettled ? [...STEPS.slice(0, at + 1), late, ...STEPS.slice(at + 1)] : STEPS.with(at, both)
      compare(free, await runStory(story(steps), from))
    }
  })
})

describe('a source that is edited', () => {
  it('releases nobody if it comes nearer but does not match any more', async () => {
    const world = await aWorld({ controllers: cast }).settle()
    const { hub } = world
    for (const name of ['west', 'east']) await joined(hub, name)
    const placement = { clusterAffinity: { clusterNames: ['east'] } }
    await step(aPolicy('default/all', { resourceSelectors: [DEPLOYMENT], placement }))(hub)
    await step(aSource('sales', SALES), claimFor('sales', SALES, 'web'), aDeployment('default/web'))(hub)
    await world.settle()
    assert.equal(await placesOf(hub, 'web'), 'NoCommonCluster')
    await hub.patch(DATA_SOURCES, 'sales', { spec: { name: 'other', locality: { clusterNames: ['east'] } } })
    await world.settle()
    assert.equal(await placesOf(hub, 'web'), 'NoSuchSource')
    await world.stop()
  })

  it('sends nobody who comes later to where its data was before, although the event of the edit is late', async () => {
    const world = await aWorld({ controllers: cast }).settle()
    const { hub } = world
    for (const name of ['west', 'east']) await joined(hub, name)
    await step(aPolicy('default/all', { resourceSelectors: [DEPLOYMENT], placement: {} }))(hub)
    await step(aSource('sales', SALES, { locality: { clusterNames: ['west'] } }), claimFor('sales', SALES, 'nobody'))(hub)
    await world.settle()
    hub.interference = { onDelivery: ({ path, name }) => (path.endsWith('/datasources') && name === 'sales' ? 'hide' : undefined) }
    await hub.patch(DATA_SOURCES, 'sales', { spec: { locality: { clusterNames: ['east'] } } })
    await step(naming('late', 'sales'))(hub)
    await world.advance(200)
    assert.equal(await bindingAt(hub, 'default/late-deployment'), undefined, 'not let through on a source older than it is')
    await world.settle()
    assert.equal(await placesOf(hub, 'late'), 'east:2')
    await world.stop()
  })
})
