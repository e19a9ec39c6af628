/**
 * What a kubelet knows when it looks at a pod, from caches, the machine and earlier effects. Whatever must outlive a
 * pass and is not in the API or on disk is kept here: addresses not yet reported, tokens, probes, volumes once ready.
 */

import type { Client } from '../../client/client.ts'
import { CONFIG_MAPS, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, SECRETS } from '../../kinds/kubernetes/resources.ts'
import type { Container, Pod } from '../../kinds/kubernetes/types.ts'
import type { Outcome, PassReader } from '../../runtime/controller.ts'
import type { NodeData } from '../../runtime/seams/node-data.ts'
import type { Token, TokenOrder, VolumeContext } from '../../runtime/seams/volume-driver.ts'
import { type Addresses, HOST_ADDRESS } from './addresses.ts'
import type { ContainerMachine, RunId } from './container-machine.ts'
import { type Autopsy, containerIdOf, type Run, recordOf } from './containers.ts'
import type { NodeVolumes } from './csi/node-volumes.ts'
import { type CsiStep, csiStep, type Publish } from './csi/pod-step.ts'
import type { KubeletEffects } from './effects.ts'
import type { HostsFiles } from './hosts/hosts-files.ts'
import type { ProbeKind, ProbeVerdicts } from './life.ts'
import { directoriesOf } from './node-data/directories.ts'
import type { MachineInfo, PodInput, VolumesState } from './plan.ts'
import type { ProbeState } from './probes/probe-state.ts'
import { keyOfProbe, type Prober, type WantedProbe } from './probes/prober.ts'
import type { ReadyVolume } from './run-spec.ts'
import type { NodeShutdown } from './shutdown.ts'
import type { HookProgress, RunProgress } from './stopping.ts'
import type { Tokens } from './tokens.ts'
import type { PodVolumes } from './volumes/index.ts'
import { usedByNobodyElse } from './volumes/node-directories.ts'
import { keyOfSetUp, type SetUp } from './volumes/set-up.ts'

export interface KubeletState {
  machine: ContainerMachine
  effects: KubeletEffects
  systemInfo: MachineInfo
  /** podCIDR by name of process node. */
  nodes: ReadonlyMap<string, string>
  addresses: Addresses
  tokens: Tokens
  prober: Prober
  /** Volumes that were ready once: they stay ready while their sources cannot be read. */
  readyVolumes: Map<string, Map<string, ReadyVolume>>
  shutdown: NodeShutdown | undefined
  volumesRoot: string | undefined
  volumes: PodVolumes
  hosts: HostsFiles
  csi: NodeVolumes
  nodeData: readonly NodeData[]
}

export interface Observed {
  input: PodInput
  /** Volumes to set up on the machine. */
  setUps: SetUp[]
  /** Volumes that CSI drivers are to publish. */
  publishes: Publish[]
  /** Of a pod that goes: what its node made for it, and nobody else uses. */
  emptied: readonly string[]
  client: Client
  probes: readonly WantedProbe[]
  states: ReadonlyMap<string, ProbeState>
  /** When a token is due for renewal. */
  refreshAtMs: number | undefined
}

export const keyOfRun = ({ podUid, container, attempt }: RunId): string => `${podUid}/${container}/${attempt}`

