/** Namespaces of the hub are namespaces of every member, unless configured otherwise. */
import assert from 'node:assert/strict'
import { CONFIG_MAPS, NAMESPACES } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { reaches } from '../expectations.ts'
import { aConfigMap, aPropagationPolicy, on, selectorOf } from '../manifests.ts'
import type { FleetArea, FleetTestbed, Place } from '../story.ts'

const aNamespace = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...metadata },
})

/** Gone, or terminating: a member without a namespace controller does not complete the deletion. */
async function isLeaving(place: Place, name: string): Promise<boolean> {
  const namespace = await place.get(NAMESPACES, name)
  return namespace === undefined || namespace.metadata.deletionTimestamp !== undefined
}

const leave = (testbed: FleetTestbed, name: string): Promise<void> =>
  testbed.until(`namespace ${name} leaves every member`, async () => {
    for (const place of testbed.members) if (!(await isLeaving(place, name))) return false
    return true
  })

export const namespaces: FleetArea = {
  name: 'namespaces',
  stories: [
    {
      name: 'a namespace comes to every member with its labels and annotations, and changes with them',
      async run(testbed) {
        const name = testbed.unique('team')
        await testbed.hub.create(aNamespace(name, { labels: { team: 'blue' }, annotations: { contact: 'somebody' } }))
        await reaches(testbed, NAMESPACES, name, testbed.members, ({ metadata: { labels, annotations } }) => {
          return labels?.team === 'blue' && annotations?.contact === 'somebody'
        })
        await testbed.hub.patch(NAMESPACES, name, { metadata: { labels: { team: 'red' } } })
        await reaches(testbed, NAMESPACES, name, testbed.members, ({ metadata }) => metadata.labels?.team === 'red')
      },
    },
    {
      name: 'a namespace that is deleted leaves every member',
      async run(testbed) {
        const name = testbed.unique('team')
        await testbed.hub.create(aNamespace(name))
        await reaches(testbed, NAMESPACES, name, testbed.members)
        await testbed.hub.delete(NAMESPACES, name)
        await leave(testbed, name)
      },
    },
    {
      name: 'a namespace that is labelled to stay at home stays there; the label can be set and taken off later',
      async run(testbed) {
        const name = testbed.unique('home')
        const label = 'namespace.karmada.io/skip-auto-propagation'
        await testbed.hub.create(aNamespace(name, { labels: { [label]: 'true' } }))
        await testbed.settle()
        for (const place of testbed.members) assert.equal(await place.get(NAMESPACES, name), undefined)
        await testbed.hub.patch(NAMESPACES, name, { metadata: { labels: { [label]: null } } })
        await reaches(testbed, NAMESPACES, name, testbed.members)
      },
    },
    {
      name: 'namespaces that are reserved, and those of Kubernetes, are not touched',
      async run(testbed) {
        const name = testbed.unique('kube')
        await testbed.hub.create(aNamespace(name))
        await testbed.settle()
        for (const place of testbed.members) {
          assert.equal(await place.get(NAMESPACES, name), undefined)
          assert.equal(await place.get(NAMESPACES, 'karmada-cluster'), undefined)
          assert.equal((await place.get(NAMESPACES, 'default'))?.metadata.labels?.['karmada.io/managed'], undefined)
        }
      },
    },
    {
      name: 'a namespace taken from a member comes back, and what belongs in it, too',
      needs: 'pods', // and a controller that completes the deletion of a namespace
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('settings', [selectorOf(aConfigMap('settings'))], on(member1)))
        await testbed.hub.create(aConfigMap('settings'))
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1])
        const before = (await member1.get(NAMESPACES, testbed.namespace))?.metadata.uid
        await member1.delete(NAMESPACES, testbed.namespace)
        await reaches(testbed, NAMESPACES, testbed.namespace, [member1], ({ metadata }) => metadata.uid !== before)
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1])
      },
    },
  ],
}
