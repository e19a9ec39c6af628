/**
 * FieldsV1, the form in which field sets travel: nested objects keyed by path elements, where `{}` is a member without
 * anything below it and a `.` key marks a member that has. Reading accepts any order and unknown element kinds (which
 * are dropped), writing is canonical.
 */
import { isJsonObject } from '../../base/json.ts'
import { parseElement } from './element.ts'
import { type FieldNode, type FieldSet, sortedElements } from './field-set.ts'
import { ShapeError } from './shape-error.ts'

const MAX_DEPTH = 1000

/** Throws ShapeError on anything that is not a set. `trusted` skips the check of elements that we wrote. */
export function decodeFieldsV1(fields: unknown, trusted = false): FieldSet {
  if (fields === undefined || fields === null) return new Map()
  return decodeLevel(fields, trusted, 0).below ?? new Map()
}

function decodeLevel(fields: unknown, trusted: boolean, depth: number): FieldNode {
  if (depth > MAX_DEPTH) throw new ShapeError('exceeded max depth')
  if (fields === null) return { member: true, below: undefined }
  if (!isJsonObject(fields)) throw new ShapeError('expect { or n in managed fields')
  let member = false
  let below: Map<string, FieldNode> | undefined
  for (const key of Object.keys(fields)) {
    if (key === '.') {
      member = true
      continue
    }
    const element = trusted ? key : parseElement(key)
    if (element === undefined) continue
    below ??= new Map()
    addTo(below, element, decodeLevel(fields[key], trusted, depth + 1))
  }
  return { member: member || below === undefined, below }
}

/** Two spellings of one element may occur: the children are the last one's, membership is from either. */
function addTo(level: Map<string, FieldNode>, element: string, found: FieldNode): void {
  const known = level.get(element)
  if (known === undefined) level.set(element, found)
  else level.set(element, { member: known.member || found.member, below: found.below ?? known.below })
}

export function encodeFieldsV1(set: FieldSet): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  encodeInto(out, set)
  return out
}

function encodeInto(out: Record<string, unknown>, set: FieldSet): void {
  for (const element of sortedElements(set)) {
    const node = set.get(element)
    const inner: Record<string, unknown> = {}
    if (node?.below !== undefined) {
      if (node.member) inner['.'] = {}
      encodeInto(inner, node.below)
    }
    out[element] = inner
  }
}
