/**
 * Names for children that are derived, not random: the same decision gives the same name, so a creation that is repeated
 * after an unknown outcome collides with the first attempt instead of making a second child.
 */
import { createHash } from 'node:crypto'

/** The letters of generated names: vowels and look-alikes are left out. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const MAX_BASE = 63 - 5

/** `<base><5 letters>`, as a server would make from `generateName: base`; `of` is everything that distinguishes this child. */
export function childName(base: string, ...of: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(of)).digest()
  let suffix = ''
  for (const byte of hash.subarray(0, 5)) suffix += ALPHABET[byte % ALPHABET.length]
  return `${base.slice(0, MAX_BASE)}${suffix}`
}
