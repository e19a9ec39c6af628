/**
 * The scheduler's state between decisions: follows the caches, remembers what it has decided and what it waits for, and
 * handles one pod at a time. Deciding and reserving happen in one step, so that the next decision sees it.
 */
import type { Node, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfObject, keyOfRef, type ObjectRef, refOfKey } from '../../kube/object-reference.ts'
import type { Priority, Signal } from '../../runtime/controller.ts'
import type { Change } from './filters/filter.ts'
import { type Decision, schedule } from './schedule.ts'
import type { Lookups, Snapshot } from './snapshot.ts'
import { ClusterState } from './state/cluster-state.ts'
import { type PodInfo, podInfo } from './state/pod-info.ts'
import { signatureOf, UnschedulableQueue } from './unschedulable-queue.ts'
import { annotation, claimsOf, SELECTED_NODE } from './volumes/claims.ts'
import { type FoundVolumes, findVolumes, isVolumeOf } from './volumes/find-volumes.ts'

export const SCHEDULER_NAME = 'default-scheduler'

export type Outcome =
  | { kind: 'idle' }
  | { kind: 'gated'; pod: Pod }
  | { kind: 'bind'; pod: Pod; node: string }
  /** The node is chosen; the pod is bound when its claims are. Contains only what is still to be written. */
  | { kind: 'volumes'; pod: Pod; node: string; volumes: FoundVolumes }
  | { kind: 'unschedulable'; pod: Pod; message: string; nomination: 'void' | 'kept' | 'awaited'; retryAfterMs?: number }
  | { kind: 'preempt'; pod: Pod; node: string; victims: readonly Pod[]; message: string }

export interface SchedulingView {
  objects: Lookups
  nowMs: number
}

const IDLE: Outcome = Object.freeze({ kind: 'idle' })

export class Scheduling {
  readonly cluster = new ClusterState()
  /** How many times a node was checked, over all decisions. */
  looked = 0
  readonly #unschedulable = new UnschedulableQueue((key, priority) => this.#enqueue(key, priority))
  readonly #queues = new Set<(ref: ObjectRef, priority?: Priority) => void>()
  readonly #known = new Map<string, KubeObject>()

  readonly signal: Signal = {
    subscribe: (enqueue) => {
      this.#queues.add(enqueue)
      return () => this.#queues.delete(enqueue)
    },
  }

  /** `node` as the cache has it now; undefined when it is gone. */
  followNode(name: string, node: Node | undefined, view: SchedulingView): void {
    this.#happened(this.cluster.setNode(name, node), view)
  }

  followPod(ref: ObjectRef, pod: Pod | undefined, view: SchedulingView): void {
    const key = keyOfRef(ref)
    this.#happened(this.cluster.setPod(key, pod), view)
    if (pod === undefined || (pod.spec?.nodeName ?? '') !== '') this.#unschedulable.leave(key)
  }

  followOther(
    kind: 'claim' | 'volume' | 'storage-class' | 'namespace',
    ref: ObjectRef,
    now: KubeObject | undefined,
    view: SchedulingView,
  ): void {
    const key = `${kind} ${keyOfRef(ref)}`
    const old = this.#known.get(key)
    if (old === now) return
    if (now === undefined) this.#known.delete(key)
    else this.#known.set(key, now)
    if (kind === 'namespace') {
      if (JSON.stringify(old?.metadata.labels) === JSON.stringify(now?.metadata.labels)) return
      this.cluster.namespacesChanged()
    }
    this.#happened({ kind, old, now }, view)
  }

  look(ref: ObjectRef, pod: Pod | undefined, view: SchedulingView): Outcome {
    const key = keyOfRef(ref)
    const before = this.cluster.reservation(key)
    if (pod === undefined || !isToBePlaced(pod) || (pod.spec?.schedulingGates ?? []).length > 0) {
      this.#unschedulable.leave(key)
      this.#settle(key, before, view)
      return pod !== undefined && isToBePlaced(pod) ? { kind: 'gated', pod } : IDLE
    }
    this.cluster.release(key)
    const info = podInfo(pod)
    const known = before === undefined ? this.#answer(info, view.nowMs) : undefined
    const outcome = known ?? this.#decide(info, before?.node, view)
    this.#settle(key, before, view)
    return outcome
  }