export async function observePod(state: KubeletState, pod: Pod, read: PassReader, client: Client): Promise<Observed> {
  const nodeName = pod.spec?.nodeName ?? ''
  const uid = pod.metadata.uid ?? ''
  const nowMs = read.nowMs()
  const node = read.get(NODES, '', nodeName)
  const podIP = state.addresses.addressOf(pod, state.nodes.get(nodeName) ?? '', () => read.byIndex(PODS, 'node', nodeName)) ?? ''
  const tokens = await tokensOf(state, pod, { client, nowMs })
  const namespace = pod.metadata.namespace ?? ''
  const context: VolumeContext = {
    pod,
    node,
    configMap: (name) => read.get(CONFIG_MAPS, namespace, name),
    secret: (name) => read.get(SECRETS, namespace, name),
    claim: (name) => read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name),
    persistentVolume: (name) => read.get(PERSISTENT_VOLUMES, '', name),
    volumesRoot: state.volumesRoot,
    nodeDirectory: state.machine.nodeDirectory(nodeName),
    hasCsiDriver: state.csi.hasDriver,
    token: (order) => tokens.found.get(JSON.stringify(order)),
  }
  const runs = state.machine.runsOf(uid)
  const probes = wantedProbes(pod, runs, podIP)
  const states = state.prober.states(uid, probes)
  if (state.csi.drivers.size > 0) await state.csi.load()
  const { volumes, setUps, publishes } = isOver(pod) ? NOTHING_TO_SET_UP : volumesOf(state, context, read)
  const progressOf = (run: RunId): RunProgress => progressFrom(state.effects, run, read)
  const isShuttingDown = state.shutdown?.hasBegun === true
  state.shutdown?.report(
    uid,
    runs.every((run) => isReported(pod, run)),
  )
  const input: PodInput = {
    pod,
    node,
    nodeName,
    runs,
    volumes: podIP === '' ? { state: 'waiting', message: `no address is free in the network of node ${nodeName}` } : volumes,
    podIP,
    hostIP: HOST_ADDRESS,
    verdictsOf: (run) => verdictsFrom(pod, run, states),
    progressOf,
    autopsyOf: (run) => autopsyFrom(read.outcome(state.effects.autopsy, keyOfRun(run)), isShuttingDown ? progressOf(run) : {}),
    isAsked: (run) => read.outcome(state.effects.start, keyOfRun(run))?.state === 'running',
    startFailureOf: (run) => failureOf(read.outcome(state.effects.start, keyOfRun(run))),
    isCleared: pod.metadata.deletionTimestamp !== undefined && !state.machine.pods().includes(uid),
    isShuttingDown,
    configMap: context.configMap,
    secret: context.secret,
    machine: state.systemInfo,
    nowMs,
  }
  const emptied = pod.metadata.deletionTimestamp === undefined ? [] : usedByNobodyElse(pod, () => read.byIndex(PODS, 'node', nodeName))
  return { input, setUps, publishes, emptied, client, probes, states, refreshAtMs: tokens.refreshAtMs }
}

/** The end of a run is in the status, or a later run has superseded it. */
function isReported({ status }: Pod, run: Run): boolean {
  if (run.state.phase === 'starting' || run.state.phase === 'running') return false
  const own = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(({ name }) => name === run.container)
  return (own?.restartCount ?? -1) > run.attempt || recordOf(own, containerIdOf(run)) !== undefined
}

const NO_VOLUMES: VolumesState = { state: 'waiting', message: undefined }

interface SettingUp {
  volumes: VolumesState
  setUps: SetUp[]
  publishes: Publish[]
}

const NOTHING_TO_SET_UP: SettingUp = { volumes: NO_VOLUMES, setUps: [], publishes: [] }

/** None of its containers starts again. */
const isOver = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed'

async function tokensOf(
  state: KubeletState,
  pod: Pod,
  at: { client: Client; nowMs: number },
): Promise<{ found: Map<string, Token>; refreshAtMs: number | undefined }> {
  const found = new Map<string, Token>()
  let refreshAtMs: number | undefined
  for (const { volume, order } of isOver(pod) ? [] : state.volumes.tokenOrders(pod)) {
    const held = await state.tokens.get(pod, volume, order, at)
    found.set(JSON.stringify(order satisfies TokenOrder), held.token)
    refreshAtMs = Math.min(held.refreshAtMs, refreshAtMs ?? held.refreshAtMs)
  }
  return { found, refreshAtMs }
}

function volumesOf(state: KubeletState, context: VolumeContext, read: PassReader): SettingUp {
  const podUid = context.pod.metadata.uid ?? ''
  const known = state.readyVolumes.get(podUid) ?? new Map<string, ReadyVolume>()
  state.readyVolumes.set(podUid, known)
  const node = context.pod.spec?.nodeName ?? ''
  const kept = directoriesOf(context.pod, state.nodeData)
  const setUps: SetUp[] = []
  const publishes: Publish[] = []
  const problems: string[] = []
  const going: { name: string; message: string | undefined }[] = []
  let isComplete = true
  for (const { name, plan } of state.volumes.plan(context)) {
    const failed = (message: string): number => problems.push(`MountVolume.SetUp failed for volume "${name}" : ${message}`)
    if (plan.kind === 'waiting') {
      if (known.has(name)) continue
      failed(plan.message)
      continue
    }
    if (plan.kind === 'csi') {
      const step: CsiStep = csiStep({ ...plan, name, pod: context.pod }, { csi: state.csi, effects: state.effects, read })
      if (step.ready !== undefined) known.set(name, step.ready)
      if (step.publish !== undefined) publishes.push(step.publish)
      if (step.problem !== undefined) problems.push(step.problem)
      else if (step.ready === undefined) going.push({ name, message: step.message })
      continue
    }
    const setUp = {
      podUid,
      name,
      plan,
      kept: kept.filter(({ volume }) => volume === name).map(({ path, owner }) => ({ node, path, owner })),
    }
    setUps.push(setUp)
    const outcome = read.outcome(state.effects.volume, keyOfSetUp(setUp))
    if (outcome?.state === 'done') known.set(name, outcome.value)
    else if (outcome?.state === 'failed' && !known.has(name)) failed(outcome.message)
    else if (!known.has(name)) isComplete = false
  }
  const result = (volumes: VolumesState): SettingUp => ({ setUps, publishes, volumes })
  if (problems.length > 0) return result({ state: 'waiting', message: problems.join('; ') })
  if (going.length > 0) return result(goingOn(going))
  return result(isComplete ? { state: 'ready', volumes: known } : NO_VOLUMES)
}

