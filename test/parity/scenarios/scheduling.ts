/** The scheduler: where pods go, and what is said when they go nowhere. */
import { NODES, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { PriorityClass } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { asking, claim, NOWHERE, pod, replicaSet, template } from './objects.ts'
import { podsIn } from './waits.ts'

const ALONE = { alone: true }
const HOSTNAME = 'kubernetes.io/hostname'

const refused = (stage: Stage, name: string, reason = 'Unschedulable') =>
  stage.until(`${name} is refused`, async () =>
    ((await stage.get(PODS, name))?.status?.conditions ?? []).some(
      (condition) => condition.type === 'PodScheduled' && condition.reason === reason,
    ),
  )

/** One pod that fits nowhere. */
const misfit = (name: string, spec: Record<string, unknown>): Scenario =>
  scenario(`scheduler: ${name}`, async (stage) => {
    await stage.create(pod('wish', { app: 'wish' }, spec))
    await refused(stage, 'wish')
    await stage.noteAll('pending', PODS)
    await stage.noteEvents('pending')
  })

const nodesOf = async (stage: Stage): Promise<string[]> => (await stage.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()

const nodeTerm = (key: string, operator: string, values?: string[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }] },
    },
  },
})
const podTerm = (app: string) => [{ labelSelector: { matchLabels: { app } }, topologyKey: HOSTNAME }]
const spread = (app: string) => ({
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: HOSTNAME, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app } } },
  ],
})

const priority = (name: string, value: number, preemptionPolicy?: string): PriorityClass => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  preemptionPolicy,
})

/** Both nodes are full of these. */
async function fill(stage: Stage): Promise<void> {
  const antiAffinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: podTerm('filler') } }
  await stage.create(replicaSet('filler', 2, { template: template('filler', 'app:1', { ...asking('7'), affinity: antiAffinity }) }))
  await podsIn(stage, 2, 'Running', 'app=filler')
}

const perNode = async (stage: Stage, selector: string): Promise<number[]> => {
  const counts = new Map<string, number>()
  for (const { spec } of await stage.list(PODS, selector)) counts.set(spec?.nodeName ?? '', (counts.get(spec?.nodeName ?? '') ?? 0) + 1)
  return [...counts.values()].sort()
}

