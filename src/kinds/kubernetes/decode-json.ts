/**
 * Typed decoding as the real server does it: what encoding/json (sigs.k8s.io/json, case-sensitive) makes of a parsed
 * body when it fills the Go struct of a kind, and how that struct is then serialized. Unknown fields are dropped and reported,
 * zero values appear or vanish as Go's tags say, types with their own decoders come out canonical, and a wrong
 * type is refused with Go's own message. The result is plain JSON that shares nothing with the input.
 */
import { deepClone, type Json, type JsonObject, setOwn } from '../../base/json.ts'
import { compareStrings, goQuote } from '../../kube/go-print.ts'
import { inexactInteger, isInexactInteger, type JsonDetails, type JsonEntry, strictPath } from '../../kube/json-text.ts'
import { type GroupVersionKind, groupVersion, type KubeObject } from '../../kube/meta.ts'
import { base64Text, canonicalTime, quantityText } from './go-values.ts'
import { messageFor } from './message-names.ts'
import { type FieldModel, finish, type MessageModel, type ValueKind, zeroValue } from './model.ts'

/** A body that Go could not decode; the message is Go's. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DecodeError'
  }
}

/** The real server's message about an unknown kind. */
export const notRegistered = ({ group, version, kind }: GroupVersionKind): string =>
  `no kind ${goQuote(kind)} is registered for version ${goQuote(groupVersion(group, version))} in scheme "pkg/runtime/scheme.go:111"`

export interface TypedObject {
  object: KubeObject
  /** Paths of fields the kind does not have, in the order of the text. */
  unknownFields: string[]
  /** `unknown field "a"` and, when details were given, `duplicate field "b"`, in the order of the text; at most 100. */
  strictErrors: string[]
}

interface State {
  readonly details: JsonDetails | undefined
  /** Field names, map keys and indexes from the root, for strict errors. */
  readonly path: (string | number)[]
  /** Only struct fields from the root, and the struct that contains the last one: for type errors. */
  readonly fields: string[]
  structName: string
  /** The first type error; Go continues decoding and reports it at the end. */
  typeError: string | undefined
  /** Above zero inside a type with its own decoder: strictness ends at its border, and errors name the struct outside. */
  enclosed: number
  readonly unknown: string[]
  readonly strict: Set<string>
  /** Text of the current number, when its value does not preserve it. */
  literal: string | undefined
}

const MAX_STRICT_ERRORS = 100

/** Throws DecodeError. `details` comes from parseJsonText and is needed where a key may be repeated. */
export function decodeTyped(gvk: GroupVersionKind, value: Json, details?: JsonDetails): TypedObject {
  const model = messageFor(gvk)
  if (model === undefined) throw new DecodeError(notRegistered(gvk))
  return decodeAs(model, value, details)
}

export function decodeAs(model: MessageModel, value: Json, details?: JsonDetails): TypedObject {
  const state: State = {
    details,
    path: [],
    fields: [],
    structName: '',
    typeError: undefined,
    enclosed: 0,
    unknown: [],
    strict: new Set(),
    literal: undefined,
  }
  let object: JsonObject | undefined
  if (value === null) object = finish(model, [])
  else if (typeof value === 'object' && !Array.isArray(value)) object = decodeMessage(state, model, value, undefined)
  else typeMismatch(state, value, `v1.${model.structName}`)
  if (state.typeError !== undefined || object === undefined) throw new DecodeError(state.typeError ?? 'unexpected end of JSON input')
  return { object: object as KubeObject, unknownFields: state.unknown, strictErrors: [...state.strict] }
}

/** `previous` is what an earlier occurrence of the same key decoded to: Go decodes a repeated key on top of it. */
function decodeMessage(state: State, model: MessageModel, value: JsonObject, previous: unknown): JsonObject {
  const slots: unknown[] = new Array(model.fields.length)
  if (previous !== undefined) fillSlots(model, slots, previous as JsonObject)
  const outerStruct = state.structName
  const entries = state.details?.entries.get(value)
  if (entries === undefined) {
    for (const key of Object.keys(value))
      decodeEntry(state, model, slots, { key, value: value[key], literal: undefined, container: value, seen: undefined })
  } else {
    const seen = new Set<string>()
    for (const [key, item, literal] of entries) decodeEntry(state, model, slots, { key, value: item, literal, container: undefined, seen })
  }
  state.structName = outerStruct
  return finish(model, slots)
}

