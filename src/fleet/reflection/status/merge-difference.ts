/** The merge patch that turns one JSON object into another: removed keys are null, lists are replaced as a whole. Pure. */
import { deepEqual, isJsonObject, setOwn } from '../../../base/json.ts'

type Fields = Readonly<Record<string, unknown>>

export interface DifferenceOptions {
  /** The server of a built-in kind omits zero and empty values: writing them again and again would change nothing. */
  omitsZeros?: boolean
}

/** Undefined when nothing differs. */
export function mergeDifference(from: Fields, to: Fields, options: DifferenceOptions = {}): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {}
  const kept = (fields: Fields, key: string): unknown => {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined
    return value === null || (options.omitsZeros === true && isZero(value)) ? undefined : value
  }
  for (const key of Object.keys(from)) if (kept(from, key) !== undefined && kept(to, key) === undefined) setOwn(patch, key, null)
  for (const key of Object.keys(to)) {
    const [old, next] = [kept(from, key), kept(to, key)]
    if (next === undefined || deepEqual(old, next)) continue
    const below = isJsonObject(old) && isJsonObject(next) ? mergeDifference(old, next, options) : next
    if (below !== undefined) setOwn(patch, key, below)
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

const isZero = (value: unknown): boolean =>
  value === 0 ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isJsonObject(value) && Object.keys(value).length === 0)
