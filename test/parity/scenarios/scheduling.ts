/** The scheduler: where pods go, and what is reported when they fit nowhere. */
import { NODES, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { PriorityClass } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { asking, claim, NOWHERE, pod, replicaSet, template } from './objects.ts'
import { podsIn } from './waits.ts'

const ALONE = { alone: true }
const HOSTNAME = 'kubernetes.io/hostname'

const refused = (testbed: Testbed, name: string, reason = 'Unschedulable') =>
  testbed.until(`${name} is refused`, async () =>
    ((await testbed.get(PODS, name))?.status?.conditions ?? []).some(
      (condition) => condition.type === 'PodScheduled' && condition.reason === reason,
    ),
  )

/** One pod that fits nowhere. */
const misfit = (name: string, spec: Record<string, unknown>): Scenario =>
  scenario(`scheduler: ${name}`, async (testbed) => {
    await testbed.create(pod('wish', { app: 'wish' }, spec))
    await refused(testbed, 'wish')
    await testbed.noteAll('pending', PODS)
    await testbed.noteEvents('pending')
  })

const nodesOf = async (testbed: Testbed): Promise<string[]> => (await testbed.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()

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
async function fill(testbed: Testbed): Promise<void> {
  const antiAffinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: podTerm('filler') } }
  await testbed.create(replicaSet('filler', 2, { template: template('filler', 'app:1', { ...asking('7'), affinity: antiAffinity }) }))
  await podsIn(testbed, 2, 'Running', 'app=filler')
}

