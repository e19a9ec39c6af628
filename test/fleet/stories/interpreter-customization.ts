/** Customizations of the interpreter for a user's own kind, operation by operation, in Lua. */

import { RESOURCE_INTERPRETER_CUSTOMIZATIONS } from '../../../src/kinds/karmada/resources.ts'
import { CONFIG_MAPS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, isIn, isPlaced, reportedAs } from '../bindings.ts'
import { reaches } from '../expectations.ts'
import { aConfigMap, aPropagationPolicy, on, selectorOf } from '../manifests.ts'
import { type OwnKind, ownKind, type Rules, report, teach } from '../own-kind.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'
import { weighted } from '../workloads.ts'

interface Boat extends KubeObject {
  spec: { seats?: number; captain?: string; color?: string }
  status?: { sailing?: number; weather?: string }
}

const specOf = (object: KubeObject): Boat['spec'] => (object as Boat).spec
const seatsIn = (object: KubeObject): number => specOf(object).seats ?? 0

const SEATS: Rules = {
  replicaResource: 'function GetReplicas(obj) return obj.spec.seats, nil end',
  replicaRevision: 'function ReviseReplica(obj, desired) obj.spec.seats = desired return obj end',
}

/** A boat that is known to the fleet by these rules, with its policy. */
async function launch(testbed: FleetTestbed, rules: Rules, placement: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const boats = await ownKind(testbed)
  await teach(testbed, boats, rules)
  const boat = boats.make('ferry', { seats: 6, color: 'red', chart: 'coast' })
  await testbed.hub.create(aPropagationPolicy('ferry', [selectorOf(boat)], placement, more))
  await testbed.hub.create(boat, boats.resource)
  return boats
}

const templateOf = (testbed: FleetTestbed, { resource }: OwnKind): Promise<Boat | undefined> =>
  testbed.hub.get(resource, 'ferry') as Promise<Boat | undefined>

