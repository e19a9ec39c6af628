/**
 * The annotations with which a workload says what it makes and what it waits for: lists that are separated by commas, with
 * or without white space around them. Whoever reads them reads them here, so that admission and controllers agree. An error
 * says which entry is wrong and what to do.
 */
import { goQuote } from '../../kube/go-print.ts'
import { checkDns1123Subdomain } from '../../kube/names.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { isLonger, LONGEST_NAME, LONGEST_WORD, MOST_ENTRIES } from './limits.ts'

/** What a data system calls its data: any text, not a name of Kubernetes. */
export interface DataName {
  system: string
  type: string
  name: string
}

/** As in `sluice.dev/produces`: for people. Only texts without slashes in system and type can be read back. */
export const dataNameText = ({ system, type, name }: DataName): string => `${system}/${type}/${name}`

/** For maps and indexes: different for different names, whatever characters they contain. */
export const dataKey = ({ system, type, name }: DataName): string => JSON.stringify([system, type, name])

/** `hive/table/sales.daily, s3/prefix/lake/sales`: the name is everything after the second slash; it cannot contain a comma. */
export function parseProduces(text: string): Parsed<readonly DataName[]> {
  const list = entriesOf(text, 'name the data as system/type/name')
  if (list.value === undefined) return unparsed(list.error)
  const found = new Map<string, DataName>()
  for (const entry of list.value) {
    const { value: name, error } = dataNameOf(entry)
    if (name === undefined) return unparsed(error)
    const key = dataKey(name)
    if (found.has(key)) return unparsed(`${quoted(entry)} is named twice: name it once`)
    found.set(key, name)
  }
  return parsed([...found.values()])
}

/** Names of claims in the namespace of the workload, in their order, each once. */
export function parseClaims(text: string): Parsed<readonly string[]> {
  const list = entriesOf(text, 'name a DataSourceClaim of the same namespace')
  if (list.value === undefined) return unparsed(list.error)
  const wrong = list.value.find((name) => checkDns1123Subdomain(name).length > 0)
  if (wrong === undefined) return parsed([...new Set(list.value)])
  return unparsed(
    `${quoted(wrong)} cannot be the name of a claim: use lower case letters, digits, '-' and '.', and separate names with commas`,
  )
}

function entriesOf(text: string, advice: string): Parsed<readonly string[]> {
  if (text.trim() === '') return unparsed(`it is empty: ${advice}, or remove the annotation`)
  const entries = text.split(',', MOST_ENTRIES + 1).map((entry) => entry.trim())
  if (entries.length > MOST_ENTRIES) return unparsed(`it has more than ${MOST_ENTRIES} entries: remove some`)
  const blank = entries.indexOf('')
  return blank < 0 ? parsed(entries) : unparsed(`entry ${blank + 1} is empty: ${advice} there, or remove a comma`)
}

function dataNameOf(entry: string): Parsed<DataName> {
  const first = entry.indexOf('/')
  const second = first < 0 ? -1 : entry.indexOf('/', first + 1)
  const parts = { system: entry.slice(0, first), type: entry.slice(first + 1, second), name: entry.slice(second + 1) }
  const isWhole = second >= 0 && Object.values(parts).every((part) => part.trim() !== '')
  if (!isWhole) return unparsed(`${quoted(entry)} is not of the form system/type/name: write for example hive/table/sales.daily`)
  if (Object.values(parts).some((part) => part.trim() !== part))
    return unparsed(`${quoted(entry)} has white space beside a slash: remove it`)
  for (const [part, most] of LENGTHS)
    if (isLonger(parts[part], most)) return unparsed(`the ${part} of ${quoted(entry)} has more than ${most} characters: shorten it`)
  return parsed(parts)
}

const LENGTHS: readonly (readonly [keyof DataName, number])[] = [
  ['system', LONGEST_WORD],
  ['type', LONGEST_WORD],
  ['name', LONGEST_NAME],
]

const SHOWN = 80

/** Safe to print wherever it came from: control characters are escaped, and the end of a long text is cut off. */
export const quoted = (text: string): string => (text.length > SHOWN ? `${goQuote(text.slice(0, SHOWN))}…` : goQuote(text))
