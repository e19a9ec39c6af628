/**
 * Worlds whose members have process nodes over a scripted machine: `aWorld({ members: 1, controllers: processNodes({ … }) })`.
 * Commands and logs of pods there come from the programs (`exec`, `log`); those of other nodes from `member.commands`.
 */

import { runControllers } from '../../composition.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { FakeMachine, type FakeMachineOptions, type Programs } from '../../minicluster/kubelet/fake-machine.ts'
import { createNodeShutdown, type KubeletOptions, type NodeShutdown } from '../../minicluster/kubelet/index.ts'
import { minicluster } from '../../minicluster/module.ts'
import { memberConnections } from '../../minicluster/process/node-connections.ts'
import { NODE_LABEL } from '../../minicluster/shape.ts'
import { configure, optionsIn } from '../../runtime/module/configure.ts'
import type { RunControllers, WorldCluster } from '../world/cluster.ts'

interface Node {
  fake: FakeMachine
  /** How often the controllers were started: only the latest can reach the machine. */
  starts: number
  shutdown: NodeShutdown
}

type More = Partial<KubeletOptions> & Pick<FakeMachineOptions, 'namespacesRefusal' | 'memoryRefusal'> & { nodes?: number }

const THING = 'machine'

export function processNodes(programs: Programs, { nodes = 1, namespacesRefusal, memoryRefusal, ...more }: More = {}): RunControllers {
  return (options, cluster) => {
    const node = cluster.effects.thing(THING, (clock): Node => {
      const fake = new FakeMachine({ clock, programs, namespacesRefusal, memoryRefusal })
      return { fake, starts: 0, shutdown: createNodeShutdown(fake) }
    })
    const start = ++node.starts
    const machine = node.fake.connect(() => node.starts !== start)
    const of = optionsIn(options.modules, minicluster)
    if (options.role !== 'member' || of === undefined) return runControllers(options)
    if (node.shutdown.hasBegun) node.shutdown = createNodeShutdown(node.fake)
    const served = memberConnections(() => node.fake)
    cluster.commands.serve({ find: (found) => (isProcessNode(found) ? served.find(found) : undefined) })
    const shape = { ...of.shape, process: { count: nodes, size: { cpu: '4', memory: '8Gi', pods: 110 } } }
    const kubelet: KubeletOptions = { machine, clock: options.clock, shutdown: node.shutdown, ...more }
    return runControllers({ ...options, modules: configure(options.modules, minicluster, { shape, kubelet }) })
  }
}

const isProcessNode = ({ metadata: { labels } }: KubeObject): boolean => labels?.[NODE_LABEL] === 'process'

const nodeOf = (cluster: WorldCluster): Node =>
  cluster.effects.thing(THING, () => {
    throw new Error('this cluster has no process nodes')
  })

/** The machine under the process nodes of a cluster. */
export const machineOf = (cluster: WorldCluster): FakeMachine => nodeOf(cluster).fake

export const shutdownOf = (cluster: WorldCluster): NodeShutdown => nodeOf(cluster).shutdown

/** A pod on the first process node of member1, with one container `main` that runs the program of this name. */
export function aProcessPod(
  where: string,
  program: string,
  spec: Record<string, unknown> = {},
  container: Record<string, unknown> = {},
): KubeObject {
  const [namespace, name] = where.split('/')
  const containers = [{ name: 'main', image: 'busybox', command: [program], ...container }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name },
    spec: { nodeName: 'member1-process-1', containers, ...spec },
  }
}
