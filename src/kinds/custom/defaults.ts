/** Structural defaulting: absent fields, and `null` where null is not allowed, get the schema's default; idempotent. */
import { deepClone, setOwn } from '../../base/json.ts'
import { childNode, type Node } from './node.ts'

export function applyStructuralDefaults(value: unknown, node: Node | undefined): void {
  if (node === undefined || typeof value !== 'object' || value === null || !node.defaultsBelow) return
  if (Array.isArray(value)) {
    defaultItems(value, node.items)
    return
  }
  const object = value as Record<string, unknown>
  for (const [key, child] of node.defaulted) {
    if (!Object.hasOwn(object, key) || (object[key] === null && !child.nullable)) setOwn(object, key, deepClone(child.default))
  }
  for (const key of Object.keys(object)) {
    const child = childNode(node, key)
    if (child === undefined) continue
    if (object[key] === null && !child.nullable && child.default !== undefined) setOwn(object, key, deepClone(child.default))
    applyStructuralDefaults(object[key], child)
  }
}

function defaultItems(list: unknown[], items: Node | undefined): void {
  if (items === undefined) return
  for (let i = 0; i < list.length; i++) {
    if (list[i] === null && !items.nullable && items.default !== undefined) list[i] = deepClone(items.default)
    applyStructuralDefaults(list[i], items)
  }
}
