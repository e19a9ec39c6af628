/** How a strategic merge patch fails: which messages are the client's fault, and Go's names for JSON types. */
import type { Json } from '../../base/json.ts'
import { goPrint } from '../go-print.ts'
import { badRequestError, failure, type StatusError } from '../status.ts'

export const BAD_PRIMITIVE_LIST = 'invalid patch format of primitive list'
export const BAD_RETAIN_KEYS = 'invalid patch format of retainKeys'
export const BAD_ELEMENT_ORDER = 'invalid patch format of setElementOrder list'
export const NO_LIST_OF_LISTS = 'lists of lists are not supported'

const BAD_REQUESTS: ReadonlySet<string> = new Set([BAD_PRIMITIVE_LIST, BAD_RETAIN_KEYS, BAD_ELEMENT_ORDER])

/** The real server answers 500 to anything unforeseen, with the bare message and no reason. */
function strategicFailure(message: string): StatusError {
  if (BAD_REQUESTS.has(message)) return badRequestError(message)
  if (message === NO_LIST_OF_LISTS) return failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
  return failure(500, '', message)
}

export function refuse(message: string): never {
  throw strategicFailure(message)
}

export const GO_MAP = 'map[string]interface {}'
export const GO_LIST = '[]interface {}'

export function goType(value: Json | undefined): string {
  if (value === null || value === undefined) return '%!s(<nil>)'
  if (Array.isArray(value)) return GO_LIST
  if (typeof value === 'object') return GO_MAP
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : 'string'
}

export const refuseType = (expected: string, actual: Json | undefined): never =>
  refuse(`expected a ${expected}, but received a ${goType(actual)}`)

export const refuseMissingKey = (element: Json, key: string): never =>
  refuse(`map: ${goPrint(element)} does not contain declared merge key: ${key}`)

export function refuseDirective(directive: Json | undefined, element: Json): never {
  const isNothing = directive === null || directive === undefined
  const shown =
    typeof directive === 'string' ? directive : isNothing ? goType(directive) : `%!s(${goType(directive)}=${goPrint(directive)})`
  return refuse(`unknown patch type: ${shown} in map: ${goPrint(element)}`)
}
