/**
 * The kubelet of a member's process nodes: pods that are bound to one of them run as processes of this machine.
 * Sole writer of: the kubelet's part of those pods' status, and their final deletion. Runs again when the pod, an object
 * its volumes or variables come from, its node or one of its runs changes, when a probe's verdict changes, and when a
 * backoff, a deadline, a grace period or a token's lifetime is over.
 */

import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import {
  CONFIG_MAPS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../kube/object-reference.ts'
import {
  type Action,
  type Controller,
  defineController,
  type EffectRequest,
  indexOf,
  type KeyedEvent,
  NOTHING_TO_DO,
  type Plan,
  type Reader,
  request,
  type Signal,
  via,
} from '../../runtime/controller.ts'
import type { NodeData } from '../../runtime/seams/node-data.ts'
import type { Source, VolumeDriver } from '../../runtime/seams/volume-driver.ts'
import type { MemberShape } from '../shape.ts'
import { createAddresses } from './addresses.ts'
import type { RunId } from './container-machine.ts'
import { NodeVolumes } from './csi/node-volumes.ts'
import { type AutopsyInput, type KubeletEffects, kubeletEffects } from './effects.ts'
import { environmentSources } from './environment/environment.ts'
import { createHostsFiles, type HostsFiles } from './hosts/hosts-files.ts'
import { processNodes } from './node/node.ts'
import type { KeptRecords } from './node-data/records.ts'
import { type KubeletState, keyOfRun, type Observed, observePod } from './observe.ts'
import type { KubeletOptions } from './options.ts'
import { type PodPlan, planPod } from './plan.ts'
import { createProber, keyOfProbe } from './probes/prober.ts'
import { createTokens } from './tokens.ts'
import { createPodVolumes, type PodVolumes } from './volumes/index.ts'
import { keyOfSetUp } from './volumes/set-up.ts'
import type { SharedDirectories } from './volumes/shared-directories.ts'

/** What other modules bring, and what it shares with the other controllers of process nodes. */
export interface KubeletParts {
  volumeDrivers?: readonly VolumeDriver[]
  csi?: NodeVolumes
  hosts?: HostsFiles
  shared?: SharedDirectories
  nodeData?: readonly NodeData[]
  records?: KeptRecords
}

export function kubelet(shape: MemberShape, options: KubeletOptions, parts: KubeletParts = {}): Controller {
  const { machine, clock } = options
  const { volumeDrivers = [], hosts = createHostsFiles(), nodeData = [], shared, records } = parts
  const csi = parts.csi ?? new NodeVolumes({ machine, clock, nodes: () => [], drivers: [] })
  const state = stateOf(shape, options, { volumes: createPodVolumes(volumeDrivers), csi, hosts, nodeData, shared, records })
  const { effects, nodes, volumes } = state
  const awake = createAwakening()
  return defineController<Observed | undefined, Pod>({
    name: 'minicluster.kubelet',
    needsHost: true,
    component: 'kubelet',
    for: PODS,
    watches: [
      via(CONFIG_MAPS, (map, read) => podsFrom('ConfigMap', map, read)),
      via(SECRETS, (secret, read) => podsFrom('Secret', secret, read)),
      via(PERSISTENT_VOLUME_CLAIMS, (claim, read) => podsFrom('PersistentVolumeClaim', claim, read)),
      via(PERSISTENT_VOLUMES, ({ spec }, read) => {
        const { namespace, name } = spec?.claimRef ?? {}
        return podsFrom('PersistentVolumeClaim', { metadata: { namespace, name } }, read)
      }),
      via(NODES, () => []),
    ],
    indexes: [
      indexOf(PODS, 'node', ({ spec }) => (nodes.has(spec?.nodeName ?? '') ? [spec?.nodeName ?? ''] : [])),
      indexOf(PODS, 'source', (pod) => (nodes.has(pod.spec?.nodeName ?? '') ? sourcesOf(pod, volumes) : [])),
    ],
    signals: [awake.signal(state)],
    effects: Object.values(effects),
    writes: [
      { resource: PODS, subresource: 'status', verbs: ['patch'] },
      { resource: PODS, verbs: ['delete'] },
      { resource: SERVICE_ACCOUNTS, subresource: 'token', verbs: ['create'] },
    ],
    reads: [
      { resource: PODS, verbs: ['get'] },
      ...[...csi.drivers.values()].flatMap(({ reads = [] }) => reads.map((resource) => ({ resource, verbs: ['get'] }))),
      // A driver may publish the directory of a claim.
      ...(csi.drivers.size === 0 ? [] : [PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES].map((resource) => ({ resource, verbs: ['get'] }))),
    ],
    concurrency: 16,
    async observe(ref, pod, read, client) {
      const isOurs = pod !== undefined && nodes.has(pod.spec?.nodeName ?? '')
      for (const uid of awake.follow(ref, isOurs ? pod : undefined)) forget(state, uid)
      if (!isOurs) return undefined
      const observed = await observePod(state, pod, read, client)
      // A stale cache may show a pod that has already run and is gone: before anything starts, the server itself is asked. If
      // the server's answer differs, the cache will follow soon, and the pod is queued again.
      const isStarting = planPod(observed.input).start.length > 0
      return isStarting && !(await isCurrent(pod, client)) ? undefined : observed
    },
    plan: (observed) => planOf(observed, state),
  })
}

async function isCurrent({ metadata }: Pod, client: Client): Promise<boolean> {
  const live = await ifFound(client.get<Pod>(PODS, { namespace: metadata.namespace, name: metadata.name ?? '' }))
  return live?.metadata.uid === metadata.uid && live?.metadata.resourceVersion === metadata.resourceVersion
}

interface OwnState {
  volumes: PodVolumes
  csi: NodeVolumes
  hosts: HostsFiles
  nodeData: readonly NodeData[]
  shared: SharedDirectories | undefined
  records: KeptRecords | undefined
}

function stateOf(shape: MemberShape, options: KubeletOptions, own: OwnState): KubeletState {
  const { machine, clock } = options
  let systemInfo: KubeletState['systemInfo'] | undefined
  return {
    machine,
    effects: kubeletEffects({ machine, clock, shutdown: options.shutdown, ...own }),
    get systemInfo() {
      systemInfo ??= factsOf(options)
      return systemInfo
    },
    nodes: new Map(processNodes(shape).map(({ name, podCIDR }) => [name, podCIDR])),
    addresses: createAddresses(),
    tokens: createTokens(machine),
    prober: createProber({ machine, clock }),
    readyVolumes: new Map(),
    shutdown: options.shutdown,
    volumesRoot: options.volumesRoot,
    ...own,
  }
}

const factsOf = ({ machine, images = new Map(), entryPoints, apiServer, env }: KubeletOptions): KubeletState['systemInfo'] => ({
  images,
  entryPoints,
  namespacesRefusal: machine.namespacesRefusal,
  env: { ...(apiServer === undefined ? {} : serviceEnv(apiServer)), ...env },
})

/** The variables by which clients in pods find their API server. */
const serviceEnv = ({ host, port }: { host: string; port: number }): Record<string, string> => ({
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: String(port),
  KUBERNETES_SERVICE_PORT_HTTPS: String(port),
  KUBERNETES_PORT: `tcp://${host}:${port}`,
})

function forget({ addresses, tokens, prober, readyVolumes, hosts, csi, shutdown }: KubeletState, podUid: string): void {
  shutdown?.report(podUid, true)
  addresses.release(podUid)
  tokens.forget(podUid)
  prober.states(podUid, [])
  readyVolumes.delete(podUid)
  hosts.forget(podUid)
  csi.forget(podUid)
}

const sourcesOf = (pod: Pod, volumes: PodVolumes): string[] => [
  ...new Set([...volumes.sources(pod), ...environmentSources(pod)].map(({ kind, name }) => sourceKey(kind, pod.metadata.namespace, name))),
]

const sourceKey = (kind: Source['kind'], namespace = '', name = ''): string => `${kind}/${namespace}/${name}`

function podsFrom(kind: Source['kind'], { metadata }: Pick<KubeObject, 'metadata'>, read: Reader): ObjectRef[] {
  return read.byIndex(PODS, 'source', sourceKey(kind, metadata.namespace, metadata.name)).map(refOf)
}

/** Maps a pod of the machine to its object, so that changes on the machine enqueue it. */
function createAwakening(): {
  /** Records which pod a key stands for now; returns the pods it no longer stands for. */
  follow(ref: ObjectRef, pod: Pod | undefined): string[]
  signal(state: KubeletState): Signal
} {
  const refs = new Map<string, ObjectRef>()
  const uids = new Map<string, string>()
  return {
    follow(ref, pod) {
      const key = `${ref.namespace}/${ref.name}`
      const [old, uid] = [uids.get(key), pod?.metadata.uid]
      if (old === uid) return []
      if (old !== undefined) refs.delete(old)
      if (uid === undefined) uids.delete(key)
      else {
        uids.set(key, uid)
        refs.set(uid, ref)
      }
      return old === undefined ? [] : [old]
    },
    signal: ({ machine, prober, shutdown, csi }) => ({
      subscribe(enqueue) {
        const enqueuePod = (uid: string): void => {
          const ref = refs.get(uid)
          if (ref !== undefined) enqueue(ref)
        }
        const ends = [
          machine.onChange(enqueuePod),
          prober.start(enqueuePod),
          csi.onChange(({ pods }) => {
            for (const uid of pods) enqueuePod(uid)
          }),
          shutdown?.onBegin(() => {
            for (const ref of refs.values()) enqueue(ref)
          }),
        ]
        return () => {
          for (const end of ends) end?.()
        }
      },
    }),
  }
}

function planOf(observed: Observed | undefined, { effects }: KubeletState): Plan {
  if (observed === undefined) return NOTHING_TO_DO
  const { input } = observed
  const { pod, nowMs } = input
  const plan = planPod(input)
  const renewal = observed.refreshAtMs === undefined ? undefined : Math.max(0, observed.refreshAtMs - nowMs)
  const times = [plan.requeueAfterMs, renewal].filter((ms) => ms !== undefined)
  return {
    actions: actionsOf(pod, plan),
    events: [...plan.keyedEvents, ...unhealthy(observed)],
    effects: effectsOf(observed, plan, effects),
    ...(times.length === 0 ? {} : { requeueAfterMs: Math.min(...times) }),
  }
}

function actionsOf(pod: Pod, { status, events, remove }: PodPlan): Action[] {
  if (remove) return [{ do: 'delete', resource: PODS, of: pod, gracePeriodSeconds: 0 }]
  return status === undefined ? [] : [{ do: 'patch', resource: PODS, of: pod, patch: { status }, subresource: 'status', events: events }]
}

function unhealthy({ input, probes, states }: Observed): KeyedEvent[] {
  return probes.flatMap(({ run, kind, container }): KeyedEvent[] => {
    const failure = states.get(keyOfProbe(run, kind))?.failure
    if (failure === undefined) return []
    const isInit = (input.pod.spec?.initContainers ?? []).includes(container)
    const fieldPath = `spec.${isInit ? 'initContainers' : 'containers'}{${run.container}}`
    const key = `Unhealthy ${keyOfProbe(run, kind)} ${failure.number}`
    return [{ key, of: input.pod, host: input.nodeName, fieldPath, type: 'Warning', reason: 'Unhealthy', message: failure.message }]
  })
}

function effectsOf({ input, setUps, publishes, emptied, client }: Observed, plan: PodPlan, effects: KubeletEffects): EffectRequest[] {
  const { pod, podIP } = input
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]
  const containerOf = (run: RunId) => containers.find(({ name }) => name === run.container) ?? {}
  const autopsyInput = (run: RunId): AutopsyInput => {
    const state = input.runs.find((one) => one.container === run.container && one.attempt === run.attempt)?.state
    return { run, container: containerOf(run), podIP, exitCode: state?.phase === 'exited' ? state.exitCode : 0 }
  }
  return [
    ...setUps.map((setUp) => request(effects.volume, keyOfSetUp(setUp), setUp)),
    ...publishes.map(({ key, ...publish }) => request(effects.publish, key, { ...publish, client })),
    ...plan.start.map((order) => request(effects.start, keyOfRun(order.spec), order)),
    ...plan.postStart.map((hook) =>
      request(effects.hook, `${keyOfRun(hook.run)}/postStart`, { ...hook, container: containerOf(hook.run), podIP }),
    ),
    ...plan.preStop.map((hook) =>
      request(effects.hook, `${keyOfRun(hook.run)}/preStop`, { ...hook, container: containerOf(hook.run), podIP }),
    ),
    ...plan.signal.map((one) => request(effects.signal, `${keyOfRun(one.run)}/${one.signal === 'SIGKILL' ? 'kill' : 'stop'}`, one)),
    ...plan.autopsy.map((run) => request(effects.autopsy, keyOfRun(run), autopsyInput(run))),
    ...(plan.releaseMemory ? [request(effects.release, pod.metadata.uid ?? '', { podUid: pod.metadata.uid ?? '' })] : []),
    ...(plan.clear
      ? [request(effects.clear, pod.metadata.uid ?? '', { podUid: pod.metadata.uid ?? '', node: input.nodeName, emptied })]
      : []),
  ]
}
