/** What is protected cannot be deleted until the label is taken off. */
import assert from 'node:assert/strict'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, NAMESPACES } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { refusalOf } from '../expectations.ts'
import { aConfigMap, aDefinition, aDeployment } from '../manifests.ts'
import type { FleetArea, FleetStory, FleetTestbed } from '../story.ts'

const LABEL = 'resourcetemplate.karmada.io/deletion-protected'

const KINDS: readonly [string, Resource, (testbed: FleetTestbed) => KubeObject][] = [
  ['Deployment', DEPLOYMENTS, () => aDeployment('it')],
  ['ConfigMap', CONFIG_MAPS, () => aConfigMap('it')],
  ['Namespace', NAMESPACES, (testbed) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: testbed.unique('it') } })],
  ['CustomResourceDefinition', CUSTOM_RESOURCE_DEFINITIONS, (testbed) => aDefinition(`${testbed.unique('it')}.example.com`)],
]

const storyOf = ([kind, resource, make]: (typeof KINDS)[number]): FleetStory => ({
  name: `a ${kind} that is protected stays until the label is taken off`,
  async run(testbed) {
    const template = make(testbed)
    const name = template.metadata.name ?? ''
    await testbed.hub.create({ ...template, metadata: { ...template.metadata, labels: { [LABEL]: 'Always' } } })
    assert.match(
      await refusalOf(testbed.hub.delete(resource, name)),
      /This resource is protected, please make sure to remove the label: resourcetemplate\.karmada\.io\/deletion-protected/,
    )
    assert.equal((await testbed.hub.get(resource, name))?.metadata.deletionTimestamp, undefined)
    await testbed.hub.patch(resource, name, { metadata: { labels: { [LABEL]: null } } })
    await testbed.until('it can be deleted', async () => {
      await testbed.hub.delete(resource, name)
      const left = await testbed.hub.get(resource, name)
      return left === undefined || left.metadata.deletionTimestamp !== undefined
    })
  },
})

export const deletionProtection: FleetArea = {
  name: 'deletion protection',
  stories: [
    ...KINDS.map(storyOf),
    {
      name: 'another value of the label protects nothing',
      async run(testbed) {
        const template = aConfigMap('it')
        await testbed.hub.create({ ...template, metadata: { ...template.metadata, labels: { [LABEL]: 'Sometimes' } } })
        await testbed.hub.delete(CONFIG_MAPS, 'it')
        assert.equal(await testbed.hub.get(CONFIG_MAPS, 'it'), undefined)
      },
    },
  ],
}
