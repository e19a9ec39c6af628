/**
 * Pruning as the API server does it for custom resources: fields that the schema does not name are removed (inside
 * `x-kubernetes-preserve-unknown-fields` only below named fields), and so is `null` where it is not allowed.
 * apiVersion, kind and metadata of the root and of embedded resources are left to object-meta.ts.
 */
import { isJsonObject } from '../../base/json.ts'
import { childNode, type Node } from './node.ts'

export const isMetaField = (key: string): boolean => key === 'apiVersion' || key === 'kind' || key === 'metadata'

/** Removes unknown fields in place; returns their paths, sorted (`spec.list[0].y`). */
export function pruneUnknown(object: unknown, root: Node, isResourceRoot: boolean): string[] {
  const pass: Pass = { path: [], unknown: [] }
  prune(object, isResourceRoot && !root.embedded ? { ...root, embedded: true } : root, pass)
  return pass.unknown.sort()
}

interface Pass {
  path: (string | number)[]
  unknown: string[]
}

function prune(value: unknown, node: Node | undefined, pass: Pass): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    pruneList(value, node, pass)
    return
  }
  const object = value as Record<string, unknown>
  for (const key of Object.keys(object)) {
    if (node?.embedded && isMetaField(key)) continue
    const known = node?.properties?.get(key) ?? node?.additional
    if (known !== undefined) {
      pass.path.push(key)
      prune(object[key], typeof known === 'object' ? known : undefined, pass)
      pass.path.pop()
    } else if (!node?.preserve) {
      if (!isMetaField(key) || pass.path.length > 0) recordUnknown(pass, key)
      delete object[key]
    }
  }
}

/** A list below a preserved node stays preserved: its items are only pruned below named fields. */
function pruneList(list: unknown[], node: Node | undefined, pass: Pass): void {
  if (node?.preserve && node.items === undefined) return
  const items = node?.preserve && node.items !== undefined ? { ...node.items, preserve: true } : node?.items
  for (let i = 0; i < list.length; i++) {
    pass.path.push(i)
    prune(list[i], items, pass)
    pass.path.pop()
  }
}

function recordUnknown(pass: Pass, key: string): void {
  let path = ''
  for (const segment of pass.path) path += typeof segment === 'number' ? `[${segment}]` : path === '' ? segment : `.${segment}`
  pass.unknown.push(path === '' ? key : `${path}.${key}`)
}

/** Removes `null` map values that are neither nullable nor replaced by a default. */
export function pruneNulls(value: unknown, node: Node | undefined): void {
  if (node === undefined) return
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const item of value) pruneNulls(item, node.items)
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const child = childNode(node, key)
      if (child === undefined) continue
      const item = value[key]
      if (item === null) {
        if (!child.nullable && child.default === undefined) delete value[key]
      } else if (typeof item === 'object') pruneNulls(item, child)
    }
  }
}
