/** DaemonSets: one pod on each node that fits, while nodes change, and updates. */
import { CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Node } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { asking, daemonSet, node, pod, stuck, template } from './objects.ts'
import { daemonsAreUp, gone, podsIn, seen, setImage } from './waits.ts'

const ALL = [DAEMON_SETS, PODS, CONTROLLER_REVISIONS] as const

async function up(testbed: Testbed, spec: Record<string, unknown> = {}): Promise<void> {
  await testbed.create(daemonSet('agent', spec))
  await daemonsAreUp(testbed, 'agent')
  await seen(testbed, DAEMON_SETS, 'agent', ({ status }) => status?.desiredNumberScheduled === 2)
}

const firstNode = async (testbed: Testbed): Promise<string> =>
  (await testbed.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()[0] ?? ''

const desired = (testbed: Testbed, count: number) =>
  seen(testbed, DAEMON_SETS, 'agent', ({ status }) => status?.desiredNumberScheduled === count && (status.numberAvailable ?? 0) === count)

/** Changes a node, and restores it whatever happens. */
async function withTaint(testbed: Testbed, effect: 'NoSchedule' | 'NoExecute', work: () => Promise<void>): Promise<void> {
  const name = await firstNode(testbed)
  const isOurs = ({ key }: { key?: string }): boolean => key === 'parity.test/taint'
  const without = (node: Node): Node['spec'] => ({ ...node.spec, taints: node.spec?.taints?.filter((taint) => !isOurs(taint)) })
  await testbed.update(NODES, name, (node) => {
    node.spec = { ...without(node), taints: [...(without(node)?.taints ?? []), { key: 'parity.test/taint', effect }] }
  })
  try {
    await work()
  } finally {
    await testbed.update(NODES, name, (node) => {
      node.spec = without(node)
    })
  }
}

const ALONE = { alone: true }

export const DAEMON_SET_SCENARIOS: readonly Scenario[] = [
  scenario('daemon set: one pod on every node', async (testbed) => {
    await up(testbed)
    const nodes = new Set((await testbed.list(PODS)).map(({ spec }) => spec?.nodeName))
    testbed.note('nodes', nodes.size)
    await testbed.noteAll('up', ...ALL)
    await testbed.noteEvents('up')
  }),
  scenario(
    'daemon set: follows the labels of nodes',
    async (testbed) => {
      await testbed.create(daemonSet('agent', { template: template('agent', 'app:1', { nodeSelector: { 'parity.test/agent': 'yes' } }) }))
      await seen(testbed, DAEMON_SETS, 'agent')
      await testbed.noteAll('nowhere', ...ALL)
      const name = await firstNode(testbed)
      await testbed.patch(NODES, name, { metadata: { labels: { 'parity.test/agent': 'yes' } } })
      await desired(testbed, 1)
      await testbed.noteAll('somewhere', ...ALL)
      await testbed.patch(NODES, name, { metadata: { labels: { 'parity.test/agent': null } } })
      await testbed.until('gone', async () => (await testbed.list(PODS)).length === 0)
      await testbed.noteAll('nowhere again', ...ALL)
      await testbed.noteEvents('nowhere again')
    },
    ALONE,
  ),
  scenario(
    'daemon set: a NoSchedule taint leaves its pods alone',
    async (testbed) => {
      await up(testbed)
      await withTaint(testbed, 'NoSchedule', async () => {
        // Kubernetes' controller does not notice on its own: see docs/compatibility.md.
        await testbed.patch(DAEMON_SETS, 'agent', { metadata: { annotations: { 'parity.test/look': 'again' } } })
        await seen(testbed, DAEMON_SETS, 'agent', ({ status }) => status?.desiredNumberScheduled === 1)
        await testbed.noteAll('tainted', ...ALL)
      })
      await desired(testbed, 2)
      await testbed.noteAll('free', ...ALL)
    },
    ALONE,
  ),
  scenario(
    'daemon set: a NoExecute taint ends its pods',
    async (testbed) => {
      await up(testbed)
      await withTaint(testbed, 'NoExecute', async () => {
        await testbed.until('one pod', async () => (await testbed.list(PODS)).length === 1)
        await desired(testbed, 1)
        await testbed.noteAll('tainted', ...ALL)
      })
      await desired(testbed, 2)
      await testbed.noteAll('free', ...ALL)
    },
    ALONE,
  ),
  scenario(
    'daemon set: tolerates a taint',
    async (testbed) => {
      await withTaint(testbed, 'NoSchedule', async () => {
        await up(testbed, { template: template('agent', 'app:1', { tolerations: [{ key: 'parity.test/taint', operator: 'Exists' }] }) })
        await testbed.noteAll('up', ...ALL)
      })
    },
    ALONE,
  ),
  scenario(
    'daemon set: runs on a node that is unschedulable',
    async (testbed) => {
      const name = await firstNode(testbed)
      await testbed.patch(NODES, name, { spec: { unschedulable: true } })
      try {
        await up(testbed)
        await testbed.noteAll('up', ...ALL)
      } finally {
        await testbed.patch(NODES, name, { spec: { unschedulable: null } })
      }
    },
    ALONE,
  ),
  scenario(
    'daemon set: nodes come and go',
    async (testbed) => {
      await up(testbed)
      await testbed.create(node('node-9'))
      await desired(testbed, 3)
      await testbed.noteAll('three', ...ALL)
      await testbed.delete(NODES, 'node-9')
      // Kubernetes checks every twenty seconds, and waits forty before it acts.
      await testbed.pass(45)
      await testbed.until('its pod is gone', async () => (await testbed.list(PODS)).length === 2)
      await desired(testbed, 2)
      await testbed.noteAll('two', ...ALL)
    },
    { ...ALONE, slow: true },
  ),
  scenario('daemon set: a deleted pod comes back', async (testbed) => {
    await up(testbed)
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
    await testbed.until('another', async () =>
      (await podsIn(testbed, 2, 'Running')).every(({ metadata }) => metadata.uid !== first?.metadata.uid),
    )
    await desired(testbed, 2)
    await testbed.noteAll('back', ...ALL)
  }),
  scenario('daemon set: a failed pod is replaced', async (testbed) => {
    await up(testbed)
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.finish(first ?? pod(''), 1)
    await testbed.until('another', async () =>
      (await podsIn(testbed, 2, 'Running')).every(({ metadata }) => metadata.uid !== first?.metadata.uid),
    )
    await desired(testbed, 2)
    await testbed.noteAll('replaced', ...ALL)
  }),
  scenario('daemon set: too large for any node', async (testbed) => {
    await testbed.create(daemonSet('agent', { template: template('agent', 'app:1', asking('9')) }))
    await podsIn(testbed, 2, 'Pending')
    await testbed.until('refused twice', async () =>
      (await testbed.list(PODS)).every(({ status }) => status?.conditions?.[0]?.reason === 'Unschedulable'),
    )
    await testbed.noteAll('pending', ...ALL)
  }),
  scenario('daemon set: rolls to a new image', async (testbed) => {
    await up(testbed)
    await testbed.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
    await daemonsAreUp(testbed, 'agent')
    await testbed.noteAll('rolled', ...ALL)
  }),
  scenario('daemon set: an update that does not run stops at maxUnavailable', async (testbed) => {
    await up(testbed)
    await testbed.update(DAEMON_SETS, 'agent', ({ spec }) => {
      if (spec !== undefined) spec.template = template('agent', 'app:2', asking('9'))
    })
    await podsIn(testbed, 1, 'Pending')
    await seen(testbed, DAEMON_SETS, 'agent', ({ status }) => status?.updatedNumberScheduled === 1)
    await testbed.noteAll('stopped', ...ALL)
  }),
  scenario('daemon set: with maxSurge the new pod comes first', async (testbed) => {
    await up(testbed, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
    await testbed.update(DAEMON_SETS, 'agent', ({ spec }) => {
      if (spec !== undefined) spec.template = template('agent', 'app:2', asking('9'))
    })
    await podsIn(testbed, 1, 'Pending')
    await seen(testbed, DAEMON_SETS, 'agent')
    await testbed.noteAll('surge', ...ALL)
    await testbed.update(DAEMON_SETS, 'agent', ({ spec }) => {
      if (spec !== undefined) spec.template = template('agent', 'app:3')
    })
    await daemonsAreUp(testbed, 'agent')
    await podsIn(testbed, 2, 'Running')
    await testbed.noteAll('rolled', ...ALL)
  }),
  scenario('daemon set: OnDelete updates what is deleted', async (testbed) => {
    await up(testbed, { updateStrategy: { type: 'OnDelete' } })
    await testbed.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
    await seen(testbed, DAEMON_SETS, 'agent', ({ status }) => (status?.updatedNumberScheduled ?? 0) === 0)
    await testbed.noteAll('waits', ...ALL)
    const [first] = await podsIn(testbed, 2, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
    await seen(testbed, DAEMON_SETS, 'agent', ({ status }) => status?.updatedNumberScheduled === 1 && status.numberAvailable === 2)
    await testbed.noteAll('one', ...ALL)
  }),
  scenario('daemon set: rolled back has its old revision again', async (testbed) => {
    await up(testbed)
    await testbed.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
    await daemonsAreUp(testbed, 'agent')
    await testbed.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:1'))
    await daemonsAreUp(testbed, 'agent')
    await testbed.noteAll('back', ...ALL)
  }),
  scenario('daemon set: waits minReadySeconds', async (testbed) => {
    await testbed.create(daemonSet('agent', { minReadySeconds: 8 }))
    await seen(testbed, DAEMON_SETS, 'agent', ({ status }) => status?.numberReady === 2)
    await testbed.noteAll('ready', ...ALL)
    await daemonsAreUp(testbed, 'agent')
    await testbed.noteAll('available', ...ALL)
  }),
  scenario('daemon set: fits no node', async (testbed) => {
    await testbed.create(daemonSet('agent', { template: stuck('agent') }))
    await seen(testbed, DAEMON_SETS, 'agent')
    await testbed.noteAll('nowhere', ...ALL)
    await testbed.noteEvents('nowhere')
  }),
  scenario('daemon set: deleted, its pods orphaned and adopted again', async (testbed) => {
    await up(testbed)
    await testbed.delete(DAEMON_SETS, 'agent', { propagationPolicy: 'Orphan' })
    await gone(testbed, DAEMON_SETS, 'agent')
    await testbed.noteAll('orphans', ...ALL)
    await up(testbed)
    await testbed.noteAll('adopted', ...ALL)
  }),
]
