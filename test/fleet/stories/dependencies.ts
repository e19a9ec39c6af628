/** What a template needs follows it: configuration, secrets, claims and accounts. */
import assert from 'node:assert/strict'
import { resourceOfObject } from '../../../src/faultsim/world/resources.ts'
import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { DEPENDED_BY_LABEL_PREFIX, DEPENDENCIES_ANNOTATION, DEPENDENCIES_FINALIZER } from '../../../src/kinds/karmada/well-known.ts'
import { CONFIG_MAPS, DEPLOYMENTS, EVENTS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { whileCluster } from '../clusters.ts'
import { bindingOf, eventAppears, isOnlyIn, leaves, reaches } from '../expectations.ts'
import { aClaim, aConfigMap, aDeployment, aPropagationPolicy, aSecret, aServiceAccount, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetStory, FleetTestbed, Place } from '../story.ts'
import { spreadOver } from '../workloads.ts'

const WEB = [deploymentsNamed('web')]
const follow = { propagateDeps: true }
const withSettings = (name = 'settings') => ({ pod: { volumes: [{ name: 'settings', configMap: { name } }] } })

const NEEDED: readonly [KubeObject, Record<string, unknown>, string][] = [
  [aConfigMap('needed'), { volumes: [{ name: 'v', configMap: { name: 'needed' } }] }, 'as a volume'],
  [
    aConfigMap('needed'),
    { containers: [{ name: 'main', image: 'nginx', envFrom: [{ configMapRef: { name: 'needed' } }] }] },
    'as an environment',
  ],
  [aSecret('needed'), { volumes: [{ name: 'v', secret: { secretName: 'needed' } }] }, 'as a volume'],
  [aSecret('needed'), { imagePullSecrets: [{ name: 'needed' }] }, 'to pull images'],
  [aClaim('needed'), { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'needed' } }] }, 'as a volume'],
  [aServiceAccount('needed'), { serviceAccountName: 'needed' }, 'to run as'],
]

const storyOf = ([needed, pod, how]: (typeof NEEDED)[number]): FleetStory => ({
  name: `a ${needed.kind} that pods use ${how} follows, and goes with them`,
  async run(testbed) {
    const [member1, member2] = testbed.members
    const resource = resourceOfObject(needed)
    await testbed.hub.create(needed)
    await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1, member2), follow))
    await testbed.hub.create(aDeployment('web', { pod }))
    await isOnlyIn(testbed, resource, 'needed', [member1, member2])
    await testbed.hub.delete(DEPLOYMENTS, 'web')
    await leaves(testbed, DEPLOYMENTS, 'web', [member1, member2])
    await leaves(testbed, resource, 'needed', [member1, member2])
    assert.ok(await testbed.hub.get(resource, 'needed'), 'the template of it stays')
  },
})

/** A Deployment of that name with its own policy, which both use the settings. */
async function user(testbed: FleetTestbed, name: string, placement: Record<string, unknown>, more: Record<string, unknown>): Promise<void> {
  await testbed.hub.create(aPropagationPolicy(name, [deploymentsNamed(name)], placement, { ...follow, ...more }))
  await testbed.hub.create(aDeployment(name, withSettings()))
}

/** Until the scheduler chose one of these, and no other. */
async function theOnePlace(testbed: FleetTestbed, among: readonly Place[]): Promise<Place> {
  let found: Place | undefined
  await testbed.until(`the template in one of ${among.map(({ name }) => name).join(', ')}`, async () => {
    const clusters = (await bindingOf(testbed, 'Deployment', 'web'))?.spec.clusters ?? []
    found = clusters.length === 1 ? among.find(({ name }) => name === clusters[0]?.name) : undefined
    return found !== undefined
  })
  return found ?? assert.fail('it is nowhere')
}

