/** How the chapter formats numbers and lists. Pure. */

/** `member1 2 · member2 2 · member3 2` */
export const divisionText = (division: readonly { name: string; replicas: number }[]): string =>
  division.map(({ name, replicas }) => `${name} ${replicas}`).join(' · ')

/** `a, b and c` */
export function listText(parts: readonly string[]): string {
  const last = parts.at(-1) ?? ''
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`
}

export const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
