/** ClusterPropagationPolicies: for what has no namespace, and for what has one. */
import assert from 'node:assert/strict'
import { resourceOfObject } from '../../../src/faultsim/world/resources.ts'
import { CLUSTER_PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import { CLUSTER_BINDING_FINALIZER, CLUSTER_PROPAGATION_POLICY_ID } from '../../../src/kinds/karmada/well-known.ts'
import { CLUSTER_ROLES, CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { isConditionTrue } from '../../../src/kube/conditions.ts'
import { bindingOf, claimOf, clusterBindingOf, clusterWorkOf, isClaimed, isOnlyIn, isTold, leaves, reaches, refusalOf } from '../looks.ts'
import { aClusterPropagationPolicy, aClusterRole, aClusterRoleBinding, aDefinition, aDeployment, on, selectorOf } from '../manifests.ts'
import type { FleetArea, FleetStage } from '../story.ts'

const webOf = ({ namespace }: FleetStage) => ({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'web' })

export const clusterPropagationPolicy: FleetArea = {
  name: 'cluster propagation policy',
  stories: [
    {
      name: 'a definition comes to the clusters of its placement, is served there, and goes with its template',
      async run(stage) {
        const [member1, member2] = stage.members
        const definition = aDefinition(`${stage.unique('kind')}.example.com`)
        const name = definition.metadata.name ?? ''
        await stage.hub.create(aClusterPropagationPolicy(stage.unique('kinds'), [selectorOf(definition)], on(member1, member2)))
        await stage.hub.create(definition)
        await reaches(stage, CUSTOM_RESOURCE_DEFINITIONS, name, [member1, member2], ({ status }) =>
          isConditionTrue((status as { conditions?: [] } | undefined)?.conditions, 'Established'),
        )
        await isOnlyIn(stage, CUSTOM_RESOURCE_DEFINITIONS, name, [member1, member2])
        await stage.hub.delete(CUSTOM_RESOURCE_DEFINITIONS, name)
        await leaves(stage, CUSTOM_RESOURCE_DEFINITIONS, name, [member1, member2])
      },
    },
    ...[aClusterRole, aClusterRoleBinding].map((make) => ({
      name: `a ${make('').kind} comes, changes with its template and goes with it`,
      async run(stage: FleetStage) {
        const [member1, member2] = stage.members
        const template = make(stage.unique('it'))
        const name = template.metadata.name ?? ''
        const resource = resourceOfObject(template)
        await stage.hub.create(aClusterPropagationPolicy(stage.unique('them'), [selectorOf(template)], on(member1, member2)))
        await stage.hub.create(template)
        await isOnlyIn(stage, resource, name, [member1, member2])
        await stage.hub.patch(resource, name, { metadata: { labels: { tier: 'gold' } } })
        await reaches(stage, resource, name, [member1, member2], ({ metadata }) => metadata.labels?.tier === 'gold')
        await stage.hub.delete(resource, name)
        await leaves(stage, resource, name, [member1, member2])
      },
    })),
    {
      name: 'a Deployment of a namespace gets a binding of its namespace from a policy of the cluster',
      async run(stage) {
        const [member1] = stage.members
        const name = stage.unique('wide')
        await stage.hub.create(aClusterPropagationPolicy(name, [webOf(stage)], on(member1)))
        await stage.hub.create(aDeployment('web'))
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        assert.deepEqual(claimOf(await bindingOf(stage, 'Deployment', 'web')), { clusterPolicy: name })
        assert.deepEqual(claimOf(await stage.hub.get(DEPLOYMENTS, 'web')), { clusterPolicy: name })
        await isTold(stage, 'ApplyPolicySucceed', new RegExp(`Apply cluster policy\\(${name}\\) succeed`))
      },
    },
    {
      name: 'a cluster-scoped template gets a cluster-scoped binding',
      async run(stage) {
        const [member1] = stage.members
        const role = aClusterRole(stage.unique('reader'))
        const name = role.metadata.name ?? ''
        await stage.hub.create(aClusterPropagationPolicy(stage.unique('roles'), [selectorOf(role)], on(member1)))
        await stage.hub.create(role)
        await reaches(stage, CLUSTER_ROLES, name, [member1])
        await stage.until('fully applied', async () =>
          isConditionTrue((await clusterBindingOf(stage, 'ClusterRole', name))?.status?.conditions, 'FullyApplied'),
        )
        const binding = (await clusterBindingOf(stage, 'ClusterRole', name)) ?? assert.fail('no binding')
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
      async run(stage) {
        const [member1] = stage.members
        const name = stage.unique('wide')
        await stage.hub.create(aClusterPropagationPolicy(name, [webOf(stage)], on(member1)))
        await stage.hub.create(aDeployment('web'))
        await reaches(stage, DEPLOYMENTS, 'web', [member1])
        await stage.hub.delete(CLUSTER_PROPAGATION_POLICIES, name)
        await isClaimed(stage, DEPLOYMENTS, 'web', {})
        await isOnlyIn(stage, DEPLOYMENTS, 'web', [member1])
        assert.deepEqual(claimOf(await bindingOf(stage, 'Deployment', 'web')), {})
        assert.equal((await bindingOf(stage, 'Deployment', 'web'))?.metadata.labels?.[CLUSTER_PROPAGATION_POLICY_ID], undefined)
      },
    },
    {
      name: 'a deleted policy clears its claim from a ClusterRole and its binding, and leaves members alone',
      async run(stage) {
        const [member1] = stage.members
        const policy = stage.unique('roles')
        const role = aClusterRole(stage.unique('reader'))
        const name = role.metadata.name ?? ''
        await stage.hub.create(aClusterPropagationPolicy(policy, [selectorOf(role)], on(member1)))
        await stage.hub.create(role)
        await reaches(stage, CLUSTER_ROLES, name, [member1])
        await stage.hub.delete(CLUSTER_PROPAGATION_POLICIES, policy)
        await isClaimed(stage, CLUSTER_ROLES, name, {})
        await isOnlyIn(stage, CLUSTER_ROLES, name, [member1])
        assert.deepEqual(claimOf(await clusterBindingOf(stage, 'ClusterRole', name)), {})
      },
    },
    {
      name: 'a ClusterRole is held back by a suspended policy until it goes on',
      async run(stage) {
        const [member1, member2] = stage.members
        const policy = stage.unique('roles')
        const role = aClusterRole(stage.unique('reader'))
        const name = role.metadata.name ?? ''
        const held = { suspension: { dispatchingOnClusters: { clusterNames: [member1.name] } } }
        await stage.hub.create(aClusterPropagationPolicy(policy, [selectorOf(role)], on(member1, member2), held))
        await stage.hub.create(role)
        await isOnlyIn(stage, CLUSTER_ROLES, name, [member2])
        assert.equal((await clusterWorkOf(stage, member1, 'ClusterRole', name))?.spec.suspendDispatching, true)
        await stage.hub.patch(CLUSTER_PROPAGATION_POLICIES, policy, { spec: { suspension: null } })
        await isOnlyIn(stage, CLUSTER_ROLES, name, [member1, member2])
      },
    },
    {
      name: 'the policy that names a ClusterRole wins over one that selects its labels; a higher priority over both',
      async run(stage) {
        const [member1, member2, member3] = stage.members
        const mark = stage.unique('mark')
        const kind = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
        const roles = ['named', 'other', 'first'].map((base) => aClusterRole(stage.unique(base)))
        const [named, other, first] = roles.map(({ metadata }) => metadata.name ?? '') as [string, string, string]
        const byLabel = { ...kind, labelSelector: { matchLabels: { mark } } }
        await stage.hub.create(aClusterPropagationPolicy(stage.unique('a'), [byLabel], on(member1)))
        await stage.hub.create(aClusterPropagationPolicy(stage.unique('b'), [{ ...kind, name: named }], on(member2)))
        const important = [{ ...byLabel, labelSelector: { matchLabels: { mark, important: 'yes' } } }]
        await stage.hub.create(aClusterPropagationPolicy(stage.unique('c'), important, on(member3), { priority: 1 }))
        await stage.settle()
        for (const role of roles)
          await stage.hub.create({
            ...role,
            metadata: { ...role.metadata, labels: { mark, ...(role.metadata.name === first ? { important: 'yes' } : {}) } },
          })
        await isClaimed(stage, CLUSTER_ROLES, named, { clusterPolicy: stage.unique('b') })
        await isClaimed(stage, CLUSTER_ROLES, other, { clusterPolicy: stage.unique('a') })
        await isClaimed(stage, CLUSTER_ROLES, first, { clusterPolicy: stage.unique('c') })
        await isOnlyIn(stage, CLUSTER_ROLES, named, [member2])
        await isOnlyIn(stage, CLUSTER_ROLES, other, [member1])
        await isOnlyIn(stage, CLUSTER_ROLES, first, [member3])
      },
    },
    {
      name: 'an edited placement moves a ClusterRole; an edited selector lets it go',
      async run(stage) {
        const [member1, member2] = stage.members
        const policy = stage.unique('roles')
        const role = aClusterRole(stage.unique('reader'))
        const name = role.metadata.name ?? ''
        await stage.hub.create(aClusterPropagationPolicy(policy, [selectorOf(role)], on(member1)))
        await stage.hub.create(role)
        await isOnlyIn(stage, CLUSTER_ROLES, name, [member1])
        await stage.hub.patch(CLUSTER_PROPAGATION_POLICIES, policy, { spec: { placement: on(member2) } })
        await leaves(stage, CLUSTER_ROLES, name, [member1])
        await isOnlyIn(stage, CLUSTER_ROLES, name, [member2])
        const none = [selectorOf(aClusterRole(stage.unique('none')))]
        await stage.hub.patch(CLUSTER_PROPAGATION_POLICIES, policy, { spec: { resourceSelectors: none } })
        await isClaimed(stage, CLUSTER_ROLES, name, {})
        await isOnlyIn(stage, CLUSTER_ROLES, name, [member2])
      },
    },
    {
      name: 'what is in a namespace that is reserved is never propagated',
      async run(stage) {
        const name = stage.unique('secret')
        const where = { namespace: 'karmada-cluster' }
        const selector = { apiVersion: 'v1', kind: 'ConfigMap', name }
        await stage.hub.create(aClusterPropagationPolicy(stage.unique('wide'), [selector], {}))
        await stage.hub.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...where }, data: {} })
        await stage.settle()
        assert.deepEqual(claimOf(await stage.hub.get(CONFIG_MAPS, name, where)), {})
        assert.equal(await stage.hub.get(RESOURCE_BINDINGS, `${name}-configmap`, where), undefined)
      },
    },
    {
      name: 'the permanent id of a policy cannot be changed',
      async run(stage) {
        const name = stage.unique('wide')
        await stage.hub.create(aClusterPropagationPolicy(name, [webOf(stage)], {}))
        const change = { metadata: { labels: { [CLUSTER_PROPAGATION_POLICY_ID]: 'mine' } } }
        assert.match(await refusalOf(stage.hub.patch(CLUSTER_PROPAGATION_POLICIES, name, change)), /is immutable/)
      },
    },
  ],
}