/** Drivers are at work: that is no failure, and may take long. */
function goingOn(going: readonly { name: string; message: string | undefined }[]): VolumesState {
  const said = going.filter(({ message }) => message !== undefined).map(({ name, message }) => `waiting for volume "${name}": ${message}`)
  return { state: 'waiting', message: said.length === 0 ? undefined : said.join('; '), unmounted: going.map(({ name }) => name) }
}

/** Probes of containers reported as running: the hook has finished, and the address is known. */
function wantedProbes(pod: Pod, runs: readonly Run[], podIP: string): WantedProbe[] {
  const { spec, status, metadata } = pod
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return []
  const reported = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const kept = [...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'), ...(spec?.containers ?? [])]
  return kept.flatMap((container) => {
    const run = runs.findLast((one) => one.container === container.name)
    if (run?.state.phase !== 'running') return []
    const { startedAtMs } = run.state
    const own = reported.find(({ name }) => name === container.name)
    if (own?.state?.running === undefined || own.containerID !== containerIdOf(run)) return []
    return kindsOf(container, own.started === true, metadata.deletionTimestamp !== undefined).map((kind) => ({
      run: { podUid: run.podUid, container: run.container, attempt: run.attempt },
      kind,
      probe: container[PROBE_FIELDS[kind]] ?? {},
      container,
      podIP,
      startedAtMs,
    }))
  })
}

const PROBE_FIELDS = { startup: 'startupProbe', readiness: 'readinessProbe', liveness: 'livenessProbe' } as const

/** A pod that is being deleted is still probed for readiness, and for nothing else. */
function kindsOf(container: Container, isStarted: boolean, isGoing: boolean): ProbeKind[] {
  const kinds: ProbeKind[] = isStarted ? (isGoing ? ['readiness'] : ['readiness', 'liveness']) : isGoing ? [] : ['startup']
  return kinds.filter((kind) => container[PROBE_FIELDS[kind]] !== undefined)
}

/** A probe's verdict, or else what was reported for the very same run: a restart of the kubelet makes nothing unready. */
function verdictsFrom({ status }: Pod, run: RunId, states: ReadonlyMap<string, ProbeState>): ProbeVerdicts {
  const own = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(({ name }) => name === run.container)
  const reported = own?.containerID === containerIdOf(run) && own.state?.running !== undefined ? own : undefined
  const verdict = (kind: ProbeKind): boolean | undefined => states.get(keyOfProbe(run, kind))?.verdict
  return {
    startup: verdict('startup') ?? (reported?.started === true ? true : undefined),
    readiness: verdict('readiness') ?? reported?.ready,
    liveness: verdict('liveness'),
  }
}

function progressFrom(effects: KubeletEffects, run: RunId, read: PassReader): RunProgress {
  const key = keyOfRun(run)
  const hook = (which: string): HookProgress | undefined => {
    const outcome = read.outcome(effects.hook, `${key}/${which}`)
    if (outcome === undefined) return undefined
    if (outcome.state === 'done') return outcome.value
    return outcome.state === 'running' ? { state: 'running' } : { state: 'done', beganAtMs: 0, endedAtMs: 0, failure: outcome.message }
  }
  const sent = (which: string): number | undefined => {
    const outcome = read.outcome(effects.signal, `${key}/${which}`)
    return outcome?.state === 'done' ? outcome.value.atMs : undefined
  }
  return { postStart: hook('postStart'), preStop: hook('preStop'), termAtMs: sent('stop'), killAtMs: sent('kill') }
}

const SHUTDOWN_EXIT_CODE = 143

/** A run that was ended by the shutdown of the node did not end for a reason of its own, and has not done its work. */
function autopsyFrom(outcome: Outcome<Autopsy> | undefined, { termAtMs, killAtMs }: RunProgress): Autopsy | undefined {
  if (outcome === undefined || outcome.state === 'running') return undefined
  const found = outcome.state === 'done' ? outcome.value : {}
  if (termAtMs === undefined && killAtMs === undefined) return found
  return {
    reason: 'NodeShutdown',
    message: 'ended with Sluice, whose process nodes went down; its restart policy decides whether it runs again',
    exitCode: killAtMs === undefined ? SHUTDOWN_EXIT_CODE : 137,
  }
}

const failureOf = (outcome: Outcome<unknown> | undefined): string | undefined => (outcome?.state === 'failed' ? outcome.message : undefined)