export const interpreterCustomization: FleetArea = {
  name: 'interpreter customization',
  stories: [
    {
      name: 'replicas are read and revised: a custom resource is divided by weight, and rescaled',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const placement = { ...on(member1, member2), ...weighted({ member1: 1, member2: 2 }) }
        const boats = await launch(testbed, SEATS, placement)
        await isPlaced(testbed, boats.resource, 'ferry', { member1: 2, member2: 4 }, { replicas: seatsIn })
        await testbed.hub.patch(boats.resource, 'ferry', { spec: { seats: 9 } })
        await isPlaced(testbed, boats.resource, 'ferry', { member1: 3, member2: 6 }, { replicas: seatsIn })
      },
    },
    {
      name: 'what one replica asks for stands in the binding',
      async run(testbed) {
        const replicaResource = `
          function GetReplicas(obj)
            return obj.spec.seats, { resourceRequest = { cpu = "100m" }, nodeClaim = { nodeSelector = { sea = "north" } } }
          end`
        const boats = await launch(testbed, { ...SEATS, replicaResource }, on(testbed.members[0]))
        await testbed.until('requirements in the binding', async () => {
          const spec = (await bindingOf(testbed, boats.resource, 'ferry'))?.spec
          const { resourceRequest, nodeClaim } = spec?.replicaRequirements ?? {}
          return spec?.replicas === 6 && resourceRequest?.cpu === '100m' && nodeClaim?.nodeSelector?.sea === 'north'
        })
      },
    },
    {
      name: 'retention: what members decide stays, everything else is repaired',
      async run(testbed) {
        const [member1] = testbed.members
        const retention = 'function Retain(desired, observed) desired.spec.captain = observed.spec.captain return desired end'
        const boats = await launch(testbed, { retention }, on(member1))
        await isIn(testbed, boats.resource, 'ferry', [member1])
        await member1.patch(boats.resource, 'ferry', { spec: { captain: 'anne', color: 'blue' } })
        await reaches(testbed, boats.resource, 'ferry', [member1], (boat) => specOf(boat).color === 'red')
        await testbed.hub.patch(boats.resource, 'ferry', { spec: { color: 'green' } })
        await reaches(
          testbed,
          boats.resource,
          'ferry',
          [member1],
          (boat) => specOf(boat).color === 'green' && specOf(boat).captain === 'anne',
        )
      },
    },
    {
      name: 'status: only what is reflected comes back, and the template shows what is made of all members',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const rules = {
          statusReflection: 'function ReflectStatus(observed) return { sailing = observed.status.sailing } end',
          statusAggregation: `
            function AggregateStatus(desired, items)
              local sum = 0
              for i = 1, #items do
                if items[i].status ~= nil then sum = sum + items[i].status.sailing end
              end
              desired.status = { sailing = sum }
              return desired
            end`,
        }
        const boats = await launch(testbed, rules, on(member1, member2))
        await isIn(testbed, boats.resource, 'ferry', [member1, member2])
        await report(member1, boats, 'ferry', { sailing: 2, weather: 'fair' })
        await report(member2, boats, 'ferry', { sailing: 3, weather: 'foul' })
        await reportedAs(testbed, boats.resource, 'ferry', 'member1', ({ status }) => JSON.stringify(status) === '{"sailing":2}')
        await reportedAs(testbed, boats.resource, 'ferry', 'member2', ({ status }) => JSON.stringify(status) === '{"sailing":3}')
        await testbed.until('the sum on the template', async () => (await templateOf(testbed, boats))?.status?.sailing === 5)
      },
    },
    {
      name: 'without rules, the whole status of each member stands in the binding, and it counts as healthy',
      async run(testbed) {
        const [member1] = testbed.members
        const boats = await ownKind(testbed)
        const boat = boats.make('ferry', { seats: 1 })
        await testbed.hub.create(aPropagationPolicy('ferry', [selectorOf(boat)], on(member1)))
        await testbed.hub.create(boat, boats.resource)
        await isIn(testbed, boats.resource, 'ferry', [member1])
        await report(member1, boats, 'ferry', { weather: 'fair' })
        await reportedAs(
          testbed,
          boats.resource,
          'ferry',
          'member1',
          ({ status, health, applied }) => JSON.stringify(status) === '{"weather":"fair"}' && health === 'Healthy' && applied === true,
        )
      },
    },
    {
      name: 'health: each cluster is judged by the rule',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const healthInterpretation = `
          function InterpretHealth(observed)
            return observed.status ~= nil and observed.status.sailing == observed.spec.seats
          end`
        const boats = await launch(testbed, { healthInterpretation }, on(member1, member2))
        await isIn(testbed, boats.resource, 'ferry', [member1, member2])
        await report(member1, boats, 'ferry', { sailing: 6 })
        await report(member2, boats, 'ferry', { sailing: 5 })
        await reportedAs(testbed, boats.resource, 'ferry', 'member1', ({ health }) => health === 'Healthy')
        await reportedAs(testbed, boats.resource, 'ferry', 'member2', ({ health }) => health === 'Unhealthy')
        await report(member2, boats, 'ferry', { sailing: 6 })
        await reportedAs(testbed, boats.resource, 'ferry', 'member2', ({ health }) => health === 'Healthy')
      },
    },
    {
      name: 'dependencies: what it names goes along, and follows it',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const dependencyInterpretation = `
          function GetDependencies(desired)
            return { { apiVersion = "v1", kind = "ConfigMap", namespace = desired.metadata.namespace, name = desired.spec.chart } }
          end`
        await testbed.hub.create(aConfigMap('coast', { depth: '7' }))
        const boats = await launch(testbed, { dependencyInterpretation }, on(member1, member2), { propagateDeps: true })
        await isIn(testbed, boats.resource, 'ferry', [member1, member2])
        await reaches(testbed, CONFIG_MAPS, 'coast', [member1, member2], ({ data }) => data?.depth === '7')
      },
    },
    {
      name: 'a rule that comes later, or goes, is heeded for what is already there',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const boats = await ownKind(testbed)
        const boat = boats.make('ferry', { seats: 6 })
        const placement = { ...on(member1, member2), ...weighted() }
        await testbed.hub.create(aPropagationPolicy('ferry', [selectorOf(boat)], placement))
        await testbed.hub.create(boat, boats.resource)
        await isPlaced(testbed, boats.resource, 'ferry', { member1: 0, member2: 0 }, { replicas: () => 0 })
        await teach(testbed, boats, SEATS)
        await isPlaced(testbed, boats.resource, 'ferry', { member1: 3, member2: 3 }, { replicas: seatsIn })
        await testbed.hub.delete(RESOURCE_INTERPRETER_CUSTOMIZATIONS, testbed.unique('rules'))
        await reaches(testbed, boats.resource, 'ferry', [member1, member2], (one) => seatsIn(one) === 6)
      },
    },
  ],
}
