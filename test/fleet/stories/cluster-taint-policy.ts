/** Taints that come and go with the conditions of a cluster. */
import assert from 'node:assert/strict'
import { CLUSTER_TAINT_POLICIES, CLUSTERS } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { isPlaced } from '../bindings.ts'
import { clusterNamed, whileCluster } from '../clusters.ts'
import { aDeployment, aPropagationPolicy, deploymentsNamed, on } from '../manifests.ts'
import type { FleetArea, FleetStage } from '../story.ts'

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

/** Somebody who watches clusters says something about one. */
async function observes(stage: FleetStage, said: Readonly<Record<string, string>>): Promise<void> {
  const { status } = await clusterNamed(stage, CLUSTER)
  const others = (status?.conditions ?? []).filter(({ type }) => !(type in said))
  const own = Object.entries(said).map(([type, is]) => ({
    type,
    status: is,
    reason: 'Looked',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }))
  await stage.hub.patch(CLUSTERS, CLUSTER, { status: { conditions: [...others, ...own] } }, { subresource: 'status' })
}

const taintsOf = async (stage: FleetStage): Promise<string> =>
  ((await clusterNamed(stage, CLUSTER)).spec.taints ?? []).map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`).join()

const isTainted = (stage: FleetStage, taints: string): Promise<void> =>
  stage.until(`${CLUSTER} with the taints "${taints}"`, async () => (await taintsOf(stage)) === taints)

/** Taints are as before when it is over. */
const onTheSide = (stage: FleetStage, work: () => Promise<void>): Promise<void> =>
  whileCluster(stage, stage.members[2], { taints: null }, work)

export const clusterTaintPolicy: FleetArea = {
  name: 'cluster taint policy',
  stories: [
    {
      name: 'a condition puts the taints on and takes them off again',
      alone: true,
      run: (stage) =>
        onTheSide(stage, async () => {
          const taints = [
            { key: 'no-network', effect: 'NoSchedule' },
            { key: 'careful', value: 'yes', effect: 'NoSchedule' },
          ]
          const type = stage.unique('NetworkReady')
          const rules = { add: [when(type, 'In', 'False', 'Unknown')], remove: [when(type, 'In', 'True')], taints }
          await stage.hub.create(policyOf(stage.unique('network'), rules))
          await observes(stage, { [type]: 'False' })
          await isTainted(stage, 'no-network=:NoSchedule,careful=yes:NoSchedule')
          await observes(stage, { [type]: 'True' })
          await isTainted(stage, '')
        }),
    },
    {
      name: 'all conditions must hold; one alone does nothing',
      alone: true,
      run: (stage) =>
        onTheSide(stage, async () => {
          const [network, disk] = [stage.unique('NetworkReady'), stage.unique('DiskReady')]
          const rules = {
            add: [when(network, 'NotIn', 'True'), when(disk, 'In', 'False')],
            remove: [when(network, 'In', 'True'), when(disk, 'In', 'True')],
            taints: [{ key: 'broken', effect: 'NoSchedule' }],
          }
          await stage.hub.create(policyOf(stage.unique('broken'), rules))
          await observes(stage, { [network]: 'False', [disk]: 'True' })
          await stage.settle()
          assert.equal(await taintsOf(stage), '')
          await observes(stage, { [disk]: 'False' })
          await isTainted(stage, 'broken=:NoSchedule')
          await observes(stage, { [network]: 'True' })
          await stage.settle()
          assert.equal(await taintsOf(stage), 'broken=:NoSchedule')
          await observes(stage, { [disk]: 'True' })
          await isTainted(stage, '')
        }),
    },
    {
      name: 'a policy that goes leaves its taints',
      alone: true,
      run: (stage) =>
        onTheSide(stage, async () => {
          const type = stage.unique('NetworkReady')
          const taints = [{ key: 'no-network', effect: 'NoSchedule' }]
          const name = stage.unique('network')
          await stage.hub.create(policyOf(name, { add: [when(type, 'In', 'False')], remove: [when(type, 'In', 'True')], taints }))
          await observes(stage, { [type]: 'False' })
          await isTainted(stage, 'no-network=:NoSchedule')
          await stage.hub.delete(CLUSTER_TAINT_POLICIES, name)
          await observes(stage, { [type]: 'True' })
          await stage.settle()
          assert.equal(await taintsOf(stage), 'no-network=:NoSchedule')
        }),
    },
    {
      name: 'a NoExecute taint of a policy drives work away',
      alone: true,
      run: (stage) =>
        onTheSide(stage, async () => {
          const [, member2, member3] = stage.members
          const failover = { cluster: { purgeMode: 'Directly' } }
          await stage.hub.create(aPropagationPolicy('web', [deploymentsNamed('web')], on(member2, member3), { failover }))
          await stage.hub.create(aDeployment('web'))
          await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 2, member3: 2 })
          const type = stage.unique('PowerReady')
          const taints = [{ key: 'no-power', effect: 'NoExecute' }]
          await stage.hub.create(
            policyOf(stage.unique('power'), { add: [when(type, 'In', 'False')], remove: [when(type, 'In', 'True')], taints }),
          )
          await observes(stage, { [type]: 'False' })
          await isPlaced(stage, DEPLOYMENTS, 'web', { member2: 2 })
          await observes(stage, { [type]: 'True' })
          await isTainted(stage, '')
        }),
    },
  ],
}
