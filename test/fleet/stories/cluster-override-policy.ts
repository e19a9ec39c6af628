/** ClusterOverridePolicies: for cluster-scoped objects, for namespaces that are propagated, and below the policies of a namespace. */
import assert from 'node:assert/strict'
import { CLUSTER_OVERRIDE_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { APPLIED_CLUSTER_OVERRIDES } from '../../../src/kinds/karmada/well-known.ts'
import { CLUSTER_ROLES, CONFIG_MAPS, DEPLOYMENTS, NAMESPACES } from '../../../src/kinds/kubernetes/resources.ts'
import { reaches, workOf } from '../expectations.ts'
import {
  aClusterOverridePolicy,
  aClusterPropagationPolicy,
  aClusterRole,
  aConfigMap,
  aDeployment,
  anOverridePolicy,
  aPropagationPolicy,
  deploymentsNamed,
  on,
  selectorOf,
} from '../manifests.ts'
import type { FleetArea } from '../story.ts'

const labelling = (value: Record<string, string>) => ({ labelsOverrider: [{ operator: 'add', value }] })

export const clusterOverridePolicy: FleetArea = {
  name: 'cluster override policy',
  stories: [
    {
      name: 'a namespace gets another label in one cluster',
      async run(testbed) {
        const [member1, member2, member3] = testbed.members
        const name = testbed.unique('team')
        const rules = [{ targetCluster: { clusterNames: [member1.name] }, overriders: labelling({ zone: 'special' }) }]
        const selectors = [{ apiVersion: 'v1', kind: 'Namespace', name }]
        await testbed.hub.create(aClusterOverridePolicy(testbed.unique('zones'), { selectors, rules }))
        await testbed.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { zone: 'usual' } } })
        await reaches(testbed, NAMESPACES, name, [member1], ({ metadata }) => metadata.labels?.zone === 'special')
        await reaches(testbed, NAMESPACES, name, [member2, member3], ({ metadata }) => metadata.labels?.zone === 'usual')
      },
    },
    {
      name: 'a ClusterRole is changed on its way; the change goes with the policy',
      async run(testbed) {
        const [member1] = testbed.members
        const role = aClusterRole(testbed.unique('reader'))
        const name = role.metadata.name ?? ''
        const change = testbed.unique('change')
        await testbed.hub.create(
          aClusterOverridePolicy(change, { selectors: [selectorOf(role)], rules: [{ overriders: labelling({ touched: 'yes' }) }] }),
        )
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('roles'), [selectorOf(role)], on(member1)))
        await testbed.hub.create(role)
        await reaches(testbed, CLUSTER_ROLES, name, [member1], ({ metadata }) => metadata.labels?.touched === 'yes')
        await testbed.hub.delete(CLUSTER_OVERRIDE_POLICIES, change)
        await reaches(testbed, CLUSTER_ROLES, name, [member1], ({ metadata }) => metadata.labels?.touched === undefined)
      },
    },
    {
      name: 'policies of the namespace are applied after those of the cluster, and win',
      async run(testbed) {
        const [member1] = testbed.members
        const selectors = [deploymentsNamed('web')]
        const wide = testbed.unique('wide')
        const inNamespace = [{ ...deploymentsNamed('web'), namespace: testbed.namespace }]
        await testbed.hub.create(
          aClusterOverridePolicy(wide, { selectors: inNamespace, rules: [{ overriders: labelling({ who: 'cluster', wide: 'yes' }) }] }),
        )
        await testbed.hub.create(anOverridePolicy('near', { selectors, rules: [{ overriders: labelling({ who: 'namespace' }) }] }))
        await testbed.hub.create(aPropagationPolicy('web', selectors, on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ metadata }) => {
          return metadata.labels?.who === 'namespace' && metadata.labels.wide === 'yes'
        })
        const work = await workOf(testbed, member1, 'Deployment', 'web')
        const applied = JSON.parse(work?.metadata.annotations?.[APPLIED_CLUSTER_OVERRIDES] ?? 'null') as { policyName: string }[] | null
        assert.deepEqual(
          applied?.map(({ policyName }) => policyName),
          [wide],
        )
      },
    },
    {
      name: 'a policy without selectors changes the images of everything, and nothing that has none',
      alone: true,
      async run(testbed) {
        const [member1] = testbed.members
        const name = testbed.unique('everything')
        const overriders = { imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'mirror.example' }] }
        await testbed.hub.create(aClusterOverridePolicy(name, { rules: [{ overriders }] }))
        await testbed.hub.create(aPropagationPolicy('both', [deploymentsNamed('web'), selectorOf(aConfigMap('settings'))], on(member1)))
        await testbed.hub.create(aDeployment('web', { image: 'nginx:1.19.0' }))
        await testbed.hub.create(aConfigMap('settings'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ spec }) => {
          return spec?.template?.spec?.containers?.[0]?.image === 'mirror.example/nginx:1.19.0'
        })
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ data }) => data?.key === 'value')
        await testbed.hub.delete(CLUSTER_OVERRIDE_POLICIES, name)
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ spec }) => spec?.template?.spec?.containers?.[0]?.image === 'nginx:1.19.0')
      },
    },
  ],
}
