/** A JSON Patch from one object to another, by whole fields of the first two levels: all that a mutating webhook needs. */
import { deepEqual, isJsonObject } from '../../base/json.ts'

export type PatchStep = { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string }

export function patchBetween(before: object, after: object, path = '', levels = 2): PatchStep[] {
  const [old, next] = [before as Record<string, unknown>, after as Record<string, unknown>]
  const steps: PatchStep[] = []
  for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) {
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const [a, b] = [Object.hasOwn(old, key) ? old[key] : undefined, Object.hasOwn(next, key) ? next[key] : undefined]
    if (deepEqual(a, b)) continue
    if (b === undefined) steps.push({ op: 'remove', path: at })
    else if (a === undefined) steps.push({ op: 'add', path: at, value: b })
    else if (levels > 1 && isJsonObject(a) && isJsonObject(b)) steps.push(...patchBetween(a, b, at, levels - 1))
    else steps.push({ op: 'replace', path: at, value: b })
  }
  return steps
}