export const dependencies: FleetArea = {
  name: 'dependencies',
  stories: [
    ...NEEDED.map(storyOf),
    {
      name: 'without propagateDeps nothing follows; it can be switched on and off',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aConfigMap('settings'))
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1)))
        await testbed.hub.create(aDeployment('web', withSettings()))
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        assert.equal(await member1.get(CONFIG_MAPS, 'settings'), undefined)
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: follow })
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { propagateDeps: false } })
        await leaves(testbed, CONFIG_MAPS, 'settings', [member1])
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'the bindings tell who needs whom',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aConfigMap('settings'))
        await user(testbed, 'web', on(member1), {})
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1])
        const web = (await bindingOf(testbed, 'Deployment', 'web')) ?? assert.fail('no binding')
        assert.ok(web.metadata.finalizers?.includes(DEPENDENCIES_FINALIZER))
        assert.match(web.metadata.annotations?.[DEPENDENCIES_ANNOTATION] ?? '', /"kind":"ConfigMap".*"name":"settings"/)
        const attached = (await bindingOf(testbed, 'ConfigMap', 'settings')) ?? assert.fail('no attached binding')
        assert.deepEqual(
          attached.spec.requiredBy?.map(({ name, clusters }) => [name, clusters?.map((one) => one.name)]),
          [['web-deployment', [member1.name]]],
        )
        assert.equal(attached.spec.placement, undefined)
        assert.equal(attached.metadata.ownerReferences?.[0]?.kind, 'ConfigMap')
        assert.equal(Object.keys(attached.metadata.labels ?? {}).filter((key) => key.startsWith(DEPENDED_BY_LABEL_PREFIX)).length, 1)
        await eventAppears(testbed, 'SyncScheduleResultToDependenciesSucceed', /Sync schedule results to dependencies succeed\./)
      },
    },
    {
      name: 'what is needed may come later',
      async run(testbed) {
        const [member1] = testbed.members
        await user(testbed, 'web', on(member1), {})
        await isOnlyIn(testbed, DEPLOYMENTS, 'web', [member1])
        await testbed.hub.create(aConfigMap('settings'))
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1])
      },
    },
    {
      name: 'it follows when the template moves, and is changed with its own template',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aConfigMap('settings'))
        await user(testbed, 'web', on(member1), {})
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1])
        await testbed.hub.patch(PROPAGATION_POLICIES, 'web', { spec: { placement: on(member2) } })
        await leaves(testbed, CONFIG_MAPS, 'settings', [member1])
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member2])
        await testbed.hub.patch(CONFIG_MAPS, 'settings', { data: { key: 'another' } })
        await reaches(testbed, CONFIG_MAPS, 'settings', [member2], ({ data }) => data?.key === 'another')
      },
    },
    {
      name: 'when a cluster fails, it moves along with what needs it',
      alone: true,
      async run(testbed) {
        await testbed.hub.create(aConfigMap('settings'))
        const anyOne = { ...on(...testbed.members), spreadConstraints: [spreadOver('cluster', 1, 1)] }
        // The old copies go first: not every member can tell that the new one is healthy.
        await user(testbed, 'web', anyOne, { failover: { cluster: { purgeMode: 'Directly' } } })
        const from = await theOnePlace(testbed, testbed.members)
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [from])
        await whileCluster(testbed, from, { taints: [{ key: 'down', effect: 'NoExecute' }] }, async () => {
          const to = await theOnePlace(
            testbed,
            testbed.members.filter((member) => member !== from),
          )
          for (const resource of [DEPLOYMENTS, CONFIG_MAPS] as Resource[]) {
            const name = resource === CONFIG_MAPS ? 'settings' : 'web'
            await leaves(testbed, resource, name, [from])
            await isOnlyIn(testbed, resource, name, [to])
          }
        })
      },
    },
    {
      name: 'when a template needs another one, the first goes and the other comes',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aConfigMap('settings'))
        await testbed.hub.create(aConfigMap('others'))
        await user(testbed, 'web', on(member1), {})
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1])
        await testbed.hub.update(DEPLOYMENTS, 'web', (web) => {
          Object.assign(web.spec?.template?.spec ?? {}, withSettings('others').pod)
        })
        await isOnlyIn(testbed, CONFIG_MAPS, 'others', [member1])
        await leaves(testbed, CONFIG_MAPS, 'settings', [member1])
      },
    },
    {
      name: 'what two templates need is wherever one of them is, until the last has gone',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await testbed.hub.create(aConfigMap('settings'))
        await user(testbed, 'one', on(member1), {})
        await user(testbed, 'two', on(member2), {})
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1, member2])
        await testbed.hub.delete(DEPLOYMENTS, 'one')
        await leaves(testbed, CONFIG_MAPS, 'settings', [member1])
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member2])
        await testbed.hub.delete(DEPLOYMENTS, 'two')
        await leaves(testbed, CONFIG_MAPS, 'settings', [member2])
      },
    },
    {
      name: 'what has a policy of its own keeps its placement beside what it is needed for',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const selectors = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }]
        await testbed.hub.create(aPropagationPolicy('settings', selectors, on(member2)))
        await testbed.hub.create(aConfigMap('settings'))
        await user(testbed, 'web', on(member1), {})
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member1, member2])
        await testbed.hub.delete(DEPLOYMENTS, 'web')
        await leaves(testbed, CONFIG_MAPS, 'settings', [member1])
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member2])
      },
    },
    {
      name: 'policies that disagree about conflicts are told; overwriting and preserving win',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aConfigMap('settings'))
        await user(testbed, 'one', on(member1), { conflictResolution: 'Overwrite', preserveResourcesOnDeletion: true })
        await user(testbed, 'two', on(member1), { conflictResolution: 'Abort', preserveResourcesOnDeletion: false })
        await eventAppears(testbed, 'DependencyPolicyConflict', /conflict/i)
        const attached = await bindingOf(testbed, 'ConfigMap', 'settings')
        assert.deepEqual([attached?.spec.conflictResolution, attached?.spec.preserveResourcesOnDeletion], ['Overwrite', true])
      },
    },
    {
      name: 'policies that agree about conflicts are not told of any',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aConfigMap('settings'))
        await user(testbed, 'one', on(member1), { conflictResolution: 'Overwrite' })
        await user(testbed, 'two', on(member1), { conflictResolution: 'Overwrite' })
        await testbed.until('both need it', async () => (await bindingOf(testbed, 'ConfigMap', 'settings'))?.spec.requiredBy?.length === 2)
        await testbed.settle()
        const events = await testbed.hub.list(EVENTS)
        assert.deepEqual(
          events.filter(({ reason }) => reason === 'DependencyPolicyConflict'),
          [],
        )
        assert.equal((await bindingOf(testbed, 'ConfigMap', 'settings'))?.spec.conflictResolution, 'Overwrite')
      },
    },
  ],
}
