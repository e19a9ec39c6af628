/** An application that is unhealthy in a cluster moves to another, if its policy says so. */
import assert from 'node:assert/strict'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, hasEvent, isIn, reportedAs, sharesOf } from '../bindings.ts'
import { reaches } from '../expectations.ts'
import { aClusterPropagationPolicy, aPropagationPolicy, on, selectorOf } from '../manifests.ts'
import { type OwnKind, ownKind, report, teach } from '../own-kind.ts'
import type { FleetArea, FleetTestbed, Place } from '../story.ts'
import { spreadOver } from '../workloads.ts'

const AFLOAT = 'function InterpretHealth(observed) return observed.status == nil or observed.status.afloat ~= false end'
/** A copy that took state along is unhealthy until it has it: the state is passed only until the move is over. */
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

/** A boat in one cluster, whose policy tolerates some seconds of bad health. */
async function launch(testbed: FleetTestbed, application: Fields): Promise<Launched> {
  const boats = await ownKind(testbed)
  const policy = (boat: KubeObject, placement: Fields, failover: Fields): KubeObject =>
    aPropagationPolicy('ferry', [selectorOf(boat)], placement, { propagateDeps: true, failover })
  return launchWith(testbed, { boats, name: 'ferry', application, policy })
}

/** The same for a cluster-scoped kind. */
async function launchClusterScoped(testbed: FleetTestbed, application: Fields): Promise<Launched> {
  const boats = await ownKind(testbed, 'Cluster')
  const name = testbed.unique('ferry')
  const policy = (boat: KubeObject, placement: Fields, failover: Fields): KubeObject =>
    aClusterPropagationPolicy(name, [selectorOf(boat)], placement, { propagateDeps: true, failover })
  return launchWith(testbed, { boats, name, application, policy })
}

type Fields = Record<string, unknown>

interface Launch {
  boats: OwnKind
  name: string
  application: Fields
  policy(boat: KubeObject, placement: Fields, failover: Fields): KubeObject
}

async function launchWith(testbed: FleetTestbed, { boats, name, application, policy }: Launch): Promise<Launched> {
  const hasState = application.statePreservation !== undefined
  await teach(testbed, boats, { healthInterpretation: hasState ? ARRIVED : AFLOAT })
  const boat = boats.make(name, { seats: 4 })
  const placement = { ...on(...testbed.members), spreadConstraints: [spreadOver('cluster', 1, 1)] }
  const tolerationSeconds = hasState ? PATIENCE_WITH_STATE_SECONDS : PATIENCE_SECONDS
  const failover = { application: { decisionConditions: { tolerationSeconds }, ...application } }
  await testbed.hub.create(policy(boat, placement, failover))
  await testbed.hub.create(boat, boats.resource)
  const from = await placeOf(testbed, { boats, name }, testbed.members)
  await reportedAs(testbed, boats.resource, name, from.name, ({ health }) => health === 'Healthy')
  return { boats, name, from, others: testbed.members.filter((member) => member !== from) }
}

const VOYAGE = { purgeMode: 'Directly', statePreservation: { rules: [{ aliasLabelName: 'voyage', jsonPath: '{.voyage}' }] } }

/** It becomes unhealthy, and its state is known where it comes up again; there it is healthy, and the move is over. */
async function movesWithItsVoyage(testbed: FleetTestbed, launched: Launched): Promise<void> {
  const { boats, name, from, others } = launched
  await report(from, boats, name, { afloat: false, voyage: '12' })
  const to = await placeOf(testbed, launched, others)
  await isIn(testbed, boats.resource, name, [to])
  await reaches(testbed, boats.resource, name, [to], ({ metadata }: KubeObject) => metadata.labels?.voyage === '12')
  await report(to, boats, name, { afloat: true })
  await testbed.until('the task done', async () => (await taskOf(testbed, launched)) === undefined)
  await isIn(testbed, boats.resource, name, [to])
}

/** The one of these that it is scheduled to, with the copy there. */
async function placeOf(testbed: FleetTestbed, { boats, name }: Pick<Launched, 'boats' | 'name'>, among: readonly Place[]): Promise<Place> {
  let place: Place | undefined
  await testbed.until(`the boat in one of ${among.map(({ name }) => name).join(', ')}`, async () => {
    const names = Object.keys(sharesOf(await bindingOf(testbed, boats.resource, name)))
    place = names.length === 1 ? among.find((one) => one.name === names[0]) : undefined
    return place !== undefined && (await place.get(boats.resource, name)) !== undefined
  })
  assert.ok(place !== undefined)
  return place
}

