/**
 * Keeps the hosts files of the pods on process nodes up to date with the Services of their namespace. Writes nothing to the
 * API. A pass is about a whole namespace: its lines are computed once for all pods, at most once a second, and only files
 * whose text changes are written. Runs again when a Service or an EndpointSlice of the namespace changes, and when a pod on
 * a process node gets its address.
 */
import { ENDPOINT_SLICES, NAMESPACES, PODS, SERVICES } from '../../../kinds/kubernetes/resources.ts'
import type { EndpointSlice, Pod, Service } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import {
  type Controller,
  defineController,
  type Effect,
  indexOf,
  NOTHING_TO_DO,
  type PassReader,
  type Plan,
  request,
  via,
} from '../../../runtime/controller.ts'
import { isPodTerminal } from '../../../runtime/workloads/pod/state.ts'
import type { MemberShape } from '../../shape.ts'
import type { ContainerMachine } from '../container-machine.ts'
import { processNodes } from '../node/node.ts'
import type { HostsFiles } from './hosts-files.ts'
import { type OwnLines, othersOf, ownLines, serviceLines } from './hosts-text.ts'

interface PodHosts {
  podUid: string
  own: OwnLines
}

type Observed = { round: string; pods: readonly PodHosts[] } | { waitMs: number } | undefined

/** Files of a namespace are not written more often: a rollout changes its endpoints many times. */
const PAUSE_MS = 1000
const WRITE_MS = 60_000
const BY_NAMESPACE = 'namespace'
/** Pods of other namespaces that want its names, too. */
const BY_OTHER = 'other-namespace'

const namespaceOf = ({ metadata }: KubeObject): ObjectRef => ({ namespace: '', name: metadata.namespace ?? '' })

export function kubeletHosts(shape: MemberShape, machine: ContainerMachine, hosts: HostsFiles): Controller {
  const nodes = new Set(processNodes(shape).map(({ name }) => name))
  const isOurs = ({ spec }: Pod): boolean => nodes.has(spec?.nodeName ?? '')
  const write = writeEffect(machine, hosts)
  const rounds = createRounds()
  return defineController<Observed>({
    name: 'minicluster.kubelet.hosts',
    needsHost: true,
    component: 'kubelet',
    for: NAMESPACES,
    isRelevantUpdate: () => false,
    watches: [
      via(SERVICES, (service) => [namespaceOf(service)]),
      via(ENDPOINT_SLICES, (slice) => [namespaceOf(slice)]),
      via(PODS, (pod) => (isOurs(pod) ? [namespaceOf(pod)] : []), {
        isRelevantUpdate: (old, pod) => old.status?.podIP !== pod.status?.podIP,
      }),
    ],
    indexes: [
      indexOf(SERVICES, BY_NAMESPACE, ({ metadata }) => [metadata.namespace ?? '']),
      indexOf(ENDPOINT_SLICES, BY_NAMESPACE, ({ metadata }) => [metadata.namespace ?? '']),
      indexOf(PODS, BY_NAMESPACE, (pod) => (isOurs(pod) ? [pod.metadata.namespace ?? ''] : [])),
      indexOf(PODS, BY_OTHER, (pod) => (isOurs(pod) ? othersOf(pod) : [])),
    ],
    effects: [write as Effect],
    writes: [],
    observe({ name }, namespace, read) {
      if (namespace === undefined) {
        rounds.forget(name)
        hosts.setServices(name, '')
        return undefined
      }
      // Nothing can be mounted: containers see the hosts file of this machine.
      if (machine.namespacesRefusal !== undefined) return undefined
      const round = rounds.of(name)
      const outcome = read.outcome(write, String(round.number))
      // It is queued again when the effect ends.
      if (outcome?.state === 'running') return undefined
      const waitMs = round.atMs + PAUSE_MS - read.nowMs()
      if (waitMs > 0) return { waitMs }
      hosts.setServices(name, linesFrom(read, name))
      const pods = [...read.byIndex<Pod>(PODS, BY_NAMESPACE, name), ...read.byIndex<Pod>(PODS, BY_OTHER, name)].flatMap((pod) =>
        stale(pod, hosts),
      )
      if (pods.length === 0) return undefined
      // What was done once is not done again under the same key; what failed is.
      return { round: rounds.next(name, outcome?.state === 'done', read.nowMs()), pods }
    },
    plan: (observed) => planOf(observed, write),
  })
}

function planOf(observed: Observed, write: Effect<readonly PodHosts[], void>): Plan {
  if (observed === undefined) return NOTHING_TO_DO
  if ('waitMs' in observed) return { actions: [], requeueAfterMs: observed.waitMs }
  return { actions: [], effects: [request(write, observed.round, observed.pods)] }
}

const linesFrom = (read: PassReader, namespace: string): string =>
  serviceLines(
    namespace,
    read.byIndex<Service>(SERVICES, BY_NAMESPACE, namespace),
    read.byIndex<EndpointSlice>(ENDPOINT_SLICES, BY_NAMESPACE, namespace),
  )

function stale(pod: Pod, hosts: HostsFiles): PodHosts[] {
  const podUid = pod.metadata.uid ?? ''
  const podIP = pod.status?.podIP ?? ''
  // Without an address nothing has started that a restart of this process could have forgotten.
  if (podIP === '' || isPodTerminal(pod) || hosts.isCurrent(podUid, { namespace: pod.metadata.namespace ?? '', others: othersOf(pod) }))
    return []
  return [{ podUid, own: ownLines(pod, podIP) }]
}

const writeEffect = (machine: ContainerMachine, hosts: HostsFiles): Effect<readonly PodHosts[], void> => ({
  name: 'minicluster.kubelet.hosts.write',
  about: 'Writes the names of Services into the hosts files of running pods.',
  timeoutMs: WRITE_MS,
  async run(pods, { signal }) {
    for (const { podUid, own } of pods) {
      if (signal.aborted) return
      await hosts.update(machine, podUid, own)
    }
  },
})

interface Round {
  number: number
  /** When its files were last asked to be written. */
  atMs: number
}

/** Counts how often the files of each namespace were written: the keys of the effect. */
function createRounds(): {
  of(namespace: string): Round
  next(namespace: string, isDone: boolean, nowMs: number): string
  forget(namespace: string): void
} {
  const rounds = new Map<string, Round>()
  const of = (namespace: string): Round => rounds.get(namespace) ?? { number: 1, atMs: Number.NEGATIVE_INFINITY }
  return {
    of,
    next(namespace, isDone, nowMs) {
      const number = of(namespace).number + (isDone ? 1 : 0)
      rounds.set(namespace, { number, atMs: nowMs })
      return String(number)
    },
    forget: (namespace) => void rounds.delete(namespace),
  }
}
