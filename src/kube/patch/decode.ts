/**
 * The body of a patch request. A body that is no patch at all is refused with the decoder's own message; strict errors
 * of the decoder (repeated keys, unknown fields of an operation) are returned for the field validation of the request.
 */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { JsonTextError, parseJsonText } from '../json-text.ts'
import { badRequestError, type StatusError, tooLargeBodyError } from '../status.ts'

const MAX_OPERATIONS = 10_000

export interface JsonPatch {
  readonly operations: readonly JsonObject[]
  /** `json patch unknown field "[0].x"`: warnings, or the reason for refusal, as fieldValidation says. */
  readonly strictErrors: readonly string[]
}

/** A merge patch or a strategic merge patch. */
export interface ObjectPatch {
  readonly value: JsonObject
  /** `duplicate field "data.a"`. */
  readonly strictErrors: readonly string[]
}

const OPERATION_FIELDS = ['op', 'path', 'from', 'value']

export function parseJsonPatch(source: Uint8Array | string): JsonPatch {
  const { value, duplicates } = decode(source, 'error decoding patch: ')
  const refuse = (message: string) => badRequestError(`error decoding patch: json: cannot unmarshal ${message}`)
  if (value === null) return { operations: [], strictErrors: [] }
  if (!Array.isArray(value)) throw refuse(`${goKind(value)} into Go value of type []handlers.jsonPatchOp`)
  const strictErrors = duplicates.map((path) => `json patch duplicate field "${path}"`)
  const operations = value.map((operation, i) => {
    // A null operation decodes to an empty one, whose kind is unknown.
    if (operation === null) return {}
    if (!isJsonObject(operation)) throw refuse(`${goKind(operation)} into Go value of type handlers.jsonPatchOp`)
    for (const field of ['op', 'path', 'from']) {
      const text = Object.hasOwn(operation, field) ? operation[field] : undefined
      if (text !== undefined && text !== null && typeof text !== 'string')
        throw refuse(`${goKind(text)} into Go struct field jsonPatchOp.${field} of type string`)
    }
    for (const key of Object.keys(operation))
      if (!OPERATION_FIELDS.includes(key)) strictErrors.push(`json patch unknown field "[${i}].${key}"`)
    return operation
  })
  if (operations.length > MAX_OPERATIONS)
    throw tooLargeBodyError(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`)
  return { operations, strictErrors }
}

/** For a strategic merge patch the error has no prefix, and null means no change. */
export function parseObjectPatch(source: Uint8Array | string, form: 'merge' | 'strategic' = 'merge'): ObjectPatch {
  const introduction = form === 'merge' ? 'error decoding patch: ' : ''
  const { value, duplicates } = decode(source, introduction)
  if (value === null) {
    if (form === 'merge') throw badRequestError('Invalid JSON Patch')
    return { value: {}, strictErrors: [] }
  }
  if (!isJsonObject(value))
    throw badRequestError(`${introduction}json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`)
  return { value, strictErrors: duplicates.map((path) => `duplicate field "${path}"`) }
}

function decode(source: Uint8Array | string, introduction: string): { value: Json; duplicates: readonly string[] } {
  try {
    return parseJsonText(source)
  } catch (error) {
    throw asRefusal(error, introduction)
  }
}

const asRefusal = (error: unknown, introduction: string): StatusError | unknown =>
  error instanceof JsonTextError ? badRequestError(`${introduction}${error.message}`) : error

/** How encoding/json names what it found. */
function goKind(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return value === null ? 'null' : typeof value
}