function fillSlots(model: MessageModel, slots: unknown[], previous: JsonObject): void {
  for (const field of model.fields) {
    const value = previous[field.name]
    if (value !== undefined && value !== null) slots[field.slot] = value
  }
}

interface Entry {
  readonly key: string
  readonly value: Json | undefined
  /** Where the text of an odd number is looked up, unless it is given. */
  readonly container: object | undefined
  readonly literal: string | undefined
  /** Keys of this object so far; only where some key is repeated. */
  readonly seen: Set<string> | undefined
}

function decodeEntry(state: State, model: MessageModel, slots: unknown[], entry: Entry): void {
  const { key, value } = entry
  if (value === undefined) return
  const field = model.byName.get(key)
  if (field === undefined) {
    unknownField(state, key)
    return
  }
  if (entry.seen !== undefined) noteKey(state, entry.seen, key)
  state.path.push(key)
  state.fields.push(field.errorPath)
  if (state.enclosed === 0) state.structName = model.structName
  slots[field.slot] = decodeField(state, field, entry, slots[field.slot])
  state.fields.pop()
  state.path.pop()
}

function decodeField(state: State, field: FieldModel, entry: Entry, previous: unknown): unknown {
  const { value } = entry
  if (value === null || value === undefined)
    return field.pointer || field.shape !== 'one' || NULL_RESETS.has(field.kind) ? undefined : previous
  if (field.shape === 'one') {
    state.literal = entry.container === undefined ? entry.literal : literalOf(state, value, entry.container, entry.key)
    return decodeItem(state, field, value, previous) ?? previous
  }
  return field.shape === 'list' ? decodeList(state, field, value, previous) : decodeMap(state, field, value, previous)
}

/** Types that take null as their zero value; for others Go leaves the value unchanged when it reads null. */
const NULL_RESETS: ReadonlySet<ValueKind> = new Set(['time', 'microTime', 'quantity'])

function decodeList(state: State, field: FieldModel, value: Json, previous: unknown): unknown {
  if (!Array.isArray(value)) {
    typeMismatch(state, value, field.goType)
    return previous
  }
  const before = Array.isArray(previous) ? previous : []
  const out: unknown[] = new Array(value.length)
  for (let i = 0; i < value.length; i++) {
    const item = value[i] as Json
    state.path.push(i)
    state.literal = literalOf(state, item, value, i)
    const decoded = item === null ? undefined : decodeItem(state, field, item, before[i])
    out[i] = decoded ?? before[i] ?? zeroValue(field)
    state.path.pop()
  }
  return out
}

function decodeMap(state: State, field: FieldModel, value: Json, previous: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    typeMismatch(state, value, field.goType)
    return previous
  }
  const out: Record<string, unknown> = previous === undefined ? {} : deepClone(previous as Record<string, unknown>)
  const repeated = state.details?.entries.get(value)
  const seen = repeated === undefined ? undefined : new Set<string>()
  let last = ''
  let isSorted = previous === undefined
  for (const [key, item, literal] of repeated ?? (Object.entries(value) as JsonEntry[])) {
    if (item === undefined) continue
    if (seen !== undefined) noteKey(state, seen, key)
    isSorted &&= compareStrings(last, key) <= 0
    last = key
    state.path.push(key)
    state.literal = repeated === undefined ? literalOf(state, item, value, key) : literal
    setOwn(out, key, (item === null ? undefined : decodeItem(state, field, item, undefined)) ?? zeroValue(field))
    state.path.pop()
  }
  return isSorted ? out : sortedByKey(out)
}

/** Go prints maps in the order of their keys. */
function sortedByKey(map: Record<string, unknown>): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(map).sort(compareStrings)) setOwn(out, key, map[key])
  return out
}

