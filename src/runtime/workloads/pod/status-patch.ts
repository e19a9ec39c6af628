/** The part of a status that has to be written: fields that differ, or nothing. */
import { deepEqual } from '../../../base/json.ts'

/**
 * A merge patch from `old` to `next`, undefined when there is nothing to change. Fields that `next` does not name are left
 * alone, those it holds as undefined are removed. What a server omits (0, no conditions) equals what is absent.
 */
export function statusPatch<S extends object>(old: S | undefined, next: Readonly<S>): Record<string, unknown> | undefined {
  const held = (old ?? {}) as Record<string, unknown>
  const changes = Object.entries(next)
    .filter(([field, value]) => !deepEqual(plain(held[field]), plain(value)))
    .map(([field, value]) => [field, value ?? null])
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

const plain = (value: unknown): unknown =>
  value === 0 || value === null || (Array.isArray(value) && value.length === 0) ? undefined : value
