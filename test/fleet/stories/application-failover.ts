/** An application that is not well in a cluster goes to another, when its policy says so. */
import assert from 'node:assert/strict'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, hasEvent, isIn, reportedAs, sharesOf } from '../bindings.ts'
import { reaches } from '../looks.ts'
import { aClusterPropagationPolicy, aPropagationPolicy, on, selectorOf } from '../manifests.ts'
import { type OwnKind, ownKind, report, teach } from '../own-kind.ts'
import type { FleetArea, FleetStage, Place } from '../story.ts'
import { spreadOver } from '../workloads.ts'

const AFLOAT = 'function InterpretHealth(observed) return observed.status == nil or observed.status.afloat ~= false end'
/** A copy that took state along is not well until it says so: the state is told only as long as the move is not over. */
const ARRIVED = `function InterpretHealth(observed)
  local labels = observed.metadata.labels
  if observed.status == nil then return labels == nil or labels.voyage == nil end
  return observed.status.afloat ~= false
end`
const PATIENCE_SECONDS = 3
const PATIENCE_WITH_STATE_SECONDS = 8

interface Launched {
  boats: OwnKind
  name: string
  from: Place
  others: readonly Place[]
}

/** A boat in one cluster, whose policy puts up with some seconds of bad health. */
async function launch(stage: FleetStage, application: Fields): Promise<Launched> {
  const boats = await ownKind(stage)
  const policy = (boat: KubeObject, placement: Fields, failover: Fields): KubeObject =>
    aPropagationPolicy('ferry', [selectorOf(boat)], placement, { propagateDeps: true, failover })
  return launchWith(stage, { boats, name: 'ferry', application, policy })
}

/** The same of a kind without namespaces. */
async function launchClusterScoped(stage: FleetStage, application: Fields): Promise<Launched> {
  const boats = await ownKind(stage, 'Cluster')
  const name = stage.unique('ferry')
  const policy = (boat: KubeObject, placement: Fields, failover: Fields): KubeObject =>
    aClusterPropagationPolicy(name, [selectorOf(boat)], placement, { propagateDeps: true, failover })
  return launchWith(stage, { boats, name, application, policy })
}

type Fields = Record<string, unknown>

interface Launch {
  boats: OwnKind
  name: string
  application: Fields
  policy(boat: KubeObject, placement: Fields, failover: Fields): KubeObject
}

async function launchWith(stage: FleetStage, { boats, name, application, policy }: Launch): Promise<Launched> {
  const hasState = application.statePreservation !== undefined
  await teach(stage, boats, { healthInterpretation: hasState ? ARRIVED : AFLOAT })
  const boat = boats.make(name, { seats: 4 })
  const placement = { ...on(...stage.members), spreadConstraints: [spreadOver('cluster', 1, 1)] }
  const tolerationSeconds = hasState ? PATIENCE_WITH_STATE_SECONDS : PATIENCE_SECONDS
  const failover = { application: { decisionConditions: { tolerationSeconds }, ...application } }
  await stage.hub.create(policy(boat, placement, failover))
  await stage.hub.create(boat, boats.resource)
  const from = await placeOf(stage, { boats, name }, stage.members)
  await reportedAs(stage, boats.resource, name, from.name, ({ health }) => health === 'Healthy')
  return { boats, name, from, others: stage.members.filter((member) => member !== from) }
}

const VOYAGE = { purgeMode: 'Directly', statePreservation: { rules: [{ aliasLabelName: 'voyage', jsonPath: '{.voyage}' }] } }

/** It goes under, and what it was at is known where it comes up again; there it is well, and the move is over. */
async function movesWithItsVoyage(stage: FleetStage, launched: Launched): Promise<void> {
  const { boats, name, from, others } = launched
  await report(from, boats, name, { afloat: false, voyage: '12' })
  const to = await placeOf(stage, launched, others)
  await isIn(stage, boats.resource, name, [to])
  await reaches(stage, boats.resource, name, [to], ({ metadata }: KubeObject) => metadata.labels?.voyage === '12')
  await report(to, boats, name, { afloat: true })
  await stage.until('the task done', async () => (await taskOf(stage, launched)) === undefined)
  await isIn(stage, boats.resource, name, [to])
}

/** The one of these that it is scheduled to, with the copy there. */
async function placeOf(stage: FleetStage, { boats, name }: Pick<Launched, 'boats' | 'name'>, among: readonly Place[]): Promise<Place> {
  let place: Place | undefined
  await stage.until(`the boat in one of ${among.map(({ name }) => name).join(', ')}`, async () => {
    const names = Object.keys(sharesOf(await bindingOf(stage, boats.resource, name)))
    place = names.length === 1 ? among.find((one) => one.name === names[0]) : undefined
    return place !== undefined && (await place.get(boats.resource, name)) !== undefined
  })
  assert.ok(place !== undefined)
  return place
}

async function taskOf(stage: FleetStage, { boats, name }: Launched): Promise<Record<string, unknown> | undefined> {
  const [task] = (await bindingOf(stage, boats.resource, name))?.spec.gracefulEvictionTasks ?? []
  if (task === undefined) return undefined
  const { creationTimestamp, ...rest } = task
  return rest
}

const PRODUCER = 'resource-binding-application-failover-controller'

