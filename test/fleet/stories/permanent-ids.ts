/** Permanent ids lead from an object in a member back to its Work and binding. */
import assert from 'node:assert/strict'
import {
  CLUSTER_RESOURCE_BINDING_ID,
  CLUSTER_RESOURCE_BINDING_NAME,
  MANAGED_LABEL,
  RESOURCE_BINDING_ID,
  RESOURCE_BINDING_NAME,
  RESOURCE_BINDING_NAMESPACE,
  TEMPLATE_UID,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
} from '../../../src/kinds/karmada/well-known.ts'
import { CLUSTER_ROLES, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { bindingOf, clusterBindingOf, clusterWorkOf, reaches, workOf } from '../expectations.ts'
import { aClusterPropagationPolicy, aClusterRole, aDeployment, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import type { FleetArea } from '../story.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export const permanentIds: FleetArea = {
  name: 'permanent ids',
  stories: [
    {
      name: 'of a cluster-scoped binding stand on its Work and on the object in the member',
      async run(testbed) {
        const [member1] = testbed.members
        const role = aClusterRole(testbed.unique('reader'))
        const name = role.metadata.name ?? ''
        await testbed.hub.create(aClusterPropagationPolicy(testbed.unique('roles'), [selectorOf(role)], on(member1)))
        await testbed.hub.create(role)
        await reaches(testbed, CLUSTER_ROLES, name, [member1])
        const id = (await clusterBindingOf(testbed, 'ClusterRole', name))?.metadata.labels?.[CLUSTER_RESOURCE_BINDING_ID] ?? ''
        assert.match(id, UUID)
        const work = await clusterWorkOf(testbed, member1, 'ClusterRole', name)
        assert.equal(work?.metadata.labels?.[CLUSTER_RESOURCE_BINDING_ID], id)
        const { labels = {}, annotations = {} } = (await member1.get(CLUSTER_ROLES, name))?.metadata ?? {}
        assert.equal(labels[CLUSTER_RESOURCE_BINDING_ID], id)
        assert.equal(labels[WORK_ID], work?.metadata.labels?.[WORK_ID])
        assert.equal(annotations[CLUSTER_RESOURCE_BINDING_NAME], `${name}-clusterrole`)
      },
    },
    {
      name: 'of a namespaced binding stand on its Works and on the objects in the members',
      async run(testbed) {
        const places = testbed.members.slice(0, 2)
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(...places)))
        const template = await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', places)
        const id = (await bindingOf(testbed, 'Deployment', 'web'))?.metadata.labels?.[RESOURCE_BINDING_ID] ?? ''
        assert.match(id, UUID)
        for (const place of places) {
          const work = await workOf(testbed, place, 'Deployment', 'web')
          assert.equal(work?.metadata.labels?.[RESOURCE_BINDING_ID], id)
          const { labels = {}, annotations = {} } = (await place.get(DEPLOYMENTS, 'web'))?.metadata ?? {}
          assert.deepEqual(
            [labels[RESOURCE_BINDING_ID], labels[WORK_ID], labels[MANAGED_LABEL]],
            [id, work?.metadata.labels?.[WORK_ID], 'true'],
          )
          assert.deepEqual(
            [RESOURCE_BINDING_NAMESPACE, RESOURCE_BINDING_NAME, WORK_NAMESPACE, WORK_NAME, TEMPLATE_UID].map((key) => annotations[key]),
            [testbed.namespace, 'web-deployment', `karmada-es-${place.name}`, work?.metadata.name, template.metadata.uid],
          )
        }
      },
    },
    {
      name: 'stay the same while the object is moved and changed',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        const idOf = async () => (await bindingOf(testbed, 'Deployment', 'web'))?.metadata.labels?.[RESOURCE_BINDING_ID]
        const before = await idOf()
        await testbed.hub.patch(DEPLOYMENTS, 'web', { spec: { replicas: 4 } })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ spec }) => spec?.replicas === 4)
        assert.equal(await idOf(), before)
      },
    },
  ],
}
