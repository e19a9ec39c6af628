/**
 * Stops what runs on this machine for pods that no longer exist: deleted by force, or while Sluice was not running.
 * Runs at the start and whenever a pod of the nodes is gone. A cache may be stale, so before anything is stopped the
 * server itself is asked which pods exist.
 */
import { NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import {
  type Controller,
  defineController,
  type Effect,
  indexOf,
  NOTHING_TO_DO,
  type Plan,
  request,
  via,
} from '../../../runtime/controller.ts'
import type { MemberShape } from '../../shape.ts'
import type { ContainerMachine } from '../container-machine.ts'
import { processNodes } from '../node/node.ts'

export interface Observed {
  orphans: readonly string[]
}

export function kubeletGarbage(shape: MemberShape, machine: ContainerMachine): Controller {
  const nodes = processNodes(shape).map(({ name }) => name)
  // All nodes of the member share one machine: the key of the first stands for it.
  const first = { namespace: '', name: nodes[0] ?? '' }
  const discard = discardEffect(machine)
  return defineController<Observed>({
    name: 'minicluster.kubelet.garbage',
    needsHost: true,
    component: 'kubelet',
    for: NODES,
    watches: [
      via(PODS, (pod, read) => {
        const isThere = read.get(PODS, pod.metadata.namespace ?? '', pod.metadata.name ?? '')?.metadata.uid === pod.metadata.uid
        return isThere || !nodes.includes(pod.spec?.nodeName ?? '') ? [] : [first]
      }),
    ],
    indexes: [indexOf(PODS, 'uid', (pod) => [pod.metadata.uid ?? ''])],
    effects: [discard],
    reads: [{ resource: PODS, verbs: ['list'] }],
    writes: [],
    async observe({ name }, _node, read, client) {
      if (name !== first.name) return { orphans: [] }
      const suspects = machine.pods().filter((uid) => read.byIndex(PODS, 'uid', uid).length === 0)
      if (suspects.length === 0) return { orphans: [] }
      const pods = await client.list<Pod>(PODS)
      const alive = new Set(pods.items.map(({ metadata }) => metadata.uid))
      return { orphans: suspects.filter((uid) => !alive.has(uid)).sort() }
    },
    plan: ({ orphans }): Plan =>
      orphans.length === 0 ? NOTHING_TO_DO : { actions: [], effects: orphans.map((podUid) => request(discard, podUid, { podUid })) },
  })
}

const DISCARD_MS = 60_000

function discardEffect(machine: ContainerMachine): Effect<{ podUid: string }, void> {
  return {
    name: 'minicluster.kubelet.garbage.discard',
    about: 'Kills every run of a pod that no longer exists, and takes its directories away.',
    timeoutMs: DISCARD_MS,
    async run({ podUid }, { signal }) {
      await new Promise<void>((resolve, reject) => {
        const live = () => machine.runsOf(podUid).filter(({ state }) => state.phase === 'starting' || state.phase === 'running')
        const finish = (settle: () => void): void => {
          stop()
          signal.removeEventListener('abort', onAbort)
          settle()
        }
        const onAbort = (): void => finish(() => reject(signal.reason as Error))
        const look = (): void => {
          if (live().length === 0) finish(resolve)
        }
        const stop = machine.onChange((uid) => {
          if (uid === podUid) look()
        })
        signal.addEventListener('abort', onAbort, { once: true })
        Promise.all(live().map((run) => machine.signal(run, 'SIGKILL'))).then(look, (error: Error) => finish(() => reject(error)))
      })
      await machine.remove(podUid)
    },
  }
}
