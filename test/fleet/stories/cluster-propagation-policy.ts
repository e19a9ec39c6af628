/** ClusterPropagationPolicies: for cluster-scoped objects, and for namespaced ones. */
import assert from 'node:assert/strict'
import { resourceOfObject } from '../../../src/faultsim/world/resources.ts'
import { CLUSTER_PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import { CLUSTER_BINDING_FINALIZER, CLUSTER_PROPAGATION_POLICY_ID } from '../../../src/kinds/karmada/well-known.ts'
import { CLUSTER_ROLES, CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../../../src/kube/conditions.ts'
import {
  bindingOf,
  claimOf,
  clusterBindingOf,
  clusterWorkOf,
  eventAppears,
  isClaimed,
  isOnlyIn,
  leaves,
  reaches,
  refusalOf,
} from '../expectations.ts'
import { aClusterPropagationPolicy, aClusterRole, aClusterRoleBinding, aDefinition, aDeployment, on, selectorOf } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'

const webOf = ({ namespace }: FleetTestbed) => ({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'web' })

export const clusterPropagationPolicy: FleetArea = {
  name: 'cluster propagation policy',
  stories: [
    {
      name: 'a definition comes to the clusters of its placement, is served there, and goes with its template',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const definition = aDefinition(`${testbed.unique('kind')}.example.com`)
        const name = definition.metadata.name ?? ''
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('kinds'), [selectorOf(definition)], on(member1, member2)))
        await testbed.hub.create(definition)
        await reaches(testbed, CUSTOM_RESOURCE_DEFINITIONS, name, [member1, member2], ({ status }) =>
          isConditionTrue((status as { conditions?: [] } | undefined)?.conditions, 'Established'),
        )
        await isOnlyIn(testbed, CUSTOM_RESOURCE_DEFINITIONS, name, [member1, member2])
        await testbed.hub.delete(CUSTOM_RESOURCE_DEFINITIONS, name)
        await leaves(testbed, CUSTOM_RESOURCE_DEFINITIONS, name, [member1, member2])
      },
    },
    ...[aClusterRole, aClusterRoleBinding].map((make) => ({
      name: `a ${make('').kind} comes, changes with its template and goes with it`,
      async run(testbed: FleetTestbed) {
        const [member1, member2] = testbed.members
        const template = make(testbed.unique('it'))
        const name = template.metadata.name ?? ''
        const resource = resourceOfObject(template)
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('them'), [selectorOf(template)], on(member1, member2)))
        await testbed.hub.create(template)
        await isOnlyIn(testbed, resource, name, [member1, member2])
        await testbed.hub.patch(resource, name, { metadata: { labels: { tier: 'gold' } } })
        await reaches(testbed, resource, name, [member1, member2], ({ metadata }) => metadata.labels?.tier === 'gold')
        await testbed.hub.delete(resource, name)
        await leaves(testbed, resource, name, [member1, member2])
      },
    })),
    {
      name: 'a Deployment of a namespace gets a binding of its namespace from a policy of the cluster',
      async run(testbed) {
        const [member1] = testbed.members
        const name = testbed.unique('wide')
        await testbed.hub.create(aClusterPropagationPolicy(name, [webOf(testbed)], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        assert.deepEqual(claimOf(await bindingOf(testbed, 'Deployment', 'web')), { clusterPolicy: name })
        assert.deepEqual(claimOf(await testbed.hub.get(DEPLOYMENTS, 'web')), { clusterPolicy: name })
        await eventAppears(testbed, 'ApplyPolicySucceed', new RegExp(`Apply cluster policy\\(${name}\\) succeed`))
      },
    },
    {
      name: 'a cluster-scoped template gets a cluster-scoped binding',
      async run(testbed) {
        const [member1] = testbed.members
        const role = aClusterRole(testbed.unique('reader'))
        const name = role.metadata.name ?? ''
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('roles'), [selectorOf(role)], on(member1)))
        await testbed.hub.create(role)
        await reaches(testbed, CLUSTER_ROLES, name, [member1])
        await testbed.until('fully applied', async () =>
          isConditionTrue((await clusterBindingOf(testbed, 'ClusterRole', name))?.status?.conditions, 'FullyApplied'),
        )
        const binding = (await clusterBindingOf(testbed, 'ClusterRole', name)) ?? assert.fail('no binding')
        assert.ok(binding.metadata.finalizers?.includes(CLUSTER_BINDING_FINALIZER))
        assert.deepEqual(
          binding.spec.clusters?.map((one) => one.name),
          [member1.name],
        )
        assert.equal(binding.metadata.ownerReferences?.[0]?.kind, 'ClusterRole')
      },
    },
    {
      name: 'a deleted policy clears its claim from a Deployment and its binding, and leaves members alone',
      async run(testbed) {
        const [member1] = testbed.members
        const name = testbed.unique('wide')
        await testbed.hub.create(aClusterPropagationPolicy(name, [webOf(testbed)], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.delete(CLUSTER_PROPAGATION_POLICIES, name)
        await isClaimed(testbed, DEPLOYMENTS, 'web', {})
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        assert.deepEqual(claimOf(await bindingOf(testbed, 'Deployment', 'web')), {})
        assert.equal((await bindingOf(testbed, 'Deployment', 'web'))?.metadata.labels?.[CLUSTER_PROPAGATION_POLICY_ID], undefined)
      },
    },
    {
      name: 'a deleted policy clears its claim from a ClusterRole and its binding, and leaves members alone',
      async run(testbed) {
        const [member1] = testbed.members
        const policy = testbed.unique('roles')
        const role = aClusterRole(testbed.unique('reader'))
        const name = role.metadata.name ?? ''
        await testbed.hub.create(aClusterPropagationPolicy(policy, [selectorOf(role)], on(member1)))
        await testbed.hub.create(role)
        await reaches(testbed, CLUSTER_ROLES, name, [member1])
        await testbed.hub.delete(CLUSTER_PROPAGATION_POLICIES, policy)
        await isClaimed(testbed, CLUSTER_ROLES, name, {})
        await isOnlyIn(testbed, CLUSTER_ROLES, name, [member1])
        assert.deepEqual(claimOf(await clusterBindingOf(testbed, 'ClusterRole', name)), {})
      },
    },
    {
      name: 'a ClusterRole is held back by a suspended policy until it goes on',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const policy = testbed.unique('roles')
        const role = aClusterRole(testbed.unique('reader'))
        const name = role.metadata.name ?? ''
        const held = { suspension: { dispatchingOnClusters: { clusterNames: [member1.name] } } }
        await testbed.hub.create(aClusterPropagationPolicy(policy, [selectorOf(role)], on(member1, member2), held))
        await testbed.hub.create(role)
        await isOnlyIn(testbed, CLUSTER_ROLES, name, [member2])
        assert.equal((await clusterWorkOf(testbed, member1, 'ClusterRole', name))?.spec.suspendDispatching, true)
        await testbed.hub.patch(CLUSTER_PROPAGATION_POLICIES, policy, { spec: { suspension: null } })
        await isOnlyIn(testbed, CLUSTER_ROLES, name, [member1, member2])
      },
    },
    {
      name: 'the policy that names a ClusterRole wins over one that selects its labels; a higher priority over both',
      async run(testbed) {
        const [member1, member2, member3] = testbed.members
        const mark = testbed.unique('mark')
        const kind = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
        const roles = ['named', 'other', 'first'].map((base) => aClusterRole(testbed.unique(base)))
        const [named, other, first] = roles.map(({ metadata }) => metadata.name ?? '') as [string, string, string]
        const byLabel = { ...kind, labelSelector: { matchLabels: { mark } } }
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('a'), [byLabel], on(member1)))
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('b'), [{ ...kind, name: named }], on(member2)))
        const important = [{ ...byLabel, labelSelector: { matchLabels: { mark, important: 'yes' } } }]
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('c'), important, on(member3), { priority: 1 }))
        await testbed.settle()
        for (const role of roles)
          await testbed.hub.create({
            ...role,
            metadata: { ...role.metadata, labels: { mark, ...(role.metadata.name === first ? { important: 'yes' } : {}) } },
          })
        await isClaimed(testbed, CLUSTER_ROLES, named, { clusterPolicy: testbed.unique('b') })
        await isClaimed(testbed, CLUSTER_ROLES, other, { clusterPolicy: testbed.unique('a') })
        await isClaimed(testbed, CLUSTER_ROLES, first, { clusterPolicy: testbed.unique('c') })
        await isOnlyIn(testbed, CLUSTER_ROLES, named, [member2])
        await isOnlyIn(testbed, CLUSTER_ROLES, other, [member1])
        await isOnlyIn(testbed, CLUSTER_ROLES, first, [member3])
      },
    },
    {
      name: 'an edited placement moves a ClusterRole; an edited selector lets it go',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const policy = testbed.unique('roles')
        const role = aClusterRole(testbed.unique('reader'))
        const name = role.metadata.name ?? ''
        await testbed.hub.create(aClusterPropagationPolicy(policy, [selectorOf(role)], on(member1)))
        await testbed.hub.create(role)
        await isOnlyIn(testbed, CLUSTER_ROLES, name, [member1])
        await testbed.hub.patch(CLUSTER_PROPAGATION_POLICIES, policy, { spec: { placement: on(member2) } })
        await leaves(testbed, CLUSTER_ROLES, name, [member1])
        await isOnlyIn(testbed, CLUSTER_ROLES, name, [member2])
        const none = [selectorOf(aClusterRole(testbed.unique('none')))]
        await testbed.hub.patch(CLUSTER_PROPAGATION_POLICIES, policy, { spec: { resourceSelectors: none } })
        await isClaimed(testbed, CLUSTER_ROLES, name, {})
        await isOnlyIn(testbed, CLUSTER_ROLES, name, [member2])
      },
    },
    {
      name: 'what is in a namespace that is reserved is never propagated',
      async run(testbed) {
        const name = testbed.unique('secret')
        const where = { namespace: 'karmada-cluster' }
        const selector = { apiVersion: 'v1', kind: 'ConfigMap', name }
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('wide'), [selector], {}))
        await testbed.hub.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...where }, data: {} })
        await testbed.settle()
        assert.deepEqual(claimOf(await testbed.hub.get(CONFIG_MAPS, name, where)), {})
        assert.equal(await testbed.hub.get(RESOURCE_BINDINGS, `${name}-configmap`, where), undefined)
      },
    },
    {
      name: 'the permanent id of a policy cannot be changed',
      async run(testbed) {
        const name = testbed.unique('wide')
        await testbed.hub.create(aClusterPropagationPolicy(name, [webOf(testbed)], {}))
        const change = { metadata: { labels: { [CLUSTER_PROPAGATION_POLICY_ID]: 'mine' } } }
        assert.match(await refusalOf(testbed.hub.patch(CLUSTER_PROPAGATION_POLICIES, name, change)), /is immutable/)
      },
    },
  ],
}