/** One item that is not null; undefined when it had the wrong type, which has been noted. */
function decodeItem(state: State, field: FieldModel, value: Json, previous: unknown): unknown {
  switch (field.kind) {
    case 'string':
      return typeof value === 'string' ? value : typeMismatch(state, value, field.goItem)
    case 'message':
      if (field.message === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) {
        return typeMismatch(state, value, field.goItem)
      }
      return decodeMessage(state, field.message, value, previous)
    case 'bool':
      return typeof value === 'boolean' ? value : typeMismatch(state, value, field.goItem)
    case 'int32':
    case 'int64':
      return typeof value === 'number' ? integer(state, field.kind, value, field.goItem) : typeMismatch(state, value, field.goItem)
    case 'double':
      return typeof value === 'number' ? double(state, value) : typeMismatch(state, value, field.goItem)
    case 'bytes':
      return bytes(state, value)
    case 'time':
    case 'microTime':
      return time(state, field.kind, value)
    case 'quantity':
      return orThrow(quantityText(typeof value === 'string' ? value : (state.literal ?? JSON.stringify(value))))
    case 'intOrString':
      return intOrString(state, value)
    case 'strings':
      return strings(state, value, field.goItem)
    case 'raw':
      return copyRaw(state, value)
    default:
      return schemaOr(state, field, value)
  }
}

function integer(state: State, kind: 'int32' | 'int64', value: number, goType: string): number | undefined {
  const literal = state.literal
  if (literal !== undefined && kind === 'int64') refuseInexact(literal, state.path)
  const isWhole = literal === undefined ? Number.isInteger(value) : /^-?\d+$/.test(literal)
  if (isWhole && inRange(kind, value)) return value === 0 ? 0 : value
  noteTypeError(state, `number ${literal ?? String(value)}`, goType)
  return undefined
}

function inRange(kind: 'int32' | 'int64', value: number): boolean {
  return kind === 'int32' ? value >= -2147483648 && value <= 2147483647 : value >= -(2 ** 63) && value < 2 ** 63
}

function double(state: State, value: number): number | undefined {
  if (state.literal === undefined || Number.isFinite(Number(state.literal))) return value
  noteTypeError(state, `number ${state.literal}`, 'float64')
  return undefined
}

function bytes(state: State, value: Json): string | undefined {
  if (typeof value === 'string') {
    const text = base64Text(value)
    if (text.error === undefined) return text.value
    state.typeError ??= text.error
    return undefined
  }
  if (!Array.isArray(value)) return typeMismatch(state, value, '[]uint8')
  // Go also reads a list of numbers into bytes.
  const out = value.map((item) => {
    if (typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= 255) return item
    if (item !== null) noteTypeError(state, typeof item === 'number' ? `number ${item}` : describe(item), 'uint8')
    return 0
  })
  return Buffer.from(out).toString('base64')
}

function time(state: State, kind: 'time' | 'microTime', value: Json): string | null {
  if (typeof value !== 'string') throw new DecodeError(typeErrorText(state, describe(value), 'string'))
  return orThrow(canonicalTime(kind, value))
}

function intOrString(state: State, value: Json): number | string {
  if (typeof value === 'string') return value
  if (typeof value !== 'number') throw new DecodeError(typeErrorText(state, describe(value), 'int32'))
  const literal = state.literal ?? String(value)
  if (/^-?\d+$/.test(literal) && inRange('int32', value)) return value === 0 ? 0 : value
  throw new DecodeError(typeErrorText(state, `number ${literal}`, 'int32'))
}

function strings(state: State, value: Json, goType: string): string[] | undefined {
  if (!Array.isArray(value)) return typeMismatch(state, value, goType)
  return value.map((item) => {
    if (typeof item === 'string') return item
    if (item !== null) typeMismatch(state, item, 'string')
    return ''
  })
}

