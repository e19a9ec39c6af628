/** The merge patch that turns one value into another: only what differs, `null` for what is to be removed. */
import { deepEqual, isJsonObject, setOwn } from '../../base/json.ts'

/** Undefined when nothing differs. Fields that `to` does not contain stay, unless they are present as undefined. */
export function fieldDifference(from: unknown, to: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {}
  const before = isJsonObject(from) ? from : {}
  for (const [key, wanted] of Object.entries(to)) {
    const current = Object.hasOwn(before, key) ? before[key] : undefined
    const change = wholeDifference(current, wanted)
    if (change !== SAME) setOwn(patch, key, change)
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

const SAME = Symbol('same')

/** Below the first level everything belongs to the writer: what is not wanted is removed. */
function wholeDifference(current: unknown, wanted: unknown): unknown {
  if (wanted === undefined || wanted === null) return current === undefined || current === null ? SAME : null
  if (deepEqual(current, wanted)) return SAME
  if (!isJsonObject(current) || !isJsonObject(wanted)) return wanted
  const patch: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(current), ...Object.keys(wanted)])) {
    const change = wholeDifference(current[key], Object.hasOwn(wanted, key) ? wanted[key] : undefined)
    if (change !== SAME) setOwn(patch, key, change)
  }
  return Object.keys(patch).length === 0 ? SAME : patch
}
