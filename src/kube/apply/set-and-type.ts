/** Field sets evaluated against a type: which declared fields a set implies, and which parts a changed schema made obsolete. */
import { type FieldNode, type FieldSet, insertPath, recursiveDifference, union } from './field-set.ts'
import { type Atom, alternative, ListType, MapType } from './types.ts'

/**
 * The set with every declared field that it reaches into: `spec.replicas` then also has `spec`, so that a struct is removed
 * with the last field in it. Entries of maps are not declared and stay as they are.
 */
export function withDeclaredFields(set: FieldSet, atom: Atom | undefined): FieldSet {
  const out = new Map<string, FieldNode>()
  for (const [element, node] of set) {
    const isField = element.charCodeAt(0) === 102
    const field = isField ? atom?.map?.field(element.slice(2)) : undefined
    if (node.below === undefined) {
      out.set(element, node)
      continue
    }
    const inner = isField ? (field?.atom ?? atom?.map?.unknown) : element.startsWith('k:') ? atom?.list?.element : undefined
    out.set(element, { member: node.member || field !== undefined, below: withDeclaredFields(node.below, inner) as Map<string, FieldNode> })
  }
  return out
}

/**
 * Ownership inside what is now atomic becomes ownership of the whole (a schema changed from granular to atomic). The
 * other direction needs no change.
 */
export function reconcileWithType(set: FieldSet, atom: Atom): FieldSet {
  const atomic = new Map<string, FieldNode>()
  findAtomic({ member: false, below: set as Map<string, FieldNode> }, atom, { path: [], found: atomic })
  return atomic.size === 0 ? set : union(recursiveDifference(set, atomic), atomic)
}

/** `node` is what the set has at `path`. */
function findAtomic(node: FieldNode, atom: Atom, { path, found }: { path: string[]; found: Map<string, FieldNode> }): void {
  const type = alternative(atom)
  const isLeaf = node.member && node.below === undefined
  if (type instanceof MapType) {
    if (type.isDeduced) return
    if (type.atomic) {
      if (!isLeaf) insertPath(found, path)
      return
    }
  } else if (type instanceof ListType) {
    if (!type.associative) {
      if (!isLeaf) insertPath(found, path)
      return
    }
  } else return
  for (const [element, inner] of node.below ?? []) {
    const innerAtom = type instanceof ListType ? type.element : fieldAtom(type, element)
    if (innerAtom === undefined) continue
    path.push(element)
    findAtomic(inner, innerAtom, { path, found })
    path.pop()
  }
}

function fieldAtom(type: MapType, element: string): Atom | undefined {
  const field = element.charCodeAt(0) === 102 ? type.field(element.slice(2)) : undefined
  return field?.atom ?? type.unknown
}
