/** Disruption budgets, eviction, and taints that end pods. */
import { DEPLOYMENTS, NODES, POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Taint } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { budget, deployment, pod, replicaSet, statefulSet } from './objects.ts'
import { gone, isUp, podsIn, rolledOut, seen, setIsUp } from './waits.ts'

const budgetHas = (stage: Stage, name: string, healthy: number) =>
  seen(stage, POD_DISRUPTION_BUDGETS, name, ({ status }) => status?.currentHealthy === healthy)

/** Three pods and a budget for them. */
const budgets = (name: string, spec: Record<string, unknown>): Scenario =>
  scenario(`budget: ${name}`, async (stage) => {
    await stage.create(replicaSet('web', 3))
    await isUp(stage, 'web')
    await stage.create(budget('web', spec))
    await budgetHas(stage, 'web', 3)
    await stage.noteAll('counted', POD_DISRUPTION_BUDGETS)
    const [first] = await podsIn(stage, 3, 'Running')
    await stage.setReady(first ?? pod(''), false)
    await budgetHas(stage, 'web', 2)
    await stage.noteAll('one is not ready', POD_DISRUPTION_BUDGETS)
    await stage.noteEvents('budget')
  })

const ALONE = { alone: true }

async function withTaint(
  stage: Stage,
  work: (pinned: Record<string, unknown>, taint: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const name = (await stage.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()[0] ?? ''
  const mark: Taint = { key: 'parity.test/out', value: 'now', effect: 'NoExecute' }
  const set = (taints: (old: Taint[]) => Taint[]) =>
    stage.update(NODES, name, (node) => {
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
  scenario('budget: nobody matches', async (stage) => {
    await stage.create(budget('web', { minAvailable: 1 }))
    await seen(stage, POD_DISRUPTION_BUDGETS, 'web')
    await stage.noteAll('none', POD_DISRUPTION_BUDGETS)
    await stage.noteEvents('none')
  }),
  scenario('budget: pods without a controller cannot be counted in parts', async (stage) => {
    await stage.create(pod('lonely', { app: 'web' }))
    await podsIn(stage, 1, 'Running')
    await stage.create(budget('web', { maxUnavailable: 1 }))
    await stage.until('judged', async () => ((await stage.get(POD_DISRUPTION_BUDGETS, 'web'))?.status?.conditions ?? []).length > 0)
    await stage.noteAll('judged', POD_DISRUPTION_BUDGETS)
    await stage.noteEvents('judged')
  }),
  scenario('budget: of a stateful set', async (stage) => {
    await stage.create(statefulSet('db', 3))
    await setIsUp(stage, 'db')
    await stage.create(budget('db', { maxUnavailable: '34%' }))
    await budgetHas(stage, 'db', 3)
    await stage.noteAll('counted', POD_DISRUPTION_BUDGETS)
  }),
  scenario('eviction: allowed, refused, allowed again', async (stage) => {
    await stage.create(replicaSet('web', 2))
    await isUp(stage, 'web')
    await stage.create(budget('web', { minAvailable: 2 }))
    await budgetHas(stage, 'web', 2)
    const [first] = await podsIn(stage, 2, 'Running')
    stage.note('refused', await stage.evict(first?.metadata.name ?? ''))
    await stage.patch(POD_DISRUPTION_BUDGETS, 'web', { spec: { minAvailable: 1 } })
    await seen(stage, POD_DISRUPTION_BUDGETS, 'web', ({ status }) => status?.disruptionsAllowed === 1)
    stage.note('allowed', await stage.evict(first?.metadata.name ?? ''))
    await gone(stage, PODS, first?.metadata.name ?? '')
    await budgetHas(stage, 'web', 2)
    await isUp(stage, 'web')
    await stage.noteAll('replaced', POD_DISRUPTION_BUDGETS, REPLICA_SETS, PODS)
  }),
  scenario('eviction: without a budget', async (stage) => {
    await stage.create(pod('free'))
    await podsIn(stage, 1, 'Running')
    stage.note('answer', await stage.evict('free'))
    await gone(stage, PODS, 'free')
    stage.note('again', await stage.evict('free'))
  }),
  scenario('eviction: two budgets for one pod', async (stage) => {
    await stage.create(replicaSet('web', 1))
    await isUp(stage, 'web')
    await stage.create(budget('web', { minAvailable: 0 }))
    await stage.create({ ...budget('other', { minAvailable: 0 }), spec: { minAvailable: 0, selector: { matchLabels: { app: 'web' } } } })
    await budgetHas(stage, 'web', 1)
    await budgetHas(stage, 'other', 1)
    const [first] = await podsIn(stage, 1, 'Running')
    stage.note('answer', await stage.evict(first?.metadata.name ?? ''))
  }),
  scenario('eviction: of a pod that is not ready', async (stage) => {
    await stage.create(replicaSet('web', 2))
    await isUp(stage, 'web')
    await stage.create(budget('web', { minAvailable: 2 }))
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.setReady(first ?? pod(''), false)
    await budgetHas(stage, 'web', 1)
    stage.note('by default', await stage.evict(first?.metadata.name ?? ''))
    await stage.patch(POD_DISRUPTION_BUDGETS, 'web', { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } })
    await seen(stage, POD_DISRUPTION_BUDGETS, 'web')
    stage.note('always', await stage.evict(first?.metadata.name ?? ''))
  }),
  scenario(
    'taint: NoExecute ends pods that do not tolerate it',
    async (stage) => {
      await withTaint(stage, async (pinned, taint) => {
        await stage.create(pod('touchy', {}, pinned))
        await stage.create(pod('calm', {}, { ...pinned, ...tolerating() }))
        await podsIn(stage, 2, 'Running')
        await taint()
        await gone(stage, PODS, 'touchy')
        await stage.noteAll('left', PODS)
        await stage.noteEvents('left')
      })
    },
    ALONE,
  ),
  scenario(
    'taint: NoExecute with tolerationSeconds',
    async (stage) => {
      await withTaint(stage, async (pinned, taint) => {
        await stage.create(pod('patient', {}, { ...pinned, ...tolerating(4) }))
        await podsIn(stage, 1, 'Running')
        await taint()
        await stage.noteAll('waiting', PODS)
        await gone(stage, PODS, 'patient')
        await stage.noteEvents('gone')
      })
    },
    ALONE,
  ),
  scenario(
    'taint: taken away in time',
    async (stage) => {
      await withTaint(stage, async (pinned, taint) => {
        await stage.create(pod('patient', {}, { ...pinned, ...tolerating(6) }))
        await podsIn(stage, 1, 'Running')
        await taint()
        await stage.pass(2)
      })
      await stage.pass(7)
      await stage.noteAll('stays', PODS)
      await stage.noteEvents('stays')
    },
    ALONE,
  ),
  scenario('budget: an empty selector is for all pods', async (stage) => {
    await stage.create(replicaSet('web', 2))
    await stage.create(replicaSet('api', 2))
    await isUp(stage, 'web')
    await isUp(stage, 'api')
    await stage.create({ ...budget('all', {}), spec: { maxUnavailable: '50%', selector: {} } })
    await budgetHas(stage, 'all', 4)
    await stage.noteAll('counted', POD_DISRUPTION_BUDGETS)
  }),
  scenario('budget: follows the size of a deployment', async (stage) => {
    await stage.create(deployment('web', 4))
    await rolledOut(stage, 'web')
    await stage.create(budget('web', { maxUnavailable: '25%' }))
    await budgetHas(stage, 'web', 4)
    await stage.noteAll('four', POD_DISRUPTION_BUDGETS)
    await stage.patch(DEPLOYMENTS, 'web', { spec: { replicas: 8 } })
    await rolledOut(stage, 'web')
    await budgetHas(stage, 'web', 8)
    await stage.noteAll('eight', POD_DISRUPTION_BUDGETS)
  }),
]
