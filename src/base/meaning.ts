/**
 * What bytes say, noted by who made them: a reader in the same process that gets these very bytes need not parse them. Who
 * passes them on may cut, repeat or lose them; what is no longer the same chunk has no meaning noted and is read as ever.
 */
import { deepFreeze } from './json.ts'

const meanings = new WeakMap<Uint8Array, { value?: object; make?: () => object }>()

/** `make` is called when somebody asks, and once. */
export const noteMeaning = (bytes: Uint8Array, make: () => object): void => void meanings.set(bytes, { make })

/** Shared by all who ask, and therefore frozen; undefined when nobody noted it. */
export function meaningOf(bytes: Uint8Array): object | undefined {
  const meaning = meanings.get(bytes)
  if (meaning?.make !== undefined) {
    meaning.value = deepFreeze(meaning.make())
    meaning.make = undefined
  }
  return meaning?.value
}
