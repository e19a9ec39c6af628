/**
 * Merges an applied value into a live one: what is applied wins, leaf by leaf; nothing is removed. Items of associative
 * lists take the order of the applied list where it has one, and stay where they were otherwise.
 */
import { setOwn } from '../../base/json.ts'
import { printElement } from './element.ts'
import { itemElement } from './list-item.ts'
import { ShapeError } from './shape-error.ts'
import { type Atom, alternative, deduceKind, ListType, listOf, MapType, mapOf } from './types.ts'

/** Absent is undefined, also in the result. The result shares subtrees with both arguments. */
export function mergeTyped(live: unknown, applied: unknown, atom: Atom): unknown {
  if (applied === undefined) return live
  // If the two values have different kinds, the applied one decides the result; null decides nothing.
  const type = alternative(atom, deduceKind(atom, applied))
  if (type instanceof MapType && !type.atomic) return mergeMaps(live, applied, type)
  if (type instanceof ListType && type.associative) return mergeLists(live, applied, type)
  return applied
}

function mergeMaps(live: unknown, applied: unknown, type: MapType): unknown {
  const left = mapOf(live)
  const right = mapOf(applied)
  const leftEmpty = left === undefined || Object.keys(left).length === 0
  // Two empty containers are a leaf, so that null and {} stay what they are.
  if (leftEmpty && (right === undefined || Object.keys(right).length === 0)) return applied
  const out: Record<string, unknown> = {}
  if (left !== undefined) for (const key of Object.keys(left)) if (left[key] !== undefined) setOwn(out, key, left[key])
  if (right !== undefined) {
    for (const key of Object.keys(right)) {
      if (right[key] === undefined) continue
      const atom = type.field(key)?.atom ?? type.unknown
      const before = Object.hasOwn(out, key) ? out[key] : undefined
      setOwn(out, key, atom === undefined ? right[key] : mergeTyped(before, right[key], atom))
    }
  }
  return out
}

interface Items {
  readonly elements: readonly string[]
  /** null for a key that several items share: such items are not merged into. */
  readonly byElement: ReadonlyMap<string, unknown>
}

function indexItems(list: readonly unknown[], type: ListType, allowDuplicates: boolean): Items {
  const byElement = new Map<string, unknown>()
  const elements: string[] = []
  for (let i = 0; i < list.length; i++) {
    const element = elementAt(list, i, type)
    if (!byElement.has(element)) byElement.set(element, list[i])
    else if (allowDuplicates) byElement.set(element, null)
    else throw new ShapeError([`duplicate entries for key ${printElement(element)}`])
    elements.push(element)
  }
  return { elements, byElement }
}

function elementAt(list: readonly unknown[], i: number, type: ListType): string {
  try {
    return itemElement(type, list[i])
  } catch (error) {
    if (error instanceof ShapeError) throw new ShapeError([`element ${i}: ${error.message}`])
    throw error
  }
}

function mergeLists(live: unknown, applied: unknown, type: ListType): unknown {
  const leftList = listOf(live) ?? []
  const rightList = listOf(applied) ?? []
  if (leftList.length === 0 && rightList.length === 0) return applied
  const right = indexItems(rightList, type, false)
  const left = indexItems(leftList, type, true)
  const shared = right.elements.filter((element) => left.byElement.has(element))
  const out: unknown[] = []
  const merged = new Set<string>()
  const take = (element: string): void => {
    merged.add(element)
    out.push(mergeTyped(left.byElement.get(element), right.byElement.get(element), type.element))
    if (shared[0] === element) shared.shift()
  }
  let l = 0
  let r = 0
  while (l < left.elements.length || r < right.elements.length) {
    const leftElement = left.elements[l]
    const rightElement = right.elements[r]
    if (leftElement !== undefined && rightElement !== undefined) {
      if (leftElement === rightElement) {
        take(leftElement)
        l++
        r++
        continue
      }
      if (right.byElement.has(leftElement) && shared[0] !== undefined && shared[0] !== leftElement) {
        l++
        continue
      }
    }
    if (leftElement !== undefined) {
      if (!right.byElement.has(leftElement)) {
        out.push(leftList[l])
        l++
        continue
      }
      if (merged.has(leftElement)) l++
    }
    if (rightElement !== undefined) {
      take(rightElement)
      r++
    }
  }
  return out
}
