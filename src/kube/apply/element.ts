/**
 * A path element selects one child of a container. It is kept as the text that FieldsV1 uses (`f:name`, `k:{"name":"a"}`,
 * `v:"x"`, `i:3`) in canonical form, so that equal elements are equal strings: sets are maps over these texts.
 */
import { compareStrings, goQuote } from '../go-print.ts'
import { elementJson, goNumber } from './go-text.ts'
import { ShapeError } from './shape-error.ts'

export const fieldElement = (name: string): string => `f:${name}`

export const valueElement = (value: unknown): string => `v:${elementJson(value)}`

/** `fields` in the byte order of their names. */
export function keyElement(fields: readonly (readonly [string, unknown])[]): string {
  let text = 'k:{'
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]
    if (field === undefined) continue
    text += `${i === 0 ? '' : ','}${elementJson(field[0])}:${elementJson(field[1])}`
  }
  return `${text}}`
}

/** The canonical form of an element, undefined for unknown kinds, which a later version may define; throws on malformed ones. */
export function parseElement(text: string): string | undefined {
  if (text.length < 2) throw new ShapeError('key must be 2 characters long:')
  if (text[1] !== ':') throw new ShapeError(`missing colon: ${text}`)
  const body = text.slice(2)
  switch (text[0]) {
    case 'f':
      return text
    case 'v':
      return valueElement(parseJson(body))
    case 'k':
      return keyElement(keyFields(body))
    case 'i':
      if (!/^[+-]?\d{1,15}$/.test(body)) throw new ShapeError(`strconv.Atoi: parsing ${goQuote(body)}: invalid syntax`)
      return `i:${Number(body)}`
    default:
      return undefined
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ShapeError(`invalid JSON in path element: ${goQuote(text)}`)
  }
}

function keyFields(body: string): [string, unknown][] {
  const parsed = parseJson(body)
  if (typeof parsed !== 'object' || Array.isArray(parsed)) throw new ShapeError(`expected an object in key: ${goQuote(body)}`)
  return Object.entries(parsed ?? {}).sort(([a], [b]) => compareStrings(a, b))
}

/** As it stands in a printed path: `.name`, `[name="a"]`, `[="x"]`, `[3]`. */
export function printElement(element: string): string {
  const body = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${body}`
    case 'k':
      return `[${keyFields(body)
        .map(([name, value]) => `${name}=${printValue(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${printValue(parseJson(body))}]`
    default:
      return `[${body}]`
  }
}

export const printPath = (path: readonly string[]): string => path.map(printElement).join('')

function printValue(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number') return goNumber(value)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map(printValue).join(',')}]`
  return Object.entries(value)
    .map(([key, item]) => `${key}=${printValue(item)}`)
    .join('')
}

const KIND_ORDER = 'fkvi'

/** Fields by name, then keys, then values, then indexes: the order of FieldsV1. */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0
  const kind = a.charAt(0)
  if (kind !== b.charAt(0)) return KIND_ORDER.indexOf(kind) - KIND_ORDER.indexOf(b.charAt(0))
  const x = a.slice(2)
  const y = b.slice(2)
  if (kind === 'f') return compareStrings(x, y)
  if (kind === 'i') return Number(x) - Number(y)
  return kind === 'v' ? compareValues(parseJson(x), parseJson(y)) : compareKeys(keyFields(x), keyFields(y))
}

function compareKeys(a: readonly [string, unknown][], b: readonly [string, unknown][]): number {
  for (let i = 0; ; i++) {
    const x = a[i]
    const y = b[i]
    if (x === undefined || y === undefined) return Number(x !== undefined) - Number(y !== undefined)
    const order = compareStrings(x[0], y[0]) || compareValues(x[1], y[1])
    if (order !== 0) return order
  }
}

/** Numbers, strings, booleans, lists, maps, null: a total order over JSON values. */
function compareValues(a: unknown, b: unknown): number {
  const rank = valueRank(a) - valueRank(b)
  if (rank !== 0) return rank
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  if (typeof a === 'boolean' || typeof b === 'boolean') return Number(a) - Number(b)
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const order = compareValues(a[i], b[i])
      if (order !== 0) return order
    }
    return a.length - b.length
  }
  if (a === null || b === null) return 0
  const byName = (value: unknown) => Object.entries(value as object).sort(([x], [y]) => compareStrings(x, y))
  return compareKeys(byName(a), byName(b))
}

function valueRank(value: unknown): number {
  if (value === null) return 5
  if (typeof value === 'object') return Array.isArray(value) ? 3 : 4
  return typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2
}
