/**
 * Sets of field paths, as tries over path elements. A node records whether its own path is in the set (`member`) and holds
 * the longer paths (`below`); nodes with neither do not exist. Operations never change their arguments and share
 * what they did not change, so a caller may compare by identity first.
 */
import { compareElements } from './element.ts'

export interface FieldNode {
  member: boolean
  below: Map<string, FieldNode> | undefined
}

/** Ordered only when written out: see `sortedElements`. */
export type FieldSet = ReadonlyMap<string, FieldNode>

export const emptyFieldSet: FieldSet = new Map()

const isEmpty = (set: ReadonlyMap<string, FieldNode> | undefined): boolean => set === undefined || set.size === 0

const node = (member: boolean, below: ReadonlyMap<string, FieldNode> | undefined): FieldNode => ({
  member,
  below: isEmpty(below) ? undefined : (below as Map<string, FieldNode>),
})

/** A set from paths; parents are not members unless they are listed. */
export function fieldSetOf(...paths: readonly (readonly string[])[]): FieldSet {
  const set = new Map<string, FieldNode>()
  for (const path of paths) insertPath(set, path)
  return set
}

/** Adds one path to a set under construction. */
export function insertPath(set: Map<string, FieldNode>, path: readonly string[]): void {
  let level = set
  for (let i = 0; i < path.length; i++) {
    const element = path[i] ?? ''
    let next = level.get(element)
    if (next === undefined) {
      next = { member: false, below: undefined }
      level.set(element, next)
    }
    if (i === path.length - 1) next.member = true
    else {
      next.below ??= new Map()
      level = next.below
    }
  }
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0 || a === b) return a
  if (a.size === 0) return b
  let out: Map<string, FieldNode> | undefined
  for (const [element, right] of b) {
    const left = a.get(element)
    if (left === right) continue
    const merged = left === undefined ? right : unionNode(left, right)
    if (merged === left) continue
    out ??= new Map(a)
    out.set(element, merged)
  }
  return out ?? a
}

function unionNode(left: FieldNode, right: FieldNode): FieldNode {
  const below = left.below === undefined ? right.below : right.below === undefined ? left.below : union(left.below, right.below)
  const member = left.member || right.member
  return member === left.member && below === left.below ? left : node(member, below)
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const out = new Map<string, FieldNode>()
  const [few, many] = a.size <= b.size ? [a, b] : [b, a]
  for (const [element, left] of few) {
    const right = many.get(element)
    if (right === undefined) continue
    const member = left.member && right.member
    const below = left.below !== undefined && right.below !== undefined ? intersection(left.below, right.below) : undefined
    if (member || !isEmpty(below)) out.set(element, node(member, below))
  }
  return out
}

/** Paths of `a` that are not in `b`. A member of `b` takes away that path alone, not what lies below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, false)
}

/** Paths of `a` that are neither in `b` nor below a member of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true)
}

function subtract(a: FieldSet, b: FieldSet, recursive: boolean): FieldSet {
  if (a.size === 0 || b.size === 0) return a
  let out: Map<string, FieldNode> | undefined
  for (const [element, left] of a) {
    const right = b.get(element)
    if (right === undefined) continue
    const rest = subtractNode(left, right, recursive)
    if (rest === left) continue
    out ??= new Map(a)
    if (rest === undefined) out.delete(element)
    else out.set(element, rest)
  }
  return out ?? a
}

function subtractNode(left: FieldNode, right: FieldNode, recursive: boolean): FieldNode | undefined {
  if (recursive && right.member) return undefined
  const member = left.member && !right.member
  const below = left.below !== undefined && right.below !== undefined ? subtract(left.below, right.below, recursive) : left.below
  if (member === left.member && below === left.below) return left
  return member || !isEmpty(below) ? node(member, below) : undefined
}

/** Only the paths that have no longer path in the set. */
export function leaves(set: FieldSet): FieldSet {
  const out = new Map<string, FieldNode>()
  for (const [element, { member, below }] of set) out.set(element, node(member && below === undefined, below && leaves(below)))
  return out
}

export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let level: FieldSet | undefined = set
  for (let i = 0; i < path.length; i++) {
    const next: FieldNode | undefined = level?.get(path[i] ?? '')
    if (next === undefined) return false
    if (i === path.length - 1) return next.member
    level = next.below
  }
  return false
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (a.size !== b.size) return false
  for (const [element, left] of a) {
    const right = b.get(element)
    if (right === undefined || left.member !== right.member) return false
    if (left.below === right.below) continue
    if (left.below === undefined || right.below === undefined || !equalSets(left.below, right.below)) return false
  }
  return true
}

const OUTSIDE_ASCII = /[\ud800-\uffff]/

/** The elements of one level in the order of FieldsV1. */
export function sortedElements(set: FieldSet): string[] {
  const elements = [...set.keys()]
  if (elements.length < 2) return elements
  // Nearly always there are only field names, and then the engine's own order is the byte order.
  const simple = elements.every((element) => element.charCodeAt(0) === 102 && !OUTSIDE_ASCII.test(element))
  return simple ? elements.sort() : elements.sort(compareElements)
}

/** Every path in the set: the members of a level, then what is below each. */
export function pathsOf(set: FieldSet): string[][] {
  const out: string[][] = []
  collect(set, [], out)
  return out
}

function collect(set: FieldSet, prefix: readonly string[], out: string[][]): void {
  const elements = sortedElements(set)
  for (const element of elements) if (set.get(element)?.member === true) out.push([...prefix, element])
  for (const element of elements) {
    const below = set.get(element)?.below
    if (below !== undefined) collect(below, [...prefix, element], out)
  }
}
