/**
 * What changed between two values of one type, as three sets: paths that were added, that were removed, and leaves whose
 * value differs. An added or removed container is in the set together with its contents. Subtrees that are the same object
 * in memory are not walked.
 */
import { deepEqual } from '../../base/json.ts'
import { fieldElement } from './element.ts'
import type { FieldSet } from './field-set.ts'
import { itemElement } from './list-item.ts'
import { MarkedSet, SetBuilder } from './set-builder.ts'
import { ShapeError } from './shape-error.ts'
import { type Atom, alternative, deduceKind, hasAlternatives, ListType, listOf, MapType, mapOf, type Scalar } from './types.ts'
import { scalarError } from './validate.ts'

export interface Comparison {
  readonly added: FieldSet
  readonly removed: FieldSet
  readonly modified: FieldSet
}

const MAX_DEPTH = 1000

/** Absent is undefined. Throws ShapeError when a value cannot be of its type. */
export function compareTyped(left: unknown, right: unknown, atom: Atom): Comparison {
  const walk = new Comparer()
  walk.compare(left, right, atom)
  return { added: walk.added.set, removed: walk.removed.set, modified: walk.modified.set }
}

class Comparer {
  readonly added = new MarkedSet()
  readonly removed = new MarkedSet()
  readonly modified = new MarkedSet()
  readonly #at = new SetBuilder(this.added, this.removed, this.modified)

  compare(left: unknown, right: unknown, atom: Atom): void {
    if (left === right) return
    if (this.#at.depth > MAX_DEPTH) throw new ShapeError('exceeded max depth')
    if (this.#compareKinds(left, right, atom)) return
    if (left === undefined) this.#at.mark(this.added)
    else if (right === undefined) this.#at.mark(this.removed)
  }

  /** True when the value counts as one leaf. */
  #compareKinds(left: unknown, right: unknown, atom: Atom): boolean {
    const leftKind = deduceKind(atom, left)
    const rightKind = deduceKind(atom, right)
    if (right === undefined) return this.#compareAs(alternative(atom, leftKind), left, right)
    if (left !== undefined && leftKind !== rightKind && hasAlternatives(atom)) this.#compareAs(alternative(atom, leftKind), left, right)
    return this.#compareAs(alternative(atom, rightKind), left, right)
  }

  #compareAs(type: MapType | ListType | Scalar, left: unknown, right: unknown): boolean {
    if (type instanceof MapType) return this.#compareMaps(left, right, type)
    if (type instanceof ListType) return this.#compareLists(left, right, type)
    if (typeof left === 'object' && typeof right === 'object') {
      const leftError = scalarError(type, left, 'lhs: ')
      const rightError = scalarError(type, right, 'rhs: ')
      if (leftError !== undefined && rightError !== undefined) throw new ShapeError([leftError, rightError])
    }
    return this.#compareLeaf(left, right)
  }

  #compareLeaf(left: unknown, right: unknown): true {
    if (left === undefined) this.#at.mark(this.added)
    else if (right === undefined) this.#at.mark(this.removed)
    else if (!deepEqual(left, right)) this.#at.mark(this.modified)
    return true
  }

  #compareMaps(leftValue: unknown, rightValue: unknown, type: MapType): boolean {
    const left = mapOf(leftValue)
    const right = mapOf(rightValue)
    if (type.atomic || (isEmptyMap(left) && isEmptyMap(right))) return this.#compareLeaf(leftValue, rightValue)
    if (right !== undefined) {
      for (const key of Object.keys(right)) {
        const before = left !== undefined && Object.hasOwn(left, key) ? left[key] : undefined
        if (before === right[key] || (isNothing(before) && isNothing(right[key]) && type.isStruct && left !== undefined)) continue
        this.compare(before, right[key], this.#enterField(type, key))
        this.#at.leave()
      }
    }
    if (left !== undefined) {
      for (const key of Object.keys(left)) {
        if (left[key] === undefined || (right !== undefined && Object.hasOwn(right, key))) continue
        if (left[key] === null && type.isStruct && right !== undefined) continue
        this.compare(left[key], undefined, this.#enterField(type, key))
        this.#at.leave()
      }
    }
    return false
  }

  #enterField(type: MapType, key: string): Atom {
    const field = type.field(key)
    const atom = field?.atom ?? type.unknown
    if (atom === undefined) throw new ShapeError(`.${key}: field not declared in schema`)
    this.#at.enter(field?.element ?? fieldElement(key))
    return atom
  }

  #compareLists(leftValue: unknown, rightValue: unknown, type: ListType): boolean {
    const left = listOf(leftValue) ?? []
    const right = listOf(rightValue) ?? []
    if (!type.associative || (left.length === 0 && right.length === 0)) return this.#compareLeaf(leftValue, rightValue)
    const leftItems = itemsByElement(left, type)
    const rightItems = itemsByElement(right, type)
    for (const [element, items] of leftItems) {
      this.#at.enter(element)
      this.#compareItems(items, rightItems.get(element) ?? [], type.element)
      this.#at.leave()
    }
    for (const [element, items] of rightItems) {
      if (leftItems.has(element)) continue
      this.#at.enter(element)
      this.#compareItems([], items, type.element)
      this.#at.leave()
    }
    return false
  }

  /** Items that share a key are one atomic value; when they begin or cease to share it, that value is added or removed. */
  #compareItems(left: readonly unknown[], right: readonly unknown[], atom: Atom): void {
    if (left.length <= 1 && right.length <= 1) this.compare(left[0], right[0], atom)
    else if (left.length >= 2 && right.length >= 2) {
      if (!deepEqual(left, right)) this.#at.mark(this.modified)
    } else if (left.length >= 2) {
      if (right.length > 0) this.compare(undefined, right[0], atom)
      this.#at.mark(this.removed)
    } else {
      if (left.length > 0) this.compare(left[0], undefined, atom)
      this.#at.mark(this.added)
    }
  }
}

const isNothing = (value: unknown): boolean => value === undefined || value === null

function isEmptyMap(map: Record<string, unknown> | undefined): boolean {
  if (map === undefined) return true
  for (const _key in map) return false
  return true
}

function itemsByElement(list: readonly unknown[], type: ListType): Map<string, unknown[]> {
  const items = new Map<string, unknown[]>()
  for (const item of list) {
    const element = itemElement(type, item)
    const same = items.get(element)
    if (same === undefined) items.set(element, [item])
    else same.push(item)
  }
  return items
}