/** Free-form JSON is kept; with details, integers that would be stored as a different number are refused. */
function copyRaw(state: State, value: Json): Json {
  if (state.literal !== undefined) refuseInexact(state.literal, state.path)
  else if (state.details !== undefined && state.details.numbers.size > 0) refuseInexactWithin(state.details, value, state.path)
  return deepClone(value)
}

function refuseInexact(literal: string, path: readonly (string | number)[]): void {
  if (isInexactInteger(literal)) throw new DecodeError(inexactInteger(literal, strictPath(path)))
}

function refuseInexactWithin(details: JsonDetails, value: Json | undefined, path: readonly (string | number)[]): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, literal] of details.numbers.get(value) ?? []) refuseInexact(literal, [...path, key])
  if (Array.isArray(value)) for (const [i, item] of value.entries()) refuseInexactWithin(details, item, [...path, i])
  else for (const key of Object.keys(value)) refuseInexactWithin(details, value[key], [...path, key])
}

/** JSONSchemaPropsOrBool, …OrArray, …OrStringArray: they decode themselves, so strict errors inside go unreported. */
function schemaOr(state: State, field: FieldModel, value: Json): unknown {
  if (field.kind === 'schemaOrBool' && typeof value === 'boolean') return value
  return enclosed(state, () => {
    if (Array.isArray(value) && field.kind === 'schemaOrStrings') return emptyAsNull(strings(state, value, '[]string'))
    if (Array.isArray(value) && field.kind === 'schemaOrList') return emptyAsNull(value.map((item) => schema(state, field, item)))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return schema(state, field, value)
    if (field.kind === 'schemaOrBool') throw new DecodeError('boolean or JSON schema expected')
    return null
  })
}

const emptyAsNull = (list: unknown[] | undefined): unknown => (list === undefined || list.length === 0 ? null : list)

function schema(state: State, field: FieldModel, value: Json): unknown {
  if (field.message === undefined) return null
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return decodeMessage(state, field.message, value, undefined)
  if (value !== null) typeMismatch(state, value, 'v1.JSONSchemaProps')
  return finish(field.message, [])
}

/** A type error inside a type with its own decoder ends the decoding at once, with the context outside of it. */
function enclosed(state: State, decode: () => unknown): unknown {
  const outer = state.typeError
  state.typeError = undefined
  state.enclosed++
  const value = decode()
  state.enclosed--
  if (state.typeError !== undefined) throw new DecodeError(state.typeError)
  state.typeError = outer
  return value
}

function literalOf(state: State, value: Json, container: object, key: string | number): string | undefined {
  return state.details === undefined || typeof value !== 'number' ? undefined : state.details.numbers.get(container)?.get(key)
}

function unknownField(state: State, key: string): void {
  if (state.enclosed > 0 || state.strict.size >= MAX_STRICT_ERRORS) return
  const path = strictPath([...state.path, key])
  const message = `unknown field ${goQuote(path)}`
  if (state.strict.has(message)) return
  state.strict.add(message)
  state.unknown.push(path)
}

function noteKey(state: State, seen: Set<string>, key: string): void {
  if (!seen.has(key)) seen.add(key)
  else if (state.enclosed === 0 && state.strict.size < MAX_STRICT_ERRORS) {
    state.strict.add(`duplicate field ${goQuote(strictPath([...state.path, key]))}`)
  }
}

function describe(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return value === null ? 'null' : typeof value
}

function typeMismatch(state: State, value: Json, goType: string): undefined {
  noteTypeError(state, describe(value), goType)
}

function noteTypeError(state: State, what: string, goType: string): void {
  state.typeError ??= typeErrorText(state, what, goType)
}

function typeErrorText(state: State, what: string, goType: string): string {
  if (state.fields.length === 0) return `json: cannot unmarshal ${what} into Go value of type ${goType}`
  return `json: cannot unmarshal ${what} into Go struct field ${state.structName}.${state.fields.join('.')} of type ${goType}`
}

function orThrow<T>(result: { value: T; error?: undefined } | { value?: undefined; error: string }): T {
  if (result.error !== undefined) throw new DecodeError(result.error)
  return result.value
}