  /** The answer, if it is known without checking any node. */
  #answer(info: PodInfo, nowMs: number): Outcome | undefined {
    if (this.#unschedulable.isEmpty) return undefined
    const answer = this.#unschedulable.answerFor(info, signatureOf(info), nowMs)
    return answer && { kind: 'unschedulable', pod: info.pod, nomination: 'kept', ...answer }
  }

  #decide(info: PodInfo, first: string | undefined, { objects, nowMs }: SchedulingView): Outcome {
    const snapshot: Snapshot = { cluster: this.cluster, objects, nowMs }
    const memo = this.#unschedulable.isEmpty ? undefined : this.#unschedulable.memoFor(signatureOf(info))
    const decision = schedule(info, snapshot, { first, memo })
    this.looked += decision.looked
    switch (decision.kind) {
      case 'node':
        return this.#take(info, decision.node, snapshot)
      case 'unschedulable': {
        const { message, retryAfterMs } = this.#unschedulable.enter(info, signatureOf(info), { verdict: decision, nowMs })
        return { kind: 'unschedulable', pod: info.pod, message, retryAfterMs, nomination: decision.nomination }
      }
      case 'preempt':
        return this.#preempt(info, decision)
    }
  }

  #preempt(info: PodInfo, { node, victims, message }: Extract<Decision, { kind: 'preempt' }>): Outcome {
    this.#unschedulable.leave(info.key)
    const toDelete: Pod[] = []
    for (const { key, pod, isTerminating } of victims) {
      // Only we know of a pod that waits for its volumes: it gives up its reservation and looks for another node.
      if (this.cluster.reservation(key)?.isBinding === false) {
        this.cluster.release(key)
        this.#enqueue(key, 'normal')
      } else if (!isTerminating) toDelete.push(pod)
    }
    return { kind: 'preempt', pod: info.pod, node, victims: toDelete, message }
  }

  #take(info: PodInfo, name: string, snapshot: Snapshot): Outcome {
    this.#unschedulable.leave(info.key, true)
    const node = this.cluster.node(name)
    const claims = info.claims.length === 0 ? undefined : claimsOf(info, snapshot)
    if (node === undefined || claims === undefined || 'problem' in claims || claims.waiting.length === 0) {
      this.cluster.reserve({ info, node: name, isBinding: true, volumes: NONE, claims: NONE })
      return { kind: 'bind', pod: info.pod, node: name }
    }
    const found = findVolumes(claims, node, snapshot)
    const { matched, provisioned }: FoundVolumes = 'reasons' in found ? { matched: [], provisioned: [] } : found
    this.cluster.reserve({
      info,
      node: name,
      isBinding: false,
      volumes: new Map(matched.map(({ claim, volume }) => [volume.metadata.name ?? '', keyOfObject(claim)])),
      claims: new Map(provisioned.map((claim) => [keyOfObject(claim), name])),
    })
    const volumes = {
      matched: matched.filter(({ claim, volume }) => !isVolumeOf(volume, claim) || volume.spec?.claimRef?.uid !== claim.metadata.uid),
      provisioned: provisioned.filter((claim) => annotation(claim, SELECTED_NODE) !== name),
    }
    return { kind: 'volumes', pod: info.pod, node: name, volumes }
  }

  /** Notifies waiting pods of what the decision changed, compared with what was reserved before. */
  #settle(key: string, before: { info: PodInfo; node: string } | undefined, view: SchedulingView): void {
    const now = this.cluster.reservation(key)
    if (before?.node === now?.node) return
    if (before !== undefined) this.#happened({ kind: 'pod', old: before.info, now: undefined }, view)
    if (now !== undefined) this.#happened({ kind: 'pod', old: undefined, now: now.info }, view)
  }

  #happened(change: Change | undefined, { objects, nowMs }: SchedulingView): void {
    if (change !== undefined) this.#unschedulable.happened(change, { cluster: this.cluster, objects, nowMs })
  }

  #enqueue(key: string, priority: Priority): void {
    const ref = refOfKey(key)
    for (const enqueue of this.#queues) enqueue(ref, priority)
  }
}

const NONE: ReadonlyMap<string, string> = new Map()

/** Pods of other schedulers, and assigned, terminating or finished ones, are ignored. */
export function isToBePlaced({ metadata, spec, status }: Pod): boolean {
  if ((spec?.schedulerName ?? SCHEDULER_NAME) !== SCHEDULER_NAME || (spec?.nodeName ?? '') !== '') return false
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}
