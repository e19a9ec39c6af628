/**
 * Remembers the parsed form of bytes, registered by the encoder: a reader in the same process that gets these very bytes
 * need not parse them. Bytes that were cut or copied on the way are not found here and are parsed as usual.
 */
import { deepFreeze } from './json.ts'

const parsedBytes = new WeakMap<Uint8Array, { value?: object; make?: () => object }>()

/** `make` is called at most once, on first use. */
export const noteParsed = (bytes: Uint8Array, make: () => object): void => void parsedBytes.set(bytes, { make })

/** Shared by all readers, and therefore frozen; undefined when it was not registered. */
export function parsedOf(bytes: Uint8Array): object | undefined {
  const parsed = parsedBytes.get(bytes)
  if (parsed?.make !== undefined) {
    parsed.value = deepFreeze(parsed.make())
    parsed.make = undefined
  }
  return parsed?.value
}