export const SCHEDULING_SCENARIOS: readonly Scenario[] = [
  misfit('no node has the labels', NOWHERE),
  misfit('no node has enough cpu', asking('9')),
  misfit('no node has enough of anything', asking('9', '99Gi')),
  misfit('an unknown resource', { containers: [{ name: 'main', image: 'app:1', resources: { limits: { 'parity.test/gpu': '1' } } }] }),
  misfit('node affinity fits nowhere', nodeTerm('parity.test/none', 'Exists')),
  misfit('pod affinity to nobody', { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: podTerm('nobody') } } }),
  misfit('a claim that does not exist', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'absent' } }] }),
  scenario('scheduler: a claim that is not bound', async (stage) => {
    await stage.create(claim('data', '1Gi', { storageClassName: '' }))
    await stage.create(pod('wish', {}, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }))
    await refused(stage, 'wish')
    await stage.noteAll('pending', PODS)
  }),
  scenario('scheduler: a claim that is being deleted', async (stage) => {
    await stage.create({ ...claim('data', '1Gi', { storageClassName: '' }), metadata: { name: 'data', finalizers: ['parity.test/hold'] } })
    await stage.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await stage.create(pod('wish', {}, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }))
    await refused(stage, 'wish')
    await stage.noteAll('pending', PODS)
    await stage.patch(PERSISTENT_VOLUME_CLAIMS, 'data', { metadata: { finalizers: null } })
  }),
  scenario('scheduler: anti-affinity, one on each node and one too many', async (stage) => {
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: podTerm('web') } } }
    await stage.create(replicaSet('web', 3, { template: template('web', 'app:1', spec) }))
    await podsIn(stage, 2, 'Running')
    const [left] = await podsIn(stage, 1, 'Pending')
    await refused(stage, left?.metadata.name ?? '')
    stage.note('per node', (await perNode(stage, 'app=web')).length)
    await stage.noteAll('one too many', PODS)
    await stage.noteEvents('one too many')
  }),
  scenario('scheduler: pod affinity brings pods together', async (stage) => {
    await stage.create(pod('first', { app: 'first' }))
    await podsIn(stage, 1, 'Running')
    for (const name of ['second', 'third'])
      await stage.create(pod(name, {}, { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: podTerm('first') } } }))
    const pods = await podsIn(stage, 3, 'Running')
    stage.note('nodes', new Set(pods.map(({ spec }) => spec?.nodeName)).size)
    await stage.noteAll('batch', PODS)
  }),
  scenario('scheduler: spread evenly', async (stage) => {
    await stage.create(replicaSet('web', 4, { template: template('web', 'app:1', spread('web')) }))
    await podsIn(stage, 4, 'Running')
    stage.note('per node', await perNode(stage, 'app=web'))
    await stage.noteAll('spread', PODS)
  }),
  scenario('scheduler: spreading refuses what would be uneven', async (stage) => {
    const [first = ''] = await nodesOf(stage)
    const pinned = { nodeSelector: { [HOSTNAME]: first } }
    await stage.create(pod('one', { app: 'web' }, pinned))
    await podsIn(stage, 1, 'Running')
    // Its own selector keeps it here, and only nodes it may go to count: so the skew must be seen over all.
    const constraint = { ...spread('web').topologySpreadConstraints[0], nodeAffinityPolicy: 'Ignore' }
    await stage.create(pod('two', { app: 'web' }, { ...pinned, topologySpreadConstraints: [constraint] }))
    await refused(stage, 'two')
    await stage.noteAll('refused', PODS)
    await stage.noteEvents('refused')
  }),
  scenario('scheduler: gates hold a pod back', async (stage) => {
    await stage.create(pod('gated', {}, { schedulingGates: [{ name: 'parity.test/a' }, { name: 'parity.test/b' }] }))
    await refused(stage, 'gated', 'SchedulingGated')
    await stage.noteAll('gated', PODS)
    await stage.noteEvents('gated')
    await stage.update(PODS, 'gated', ({ spec }) => {
      if (spec !== undefined) spec.schedulingGates = []
    })
    await podsIn(stage, 1, 'Running')
    await stage.noteAll('free', PODS)
    await stage.noteEvents('free')
  }),
  scenario('scheduler: a host port is taken once per node', async (stage) => {
    const spec = { containers: [{ name: 'main', image: 'app:1', ports: [{ containerPort: 80, hostPort: 8765 }] }] }
    await stage.create(replicaSet('web', 3, { template: template('web', 'app:1', spec) }))
    await podsIn(stage, 2, 'Running')
    const [left] = await podsIn(stage, 1, 'Pending')
    await refused(stage, left?.metadata.name ?? '')
    await stage.noteAll('one too many', PODS)
    await stage.noteEvents('one too many')
  }),
  scenario(
    'scheduler: taints that are not tolerated',
    async (stage) => {
      const names = await nodesOf(stage)
      const set = async (taints: { key: string; value?: string; effect: 'NoSchedule' }[]) => {
        for (const name of names)
          await stage.update(NODES, name, (node) => {
            node.spec = { ...node.spec, taints: [...(node.spec?.taints ?? []).filter(({ key }) => key !== 'parity.test/t'), ...taints] }
          })
      }
      await set([{ key: 'parity.test/t', value: 'v', effect: 'NoSchedule' }])
      try {
        await stage.create(pod('wish'))
        await refused(stage, 'wish')
        await stage.noteAll('refused', PODS)
        await stage.noteEvents('refused')
      } finally {
        await set([])
      }
      await podsIn(stage, 1, 'Running')
      await stage.noteAll('free', PODS)
    },
    ALONE,
  ),
  scenario(
    'scheduler: unschedulable nodes',
    async (stage) => {
      const names = await nodesOf(stage)
      for (const name of names) await stage.patch(NODES, name, { spec: { unschedulable: true } })
      try {
        await stage.create(pod('wish'))
        await refused(stage, 'wish')
        await stage.noteAll('refused', PODS)
        await stage.noteEvents('refused')
      } finally {
        for (const name of names) await stage.patch(NODES, name, { spec: { unschedulable: null } })
      }
      await podsIn(stage, 1, 'Running')
      await stage.noteAll('free', PODS)
    },
    ALONE,
  ),
  scenario(
    'scheduler: a label makes a node fit',
    async (stage) => {
      await stage.create(pod('wish', {}, { nodeSelector: { 'parity.test/late': 'yes' } }))
      await refused(stage, 'wish')
      const [first = ''] = await nodesOf(stage)
      await stage.patch(NODES, first, { metadata: { labels: { 'parity.test/late': 'yes' } } })
      await podsIn(stage, 1, 'Running')
      await stage.patch(NODES, first, { metadata: { labels: { 'parity.test/late': null } } })
      await stage.noteAll('fits', PODS)
    },
    ALONE,
  ),
  scenario(
    'scheduler: a pod with priority takes the place of one without',
    async (stage) => {
      await stage.create(priority(`${stage.namespace}-high`, 1000))
      await fill(stage)
      await stage.create(pod('important', {}, { ...asking('6'), priorityClassName: `${stage.namespace}-high` }))
      await stage.until('it runs', async () => (await stage.get(PODS, 'important'))?.status?.phase === 'Running')
      await podsIn(stage, 1, 'Pending', 'app=filler')
      await stage.noteAll('preempted', PODS)
      await stage.noteEvents('preempted')
    },
    ALONE,
  ),
  scenario(
    'scheduler: priority that does not preempt',
    async (stage) => {
      await stage.create(priority(`${stage.namespace}-polite`, 1000, 'Never'))
      await fill(stage)
      await stage.create(pod('polite', {}, { ...asking('6'), priorityClassName: `${stage.namespace}-polite` }))
      await refused(stage, 'polite')
      await stage.noteAll('waits', PODS)
      await stage.noteEvents('waits')
    },
    ALONE,
  ),
  scenario(
    'scheduler: room that becomes free is used',
    async (stage) => {
      await fill(stage)
      await stage.create(pod('waiting', {}, asking('4')))
      await refused(stage, 'waiting')
      await stage.noteAll('waits', PODS)
      await stage.patch({ group: 'apps', version: 'v1', plural: 'replicasets', kind: 'ReplicaSet', namespaced: true }, 'filler', {
        spec: { replicas: 1 },
      })
      await stage.until('it runs', async () => (await stage.get(PODS, 'waiting'))?.status?.phase === 'Running')
      await stage.noteAll('runs', PODS)
    },
    ALONE,
  ),
  scenario('scheduler: another scheduler is asked', async (stage) => {
    await stage.create(pod('elsewhere', {}, { schedulerName: 'parity.test' }))
    await stage.noteAll('waits', PODS)
    await stage.noteEvents('waits')
  }),
  scenario('scheduler: a pod that names its node', async (stage) => {
    const [first] = await nodesOf(stage)
    await stage.create(pod('pinned', {}, { nodeName: first }))
    await podsIn(stage, 1, 'Running')
    await stage.noteAll('runs', PODS)
    await stage.noteEvents('runs')
  }),
]