async function taskOf(testbed: FleetTestbed, { boats, name }: Launched): Promise<Record<string, unknown> | undefined> {
  const [task] = (await bindingOf(testbed, boats.resource, name))?.spec.gracefulEvictionTasks ?? []
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
      async run(testbed) {
        const launched = await launch(testbed, { purgeMode: 'Gracefully', gracePeriodSeconds: 300 })
        const { boats, from, others } = launched
        await report(from, boats, 'ferry', { afloat: false })
        const to = await placeOf(testbed, launched, others)
        await isIn(testbed, boats.resource, 'ferry', [to])
        const message = `Evict from cluster ${from.name} succeed.`
        await hasEvent(testbed, { kind: 'ResourceBinding', name: 'ferry-boat' }, 'EvictWorkloadFromClusterSucceed', message)
      },
    },
    {
      name: 'Gracefully: while the new copy is not well either, the old one stays until its grace is over',
      async run(testbed) {
        const launched = await launch(testbed, { purgeMode: 'Gracefully', gracePeriodSeconds: 8 })
        const { boats, from, others } = launched
        await report(from, boats, 'ferry', { afloat: false })
        const to = await placeOf(testbed, launched, others)
        await report(to, boats, 'ferry', { afloat: false })
        await testbed.until('the old copy gone', async () => (await from.get(boats.resource, 'ferry')) === undefined)
      },
    },
    {
      name: 'Never: the old copy stays until a person lets it go',
      async run(testbed) {
        const launched = await launch(testbed, { purgeMode: 'Never' })
        const { boats, from, others } = launched
        await report(from, boats, 'ferry', { afloat: false })
        const to = await placeOf(testbed, launched, others)
        await testbed.settle()
        assert.ok((await from.get(boats.resource, 'ferry')) !== undefined)
        const task = { fromCluster: from.name, purgeMode: 'Never', reason: 'ApplicationFailure', producer: PRODUCER }
        assert.deepEqual(await taskOf(testbed, launched), { ...task, suppressDeletion: true })
        await testbed.hub.update(RESOURCE_BINDINGS, 'ferry-boat', ({ spec }) => {
          for (const one of spec.gracefulEvictionTasks ?? []) one.suppressDeletion = false
        })
        await isIn(testbed, boats.resource, 'ferry', [to])
      },
    },
    {
      name: 'Directly: the old copy goes first, and its state goes along',
      run: async (testbed) => movesWithItsVoyage(testbed, await launch(testbed, VOYAGE)),
    },
    {
      name: 'who is well again in time stays',
      async run(testbed) {
        const { boats, from } = await launch(testbed, { purgeMode: 'Directly' })
        await report(from, boats, 'ferry', { afloat: false })
        await reportedAs(testbed, boats.resource, 'ferry', from.name, ({ health }) => health === 'Unhealthy')
        await report(from, boats, 'ferry', { afloat: true })
        await reportedAs(testbed, boats.resource, 'ferry', from.name, ({ health }) => health === 'Healthy')
        await testbed.pass(PATIENCE_SECONDS + 2)
        await testbed.settle()
        await isIn(testbed, boats.resource, 'ferry', [from])
      },
    },
    {
      name: 'of a kind without namespaces, Gracefully: it goes elsewhere, and the old copy leaves after',
      async run(testbed) {
        const launched = await launchClusterScoped(testbed, { purgeMode: 'Gracefully', gracePeriodSeconds: 300 })
        const { boats, name, from, others } = launched
        await report(from, boats, name, { afloat: false })
        const to = await placeOf(testbed, launched, others)
        await isIn(testbed, boats.resource, name, [to])
        await testbed.until('the task done', async () => (await taskOf(testbed, launched)) === undefined)
      },
    },
    {
      name: 'of a kind without namespaces, Never: the old copy stays until a person lets it go',
      async run(testbed) {
        const launched = await launchClusterScoped(testbed, { purgeMode: 'Never' })
        const { boats, name, from, others } = launched
        await report(from, boats, name, { afloat: false })
        const to = await placeOf(testbed, launched, others)
        await testbed.settle()
        assert.ok((await from.get(boats.resource, name)) !== undefined)
        const producer = 'cluster-resource-binding-application-failover-controller'
        const task = { fromCluster: from.name, purgeMode: 'Never', reason: 'ApplicationFailure', producer }
        assert.deepEqual(await taskOf(testbed, launched), { ...task, suppressDeletion: true })
        await testbed.hub.update(CLUSTER_RESOURCE_BINDINGS, `${name}-boat`, ({ spec }) => {
          for (const one of spec.gracefulEvictionTasks ?? []) one.suppressDeletion = false
        })
        await isIn(testbed, boats.resource, name, [to])
      },
    },
    {
      name: 'of a kind without namespaces, Directly: the old copy goes first, and its state goes along',
      run: async (testbed) => movesWithItsVoyage(testbed, await launchClusterScoped(testbed, VOYAGE)),
    },
    {
      name: 'of a kind without namespaces, who is well again in time stays',
      async run(testbed) {
        const { boats, name, from } = await launchClusterScoped(testbed, { purgeMode: 'Directly' })
        await report(from, boats, name, { afloat: false })
        await reportedAs(testbed, boats.resource, name, from.name, ({ health }) => health === 'Unhealthy')
        await report(from, boats, name, { afloat: true })
        await reportedAs(testbed, boats.resource, name, from.name, ({ health }) => health === 'Healthy')
        await testbed.pass(PATIENCE_SECONDS + 2)
        await testbed.settle()
        await isIn(testbed, boats.resource, name, [from])
      },
    },
  ],
}
