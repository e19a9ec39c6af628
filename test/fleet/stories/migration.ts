/** Objects that exist in members before the hub propagates them: left alone, taken over, given back. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS, NAMESPACES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { isPlaced, reportedAs, says } from '../bindings.ts'
import { leaves, reaches } from '../expectations.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetTestbed, Place } from '../story.ts'

const MANAGED = 'karmada.io/managed'
const isManaged = ({ metadata }: KubeObject): boolean => metadata.labels?.[MANAGED] === 'true'

/** Records how a conflict was to be resolved, and stays as a hint; Karmada leaves it too. */
const ADVICE = 'work.karmada.io/conflict-resolution'

/** Every other trace of the hub on an object. */
const tracesOn = ({ metadata: { labels = {}, annotations = {} } }: KubeObject): string[] =>
  [...Object.keys(labels), ...Object.keys(annotations)].filter((key) => key.split('/')[0]?.endsWith('karmada.io') && key !== ADVICE)

/** An object that has existed in the member for long. */
async function before(testbed: FleetTestbed, place: Place, image = 'nginx:1.18.0'): Promise<void> {
  await reaches(testbed, NAMESPACES, testbed.namespace, [place])
  await place.create(aDeployment('web', { replicas: 1, image, labels: { team: 'shop' } }))
}

const imageOf = ({ spec }: KubeObject): string | undefined => {
  const { template } = spec as { template: { spec: { containers: { image: string }[] } } }
  return template.spec.containers[0]?.image
}

const webOn = async (testbed: FleetTestbed, places: readonly Place[], more: Record<string, unknown> = {}): Promise<void> => {
  await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(...places), more))
  await testbed.hub.create(aDeployment('web', { replicas: 2 }))
}

export const migration: FleetArea = {
  name: 'migration and rollback',
  stories: [
    {
      name: 'what is already there is left alone, and the binding says so; other members have theirs',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await before(testbed, member1)
        await webOn(testbed, [member1, member2])
        await reaches(testbed, DEPLOYMENTS, 'web', [member2], isManaged)
        const why = `resource(kind=Deployment, ${testbed.namespace}/web) already exists in the cluster member1 and the work.karmada.io/conflict-resolution strategy value is empty, Karmada will not manage this resource`
        await reportedAs(
          testbed,
          DEPLOYMENTS,
          'web',
          'member1',
          ({ applied = false, appliedMessage }) => !applied && appliedMessage === `Failed to apply all manifests (0/1): ${why}`,
        )
        const message = 'Failed to apply all works, see status.aggregatedStatus for details'
        await says(testbed, DEPLOYMENTS, 'web', { type: 'FullyApplied', status: 'False', reason: 'FullyAppliedFailed', message })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], (web) => !isManaged(web) && imageOf(web) === 'nginx:1.18.0')
      },
    },
    {
      name: 'what was left alone is also left there when the template goes',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await before(testbed, member1)
        await webOn(testbed, [member1, member2])
        await reaches(testbed, DEPLOYMENTS, 'web', [member2], isManaged)
        await reportedAs(testbed, DEPLOYMENTS, 'web', 'member1', ({ applied = false }) => !applied)
        await testbed.hub.delete(DEPLOYMENTS, 'web')
        await leaves(testbed, DEPLOYMENTS, 'web', [member2])
        await testbed.settle()
        assert.ok((await member1.get(DEPLOYMENTS, 'web')) !== undefined)
      },
    },
    {
      name: 'conflictResolution Overwrite takes it over, with what its people added to it',
      async run(testbed) {
        const [member1] = testbed.members
        await before(testbed, member1)
        await webOn(testbed, [member1], { conflictResolution: 'Overwrite' })
        await isPlaced(testbed, DEPLOYMENTS, 'web', { member1: 2 })
        await reaches(
          testbed,
          DEPLOYMENTS,
          'web',
          [member1],
          (web) => isManaged(web) && imageOf(web) === 'nginx:1.19.0' && web.metadata.labels?.team === 'shop',
        )
        await says(testbed, DEPLOYMENTS, 'web', {
          type: 'FullyApplied',
          status: 'True',
          reason: 'FullyAppliedSuccess',
          message: 'All works have been successfully applied',
        })
      },
    },
    {
      name: 'a conflict ends when the policy changes to Overwrite',
      async run(testbed) {
        const [member1] = testbed.members
        await before(testbed, member1)
        await webOn(testbed, [member1])
        await reportedAs(testbed, DEPLOYMENTS, 'web', 'member1', ({ applied = false }) => !applied)
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { conflictResolution: 'Overwrite' } })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], isManaged)
        await reportedAs(testbed, DEPLOYMENTS, 'web', 'member1', ({ applied }) => applied === true)
      },
    },
    {
      name: 'taken over without a change to its pods, they go on running',
      needs: 'pods', // they must be running to go on
      async run(testbed) {
        const [member1] = testbed.members
        await before(testbed, member1, 'nginx:1.19.0')
        const pods = async () => (await member1.list(PODS)).map(({ metadata, status }) => `${metadata.uid} ${status?.phase}`)
        await testbed.until('its pod running', async () => (await pods()).some((pod) => pod.endsWith('Running')))
        const earlier = await pods()
        await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member1), { conflictResolution: 'Overwrite' }))
        await testbed.hub.create(aDeployment('web', { replicas: 1, image: 'nginx:1.19.0' }))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], isManaged)
        await testbed.settle()
        assert.deepEqual(await pods(), earlier)
      },
    },
    {
      name: 'rollback: preserved on deletion, it stays in members without a trace of the hub',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await before(testbed, member1)
        await webOn(testbed, [member1, member2], { conflictResolution: 'Overwrite', preserveResourcesOnDeletion: true })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1, member2], isManaged)
        await testbed.hub.delete(DEPLOYMENTS, 'web')
        await reaches(testbed, DEPLOYMENTS, 'web', [member1, member2], (web) => tracesOn(web).length === 0)
        await testbed.settle()
        await reaches(
          testbed,
          DEPLOYMENTS,
          'web',
          [member1],
          ({ metadata, spec }) => metadata.labels?.team === 'shop' && spec?.replicas === 2,
        )
      },
    },
    {
      name: 'a cluster that is taken out of the placement keeps what is preserved as well',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await webOn(testbed, [member1, member2], { preserveResourcesOnDeletion: true })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1, member2], isManaged)
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member2) } })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], (web) => tracesOn(web).length === 0)
        await reaches(testbed, DEPLOYMENTS, 'web', [member2], isManaged)
      },
    },
  ],
}
