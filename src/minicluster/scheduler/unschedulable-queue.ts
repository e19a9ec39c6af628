/**
 * Pods that fit on no node, waiting for a change. Pods that are alike wait together: one of them is retried when a
 * change may help (the filters say which), and only when the answer has changed are the others enqueued. So
 * a change costs one attempt per kind of pod, however many wait. Other changes can only alter the message: it is
 * refreshed when there is nothing better to do, and while it keeps changing only every few seconds.
 * State: about 2 KiB per kind of pod and one entry per waiting pod.
 */
import type { Priority } from '../../runtime/controller.ts'
import { FILTERS } from './filters/all.ts'
import { type Change, clusterEventOf } from './filters/filter.ts'
import type { Verdict } from './schedule.ts'
import type { Snapshot } from './snapshot.ts'
import type { PodInfo } from './state/pod-info.ts'

interface Kind {
  readonly signature: string
  /** The first of them is tried on behalf of all. */
  readonly members: Set<string>
  /** Any of them: to the filters they are the same. */
  example: PodInfo
  verdict: Verdict
  /** Whether to retry, and how soon. */
  due: 'no' | 'sometime' | 'now'
  /** Before then, only changes that may help cause another attempt, and no new event. */
  quietUntilMs: number
  /** How often the message has changed in a row. */
  streak: number
}

export interface Answer {
  message: string
  /** The message has changed, but too soon after the last time. */
  retryAfterMs?: number
}

const MIN_QUIET_MS = 1000
/** Also the interval at which the message is refreshed when that means checking every node. */
const MAX_QUIET_MS = 5000

export class UnschedulableQueue {
  readonly #kinds = new Map<string, Kind>()
  readonly #byPod = new Map<string, Kind>()
  readonly #byFilter = new Map<string, Set<Kind>>()
  readonly #enqueue: (key: string, priority: Priority) => void

  constructor(enqueue: (key: string, priority: Priority) => void) {
    this.#enqueue = enqueue
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0
  }

  /** The known answer for a pod that need not be tried: another is tried on its behalf, or a pod like it was just tried. */
  answerFor(pod: PodInfo, signature: string, nowMs: number): Answer | undefined {
    const own = this.#byPod.get(pod.key)
    if (own !== undefined && own.signature !== signature) this.leave(pod.key)
    const kind = this.#kinds.get(signature)
    if (kind === undefined) return undefined
    const { message } = kind.verdict
    const isTriedFor = own === kind && headOf(kind) !== pod.key
    const isTooSoon = kind.due === 'sometime' && own === kind && nowMs < kind.quietUntilMs
    if (kind.due !== 'no' && !isTriedFor && !isTooSoon) return undefined
    this.#join(kind, pod)
    return isTooSoon && !isTriedFor ? { message, retryAfterMs: kind.quietUntilMs - nowMs } : { message }
  }

  /** What nodes answered to pods like this before. */
  memoFor(signature: string): Verdict['memo'] {
    return this.#kinds.get(signature)?.verdict.memo
  }

  /** A pod was tried and fits nowhere. */
  enter(pod: PodInfo, signature: string, { verdict, nowMs }: { verdict: Verdict; nowMs: number }): Answer {
    const known = this.#kinds.get(signature)
    const kind = known ?? { signature, members: new Set<string>(), example: pod, verdict, due: 'no' as const, quietUntilMs: 0, streak: 0 }
    this.#kinds.set(signature, kind)
    this.#join(kind, pod)
    kind.example = pod
    const { message } = kind.verdict
    const isChanged = message !== verdict.message
    const isTooSoon = nowMs < kind.quietUntilMs
    this.#index(kind, isChanged && isTooSoon ? { ...verdict, message } : verdict)
    kind.due = isChanged && isTooSoon ? 'sometime' : 'no'
    if (isTooSoon) return isChanged ? { message, retryAfterMs: kind.quietUntilMs - nowMs } : { message }
    kind.streak = isChanged ? kind.streak + 1 : 0
    const quietMs = verdict.memo === undefined ? MAX_QUIET_MS : Math.min(MAX_QUIET_MS, MIN_QUIET_MS * 2 ** Math.min(kind.streak, 10))
    kind.quietUntilMs = nowMs + quietMs
    if (isChanged) for (const key of kind.members) if (key !== pod.key) this.#enqueue(key, 'normal')
    return { message: verdict.message }
  }

  /** The pod no longer waits. If it was placed, those like it may fit too. */
  leave(key: string, wasPlaced = false): void {
    const kind = this.#byPod.get(key)
    if (kind === undefined) return
    this.#byPod.delete(key)
    kind.members.delete(key)
    if (kind.members.size === 0) {
      this.#kinds.delete(kind.signature)
      this.#unindex(kind)
      return
    }
    if (wasPlaced) kind.due = 'now'
    if (kind.due !== 'no') this.#try(kind, kind.due)
  }

  happened(change: Change, snapshot: Snapshot): void {
    if (this.#kinds.size === 0) return
    const happening = clusterEventOf(change)
    for (const { name, listens, isHelpedBy } of FILTERS) {
      if (!listens.includes(happening)) continue
      for (const kind of this.#byFilter.get(name) ?? [])
        if (kind.due !== 'now' && isHelpedBy(change, kind.example, snapshot)) this.#try(kind, 'now')
    }
    for (const kind of this.#kinds.values()) if (kind.due === 'no' && isAffected(change, kind.example)) this.#try(kind, 'sometime')
  }

  #try(kind: Kind, due: 'now' | 'sometime'): void {
    kind.due = due
    this.#enqueue(headOf(kind), due === 'now' ? 'normal' : 'low')
  }

  #join(kind: Kind, { key }: PodInfo): void {
    if (this.#byPod.get(key) === kind) return
    kind.members.add(key)
    this.#byPod.set(key, kind)
  }

  #index(kind: Kind, verdict: Verdict): void {
    this.#unindex(kind)
    kind.verdict = verdict
    for (const name of verdict.rejectedBy) {
      const there = this.#byFilter.get(name)
      if (there === undefined) this.#byFilter.set(name, new Set([kind]))
      else there.add(kind)
    }
  }

  #unindex(kind: Kind): void {
    for (const name of kind.verdict.rejectedBy) this.#byFilter.get(name)?.delete(kind)
  }
}

function headOf({ members }: Kind): string {
  for (const key of members) return key
  return ''
}

/** Whether the change can alter the message. */
const isAffected = ({ kind }: Change, pod: PodInfo): boolean =>
  kind === 'node' || kind === 'pod' || kind === 'namespace' || pod.claims.length > 0

/** Equal for pods that every filter treats the same. A nomination belongs to one pod alone. */
export function signatureOf({ pod, uid, namespace, labels, priority, requests, ports, claims }: PodInfo): string {
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints, preemptionPolicy } = pod.spec ?? {}
  const promised = (pod.status?.nominatedNodeName ?? '') === '' ? '' : uid
  const wants = [nodeSelector, affinity, tolerations, topologySpreadConstraints, preemptionPolicy]
  return JSON.stringify([promised, namespace, labels, priority, [...requests], ports, claims, wants])
}
