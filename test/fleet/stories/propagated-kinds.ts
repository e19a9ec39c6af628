/** The kinds people propagate most: each comes, changes and goes with its template. */

import { resourceOfObject } from '../../../src/faultsim/world/resources.ts'
import { CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { isOnlyIn, leaves, reaches } from '../expectations.ts'
import {
  aClaim,
  aClusterPropagationPolicy,
  aConfigMap,
  aDefinition,
  aDeployment,
  aGadget,
  aJob,
  aPod,
  aPropagationPolicy,
  aRole,
  aRoleBinding,
  aSecret,
  aService,
  aServiceAccount,
  gadgetsOf,
  on,
  selectorOf,
} from '../manifests.ts'
import type { FleetArea, FleetStory } from '../story.ts'

interface Kind {
  template: KubeObject
  /** What is changed in the template, and how a member shows it. */
  change: Record<string, unknown>
  isChanged(object: KubeObject): boolean
}

const labelled = { change: { metadata: { labels: { tier: 'gold' } } }, isChanged: (it: KubeObject) => it.metadata.labels?.tier === 'gold' }
const text = JSON.stringify

const KINDS: readonly Kind[] = [
  {
    template: aDeployment('it'),
    change: { spec: { replicas: 5 } },
    isChanged: ({ spec }) => (spec as { replicas: number }).replicas === 5,
  },
  {
    template: aService('it'),
    change: { spec: { ports: [{ name: 'http', port: 81, targetPort: 8080 }] } },
    isChanged: ({ spec }) => text(spec).includes('"port":81'),
  },
  { template: aPod('it'), ...labelled },
  { template: aJob('it'), ...labelled },
  { template: aConfigMap('it'), change: { data: { key: 'another' } }, isChanged: ({ data }) => text(data) === '{"key":"another"}' },
  { template: aSecret('it'), change: { stringData: { more: 'x' } }, isChanged: ({ data }) => text(data).includes('"more":"eA=="') },
  { template: aServiceAccount('it'), ...labelled },
  { template: aClaim('it'), ...labelled },
  {
    template: aRole('it'),
    change: { rules: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] }] },
    isChanged: ({ rules }) => text(rules).includes('deployments') && !text(rules).includes('pods'),
  },
  {
    template: aRoleBinding('it'),
    change: { subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'another' }] },
    isChanged: ({ subjects }) => text(subjects).includes('another') && !text(subjects).includes('somebody'),
  },
]

const storyOf = ({ template, change, isChanged }: Kind): FleetStory => ({
  name: `a ${template.kind} comes to the clusters of its placement, changes with its template and goes with it`,
  async run(testbed) {
    const [member1, member2] = testbed.members
    const resource = resourceOfObject(template)
    await testbed.hub.create(aPropagationPolicy('them', [selectorOf(template)], on(member1, member2)))
    await testbed.hub.create(template)
    await isOnlyIn(testbed, resource, 'it', [member1, member2])
    await testbed.hub.patch(resource, 'it', change)
    await reaches(testbed, resource, 'it', [member1, member2], isChanged)
    await testbed.hub.delete(resource, 'it')
    await leaves(testbed, resource, 'it', [member1, member2])
  },
})

export const propagatedKinds: FleetArea = {
  name: 'propagated kinds',
  stories: [
    ...KINDS.map(storyOf),
    {
      name: 'a custom resource follows its definition into the members, changes and goes',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const group = `${testbed.unique('own')}.example.com`
        const definition = aDefinition(group)
        const gadgets = gadgetsOf(group)
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('kind'), [selectorOf(definition)], on(member1, member2)))
        await testbed.hub.create(definition)
        await reaches(testbed, CUSTOM_RESOURCE_DEFINITIONS, `gadgets.${group}`, [member1, member2])
        await testbed.hub.create(aPropagationPolicy('them', [selectorOf(aGadget(group, 'it'))], on(member1, member2)))
        await testbed.until('the kind is served at the hub', () =>
          testbed.hub.create(aGadget(group, 'it'), gadgets).then(
            () => true,
            () => false,
          ),
        )
        await reaches(testbed, gadgets, 'it', [member1, member2], ({ spec }) => (spec as { size: number }).size === 1)
        await testbed.hub.patch(gadgets, 'it', { spec: { size: 2 } })
        await reaches(testbed, gadgets, 'it', [member1, member2], ({ spec }) => (spec as { size: number }).size === 2)
        await testbed.hub.delete(gadgets, 'it')
        await leaves(testbed, gadgets, 'it', [member1, member2])
      },
    },
    {
      name: 'several kinds travel by one policy',
      async run(testbed) {
        const [member1] = testbed.members
        const templates = [aDeployment('it'), aService('it'), aConfigMap('it')]
        await testbed.hub.create(aPropagationPolicy('them', templates.map(selectorOf), on(member1)))
        for (const template of templates) await testbed.hub.create(template)
        for (const template of templates) await isOnlyIn(testbed, resourceOfObject(template), 'it', [member1])
      },
    },
    {
      name: 'a placement that names no clusters means all of them',
      async run(testbed) {
        await testbed.hub.create(aPropagationPolicy('them', [selectorOf(aDeployment('it'))], {}))
        await testbed.hub.create(aDeployment('it', { replicas: 1 }))
        await isOnlyIn(testbed, DEPLOYMENTS, 'it', testbed.members)
      },
    },
  ],
}