export const applicationFailover: FleetArea = {
  name: 'application failover',
  stories: [
    {
      name: 'Gracefully: when it was unwell for too long it goes elsewhere, and the old copy leaves after',
      async run(stage) {
        const launched = await launch(stage, { purgeMode: 'Gracefully', gracePeriodSeconds: 300 })
        const { boats, from, others } = launched
        await report(from, boats, 'ferry', { afloat: false })
        const to = await placeOf(stage, launched, others)
        await isIn(stage, boats.resource, 'ferry', [to])
        const message = `Evict from cluster ${from.name} succeed.`
        await hasEvent(stage, { kind: 'ResourceBinding', name: 'ferry-boat' }, 'EvictWorkloadFromClusterSucceed', message)
      },
    },
    {
      name: 'Gracefully: while the new copy is not well either, the old one stays until its grace is over',
      async run(stage) {
        const launched = await launch(stage, { purgeMode: 'Gracefully', gracePeriodSeconds: 8 })
        const { boats, from, others } = launched
        await report(from, boats, 'ferry', { afloat: false })
        const to = await placeOf(stage, launched, others)
        await report(to, boats, 'ferry', { afloat: false })
        await stage.until('the old copy gone', async () => (await from.get(boats.resource, 'ferry')) === undefined)
      },
    },
    {
      name: 'Never: the old copy stays until a person lets it go',
      async run(stage) {
        const launched = await launch(stage, { purgeMode: 'Never' })
        const { boats, from, others } = launched
        await report(from, boats, 'ferry', { afloat: false })
        const to = await placeOf(stage, launched, others)
        await stage.settle()
        assert.ok((await from.get(boats.resource, 'ferry')) !== undefined)
        const task = { fromCluster: from.name, purgeMode: 'Never', reason: 'ApplicationFailure', producer: PRODUCER }
        assert.deepEqual(await taskOf(stage, launched), { ...task, suppressDeletion: true })
        await stage.hub.update(RESOURCE_BINDINGS, 'ferry-boat', ({ spec }) => {
          for (const one of spec.gracefulEvictionTasks ?? []) one.suppressDeletion = false
        })
        await isIn(stage, boats.resource, 'ferry', [to])
      },
    },
    {
      name: 'Directly: the old copy goes first, and its state goes along',
      run: async (stage) => movesWithItsVoyage(stage, await launch(stage, VOYAGE)),
    },
    {
      name: 'who is well again in time stays',
      async run(stage) {
        const { boats, from } = await launch(stage, { purgeMode: 'Directly' })
        await report(from, boats, 'ferry', { afloat: false })
        await reportedAs(stage, boats.resource, 'ferry', from.name, ({ health }) => health === 'Unhealthy')
        await report(from, boats, 'ferry', { afloat: true })
        await reportedAs(stage, boats.resource, 'ferry', from.name, ({ health }) => health === 'Healthy')
        await stage.pass(PATIENCE_SECONDS + 2)
        await stage.settle()
        await isIn(stage, boats.resource, 'ferry', [from])
      },
    },
    {
      name: 'of a kind without namespaces, Gracefully: it goes elsewhere, and the old copy leaves after',
      async run(stage) {
        const launched = await launchClusterScoped(stage, { purgeMode: 'Gracefully', gracePeriodSeconds: 300 })
        const { boats, name, from, others } = launched
        await report(from, boats, name, { afloat: false })
        const to = await placeOf(stage, launched, others)
        await isIn(stage, boats.resource, name, [to])
        await stage.until('the task done', async () => (await taskOf(stage, launched)) === undefined)
      },
    },
    {
      name: 'of a kind without namespaces, Never: the old copy stays until a person lets it go',
      async run(stage) {
        const launched = await launchClusterScoped(stage, { purgeMode: 'Never' })
        const { boats, name, from, others } = launched
        await report(from, boats, name, { afloat: false })
        const to = await placeOf(stage, launched, others)
        await stage.settle()
        assert.ok((await from.get(boats.resource, name)) !== undefined)
        const producer = 'cluster-resource-binding-application-failover-controller'
        const task = { fromCluster: from.name, purgeMode: 'Never', reason: 'ApplicationFailure', producer }
        assert.deepEqual(await taskOf(stage, launched), { ...task, suppressDeletion: true })
        await stage.hub.update(CLUSTER_RESOURCE_BINDINGS, `${name}-boat`, ({ spec }) => {
          for (const one of spec.gracefulEvictionTasks ?? []) one.suppressDeletion = false
        })
        await isIn(stage, boats.resource, name, [to])
      },
    },
    {
      name: 'of a kind without namespaces, Directly: the old copy goes first, and its state goes along',
      run: async (stage) => movesWithItsVoyage(stage, await launchClusterScoped(stage, VOYAGE)),
    },
    {
      name: 'of a kind without namespaces, who is well again in time stays',
      async run(stage) {
        const { boats, name, from } = await launchClusterScoped(stage, { purgeMode: 'Directly' })
        await report(from, boats, name, { afloat: false })
        await reportedAs(stage, boats.resource, name, from.name, ({ health }) => health === 'Unhealthy')
        await report(from, boats, name, { afloat: true })
        await reportedAs(stage, boats.resource, name, from.name, ({ health }) => health === 'Healthy')
        await stage.pass(PATIENCE_SECONDS + 2)
        await stage.settle()
        await isIn(stage, boats.resource, name, [from])
      },
    },
  ],
}
