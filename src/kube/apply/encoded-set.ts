/** Queries on a FieldsV1 document that we wrote, answered without decoding it: most writes need no more. */
import { isJsonObject } from '../../base/json.ts'
import type { FieldSet } from './field-set.ts'

type Encoded = Readonly<Record<string, unknown>>

/** What the document has below an element; null when it has nothing there. */
function belowElement(encoded: Encoded, element: string): Encoded | null {
  const inner = Object.hasOwn(encoded, element) ? encoded[element] : undefined
  return isJsonObject(inner) ? inner : null
}

function isMember(inner: Encoded): boolean {
  if (Object.hasOwn(inner, '.')) return true
  for (const _key in inner) return false
  return true
}

/** Whether the document has any path of the set. */
export function overlaps(encoded: Encoded, set: FieldSet): boolean {
  for (const [element, node] of set) {
    const inner = belowElement(encoded, element)
    if (inner === null) continue
    if (node.member && isMember(inner)) return true
    if (node.below !== undefined && overlaps(inner, node.below)) return true
  }
  return false
}

/** Whether the document has every path of the set. */
export function covers(encoded: Encoded, set: FieldSet): boolean {
  for (const [element, node] of set) {
    const inner = belowElement(encoded, element)
    if (inner === null || (node.member && !isMember(inner))) return false
    if (node.below !== undefined && !covers(inner, node.below)) return false
  }
  return true
}
