/**
 * The set of every leaf and list item of a value: what an applier claims by applying it. Fields of structs are claimed
 * through their leaves, entries of maps and items of lists also by themselves.
 */

import { fieldElement } from './element.ts'
import type { FieldSet } from './field-set.ts'
import { itemElement } from './list-item.ts'
import { MarkedSet, SetBuilder } from './set-builder.ts'
import { type Atom, alternative, deduceKind, ListType, listOf, MapType, mapOf } from './types.ts'

/** The value must have been validated. */
export function toFieldSet(value: unknown, atom: Atom): FieldSet {
  const walk = new Collector()
  walk.visit(value, atom)
  return walk.marked.set
}

class Collector {
  readonly marked = new MarkedSet()
  readonly #at = new SetBuilder(this.marked)

  visit(value: unknown, atom: Atom): void {
    const type = alternative(atom, deduceKind(atom, value))
    if (type instanceof MapType && !type.atomic) this.#visitMap(value, type)
    else if (type instanceof ListType && type.associative) this.#visitList(value, type)
    else this.#at.mark(this.marked)
  }

  #visitMap(value: unknown, type: MapType): void {
    const map = mapOf(value) ?? {}
    for (const key of Object.keys(map)) {
      const item = map[key]
      if (item === undefined) continue
      const field = type.field(key)
      const atom = field?.atom ?? type.unknown
      this.#at.enter(field?.element ?? fieldElement(key))
      if (atom !== undefined) this.visit(item, atom)
      const inner = mapOf(item)
      if (field === undefined || item === null || (inner !== undefined && Object.keys(inner).length === 0)) this.#at.mark(this.marked)
      this.#at.leave()
    }
  }

  #visitList(value: unknown, type: ListType): void {
    const list = listOf(value) ?? []
    const elements = list.map((item) => itemElement(type, item))
    const counts = new Map<string, number>()
    for (const element of elements) counts.set(element, (counts.get(element) ?? 0) + 1)
    for (let i = 0; i < list.length; i++) {
      const element = elements[i] ?? ''
      this.#at.enter(element)
      // Items that share a key are owned as one thing.
      if (counts.get(element) === 1) this.visit(list[i], type.element)
      this.#at.mark(this.marked)
      this.#at.leave()
    }
  }
}
