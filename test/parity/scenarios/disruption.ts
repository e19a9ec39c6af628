/** Disruption budgets, eviction, and taints that end pods. */
import { DEPLOYMENTS, NODES, POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Taint } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { budget, deployment, pod, replicaSet, statefulSet } from './objects.ts'
import { gone, isUp, podsIn, rolledOut, seen, setIsUp } from './waits.ts'

const budgetHas = (testbed: Testbed, name: string, healthy: number) =>
  seen(testbed, POD_DISRUPTION_BUDGETS, name, ({ status }) => status?.currentHealthy === healthy)

/** Three pods and a budget for them. */
const budgets = (name: string, spec: Record<string, unknown>): Scenario =>
  scenario(`budget: ${name}`, async (testbed) => {
    await testbed.create(replicaSet('web', 3))
    await isUp(testbed, 'web')
    await testbed.create(budget('web', spec))
    await budgetHas(testbed, 'web', 3)
    await testbed.noteAll('counted', POD_DISRUPTION_BUDGETS)
    const [first] = await podsIn(testbed, 3, 'Running')
    await testbed.setReady(first ?? pod(''), false)
    await budgetHas(testbed, 'web', 2)
    await testbed.noteAll('one is not ready', POD_DISRUPTION_BUDGETS)
    await testbed.noteEvents('budget')
  })

const ALONE = { alone: true }

