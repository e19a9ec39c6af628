/** Nodes that are cordoned, drained and taken away, and what becomes of their pods. */
import { NODES, POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { budget, node, pod, replicaSet } from './objects.ts'
import { isUp, podsIn, seen } from './waits.ts'

const ALONE = { alone: true }

const firstNode = async (stage: Stage): Promise<string> =>
  (await stage.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()[0] ?? ''

/** Its spec, without what only simulated nodes have. */
async function noteNode(stage: Stage, label: string, name: string): Promise<void> {
  const { spec } = (await stage.get(NODES, name)) ?? {}
  const taints = (spec?.taints ?? []).filter(({ key }) => key !== 'sluice.dev/simulated')
  stage.note(label, {
    unschedulable: spec?.unschedulable === true,
    taints: taints.map(({ key, value, effect }) => ({ key, value, effect })),
  })
}

const taints = (stage: Stage, name: string, key: string, isThere: boolean) =>
  stage.until(`${name} ${isThere ? 'has' : 'loses'} ${key}`, async () => {
    const { spec } = (await stage.get(NODES, name)) ?? {}
    return (spec?.taints ?? []).some((taint) => taint.key === key) === isThere
  })

const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable'

export const NODE_SCENARIOS: readonly Scenario[] = [
  scenario(
    'node: cordoned and uncordoned',
    async (stage) => {
      const name = await firstNode(stage)
      await stage.patch(NODES, name, { spec: { unschedulable: true } })
      try {
        await taints(stage, name, UNSCHEDULABLE, true)
        await noteNode(stage, 'cordoned', name)
      } finally {
        await stage.patch(NODES, name, { spec: { unschedulable: null } })
      }
      await taints(stage, name, UNSCHEDULABLE, false)
      await noteNode(stage, 'uncordoned', name)
    },
    ALONE,
  ),
  scenario(
    'node: drained, one pod after the other',
    async (stage) => {
      const name = await firstNode(stage)
      await stage.create(replicaSet('web', 4))
      await isUp(stage, 'web')
      await stage.create(budget('web', { maxUnavailable: 1 }))
      await seen(stage, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.disruptionsAllowed === 1)
      await stage.patch(NODES, name, { spec: { unschedulable: true } })
      try {
        await taints(stage, name, UNSCHEDULABLE, true)
        const here = async () => (await stage.list(PODS)).filter(({ spec }) => spec?.nodeName === name)
        await stage.until('the node is empty', async () => {
          const [first] = await here()
          if (first === undefined) return true
          await stage.evict(first.metadata.name ?? '')
          return false
        })
        await isUp(stage, 'web')
        await seen(stage, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.currentHealthy === 4)
        stage.note('left there', (await here()).length)
        await stage.noteAll('drained', REPLICA_SETS, PODS, POD_DISRUPTION_BUDGETS)
      } finally {
        await stage.patch(NODES, name, { spec: { unschedulable: null } })
      }
      await taints(stage, name, UNSCHEDULABLE, false)
    },
    ALONE,
  ),
  scenario(
    'node: pods of one that is gone are collected',
    async (stage) => {
      await stage.create(node('node-8'))
      await stage.create(pod('lonely', {}, { nodeName: 'node-8' }))
      await podsIn(stage, 1, 'Running')
      await stage.delete(NODES, 'node-8')
      // Kubernetes looks every twenty seconds, and waits forty before it believes it.
      await stage.pass(50)
      await stage.until('the pod is gone', async () => (await stage.list(PODS)).length === 0)
      await stage.noteAll('gone', PODS)
    },
    { ...ALONE, slow: true },
  ),
]
