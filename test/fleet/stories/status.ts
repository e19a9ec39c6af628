/** What members report comes back to the template: sums, addresses, and a generation that tells whether it is up to date. */
import { DAEMON_SETS, DEPLOYMENTS, JOBS, POD_DISRUPTION_BUDGETS, SERVICES, STATEFUL_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { hasEvent, isIn, isPlaced, reportedAs, says } from '../bindings.ts'
import { reaches } from '../expectations.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'
import { aDaemonSet, aDisruptionBudget, aLoadBalancer, anIngress, aParallelJob, aStatefulSet, DUPLICATED, weighted } from '../workloads.ts'

const INGRESSES: Resource = { group: 'networking.k8s.io', version: 'v1', plural: 'ingresses', kind: 'Ingress', namespaced: true }

type Status = Record<string, unknown>

/** Until the template's status has these fields, and is about the template's current generation. */
function shows(testbed: FleetTestbed, resource: Resource, name: string, fields: Status): Promise<void> {
  return testbed.until(`${resource.kind} ${name} with the status ${JSON.stringify(fields)}`, async () => {
    const { metadata, status = {} } = ((await testbed.hub.get(resource, name)) ?? {}) as KubeObject & { status?: Status }
    const isFresh = !('observedGeneration' in fields) || status.observedGeneration === metadata?.generation
    return isFresh && Object.entries(fields).every(([key, value]) => key === 'observedGeneration' || isSame(status[key], value))
  })
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Stands for: whatever the generation of the template is. */
const FRESH = { observedGeneration: true }

async function everywhere(testbed: FleetTestbed, object: KubeObject, more: Record<string, unknown> = DUPLICATED): Promise<void> {
  const [member1, member2] = testbed.members
  await testbed.hub.create(aPropagationPolicy('all', [selectorOf(object)], { ...on(member1, member2), ...more }))
  await testbed.hub.create(object)
}

const address = (ip: string): Status => ({ loadBalancer: { ingress: [{ ip }] } })

/** What a template says about its addresses. */
const addressesOf = async (testbed: FleetTestbed, resource: Resource, name: string): Promise<string> => {
  const { status } = ((await testbed.hub.get(resource, name)) ?? {}) as { status?: { loadBalancer?: { ingress?: { ip?: string }[] } } }
  return (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip).join()
}

export const status: FleetArea = {
  name: 'status',
  stories: [
    {
      name: 'a Deployment sums up its members, and again after an edit',
      needs: 'pods', // its status is written where pods run
      async run(testbed) {
        const [member1, member2] = testbed.members
        const placement = { ...on(member1, member2), ...weighted({ member1: 1, member2: 2 }) }
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], placement))
        await testbed.hub.create(aDeployment('web', { replicas: 3 }))
        const all = (count: number) => ({ replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count })
        await shows(testbed, DEPLOYMENTS, 'web', { ...all(3), ...FRESH })
        await reportedAs(testbed, DEPLOYMENTS, 'web', 'member2', ({ health, status }) => {
          return health === 'Healthy' && (status as Status | undefined)?.readyReplicas === 2
        })
        await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 6 } })
        await shows(testbed, DEPLOYMENTS, 'web', { ...all(6), ...FRESH })
      },
    },
    {
      name: 'a StatefulSet sums up its members, with a generation that is right',
      needs: 'pods', // its status is written where pods run
      async run(testbed) {
        await everywhere(testbed, aStatefulSet('db', 2))
        await shows(testbed, STATEFUL_SETS, 'db', { replicas: 4, readyReplicas: 4, availableReplicas: 4, ...FRESH })
        await testbed.hub.patch(STATEFUL_SETS, 'db', { spec: { replicas: 1 } })
        await shows(testbed, STATEFUL_SETS, 'db', { replicas: 2, readyReplicas: 2, availableReplicas: 2, ...FRESH })
      },
    },
    {
      name: 'a DaemonSet sums up the nodes of its members',
      needs: 'pods', // its status is written where pods run
      async run(testbed) {
        await everywhere(testbed, aDaemonSet('agent'))
        await shows(testbed, DAEMON_SETS, 'agent', { desiredNumberScheduled: 4, numberReady: 4, numberAvailable: 4, ...FRESH })
      },
    },
    {
      name: 'a Job is complete when it is in every member',
      needs: 'pods', // its pods must end
      async run(testbed) {
        await everywhere(testbed, aParallelJob('sum', { parallelism: 2, completions: 2 }))
        await shows(testbed, JOBS, 'sum', { succeeded: 4 })
        await testbed.until('the conditions of the template', async () => {
          const { status } = ((await testbed.hub.get(JOBS, 'sum')) ?? {}) as { status?: { conditions?: Status[]; completionTime?: string } }
          const complete = status?.conditions?.find(({ type }) => type === 'Complete')
          const isSaid = complete?.status === 'True' && complete.reason === 'Completed' && complete.message === 'Job completed'
          return isSaid && status?.completionTime !== undefined
        })
      },
    },
    {
      name: 'a Service shows the addresses of all members',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await everywhere(testbed, aLoadBalancer('web'))
        await isIn(testbed, SERVICES, 'web', [member1, member2])
        await member1.patch(SERVICES, 'web', { status: address('172.19.1.6') }, { subresource: 'status' })
        await member2.patch(SERVICES, 'web', { status: address('172.19.1.7') }, { subresource: 'status' })
        await testbed.until('both addresses', async () => (await addressesOf(testbed, SERVICES, 'web')) === '172.19.1.6,172.19.1.7')
        await reportedAs(testbed, SERVICES, 'web', 'member1', ({ health }) => health === 'Healthy')
      },
    },
    {
      name: 'a Service without an address is not well yet',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await everywhere(testbed, aLoadBalancer('web'))
        await isIn(testbed, SERVICES, 'web', [member1, member2])
        await reportedAs(testbed, SERVICES, 'web', 'member1', ({ health, applied }) => health === 'Unhealthy' && applied === true)
      },
    },
    {
      name: 'an Ingress shows the addresses of all members',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await everywhere(testbed, anIngress('web'))
        await isIn(testbed, INGRESSES, 'web', [member1, member2])
        await member1.patch(INGRESSES, 'web', { status: address('172.19.2.12') }, { subresource: 'status' })
        await member2.patch(INGRESSES, 'web', { status: address('172.19.2.11') }, { subresource: 'status' })
        await testbed.until('both addresses', async () => (await addressesOf(testbed, INGRESSES, 'web')) === '172.19.2.11,172.19.2.12')
      },
    },
    {
      name: 'a PodDisruptionBudget sums up the pods of its members',
      needs: 'pods', // it counts them
      async run(testbed) {
        const [member1, member2] = testbed.members
        const budget = aDisruptionBudget('web', 'web')
        const both = [deploymentsNamed('web'), selectorOf(budget)]
        await testbed.hub.create(aPropagationPolicy('web', both, { ...on(member1, member2), ...DUPLICATED }))
        await testbed.hub.create(aDeployment('web', { replicas: 3 }))
        await testbed.hub.create(budget)
        const sums = { currentHealthy: 6, desiredHealthy: 4, disruptionsAllowed: 2, expectedPods: 6 }
        await shows(testbed, POD_DISRUPTION_BUDGETS, 'web', sums)
      },
    },
    {
      name: 'the binding says that everything is applied, and the events tell it',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1, member2)))
        await testbed.hub.create(aDeployment('web'))
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2, member2: 2 })
        const message = 'All works have been successfully applied'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'FullyApplied', status: 'True', reason: 'FullyAppliedSuccess', message })
        const binding = { kind: 'ResourceBinding', name: 'web-deployment' }
        const synced = `Sync work of ResourceBinding(${testbed.namespace}/web-deployment) successful.`
        await hasEvent(testbed, binding, 'SyncWorkSucceed', synced)
        await hasEvent(testbed, { kind: 'Deployment', name: 'web' }, 'SyncWorkSucceed', synced)
      },
    },
    {
      name: 'what is written at the hub alone is not in members, and what members say stays in the binding',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web', { replicas: 1, annotations: { 'deployment.kubernetes.io/revision': '41' } }))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ metadata }) => {
          const { ownerReferences, annotations = {} } = metadata
          return ownerReferences === undefined && annotations['deployment.kubernetes.io/revision'] !== '41'
        })
        await reportedAs(testbed, DEPLOYMENTS, 'web', 'member1', ({ applied }) => applied === true)
      },
    },
  ],
}
