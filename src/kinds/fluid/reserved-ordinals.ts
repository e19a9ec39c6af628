/** The ordinals that an AdvancedStatefulSet leaves out: numbers, or ranges like `2-5`. */
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { quoted } from '../volcano/annotations.ts'

/** More than any set has pods; a range may not make a controller count further. */
const MOST_RESERVED = 10_000
const HIGHEST_ORDINAL = 2 ** 31 - 1

const RANGE = /^(\d{1,10})(?:-(\d{1,10}))?$/

export function reservedOrdinals(list: readonly (number | string)[] = []): Parsed<ReadonlySet<number>> {
  const found = new Set<number>()
  for (const entry of list) {
    const shown = quoted(String(entry))
    const [first, last] = boundsOf(entry)
    if (first === undefined || last === undefined || last < first || last > HIGHEST_ORDINAL)
      return unparsed(`${shown} is no ordinal: write a number that is not negative, or a range like "2-5"`)
    if (found.size + (last - first) >= MOST_RESERVED) return unparsed(`it has more than ${MOST_RESERVED} ordinals: remove some`)
    for (let ordinal = first; ordinal <= last; ordinal++) {
      if (found.has(ordinal)) return unparsed(`${ordinal} is reserved twice: remove one`)
      found.add(ordinal)
    }
  }
  return parsed(found)
}

function boundsOf(entry: number | string): [number | undefined, number | undefined] {
  if (typeof entry === 'number') return Number.isSafeInteger(entry) && entry >= 0 ? [entry, entry] : [undefined, undefined]
  const [, first, last] = RANGE.exec(entry) ?? []
  return first === undefined ? [undefined, undefined] : [Number(first), Number(last ?? first)]
}
