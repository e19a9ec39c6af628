/** Nodes that are cordoned, drained and taken away, and what becomes of their pods. */
import { NODES, POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { budget, node, pod, replicaSet } from './objects.ts'
import { isUp, podsIn, seen } from './waits.ts'

const ALONE = { alone: true }

const firstNode = async (testbed: Testbed): Promise<string> =>
  (await testbed.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()[0] ?? ''

/** Its spec, without what only simulated nodes have. */
async function noteNode(testbed: Testbed, label: string, name: string): Promise<void> {
  const { spec } = (await testbed.get(NODES, name)) ?? {}
  const taints = (spec?.taints ?? []).filter(({ key }) => key !== 'sluice.dev/simulated')
  testbed.note(label, {
    unschedulable: spec?.unschedulable === true,
    taints: taints.map(({ key, value, effect }) => ({ key, value, effect })),
  })
}

const taints = (testbed: Testbed, name: string, key: string, isThere: boolean) =>
  testbed.until(`${name} ${isThere ? 'has' : 'loses'} ${key}`, async () => {
    const { spec } = (await testbed.get(NODES, name)) ?? {}
    return (spec?.taints ?? []).some((taint) => taint.key === key) === isThere
  })

const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable'

export const NODE_SCENARIOS: readonly Scenario[] = [
  scenario(
    'node: cordoned and uncordoned',
    async (testbed) => {
      const name = await firstNode(testbed)
      await testbed.patch(NODES, name, { spec: { unschedulable: true } })
      try {
        await taints(testbed, name, UNSCHEDULABLE, true)
        await noteNode(testbed, 'cordoned', name)
      } finally {
        await testbed.patch(NODES, name, { spec: { unschedulable: null } })
      }
      await taints(testbed, name, UNSCHEDULABLE, false)
      await noteNode(testbed, 'uncordoned', name)
    },
    ALONE,
  ),
  scenario(
    'node: drained, one pod after the other',
    async (testbed) => {
      const name = await firstNode(testbed)
      await testbed.create(replicaSet('web', 4))
      await isUp(testbed, 'web')
      await testbed.create(budget('web', { maxUnavailable: 1 }))
      await seen(testbed, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.disruptionsAllowed === 1)
      await testbed.patch(NODES, name, { spec: { unschedulable: true } })
      try {
        await taints(testbed, name, UNSCHEDULABLE, true)
        const here = async () => (await testbed.list(PODS)).filter(({ spec }) => spec?.nodeName === name)
        await testbed.until('the node is empty', async () => {
          const [first] = await here()
          if (first === undefined) return true
          await testbed.evict(first.metadata.name ?? '')
          return false
        })
        await isUp(testbed, 'web')
        await seen(testbed, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.currentHealthy === 4)
        testbed.note('left there', (await here()).length)
        await testbed.noteAll('drained', REPLICA_SETS, PODS, POD_DISRUPTION_BUDGETS)
      } finally {
        await testbed.patch(NODES, name, { spec: { unschedulable: null } })
      }
      await taints(testbed, name, UNSCHEDULABLE, false)
    },
    ALONE,
  ),
  scenario(
    'node: pods of one that is gone are collected',
    async (testbed) => {
      await testbed.create(node('node-8'))
      await testbed.create(pod('lonely', {}, { nodeName: 'node-8' }))
      await podsIn(testbed, 1, 'Running')
      await testbed.delete(NODES, 'node-8')
      // Kubernetes checks every twenty seconds, and waits forty before it acts.
      await testbed.pass(50)
      await testbed.until('the pod is gone', async () => (await testbed.list(PODS)).length === 0)
      await testbed.noteAll('gone', PODS)
    },
    { ...ALONE, slow: true },
  ),
]
