/**
 * Collects field sets while walking a value: the walk enters and leaves elements, and marks its current position in
 * one of several sets. Nodes are created when something below them is marked, and each at most once per visit.
 */
import type { FieldNode } from './field-set.ts'

export class SetBuilder {
  readonly #path: string[] = []
  readonly #sets: readonly MarkedSet[]

  constructor(...sets: readonly MarkedSet[]) {
    this.#sets = sets
  }

  get depth(): number {
    return this.#path.length
  }

  enter(element: string): void {
    this.#path.push(element)
  }

  leave(): void {
    this.#path.pop()
    for (const set of this.#sets) set.shorten(this.#path.length)
  }

  /** The whole object has no path, so marking it does nothing. */
  mark(set: MarkedSet): void {
    if (this.#path.length > 0) set.mark(this.#path)
  }
}

export class MarkedSet {
  readonly set = new Map<string, FieldNode>()
  /** The nodes along the builder's path, as far as they have been made. */
  readonly #nodes: FieldNode[] = []

  mark(path: readonly string[]): void {
    const nodes = this.#nodes
    for (let i = nodes.length; i < path.length; i++) {
      const level = i === 0 ? this.set : belowOf(nodes[i - 1])
      const element = path[i] ?? ''
      let next = level.get(element)
      if (next === undefined) {
        next = { member: false, below: undefined }
        level.set(element, next)
      }
      nodes.push(next)
    }
    const last = nodes[path.length - 1]
    if (last !== undefined) last.member = true
  }

  shorten(length: number): void {
    if (this.#nodes.length > length) this.#nodes.length = length
  }
}

function belowOf(node: FieldNode | undefined): Map<string, FieldNode> {
  if (node === undefined) return new Map()
  node.below ??= new Map()
  return node.below
}
