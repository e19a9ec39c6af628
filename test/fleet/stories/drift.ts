/** Members differ from what was decided because something was changed there: what is restored, and what belongs to the member. */
import assert from 'node:assert/strict'
import { CONFIG_MAPS, DEPLOYMENTS, SERVICES } from '../../../src/kinds/kubernetes/resources.ts'
import { reaches } from '../expectations.ts'
import { aConfigMap, aDeployment, aPropagationPolicy, aService, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'

async function web(testbed: FleetTestbed, labels: Record<string, string> = {}): Promise<void> {
  const [member1] = testbed.members
  await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1)))
  await testbed.hub.create(aDeployment('web', { replicas: 2, labels }))
  await reaches(testbed, DEPLOYMENTS, 'web', [member1])
}

export const drift: FleetArea = {
  name: 'drift',
  stories: [
    {
      name: 'what is edited in a member is put back',
      async run(testbed) {
        const [member1] = testbed.members
        await web(testbed)
        await member1.patch(DEPLOYMENTS, 'web', { spec: { replicas: 9 } })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ spec }) => spec?.replicas === 2)
      },
    },
    {
      name: 'what is deleted in a member is made again',
      async run(testbed) {
        const [member1] = testbed.members
        await web(testbed)
        const uid = (await member1.get(DEPLOYMENTS, 'web'))?.metadata.uid
        await member1.delete(DEPLOYMENTS, 'web')
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ metadata }) => metadata.uid !== uid)
      },
    },
    {
      name: 'data of a ConfigMap that is changed in a member is put back, and what was added is gone',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const settings = aConfigMap('settings', { color: 'red' })
        await testbed.hub.create(aPropagationPolicy('settings', [selectorOf(settings)], on(member1, member2)))
        await testbed.hub.create(settings)
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1, member2])
        await member1.patch(CONFIG_MAPS, 'settings', { data: { color: 'blue', size: 'big' } })
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ data }) => JSON.stringify(data) === '{"color":"red"}')
      },
    },
    {
      name: 'the address that a member gave a Service stays its own',
      async run(testbed) {
        const [member1] = testbed.members
        const service = aService('web')
        await testbed.hub.create(aPropagationPolicy('web', [selectorOf(service)], on(member1)))
        await testbed.hub.create(service)
        await reaches(testbed, SERVICES, 'web', [member1])
        const address = (await member1.get(SERVICES, 'web'))?.spec?.clusterIP
        assert.ok(address !== undefined)
        await testbed.hub.patch(SERVICES, 'web', { metadata: { labels: { tier: 'front' } } })
        await reaches(
          testbed,
          SERVICES,
          'web',
          [member1],
          ({ metadata, spec }) => metadata.labels?.tier === 'front' && spec?.clusterIP === address,
        )
      },
    },
    {
      name: 'who takes the mark of the hub off an object gets it back',
      async run(testbed) {
        const [member1] = testbed.members
        await web(testbed)
        await member1.patch(DEPLOYMENTS, 'web', { metadata: { annotations: { 'work.karmada.io/name': 'another' } } })
        const isMarked = (name: string | undefined): boolean => name !== undefined && name !== 'another'
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ metadata }) => isMarked(metadata.annotations?.['work.karmada.io/name']))
      },
    },
  ],
}
