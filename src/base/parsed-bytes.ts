/**
 * What bytes say, noted by who made them: a reader in the same process that gets these very bytes need not parse them. Who
 * passes them on may cut, repeat or lose them; what is no longer the same chunk has no meaning noted and is read as ever.
 */
import { deepFreeze } from './json.ts'

const parsedBytes = new WeakMap<Uint8Array, { value?: object; make?: () => object }>()

/** `make` is called when somebody asks, and once. */
export const noteParsed = (bytes: Uint8Array, make: () => object): void => void parsedBytes.set(bytes, { make })

/** Shared by all who ask, and therefore frozen; undefined when nobody noted it. */
export function parsedOf(bytes: Uint8Array): object | undefined {
  const parsed = parsedBytes.get(bytes)
  if (parsed?.make !== undefined) {
    parsed.value = deepFreeze(parsed.make())
    parsed.make = undefined
  }
  return parsed?.value
}
