/** Lists of job indexes as text: `0,2-4,7`, ascending, below the number of completions. */
import { goQuote } from '../../../../kube/go-print.ts'
import { type Parsed, parsed, unparsed } from '../../../../kube/parsed.ts'

interface Interval {
  first: number
  last: number
}

/** How many indexes the text names, or what is wrong with it. */
export function checkIndexes(text: string, completions: number): Parsed<number> {
  if (text === '') return parsed(0)
  let total = 0
  let previous: number | undefined
  for (const part of text.split(',')) {
    const { value: interval, error } = parseInterval(part, completions)
    if (error !== undefined) return unparsed(error)
    if (previous !== undefined && previous >= interval.first) {
      return unparsed(`non-increasing order, previous: ${previous}, current: ${interval.first}`)
    }
    total += interval.last - interval.first + 1
    previous = interval.last
  }
  return parsed(total)
}

function parseInterval(text: string, completions: number): Parsed<Interval> {
  const parts = text.split('-')
  if (parts.length > 2) {
    return unparsed(
      `the fragment ${goQuote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    )
  }
  const bounds: number[] = []
  for (const part of parts) {
    const value = /^\+?\d{1,18}$/.test(part) ? Number(part) : undefined
    if (value === undefined) return unparsed(`cannot convert string to integer for index: ${goQuote(part)}`)
    if (value >= completions) return unparsed(`too large index: ${goQuote(part)}`)
    bounds.push(value)
  }
  const [first = 0, last = first] = bounds
  if (bounds.length > 1 && first >= last) return unparsed(`non-increasing order, previous: ${first}, current: ${last}`)
  return parsed({ first, last })
}

/** The first index in both texts, if any; parts that do not parse are skipped. */
export function overlappingIndex(completed: string, failed: string, completions: number): number | undefined {
  const intervals = (text: string): Interval[] =>
    text === '' ? [] : text.split(',').flatMap((part) => parseInterval(part, completions).value ?? [])
  const [left, right] = [intervals(completed), intervals(failed)]
  let [i, j] = [0, 0]
  for (let a = left[i], b = right[j]; a !== undefined && b !== undefined; a = left[i], b = right[j]) {
    if (a.first <= b.last && b.first <= a.last) return Math.max(a.first, b.first)
    if (a.first <= b.first) i++
    else j++
  }
  return undefined
}
