/**
 * What the next step of the workers is decided from: the pods of their set, who reads on their nodes, and how far the programs in
 * the cache are. Before a worker is led out or goes, the server is asked once more who reads on its node.
 */
import { createHash } from 'node:crypto'
import type { Client } from '../../client/client.ts'
import type { AdvancedStatefulSet } from '../../kinds/fluid/index.ts'
import { commonLabel, leavingLabel, volumeName } from '../../kinds/fluid/names.ts'
import { ADVANCED_STATEFUL_SETS, DATASETS } from '../../kinds/fluid/resources.ts'
import type { RuntimeType } from '../../kinds/fluid/well-known.ts'
import { NODES, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../kube/object-reference.ts'
import { type EffectRequest, type Index, indexOf, type Outcome, type PassReader, type Reader, request } from '../../runtime/controller.ts'
import { controllerOf } from '../../runtime/workloads/pod/ownership.ts'
import { isRunningAndReady } from '../../runtime/workloads/pod/state.ts'
import { ordinalsOf } from '../../runtime/workloads/stateful-set/ordinals.ts'
import { entryPod, runOf, simulatedBecause } from '../dataset/pods.ts'
import type { PodEntry, Prepared } from '../engines/engine.ts'
import type { Worker } from '../scaling/choose.ts'
import { decideStep, type Programs, type Progress, type Scaling, type Step } from '../scaling/decide.ts'
import { handoverMs, type Leaving, leavingIn } from '../scaling/handover.ts'
import type { DatasetReader } from '../scaling/readers.ts'
import { isCoLocated } from './co-location.ts'
import type { ScalingEffects } from './effects.ts'
import { isGoing, isOf } from './parts.ts'
import { readersByNode, readersNow } from './readers.ts'

/** The others scale as their sets do: the highest ordinals go. */
export const CHOOSING: readonly RuntimeType[] = ['cache', 'alluxio', 'juicefs', 'jindo']

const BY_SET = 'set'
export const WORKER_INDEX: Index = indexOf(PODS, BY_SET, (pod) => {
  const owner = controllerOf(pod)
  return owner?.kind === ADVANCED_STATEFUL_SETS.kind ? [owner.uid] : []
})

const BY_NODE = 'node'
export const NODE_INDEX: Index = indexOf(PODS, BY_NODE, (pod) => {
  const node = pod.spec?.nodeName ?? ''
  return node === '' || controllerOf(pod)?.kind !== ADVANCED_STATEFUL_SETS.kind ? [] : [node]
})

/** Workers on a node, of whatever dataset. */
export const workersOn = (node: KubeObject, read: Pick<Reader, 'byIndex'>): Pod[] => read.byIndex(PODS, BY_NODE, node.metadata.name ?? '')

export interface ScaleIn {
  step: Step
  requests: readonly EffectRequest[]
}

export interface ScaleInPass {
  runtime: KubeObject
  prepared: Prepared
  effects: ScalingEffects
  read: PassReader
  client: Client
}

/** Undefined: there is no set of workers yet whose pods could be chosen from. */
export async function scaleInOf(pass: ScaleInPass): Promise<ScaleIn | undefined> {
  const { runtime, prepared, read } = pass
  const { worker } = prepared.components
  const ref = refOf(runtime)
  const set = worker === undefined ? undefined : read.get(ADVANCED_STATEFUL_SETS, ref.namespace, worker.name)
  if (worker === undefined || set === undefined || !isOf(set, runtime) || isGoing(set)) return undefined
  const ordinals = ordinalsOf(set)
  const leaving = leavingIn(set.metadata.annotations)
  // Most passes: the pods need not be looked at.
  if (ordinals.count === worker.replicas && leaving === undefined) return { step: { do: 'stay' }, requests: [] }
  const readers = readersByNode(read, ref)
  const scaling = scalingOf(pass, { set, asked: worker.replicas, leaving, readers })
  const asked: Asked = { workers: scaling.workers, generation: set.metadata.generation ?? 0 }
  const programs = programsOf(pass, asked)
  const step = await checked(pass, { scaling, programs, ref })
  return { step, requests: requestsOf(pass, step, asked) }
}

interface Seen {
  set: AdvancedStatefulSet
  asked: number
  leaving: Leaving | undefined
  readers: ReadonlyMap<string, readonly DatasetReader[]>
}

function scalingOf({ runtime, read }: ScaleInPass, { set, asked, leaving, readers }: Seen): Scaling {
  const { namespace, name } = refOf(runtime)
  const pods = read.byIndex(PODS, BY_SET, set.metadata.uid ?? '')
  const byName = new Map(pods.map((pod) => [pod.metadata.name ?? '', pod]))
  const workers = [...ordinalsOf(set)].map((ordinal): Worker => {
    const pod = `${set.metadata.name ?? ''}-${ordinal}`
    return { ordinal, pod, ...placeOf(byName.get(pod), readers) }
  })
  const wanted = new Set(workers.map(({ pod }) => pod))
  const volume = read.get(PERSISTENT_VOLUMES, '', volumeName({ namespace, name }))
  return {
    asked,
    workers,
    isSettled: pods.every(({ metadata }) => wanted.has(metadata.name ?? '')),
    isCoLocated: isCoLocated(runtime, volume),
    leaving,
  }
}

function placeOf(pod: Pod | undefined, readers: Seen['readers']): Omit<Worker, 'ordinal' | 'pod'> {
  const node = pod?.spec?.nodeName === '' ? undefined : pod?.spec?.nodeName
  const isReady = pod !== undefined && isRunningAndReady(pod) && !isGoing(pod)
  return { uid: pod?.metadata.uid, node, isReady, readers: node === undefined ? [] : (readers.get(node) ?? []) }
}

/** A reader that came meanwhile wins: each node is asked for once, and then it is decided again. */
async function checked(
  { client }: ScaleInPass,
  { scaling, programs, ref }: { scaling: Scaling; programs: Programs; ref: ObjectRef },
): Promise<Step> {
  const now = new Map<string, readonly DatasetReader[]>()
  for (;;) {
    const workers = scaling.workers.map((worker) => ({ ...worker, readers: now.get(worker.node ?? '') ?? worker.readers }))
    const step = decideStep({ ...scaling, workers }, programs)
    const node = step.do === 'mark' || step.do === 'let-go' ? step.choice.worker.node : undefined
    if (!scaling.isCoLocated || node === undefined || now.has(node)) return step
    now.set(node, await readersNow(client, node, ref))
  }
}

/** A report is as old as its slot and the one before at most. */
const SLOT_MS = 30_000

/** What a report is about. */
interface Asked {
  workers: readonly Worker[]
  /** Of their set: the same workers may be all that there are once more, after others came and left. */
  generation: number
}

function programsOf(pass: ScaleInPass, asked: Asked): Programs {
  const { prepared, effects, read, runtime } = pass
  const { reportSummary, decommission, recommission } = prepared
  const isReady = ({ uid }: Leaving): boolean => asked.workers.some((worker) => worker.uid === uid && worker.isReady)
  return {
    report(candidates) {
      const run = runIn(pass, reportSummary)
      if (run === undefined) return { is: 'impossible' }
      for (const slot of slotsAt(read.nowMs())) {
        const outcome = read.outcome(effects.report, reportKey(run, asked, { candidates, slot }))
        if (outcome?.state === 'running') return { is: 'running' }
        if (outcome?.state === 'failed') return { is: 'done', value: undefined }
        if (outcome?.state === 'done' && read.nowMs() - outcome.value.atMs <= SLOT_MS) return { is: 'done', value: outcome.value.report }
      }
      return { is: 'due' }
    },
    isKeptFree: ({ node }) => node === undefined || isKeptFree(pass, node),
    canHandOver: () =>
      decommission !== undefined && handoverMs(runtime.metadata.annotations) > 0 && runIn(pass, decommission) !== undefined,
    handOver(leaving) {
      if (decommission === undefined || !isReady(leaving)) return { is: 'impossible' }
      const progress = progressOf(read.outcome(effects.handOver, leadKey(leaving)), (message) => ({ amounts: undefined, problem: message }))
      return progress.is === 'due' && runIn(pass, decommission) === undefined ? { is: 'later' } : progress
    },
    takeBack(leaving) {
      if (recommission === undefined) return { is: 'impossible' }
      const progress = progressOf(read.outcome(effects.takeBack, leadKey(leaving)))
      return progress.is === 'due' && runIn(pass, recommission) === undefined ? { is: 'later' } : progress
    },
  }
}

/** A failure is over where there is something to say instead; otherwise it is tried again. */
function progressOf<T>(outcome: Outcome<T> | undefined, instead?: (message: string) => T): Progress<T> {
  if (outcome?.state === 'running' || outcome?.state === 'done')
    return outcome.state === 'done' ? { is: 'done', value: outcome.value } : { is: 'running' }
  return outcome === undefined || instead === undefined ? { is: 'due' } : { is: 'done', value: instead(outcome.message) }
}

/** Which run of a program it is; undefined: it does not run, or only as far as the cluster knows. */
function runIn({ runtime, read }: ScaleInPass, entry: PodEntry | undefined): string | undefined {
  if (entry === undefined) return undefined
  const pod = entryPod(read.get(PODS, runtime.metadata.namespace ?? '', entry.pod), entry.pod)
  return pod === undefined || simulatedBecause(pod) !== undefined ? undefined : runOf(pod, entry.container)
}

/** Where there is no label of the worker either, no reader is sent to the node at all. */
function isKeptFree({ runtime, read }: ScaleInPass, name: string): boolean {
  const node = read.get(NODES, '', name)
  if (node === undefined) return true
  const ref = refOf(runtime)
  const named = { ...ref, uid: read.get(DATASETS, ref.namespace, ref.name)?.metadata.uid ?? '' }
  const { labels = {} } = node.metadata
  return Object.hasOwn(labels, leavingLabel(named)) || !Object.hasOwn(labels, commonLabel(named))
}

const slotsAt = (nowMs: number): number[] => [Math.floor(nowMs / SLOT_MS), Math.floor(nowMs / SLOT_MS) - 1]

/** From which program, of which workers, for which choice: a report about anything else chooses nobody. */
function reportKey(
  run: string,
  { workers, generation }: Asked,
  { candidates, slot }: { candidates: readonly Worker[]; slot: number },
): string {
  const text = JSON.stringify([generation, workers.map(({ pod, uid, node }) => [pod, uid, node]), candidates.map(({ ordinal }) => ordinal)])
  return `${run} ${createHash('sha256').update(text).digest('hex').slice(0, 32)} ${slot}`
}

const leadKey = ({ uid, sinceMs }: Leaving): string => `${uid} ${sinceMs}`

function requestsOf(pass: ScaleInPass, step: Step, asked: Asked): EffectRequest[] {
  const { prepared, effects, read, runtime } = pass
  const { namespace } = refOf(runtime)
  const { reportSummary, decommission, recommission } = prepared
  if (step.do === 'ask' && reportSummary !== undefined) {
    const run = runIn(pass, reportSummary)
    const [slot = 0] = slotsAt(read.nowMs())
    const input = { namespace, entry: reportSummary, pods: asked.workers.map(({ pod, node, isReady }) => ({ pod, node, isReady })) }
    return run === undefined ? [] : [request(effects.report, reportKey(run, asked, { candidates: step.candidates, slot }), input)]
  }
  if (step.do === 'hand-over' && decommission !== undefined) {
    const { pod, uid, sinceMs } = step.leaving
    const untilMs = sinceMs + handoverMs(runtime.metadata.annotations)
    return [request(effects.handOver, leadKey(step.leaving), { namespace, entry: decommission, pod, uid, untilMs })]
  }
  if (step.do === 'take-back' && recommission !== undefined) {
    const { pod, uid } = step.leaving
    return [request(effects.takeBack, leadKey(step.leaving), { namespace, entry: recommission, pod, uid })]
  }
  return []
}
