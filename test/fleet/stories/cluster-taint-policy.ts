/** Taints that come and go with the conditions of a cluster. */
import assert from 'node:assert/strict'
import { CLUSTER_TAINT_POLICIES, CLUSTERS } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { isPlaced } from '../bindings.ts'
import { clusterNamed, whileCluster } from '../clusters.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'

const CLUSTER = 'member3'

type Match = Record<string, unknown>
const when = (conditionType: string, operator: 'In' | 'NotIn', ...statusValues: string[]): Match => ({
  conditionType,
  operator,
  statusValues,
})

interface Rules {
  add: Match[]
  remove: Match[]
  taints: { key: string; value?: string; effect: string }[]
}

const policyOf = (name: string, { add, remove, taints }: Rules): KubeObject => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'ClusterTaintPolicy',
  metadata: { name },
  spec: { targetClusters: { clusterNames: [CLUSTER] }, addOnConditions: add, removeOnConditions: remove, taints },
})

/** An external monitor reports conditions of a cluster. */
async function observes(testbed: FleetTestbed, said: Readonly<Record<string, string>>): Promise<void> {
  const { status } = await clusterNamed(testbed, CLUSTER)
  const others = (status?.conditions ?? []).filter(({ type }) => !(type in said))
  const own = Object.entries(said).map(([type, is]) => ({
    type,
    status: is,
    reason: 'Looked',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }))
  await testbed.hub.patch(CLUSTERS, CLUSTER, { status: { conditions: [...others, ...own] } }, { subresource: 'status' })
}

const taintsOf = async (testbed: FleetTestbed): Promise<string> =>
  ((await clusterNamed(testbed, CLUSTER)).spec.taints ?? []).map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`).join()

const isTainted = (testbed: FleetTestbed, taints: string): Promise<void> =>
  testbed.until(`${CLUSTER} with the taints "${taints}"`, async () => (await taintsOf(testbed)) === taints)

/** Restores the taints afterwards. */
const onTheSide = (testbed: FleetTestbed, work: () => Promise<void>): Promise<void> =>
  whileCluster(testbed, testbed.members[2], { taints: null }, work)

export const clusterTaintPolicy: FleetArea = {
  name: 'cluster taint policy',
  stories: [
    {
      name: 'a condition puts the taints on and takes them off again',
      alone: true,
      run: (testbed) =>
        onTheSide(testbed, async () => {
          const taints = [
            { key: 'no-network', effect: 'NoSchedule' },
            { key: 'careful', value: 'yes', effect: 'NoSchedule' },
          ]
          const type = testbed.unique('NetworkReady')
          const rules = { add: [when(type, 'In', 'False', 'Unknown')], remove: [when(type, 'In', 'True')], taints }
          await testbed.hub.create(policyOf(testbed.unique('network'), rules))
          await observes(testbed, { [type]: 'False' })
          await isTainted(testbed, 'no-network=:NoSchedule,careful=yes:NoSchedule')
          await observes(testbed, { [type]: 'True' })
          await isTainted(testbed, '')
        }),
    },
    {
      name: 'all conditions must hold; one alone does nothing',
      alone: true,
      run: (testbed) =>
        onTheSide(testbed, async () => {
          const [network, disk] = [testbed.unique('NetworkReady'), testbed.unique('DiskReady')]
          const rules = {
            add: [when(network, 'NotIn', 'True'), when(disk, 'In', 'False')],
            remove: [when(network, 'In', 'True'), when(disk, 'In', 'True')],
            taints: [{ key: 'broken', effect: 'NoSchedule' }],
          }
          await testbed.hub.create(policyOf(testbed.unique('broken'), rules))
          await observes(testbed, { [network]: 'False', [disk]: 'True' })
          await testbed.settle()
          assert.equal(await taintsOf(testbed), '')
          await observes(testbed, { [disk]: 'False' })
          await isTainted(testbed, 'broken=:NoSchedule')
          await observes(testbed, { [network]: 'True' })
          await testbed.settle()
          assert.equal(await taintsOf(testbed), 'broken=:NoSchedule')
          await observes(testbed, { [disk]: 'True' })
          await isTainted(testbed, '')
        }),
    },
    {
      name: 'a policy that goes leaves its taints',
      alone: true,
      run: (testbed) =>
        onTheSide(testbed, async () => {
          const type = testbed.unique('NetworkReady')
          const taints = [{ key: 'no-network', effect: 'NoSchedule' }]
          const name = testbed.unique('network')
          await testbed.hub.create(policyOf(name, { add: [when(type, 'In', 'False')], remove: [when(type, 'In', 'True')], taints }))
          await observes(testbed, { [type]: 'False' })
          await isTainted(testbed, 'no-network=:NoSchedule')
          await testbed.hub.delete(CLUSTER_TAINT_POLICIES, name)
          await observes(testbed, { [type]: 'True' })
          await testbed.settle()
          assert.equal(await taintsOf(testbed), 'no-network=:NoSchedule')
        }),
    },
    {
      name: 'a NoExecute taint of a policy drives work away',
      alone: true,
      run: (testbed) =>
        onTheSide(testbed, async () => {
          const [, member2, member3] = testbed.members
          const failover = { cluster: { purgeMode: 'Directly' } }
          await testbed.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member2, member3), { failover }))
          await testbed.hub.create(aDeployment('web'))
          await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 2, member3: 2 })
          const type = testbed.unique('PowerReady')
          const taints = [{ key: 'no-power', effect: 'NoExecute' }]
          await testbed.hub.create(
            policyOf(testbed.unique('power'), { add: [when(type, 'In', 'False')], remove: [when(type, 'In', 'True')], taints }),
          )
          await observes(testbed, { [type]: 'False' })
          await isPlaced(testbed, DEPLOYMENTS, 'web', { member2: 2 })
          await observes(testbed, { [type]: 'True' })
          await isTainted(testbed, '')
        }),
    },
  ],
}
