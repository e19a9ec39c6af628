/**
 * One pod against all filters: prepared once, then checked on node after node. Pods that are nominated to a node and
 * have at least the same priority are taken into account: their place is not taken from them.
 */
import { FILTERS } from './filters/all.ts'
import { isRefusal, type Prepared, type Rejection } from './filters/filter.ts'
import type { Snapshot } from './snapshot.ts'
import type { NodeState } from './state/node-state.ts'
import type { PodInfo } from './state/pod-info.ts'

export class Fitting {
  /** No node will do. */
  readonly refused: Rejection | undefined
  /** The only possible nodes, when the pod names them. */
  readonly only: ReadonlySet<string> | undefined
  /** Some filter's answer depends on more than the node being checked. */
  readonly isWide: boolean
  /** Nodes checked so far. */
  asked = 0
  readonly #prepared: Prepared[] = []
  readonly #pod: PodInfo

  constructor(pod: PodInfo, snapshot: Snapshot) {
    this.#pod = pod
    let only: ReadonlySet<string> | undefined
    for (const filter of FILTERS) {
      const prepared = filter.prepare(pod, snapshot)
      if (prepared === undefined) continue
      if (isRefusal(prepared)) {
        this.refused = prepared.refused
        break
      }
      only ??= prepared.only
      this.#prepared.push(prepared)
    }
    this.only = only
    this.isWide = this.#prepared.some(({ isWide }) => isWide === true)
  }

  check(node: NodeState): Rejection | undefined {
    this.asked++
    if (node.nominated.size === 0) return this.#checkAll(node)
    const rivals = [...node.nominated.values()].filter(({ uid, priority }) => uid !== this.#pod.uid && priority >= this.#pod.priority)
    if (rivals.length === 0) return this.#checkAll(node)
    // With them, because they will come; and without them, because they may not: nothing may depend on them.
    const crowded = node.copy()
    for (const rival of rivals) this.simulate(rival, crowded, 1)
    const rejection = this.#checkAll(crowded)
    for (const rival of rivals) this.simulate(rival, crowded, -1)
    return rejection ?? this.#checkAll(node)
  }

  /** Puts a pod on a copied node or removes it, and lets all filters know. To be undone by the opposite. */
  simulate(other: PodInfo, copied: NodeState, sign: 1 | -1): void {
    if (sign === 1) copied.add(other)
    else copied.remove(other.key)
    for (const prepared of this.#prepared) prepared.simulate?.(other, copied, sign)
  }

  #checkAll(node: NodeState): Rejection | undefined {
    for (const prepared of this.#prepared) {
      const rejection = prepared.check(node)
      if (rejection !== undefined) return rejection
    }
    return undefined
  }
}
