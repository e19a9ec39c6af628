/** DaemonSets: one pod on each node that fits, while nodes change, and updates. */
import { CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Node } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { asking, daemonSet, node, pod, stuck, template } from './objects.ts'
import { daemonsAreUp, gone, podsIn, seen, setImage } from './waits.ts'

const ALL = [DAEMON_SETS, PODS, CONTROLLER_REVISIONS] as const

async function up(stage: Stage, spec: Record<string, unknown> = {}): Promise<void> {
  await stage.create(daemonSet('agent', spec))
  await daemonsAreUp(stage, 'agent')
  await seen(stage, DAEMON_SETS, 'agent', ({ status }) => status?.desiredNumberScheduled === 2)
}

const firstNode = async (stage: Stage): Promise<string> =>
  (await stage.list(NODES)).map(({ metadata }) => metadata.name ?? '').sort()[0] ?? ''

const desired = (stage: Stage, count: number) =>
  seen(stage, DAEMON_SETS, 'agent', ({ status }) => status?.desiredNumberScheduled === count && (status.numberAvailable ?? 0) === count)

/** Changes a node, and back again whatever happens. */
async function withTaint(stage: Stage, effect: 'NoSchedule' | 'NoExecute', work: () => Promise<void>): Promise<void> {
  const name = await firstNode(stage)
  const isOurs = ({ key }: { key?: string }): boolean => key === 'parity.test/taint'
  const without = (node: Node): Node['spec'] => ({ ...node.spec, taints: node.spec?.taints?.filter((taint) => !isOurs(taint)) })
  await stage.update(NODES, name, (node) => {
    node.spec = { ...without(node), taints: [...(without(node)?.taints ?? []), { key: 'parity.test/taint', effect }] }
  })
  try {
    await work()
  } finally {
    await stage.update(NODES, name, (node) => {
      node.spec = without(node)
    })
  }
}

const ALONE = { alone: true }

