/** Who owns an object in a member: what existed before, what is changed there, and what stays behind. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import {
  MANAGED_ANNOTATIONS,
  MANAGED_LABEL,
  MANAGED_LABELS,
  PROPAGATION_POLICY_ID,
  PROPAGATION_POLICY_NAME,
  RESOURCE_BINDING_ID,
  RESOURCE_BINDING_NAME,
  TEMPLATE_UID,
  WORK_ID,
  WORK_NAME,
} from '../../../src/kinds/karmada/well-known.ts'
import { CONFIG_MAPS, DEPLOYMENTS, NAMESPACES, SECRETS } from '../../../src/kinds/kubernetes/resources.ts'
import { findCondition } from '../../../src/kube/conditions.ts'
import { bindingOf, isOnlyIn, leaves, reaches, workOf } from '../expectations.ts'
import { aConfigMap, aDeployment, aPropagationPolicy, aSecret, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import type { FleetArea } from '../story.ts'

const OUR_LABELS = [MANAGED_LABEL, RESOURCE_BINDING_ID, WORK_ID, PROPAGATION_POLICY_ID]
const OUR_ANNOTATIONS = [RESOURCE_BINDING_NAME, WORK_NAME, TEMPLATE_UID, MANAGED_ANNOTATIONS, MANAGED_LABELS, PROPAGATION_POLICY_NAME]
const SETTINGS = [selectorOf(aConfigMap('settings'))]

export const objectsInMembers: FleetArea = {
  name: 'objects in members',
  stories: [
    {
      name: 'what was in a member before is left alone, and the binding says so',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await reaches(testbed, NAMESPACES, testbed.namespace, [member1])
        await member1.create(aConfigMap('settings', { mine: 'yes' }))
        await testbed.hub.create(aPropagationPolicy('settings', SETTINGS, on(member1, member2)))
        await testbed.hub.create(aConfigMap('settings'))
        await reaches(testbed, CONFIG_MAPS, 'settings', [member2], ({ data }) => data?.key === 'value')
        await testbed.until('the conflict is told', async () => {
          const applied = findCondition((await workOf(testbed, member1, 'ConfigMap', 'settings'))?.status?.conditions, 'Applied')
          return applied?.status === 'False' && /already exists in the cluster member1/.test(applied.message ?? '')
        })
        await testbed.until('the binding says so', async () => {
          const status = (await bindingOf(testbed, 'ConfigMap', 'settings'))?.status
          const item = status?.aggregatedStatus?.find(({ clusterName }) => clusterName === member1.name)
          return findCondition(status?.conditions, 'FullyApplied')?.status === 'False' && /already exists/.test(item?.appliedMessage ?? '')
        })
        assert.deepEqual((await member1.get(CONFIG_MAPS, 'settings'))?.data, { mine: 'yes' })
      },
    },
    {
      name: 'it is taken over when the policy says overwrite',
      async run(testbed) {
        const [member1] = testbed.members
        await reaches(testbed, NAMESPACES, testbed.namespace, [member1])
        await member1.create(aConfigMap('settings', { mine: 'yes' }))
        await testbed.hub.create(aPropagationPolicy('settings', SETTINGS, on(member1), { conflictResolution: 'Overwrite' }))
        await testbed.hub.create(aConfigMap('settings'))
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ data, metadata }) => {
          return data?.key === 'value' && data.mine === undefined && metadata.labels?.[MANAGED_LABEL] === 'true'
        })
      },
    },
    {
      name: 'it is taken over when its template says overwrite',
      async run(testbed) {
        const [member1] = testbed.members
        await reaches(testbed, NAMESPACES, testbed.namespace, [member1])
        await member1.create(aConfigMap('settings', { mine: 'yes' }))
        await testbed.hub.create(aPropagationPolicy('settings', SETTINGS, on(member1)))
        const template = aConfigMap('settings')
        const annotations = { 'work.karmada.io/conflict-resolution': 'overwrite' }
        await testbed.hub.create({ ...template, metadata: { ...template.metadata, annotations } })
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ data }) => data?.key === 'value' && data.mine === undefined)
      },
    },
    {
      name: 'what somebody changes in a member is put right, and what they delete comes back',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('settings', SETTINGS, on(member1)))
        await testbed.hub.create(aConfigMap('settings'))
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1])
        await testbed.settle()
        await member1.patch(CONFIG_MAPS, 'settings', { data: { key: 'theirs', more: 'x' } })
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ data }) => data?.key === 'value' && data.more === undefined)
        await testbed.settle()
        await member1.delete(CONFIG_MAPS, 'settings')
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ data }) => data?.key === 'value')
      },
    },
    {
      name: 'labels and annotations of others in a member stay; those the template drops go',
      async run(testbed) {
        const [member1] = testbed.members
        const template = aConfigMap('settings')
        const labels = { dropped: 'soon', kept: 'yes' }
        await testbed.hub.create(aPropagationPolicy('settings', SETTINGS, on(member1)))
        await testbed.hub.create({ ...template, metadata: { ...template.metadata, labels } })
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ metadata }) => metadata.labels?.dropped === 'soon')
        await member1.patch(CONFIG_MAPS, 'settings', { metadata: { labels: { theirs: 'yes' }, annotations: { theirs: 'yes' } } })
        await testbed.hub.patch(CONFIG_MAPS, 'settings', { metadata: { labels: { dropped: null } } })
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ metadata: { labels: has, annotations } }) => {
          return has?.dropped === undefined && has?.kept === 'yes' && has.theirs === 'yes' && annotations?.theirs === 'yes'
        })
      },
    },
    {
      name: 'what is to be preserved stays in the members without our marks when its template is deleted',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('settings', SETTINGS, on(member1), { preserveResourcesOnDeletion: true }))
        await testbed.hub.create(aConfigMap('settings'))
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1])
        await testbed.hub.delete(CONFIG_MAPS, 'settings')
        await testbed.until('no Work is left', async () => (await workOf(testbed, member1, 'ConfigMap', 'settings')) === undefined)
        const { data, metadata } = (await member1.get(CONFIG_MAPS, 'settings')) ?? assert.fail('it is gone')
        assert.deepEqual(data, { key: 'value' })
        for (const key of OUR_LABELS) assert.equal(metadata.labels?.[key], undefined, key)
        for (const key of OUR_ANNOTATIONS) assert.equal(metadata.annotations?.[key], undefined, key)
      },
    },
    {
      name: 'preserving can be switched on later',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { preserveResourcesOnDeletion: true } })
        await testbed.until('the Work knows', async () => {
          return (await workOf(testbed, member1, 'Deployment', 'web'))?.spec.preserveResourcesOnDeletion === true
        })
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member2) } })
        await reaches(testbed, DEPLOYMENTS, 'web', [member2])
        await testbed.until('no Work is left', async () => (await workOf(testbed, member1, 'Deployment', 'web')) === undefined)
        assert.equal((await member1.get(DEPLOYMENTS, 'web'))?.metadata.labels?.[MANAGED_LABEL], undefined)
        assert.ok(await member1.get(DEPLOYMENTS, 'web'))
      },
    },
    {
      name: 'replicas that a member decides are kept where the label gives them away',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
        await testbed.hub.create(aDeployment('web', { replicas: 2, labels: { 'resourcetemplate.karmada.io/retain-replicas': 'true' } }))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
        await member1.patch(DEPLOYMENTS, 'web', { spec: { replicas: 6 } })
        await testbed.hub.patch(DEPLOYMENTS, 'web', { metadata: { annotations: { touched: 'yes' } } })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ metadata }) => metadata.annotations?.touched === 'yes')
        await testbed.settle()
        assert.equal((await member1.get(DEPLOYMENTS, 'web'))?.spec?.replicas, 6)
      },
    },
    {
      name: 'an object nobody placed is not touched, whatever its name',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await reaches(testbed, NAMESPACES, testbed.namespace, [member2])
        await member2.create(aSecret('settings'))
        const before = (await member2.get(SECRETS, 'settings'))?.metadata.resourceVersion
        await testbed.hub.create(aPropagationPolicy('settings', [selectorOf(aSecret('settings'))], on(member1)))
        await testbed.hub.create(aSecret('settings'))
        await reaches(testbed, SECRETS, 'settings', [member1])
        await testbed.hub.delete(SECRETS, 'settings')
        await leaves(testbed, SECRETS, 'settings', [member1])
        await isOnlyIn(testbed, SECRETS, 'settings', [member2])
        assert.equal((await member2.get(SECRETS, 'settings'))?.metadata.resourceVersion, before)
      },
    },
  ],
}
