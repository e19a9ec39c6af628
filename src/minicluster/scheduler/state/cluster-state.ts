/**
 * What is where: nodes, the pods on them, and the pods that this process has decided to put there but that no cache shows
 * yet. Fed by the caches, object by object, at a cost that does not grow with the cluster; a repeated update is a no-op.
 * State: 2 KiB per node, 1 KiB and a few map entries per pod on a node, nothing for waiting pods.
 */

import type { Node, Pod } from '../../../kinds/kubernetes/types.ts'
import { objectKey } from '../../../kube/object-reference.ts'
import { LabelIndex, type PlacedPod } from './label-index.ts'
import { inOrder } from './node-order.ts'
import { NodeState } from './node-state.ts'
import { isAlike, isSameOnNode, type PodInfo, podInfo } from './pod-info.ts'
import { type Place, type PodSetQuery, PodSets } from './pod-sets.ts'
import { StandingTerms } from './standing-terms.ts'

/** A change that may matter to waiting pods. */
export type Change =
  | { kind: 'node'; old: Node | undefined; now: Node | undefined }
  | { kind: 'pod'; old: PodInfo | undefined; now: PodInfo | undefined }

/** A decision of this process: what it reserves until the caches show it. */
export interface Reservation {
  readonly info: PodInfo
  readonly node: string
  /** Whether the binding was sent; otherwise the pod waits for its volumes. */
  readonly isBinding: boolean
  /** Volumes promised to claims, and nodes selected for claims that will be provisioned. */
  readonly volumes: ReadonlyMap<string, string>
  readonly claims: ReadonlyMap<string, string>
}

/** The weight of an existing pod's required affinity when nodes are compared. */
const HARD_AFFINITY_WEIGHT = 1

export class ClusterState {
  readonly antiTerms = new StandingTerms()
  readonly scoredTerms = new StandingTerms()
  readonly #nodes = new Map<string, NodeState>()
  readonly #placed = new Map<string, PlacedPod>()
  readonly #byNamespace = new Map<string, Map<string, PlacedPod>>()
  readonly #nominated = new Map<string, PlacedPod>()
  readonly #reserved = new Map<string, Reservation>()
  readonly #claimUsers = new Map<string, number>()
  readonly #promisedVolumes = new Map<string, string>()
  readonly #promisedClaims = new Map<string, string>()
  readonly #byLabel = new LabelIndex(() => this.#placed.values())
  readonly #sets = new PodSets((place) => this.#placedIn(place))
  #order: NodeState[] | undefined
  #version = 0

  /** Nodes that exist, in the order they are checked. */
  get nodes(): readonly NodeState[] {
    this.#order ??= inOrder([...this.#nodes.values()].filter(({ node }) => node !== undefined))
    return this.#order
  }

  node(name: string): NodeState | undefined {
    const found = this.#nodes.get(name)
    return found?.node === undefined ? undefined : found
  }

  countsOf(query: PodSetQuery): ReadonlyMap<string, number> {
    return this.#sets.counts(query)
  }

  isClaimUsed(namespace: string, claim: string): boolean {
    return this.#claimUsers.has(objectKey(namespace, claim))
  }

  /** The claim that a volume is promised to by a decision in flight. */
  promisedTo(volume: string): string | undefined {
    return this.#promisedVolumes.get(volume)
  }

  /** The node selected for a claim by a decision in flight. */
  promisedNode(claim: string): string | undefined {
    return this.#promisedClaims.get(claim)
  }

  reservation(key: string): Reservation | undefined {
    return this.#reserved.get(key)
  }

  setNode(name: string, node: Node | undefined): Change | undefined {
    const known = this.#nodes.get(name)
    const old = known?.node
    if (old === node) return undefined
    const state = known ?? new NodeState(name)
    state.set(node)
    this.#nodes.set(name, state)
    this.#order = undefined
    this.#touch(state)
    this.#drop(state)
    return { kind: 'node', old, now: node }
  }