const perNode = async (testbed: Testbed, selector: string): Promise<number[]> => {
  const counts = new Map<string, number>()
  for (const { spec } of await testbed.list(PODS, selector)) counts.set(spec?.nodeName ?? '', (counts.get(spec?.nodeName ?? '') ?? 0) + 1)
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
  scenario('scheduler: a claim that is not bound', async (testbed) => {
    await testbed.create(claim('data', '1Gi', { storageClassName: '' }))
    await testbed.create(pod('wish', {}, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }))
    await refused(testbed, 'wish')
    await testbed.noteAll('pending', PODS)
  }),
  scenario('scheduler: a claim that is being deleted', async (testbed) => {
    await testbed.create({
      ...claim('data', '1Gi', { storageClassName: '' }),
      metadata: { name: 'data', finalizers: ['parity.test/hold'] },
    })
    await testbed.delete(PERSISTENT_VOLUME_CLAIMS, 'data')
    await testbed.create(pod('wish', {}, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }))
    await refused(testbed, 'wish')
    await testbed.noteAll('pending', PODS)
    await testbed.patch(PERSISTENT_VOLUME_CLAIMS, 'data', { metadata: { finalizers: null } })
  }),
  scenario('scheduler: anti-affinity, one on each node and one too many', async (testbed) => {
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: podTerm('web') } } }
    await testbed.create(replicaSet('web', 3, { template: template('web', 'app:1', spec) }))
    await podsIn(testbed, 2, 'Running')
    const [left] = await podsIn(testbed, 1, 'Pending')
    await refused(testbed, left?.metadata.name ?? '')
    testbed.note('per node', (await perNode(testbed, 'app=web')).length)
    await testbed.noteAll('one too many', PODS)
    await testbed.noteEvents('one too many')
  }),
  scenario('scheduler: pod affinity brings pods together', async (testbed) => {
    await testbed.create(pod('first', { app: 'first' }))
    await podsIn(testbed, 1, 'Running')
    for (const name of ['second', 'third'])
      await testbed.create(
        pod(name, {}, { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: podTerm('first') } } }),
      )
    const pods = await podsIn(testbed, 3, 'Running')
    testbed.note('nodes', new Set(pods.map(({ spec }) => spec?.nodeName)).size)
    await testbed.noteAll('batch', PODS)
  }),
  scenario('scheduler: spread evenly', async (testbed) => {
    await testbed.create(replicaSet('web', 4, { template: template('web', 'app:1', spread('web')) }))
    await podsIn(testbed, 4, 'Running')
    testbed.note('per node', await perNode(testbed, 'app=web'))
    await testbed.noteAll('spread', PODS)
  }),
  scenario('scheduler: spreading refuses what would be uneven', async (testbed) => {
    const [first = ''] = await nodesOf(testbed)
    const pinned = { nodeSelector: { [HOSTNAME]: first } }
    await testbed.create(pod('one', { app: 'web' }, pinned))
    await podsIn(testbed, 1, 'Running')
    // Its own selector keeps it here, and only nodes it may go to count: so the skew must be seen over all.
    const constraint = { ...spread('web').topologySpreadConstraints[0], nodeAffinityPolicy: 'Ignore' }
    await testbed.create(pod('two', { app: 'web' }, { ...pinned, topologySpreadConstraints: [constraint] }))
    await refused(testbed, 'two')
    await testbed.noteAll('refused', PODS)
    await testbed.noteEvents('refused')
  }),
  scenario('scheduler: gates hold a pod back', async (testbed) => {
    await testbed.create(pod('gated', {}, { schedulingGates: [{ name: 'parity.test/a' }, { name: 'parity.test/b' }] }))
    await refused(testbed, 'gated', 'SchedulingGated')
    await testbed.noteAll('gated', PODS)
    await testbed.noteEvents('gated')
    await testbed.update(PODS, 'gated', ({ spec }) => {
      if (spec !== undefined) spec.schedulingGates = []
    })
    await podsIn(testbed, 1, 'Running')
    await testbed.noteAll('free', PODS)
    await testbed.noteEvents('free')
  }),
  scenario('scheduler: a host port is taken once per node', async (testbed) => {
    const spec = { containers: [{ name: 'main', image: 'app:1', ports: [{ containerPort: 80, hostPort: 8765 }] }] }
    await testbed.create(replicaSet('web', 3, { template: template('web', 'app:1', spec) }))
    await podsIn(testbed, 2, 'Running')
    const [left] = await podsIn(testbed, 1, 'Pending')
    await refused(testbed, left?.metadata.name ?? '')
    await testbed.noteAll('one too many', PODS)
    await testbed.noteEvents('one too many')
  }),
  scenario(
    'scheduler: taints that are not tolerated',
    async (testbed) => {
      const names = await nodesOf(testbed)
      const set = async (taints: { key: string; value?: string; effect: 'NoSchedule' }[]) => {
        for (const name of names)
          await testbed.update(NODES, name, (node) => {
            node.spec = { ...node.spec, taints: [...(node.spec?.taints ?? []).filter(({ key }) => key !== 'parity.test/t'), ...taints] }
          })
      }
      await set([{ key: 'parity.test/t', value: 'v', effect: 'NoSchedule' }])
      try {
        await testbed.create(pod('wish'))
        await refused(testbed, 'wish')
        await testbed.noteAll('refused', PODS)
        await testbed.noteEvents('refused')
      } finally {
        await set([])
      }
      await podsIn(testbed, 1, 'Running')
      await testbed.noteAll('free', PODS)
    },
    ALONE,
  ),
  scenario(
    'scheduler: unschedulable nodes',
    async (testbed) => {
      const names = await nodesOf(testbed)
      for (const name of names) await testbed.patch(NODES, name, { spec: { unschedulable: true } })
      try {
        await testbed.create(pod('wish'))
        await refused(testbed, 'wish')
        await testbed.noteAll('refused', PODS)
        await testbed.noteEvents('refused')
      } finally {
        for (const name of names) await testbed.patch(NODES, name, { spec: { unschedulable: null } })
      }
      await podsIn(testbed, 1, 'Running')
      await testbed.noteAll('free', PODS)
    },
    ALONE,
  ),
  scenario(
    'scheduler: a label makes a node fit',
    async (testbed) => {
      await testbed.create(pod('wish', {}, { nodeSelector: { 'parity.test/late': 'yes' } }))
      await refused(testbed, 'wish')
      const [first = ''] = await nodesOf(testbed)
      await testbed.patch(NODES, first, { metadata: { labels: { 'parity.test/late': 'yes' } } })
      await podsIn(testbed, 1, 'Running')
      await testbed.patch(NODES, first, { metadata: { labels: { 'parity.test/late': null } } })
      await testbed.noteAll('fits', PODS)
    },
    ALONE,
  ),
  scenario(
    'scheduler: a pod with priority takes the place of one without',
    async (testbed) => {
      await testbed.create(priority(`${testbed.namespace}-high`, 1000))
      await fill(testbed)
      await testbed.create(pod('important', {}, { ...asking('6'), priorityClassName: `${testbed.namespace}-high` }))
      await testbed.until('it runs', async () => (await testbed.get(PODS, 'important'))?.status?.phase === 'Running')
      await podsIn(testbed, 1, 'Pending', 'app=filler')
      await testbed.noteAll('preempted', PODS)
      await testbed.noteEvents('preempted')
    },
    ALONE,
  ),
  scenario(
    'scheduler: priority that does not preempt',
    async (testbed) => {
      await testbed.create(priority(`${testbed.namespace}-polite`, 1000, 'Never'))
      await fill(testbed)
      await testbed.create(pod('polite', {}, { ...asking('6'), priorityClassName: `${testbed.namespace}-polite` }))
      await refused(testbed, 'polite')
      await testbed.noteAll('waits', PODS)
      await testbed.noteEvents('waits')
    },
    ALONE,
  ),
  scenario(
    'scheduler: room that becomes free is used',
    async (testbed) => {
      await fill(testbed)
      await testbed.create(pod('waiting', {}, asking('4')))
      await refused(testbed, 'waiting')
      await testbed.noteAll('waits', PODS)
      await testbed.patch({ group: 'apps', version: 'v1', plural: 'replicasets', kind: 'ReplicaSet', namespaced: true }, 'filler', {
        spec: { replicas: 1 },
      })
      await testbed.until('it runs', async () => (await testbed.get(PODS, 'waiting'))?.status?.phase === 'Running')
      await testbed.noteAll('runs', PODS)
    },
    ALONE,
  ),
  scenario('scheduler: another scheduler is asked', async (testbed) => {
    await testbed.create(pod('elsewhere', {}, { schedulerName: 'parity.test' }))
    await testbed.noteAll('waits', PODS)
    await testbed.noteEvents('waits')
  }),
  scenario('scheduler: a pod that names its node', async (testbed) => {
    const [first] = await nodesOf(testbed)
    await testbed.create(pod('pinned', {}, { nodeName: first }))
    await podsIn(testbed, 1, 'Running')
    await testbed.noteAll('runs', PODS)
    await testbed.noteEvents('runs')
  }),
]