async function withTaint(
  testbed: Testbed,
  work: (pinned: Record<string, unknown>, taint: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const name = (await testbed.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()[0] ?? ''
  const mark: Taint = { key: 'parity.test/out', value: 'now', effect: 'NoExecute' }
  const set = (taints: (old: Taint[]) => Taint[]) =>
    testbed.update(NODES, name, (node) => {
      node.spec = { ...node.spec, taints: taints((node.spec?.taints ?? []).filter(({ key }) => key !== mark.key)) }
    })
  try {
    await work({ nodeSelector: { 'kubernetes.io/hostname': name } }, async () => void (await set((old) => [...old, mark])))
  } finally {
    await set((old) => old)
  }
}

const tolerating = (tolerationSeconds?: number) => ({
  tolerations: [{ key: 'parity.test/out', operator: 'Exists', effect: 'NoExecute', tolerationSeconds }],
})

export const DISRUPTION_SCENARIOS: readonly Scenario[] = [
  budgets('minAvailable 2', { minAvailable: 2 }),
  budgets('minAvailable 50%', { minAvailable: '50%' }),
  budgets('minAvailable 100%', { minAvailable: '100%' }),
  budgets('maxUnavailable 1', { maxUnavailable: 1 }),
  budgets('maxUnavailable 40%', { maxUnavailable: '40%' }),
  budgets('maxUnavailable 0', { maxUnavailable: 0 }),
  scenario('budget: nobody matches', async (testbed) => {
    await testbed.create(budget('web', { minAvailable: 1 }))
    await seen(testbed, POD_DISRUPTION_BUDGETS, 'web')
    await testbed.noteAll('none', POD_DISRUPTION_BUDGETS)
    await testbed.noteEvents('none')
  }),
  scenario('budget: pods without a controller cannot be counted in parts', async (testbed) => {
    await testbed.create(pod('lonely', { app: 'web' }))
    await podsIn(testbed, 1, 'Running')
    await testbed.create(budget('web', { maxUnavailable: 1 }))
    await testbed.until('judged', async () => ((await testbed.get(POD_DISRUPTION_BUDGETS, 'web'))?.status?.conditions ?? []).length > 0)
    await testbed.noteAll('judged', POD_DISRUPTION_BUDGETS)
    await testbed.noteEvents('judged')
  }),
  scenario('budget: of a stateful set', async (testbed) => {
    await testbed.create(statefulSet('db', 3))
    await setIsUp(testbed, 'db')
    await testbed.create(budget('db', { maxUnavailable: '34%' }))
    await budgetHas(testbed, 'db', 3)
    await testbed.noteAll('counted', POD_DISRUPTION_BUDGETS)
  }),
  scenario('eviction: allowed, refused, allowed again', async (testbed) => {
    await testbed.create(replicaSet('web', 2))
    await isUp(testbed, 'web')
    await testbed.create(budget('web', { minAvailable: 2 }))
    await budgetHas(testbed, 'web', 2)
    const [first] = await podsIn(testbed, 2, 'Running')
    testbed.note('refused', await testbed.evict(first?.metadata.name ?? ''))
    await testbed.patch(POD_DISRUPTION_BUDGETS, 'web', { spec: { minAvailable: 1 } })
    await seen(testbed, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.disruptionsAllowed === 1)
    testbed.note('allowed', await testbed.evict(first?.metadata.name ?? ''))
    await gone(testbed, PODS, first?.metadata.name ?? '')
    await budgetHas(testbed, 'web', 2)
    await isUp(testbed, 'web')
    await testbed.noteAll('replaced', POD_DISRUPTION_BUDGETS, REPLICA_SETS, PODS)
  }),
  scenario('eviction: without a budget', async (testbed) => {
    await testbed.create(pod('free'))
    await podsIn(testbed, 1, 'Running')
    testbed.note('answer', await testbed.evict('free'))
    await gone(testbed, PODS, 'free')
    testbed.note('again', await testbed.evict('free'))
  }),
  scenario('eviction: two budgets for one pod', async (testbed) => {
    await testbed.create(replicaSet('web', 1))
    await isUp(testbed, 'web')
    await testbed.create(budget('web', { minAvailable: 0 }))
    await testbed.create({ ...budget('other', { minAvailable: 0 }), spec: { minAvailable: 0, selector: { matchLabels: { app: 'web' } } } })
    await budgetHas(testbed, 'web', 1)
    await budgetHas(testbed, 'other', 1)
    const [first] = await podsIn(testbed, 1, 'Running')
    testbed.note('answer', await testbed.evict(first?.metadata.name ?? ''))
  }),
  scenario('eviction: of a pod that is not ready', async (testbed) => {
    await testbed.create(replicaSet('web', 2))
    await isUp(testbed, 'web')
    await testbed.create(budget('web', { minAvailable: 2 }))
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.setReady(first ?? pod(''), false)
    await budgetHas(testbed, 'web', 1)
    testbed.note('by default', await testbed.evict(first?.metadata.name ?? ''))
    await testbed.patch(POD_DISRUPTION_BUDGETS, 'web', { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } })
    await seen(testbed, POD_DISRUPTION_BUDGETS, 'web')
    testbed.note('always', await testbed.evict(first?.metadata.name ?? ''))
  }),
  scenario(
    'taint: NoExecute ends pods that do not tolerate it',
    async (testbed) => {
      await withTaint(testbed, async (pinned, taint) => {
        await testbed.create(pod('touchy', {}, pinned))
        await testbed.create(pod('calm', {}, { ...pinned, ...tolerating() }))
        await podsIn(testbed, 2, 'Running')
        await taint()
        await gone(testbed, PODS, 'touchy')
        await testbed.noteAll('left', PODS)
        await testbed.noteEvents('left')
      })
    },
    ALONE,
  ),
  scenario(
    'taint: NoExecute with tolerationSeconds',
    async (testbed) => {
      await withTaint(testbed, async (pinned, taint) => {
        await testbed.create(pod('patient', {}, { ...pinned, ...tolerating(4) }))
        await podsIn(testbed, 1, 'Running')
        await taint()
        await testbed.noteAll('waiting', PODS)
        await gone(testbed, PODS, 'patient')
        await testbed.noteEvents('gone')
      })
    },
    ALONE,
  ),
  scenario(
    'taint: taken away in time',
    async (testbed) => {
      await withTaint(testbed, async (pinned, taint) => {
        await testbed.create(pod('patient', {}, { ...pinned, ...tolerating(6) }))
        await podsIn(testbed, 1, 'Running')
        await taint()
        await testbed.pass(2)
      })
      await testbed.pass(7)
      await testbed.noteAll('stays', PODS)
      await testbed.noteEvents('stays')
    },
    ALONE,
  ),
  scenario('budget: an empty selector is for all pods', async (testbed) => {
    await testbed.create(replicaSet('web', 2))
    await testbed.create(replicaSet('api', 2))
    await isUp(testbed, 'web')
    await isUp(testbed, 'api')
    await testbed.create({ ...budget('all', {}), spec: { maxUnavailable: '50%', selector: {} } })
    await budgetHas(testbed, 'all', 4)
    await testbed.noteAll('counted', POD_DISRUPTION_BUDGETS)
  }),
  scenario('budget: follows the size of a deployment', async (testbed) => {
    await testbed.create(deployment('web', 4))
    await rolledOut(testbed, 'web')
    await testbed.create(budget('web', { maxUnavailable: '25%' }))
    await budgetHas(testbed, 'web', 4)
    await testbed.noteAll('four', POD_DISRUPTION_BUDGETS)
    await testbed.patch(DEPLOYMENTS, 'web', { spec: { replicas: 8 } })
    await rolledOut(testbed, 'web')
    await budgetHas(testbed, 'web', 8)
    await testbed.noteAll('eight', POD_DISRUPTION_BUDGETS)
  }),
]