export const DAEMON_SET_SCENARIOS: readonly Scenario[] = [
  scenario('daemon set: one pod on every node', async (stage) => {
    await up(stage)
    const nodes = new Set((await stage.list(PODS)).map(({ spec }) => spec?.nodeName))
    stage.note('nodes', nodes.size)
    await stage.noteAll('up', ...ALL)
    await stage.noteEvents('up')
  }),
  scenario(
    'daemon set: follows the labels of nodes',
    async (stage) => {
      await stage.create(daemonSet('agent', { template: template('agent', 'app:1', { nodeSelector: { 'parity.test/agent': 'yes' } }) }))
      await seen(stage, DAEMON_SETS, 'agent')
      await stage.noteAll('nowhere', ...ALL)
      const name = await firstNode(stage)
      await stage.patch(NODES, name, { metadata: { labels: { 'parity.test/agent': 'yes' } } })
      await desired(stage, 1)
      await stage.noteAll('somewhere', ...ALL)
      await stage.patch(NODES, name, { metadata: { labels: { 'parity.test/agent': null } } })
      await stage.until('gone', async () => (await stage.list(PODS)).length === 0)
      await stage.noteAll('nowhere again', ...ALL)
      await stage.noteEvents('nowhere again')
    },
    ALONE,
  ),
  scenario(
    'daemon set: a NoSchedule taint leaves its pods alone',
    async (stage) => {
      await up(stage)
      await withTaint(stage, 'NoSchedule', async () => {
        // Kubernetes' controller does not look by itself: see docs/compatibility.md.
        await stage.patch(DAEMON_SETS, 'agent', { metadata: { annotations: { 'parity.test/look': 'again' } } })
        await seen(stage, DAEMON_SETS, 'agent', ({ status }) => status?.desiredNumberScheduled === 1)
        await stage.noteAll('tainted', ...ALL)
      })
      await desired(stage, 2)
      await stage.noteAll('free', ...ALL)
    },
    ALONE,
  ),
  scenario(
    'daemon set: a NoExecute taint ends its pods',
    async (stage) => {
      await up(stage)
      await withTaint(stage, 'NoExecute', async () => {
        await stage.until('one pod', async () => (await stage.list(PODS)).length === 1)
        await desired(stage, 1)
        await stage.noteAll('tainted', ...ALL)
      })
      await desired(stage, 2)
      await stage.noteAll('free', ...ALL)
    },
    ALONE,
  ),
  scenario(
    'daemon set: tolerates a taint',
    async (stage) => {
      await withTaint(stage, 'NoSchedule', async () => {
        await up(stage, { template: template('agent', 'app:1', { tolerations: [{ key: 'parity.test/taint', operator: 'Exists' }] }) })
        await stage.noteAll('up', ...ALL)
      })
    },
    ALONE,
  ),
  scenario(
    'daemon set: runs on a node that is unschedulable',
    async (stage) => {
      const name = await firstNode(stage)
      await stage.patch(NODES, name, { spec: { unschedulable: true } })
      try {
        await up(stage)
        await stage.noteAll('up', ...ALL)
      } finally {
        await stage.patch(NODES, name, { spec: { unschedulable: null } })
      }
    },
    ALONE,
  ),
  scenario(
    'daemon set: nodes come and go',
    async (stage) => {
      await up(stage)
      await stage.create(node('node-9'))
      await desired(stage, 3)
      await stage.noteAll('three', ...ALL)
      await stage.delete(NODES, 'node-9')
      // Kubernetes looks every twenty seconds, and waits forty before it believes it.
      await stage.pass(45)
      await stage.until('its pod is gone', async () => (await stage.list(PODS)).length === 2)
      await desired(stage, 2)
      await stage.noteAll('two', ...ALL)
    },
    { ...ALONE, slow: true },
  ),
  scenario('daemon set: a deleted pod comes back', async (stage) => {
    await up(stage)
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
    await stage.until('another', async () =>
      (await podsIn(stage, 2, 'Running')).every(({ metadata }) => metadata.uid !== first?.metadata.uid),
    )
    await desired(stage, 2)
    await stage.noteAll('back', ...ALL)
  }),
  scenario('daemon set: a failed pod is replaced', async (stage) => {
    await up(stage)
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.finish(first ?? pod(''), 1)
    await stage.until('another', async () =>
      (await podsIn(stage, 2, 'Running')).every(({ metadata }) => metadata.uid !== first?.metadata.uid),
    )
    await desired(stage, 2)
    await stage.noteAll('replaced', ...ALL)
  }),
  scenario('daemon set: too large for any node', async (stage) => {
    await stage.create(daemonSet('agent', { template: template('agent', 'app:1', asking('9')) }))
    await podsIn(stage, 2, 'Pending')
    await stage.until('refused twice', async () =>
      (await stage.list(PODS)).every(({ status }) => status?.conditions?.[0]?.reason === 'Unschedulable'),
    )
    await stage.noteAll('pending', ...ALL)
  }),
  scenario('daemon set: rolls to a new image', async (stage) => {
    await up(stage)
    await stage.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
    await daemonsAreUp(stage, 'agent')
    await stage.noteAll('rolled', ...ALL)
  }),
  scenario('daemon set: an update that does not run stops at maxUnavailable', async (stage) => {
    await up(stage)
    await stage.update(DAEMON_SETS, 'agent', ({ spec }) => {
      if (spec !== undefined) spec.template = template('agent', 'app:2', asking('9'))
    })
    await podsIn(stage, 1, 'Pending')
    await seen(stage, DAEMON_SETS, 'agent', ({ status }) => status?.updatedNumberScheduled === 1)
    await stage.noteAll('stopped', ...ALL)
  }),
  scenario('daemon set: with maxSurge the new pod comes first', async (stage) => {
    await up(stage, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
    await stage.update(DAEMON_SETS, 'agent', ({ spec }) => {
      if (spec !== undefined) spec.template = template('agent', 'app:2', asking('9'))
    })
    await podsIn(stage, 1, 'Pending')
    await seen(stage, DAEMON_SETS, 'agent')
    await stage.noteAll('surge', ...ALL)
    await stage.update(DAEMON_SETS, 'agent', ({ spec }) => {
      if (spec !== undefined) spec.template = template('agent', 'app:3')
    })
    await daemonsAreUp(stage, 'agent')
    await podsIn(stage, 2, 'Running')
    await stage.noteAll('rolled', ...ALL)
  }),
  scenario('daemon set: OnDelete updates what is deleted', async (stage) => {
    await up(stage, { updateStrategy: { type: 'OnDelete' } })
    await stage.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
    await seen(stage, DAEMON_SETS, 'agent', ({ status }) => (status?.updatedNumberScheduled ?? 0) === 0)
    await stage.noteAll('waits', ...ALL)
    const [first] = await podsIn(stage, 2, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
    await seen(stage, DAEMON_SETS, 'agent', ({ status }) => status?.updatedNumberScheduled === 1 && status.numberAvailable === 2)
    await stage.noteAll('one', ...ALL)
  }),
  scenario('daemon set: rolled back has its old revision again', async (stage) => {
    await up(stage)
    await stage.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:2'))
    await daemonsAreUp(stage, 'agent')
    await stage.update(DAEMON_SETS, 'agent', (agent) => setImage(agent, 'app:1'))
    await daemonsAreUp(stage, 'agent')
    await stage.noteAll('back', ...ALL)
  }),
  scenario('daemon set: waits minReadySeconds', async (stage) => {
    await stage.create(daemonSet('agent', { minReadySeconds: 8 }))
    await seen(stage, DAEMON_SETS, 'agent', ({ status }) => status?.numberReady === 2)
    await stage.noteAll('ready', ...ALL)
    await daemonsAreUp(stage, 'agent')
    await stage.noteAll('available', ...ALL)
  }),
  scenario('daemon set: fits no node', async (stage) => {
    await stage.create(daemonSet('agent', { template: stuck('agent') }))
    await seen(stage, DAEMON_SETS, 'agent')
    await stage.noteAll('nowhere', ...ALL)
    await stage.noteEvents('nowhere')
  }),
  scenario('daemon set: deleted, its pods orphaned and adopted again', async (stage) => {
    await up(stage)
    await stage.delete(DAEMON_SETS, 'agent', { propagationPolicy: 'Orphan' })
    await gone(stage, DAEMON_SETS, 'agent')
    await stage.noteAll('orphans', ...ALL)
    await up(stage)
    await stage.noteAll('adopted', ...ALL)
  }),
]