  /** Pods without a node count only for where they are nominated; finished ones no longer count. */
  setPod(key: string, pod: Pod | undefined): Change | undefined {
    const old = this.#placed.get(key)
    const node = pod?.spec?.nodeName ?? ''
    const counts = pod !== undefined && !isFinished(pod)
    // Decided here and not yet visible: the pod keeps its place until the decision is settled.
    if (counts && node === '' && this.#reserved.has(key) && old?.info.uid === pod.metadata.uid) return undefined
    if (counts && node !== '' && old?.node === node && this.#keep(old, pod)) return undefined
    const nominated = this.#nominate(key, counts && node === '' ? pod : undefined)
    const now = counts && node !== '' ? { info: podInfo(pod), node } : undefined
    if (old === undefined && now === undefined) return nominated
    this.#dropPromises(key)
    if (old !== undefined) this.#unplace(old)
    if (now !== undefined) this.#place(now)
    return { kind: 'pod', old: old?.info, now: now?.info }
  }

  /** Whether nothing the scheduler cares about changed for the pod, including its node. */
  #keep({ info }: PlacedPod, pod: Pod): boolean {
    const isReserved = this.#reserved.has(info.key)
    if ((isReserved || !isAlike(info.pod, pod)) && !isSameOnNode(info, podInfo(pod))) return false
    info.pod = pod
    if (isReserved) this.#dropPromises(info.key)
    return true
  }

  /** Reserves a place for a pod before it is visible there. */
  reserve(reservation: Reservation): void {
    const { info, node } = reservation
    this.release(info.key)
    this.#nominate(info.key, undefined)
    this.#place({ info, node })
    this.#reserved.set(info.key, reservation)
    for (const [volume, claim] of reservation.volumes) this.#promisedVolumes.set(volume, claim)
    for (const [claim, name] of reservation.claims) this.#promisedClaims.set(claim, name)
  }

  /** Releases a reserved place; true when there was one. */
  release(key: string): boolean {
    const placed = this.#placed.get(key)
    if (placed === undefined || !this.#dropPromises(key)) return false
    this.#unplace(placed)
    this.#nominate(key, placed.info.pod)
    return true
  }

  namespacesChanged(): void {
    this.#sets.namespacesChanged()
  }

  #dropPromises(key: string): boolean {
    const reservation = this.#reserved.get(key)
    if (reservation === undefined) return false
    this.#reserved.delete(key)
    for (const volume of reservation.volumes.keys()) this.#promisedVolumes.delete(volume)
    for (const claim of reservation.claims.keys()) this.#promisedClaims.delete(claim)
    return true
  }

  #nominate(key: string, pod: Pod | undefined): Change | undefined {
    const old = this.#nominated.get(key)
    const name = pod?.status?.nominatedNodeName ?? ''
    if (old === undefined && name === '') return undefined
    if (old !== undefined && pod !== undefined && old.node === name && isAlike(old.info.pod, pod)) {
      old.info.pod = pod
      return undefined
    }
    if (old !== undefined) {
      this.#nominated.delete(key)
      const state = this.#stateOf(old.node)
      state.nominated.delete(key)
      this.#touch(state)
      this.#drop(state)
    }
    if (pod === undefined || name === '') return { kind: 'pod', old: old?.info, now: undefined }
    const info = podInfo(pod)
    this.#nominated.set(key, { info, node: name })
    const state = this.#stateOf(name)
    state.nominated.set(key, info)
    this.#touch(state)
    return { kind: 'pod', old: old?.info, now: info }
  }

  #place(placed: PlacedPod): void {
    const { info, node } = placed
    this.#placed.set(info.key, placed)
    const there = this.#byNamespace.get(info.namespace)
    if (there === undefined) this.#byNamespace.set(info.namespace, new Map([[info.key, placed]]))
    else there.set(info.key, placed)
    this.#byLabel.add(placed)
    const state = this.#stateOf(node)
    state.add(info)
    this.#count(placed, 1)
    this.#touch(state)
  }

  #unplace(placed: PlacedPod): void {
    const { info, node } = placed
    this.#placed.delete(info.key)
    const there = this.#byNamespace.get(info.namespace)
    there?.delete(info.key)
    if (there?.size === 0) this.#byNamespace.delete(info.namespace)
    this.#byLabel.remove(placed)
    const state = this.#stateOf(node)
    state.remove(info.key)
    this.#count(placed, -1)
    this.#touch(state)
    this.#drop(state)
  }

  /** Forgets names that nothing refers to any more. */
  #drop({ name, node, pods, nominated }: NodeState): void {
    if (node === undefined && pods.size === 0 && nominated.size === 0) this.#nodes.delete(name)
  }

  /** Updates every aggregate kept over many pods. */
  #count({ info, node }: PlacedPod, sign: 1 | -1): void {
    const at = { node, sign }
    const { affinity, antiAffinity, preferred, preferredAnti } = info.terms
    for (const term of antiAffinity) this.antiTerms.change(term, 0, at)
    for (const term of affinity) this.scoredTerms.change(term, HARD_AFFINITY_WEIGHT, at)
    for (const { term, weight } of preferred) this.scoredTerms.change(term, weight, at)
    for (const { term, weight } of preferredAnti) this.scoredTerms.change(term, -weight, at)
    for (const { name } of info.claims) {
      const claim = objectKey(info.namespace, name)
      const users = (this.#claimUsers.get(claim) ?? 0) + sign
      if (users > 0) this.#claimUsers.set(claim, users)
      else this.#claimUsers.delete(claim)
    }
    this.#sets.change(info, node, sign)
  }

  #stateOf(name: string): NodeState {
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const state = new NodeState(name)
    this.#nodes.set(name, state)
    return state
  }

  #touch(state: NodeState): void {
    this.#version++
    state.version = this.#version
  }

  #placedIn({ namespace, label }: Place): Iterable<PlacedPod> {
    if (namespace === undefined) return this.#placed.values()
    if (label !== undefined) return this.#byLabel.find(namespace, label.key, label.value)
    return this.#byNamespace.get(namespace)?.values() ?? []
  }
}

const isFinished = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
