/** A merge patch that leads from one value to another: what differs, and null for what is to go. Pure. */
import { deepEqual, isJsonObject } from '../../base/json.ts'

type Fields = Readonly<Record<string, unknown>>

/** Undefined when nothing differs. */
export function mergePatchTo(before: Fields, after: Fields): Record<string, unknown> | undefined {
  const changes: [string, unknown][] = []
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, next] = [own(before, key), own(after, key)]
    if (deepEqual(old, next)) continue
    const isNested = isJsonObject(old) && isJsonObject(next)
    changes.push([key, isNested ? mergePatchTo(old, next) : (next ?? null)])
  }
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

const own = (fields: Fields, key: string): unknown => (Object.hasOwn(fields, key) ? fields[key] : undefined)
