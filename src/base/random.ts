/** Chance as a value. The real one is wired in main.ts (node:crypto); worlds bring a seeded one. */
export interface Random {
  /** A float in [0, 1). */
  next(): number
  /** `length` random bytes, good enough for keys when the real adapter is wired. */
  bytes(length: number): Uint8Array
}

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const b = random.bytes(16)
  b[6] = ((b[6] ?? 0) & 0x0f) | 0x40
  b[8] = ((b[8] ?? 0) & 0x3f) | 0x80
  const hex = Buffer.from(b).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** The suffix Kubernetes puts on generated names: vowels and look-alikes are left out. */
export function nameSuffix(random: Random, length = 5): string {
  let out = ''
  for (const byte of random.bytes(length)) out += NAME_ALPHABET[byte % NAME_ALPHABET.length]
  return out
}

/** A small seeded generator (mulberry32) for worlds, property tests and simulations; not for keys. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  return { next, bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)) }
}
