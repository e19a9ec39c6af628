/**
 * Which pods a set has, as `replicas` and `reserveOrdinals`: both are written together, because together they say which pods
 * there are. Ordinals that are left out are reserved only as far as a higher one is used. Pure.
 */

export interface Chosen {
  replicas: number
  /** Numbers, or ranges like `2-5`. */
  reserveOrdinals: (number | string)[]
}

/** Exactly these: what is written so that the set has them and no others. */
export function exactly(ordinals: readonly number[]): Chosen {
  const sorted = [...ordinals].sort((a, b) => a - b)
  const reserveOrdinals: (number | string)[] = []
  let next = 0
  for (const ordinal of sorted) {
    if (ordinal - next === 1) reserveOrdinals.push(next)
    if (ordinal - next > 1) reserveOrdinals.push(`${next}-${ordinal - 1}`)
    next = ordinal + 1
  }
  return { replicas: sorted.length, reserveOrdinals }
}

/** More of them: those that there are stay, and ordinals that were left out are used again first. */
export function grownTo(count: number, ordinals: readonly number[]): number[] {
  const all = new Set(ordinals)
  for (let ordinal = 0; all.size < count; ordinal++) all.add(ordinal)
  return [...all].sort((a, b) => a - b)
}
