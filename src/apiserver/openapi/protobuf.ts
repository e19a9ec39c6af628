/**
 * OpenAPI documents as protobuf, by the recorded tables of their messages (gnostic's openapi.v2 and openapi.v3). A JSON
 * document is walked once along its table; what the table has no place for is left out.
 */
import { isJsonObject } from '../../base/json.ts'
import v2Text from '../../kinds/kubernetes/facts/openapi-v2-messages.facts'
import v3Text from '../../kinds/kubernetes/facts/openapi-v3-messages.facts'
import { once } from '../../kinds/kubernetes/once.ts'
import { BackwardWriter } from './backward-writer.ts'
import { toYamlText } from './yaml-text.ts'

interface FieldFact {
  number: number
  name: string
  type: string
  repeated?: boolean
  json?: string
  oneof?: string
}

interface Field {
  number: number
  name: string
  type: string
  isRepeated: boolean
  /** Undefined for scalars. */
  message: Message | undefined
}

interface Message {
  name: string
  /** By JSON name. */
  fields: Map<string, Field>
  /** Alternatives, exactly one of which a value is. */
  isUnion: boolean
  /** For keys that start with `x-`. */
  extensions: Field | undefined
  /** For arbitrary keys: a list of `Named…` messages. */
  entries: Field | undefined
  /** A list whose only field is the value itself. */
  wrapped: Field | undefined
}

const v2Document = once(() => link(v2Text, 'openapi.v2.Document'))
const v3Document = once(() => link(v3Text, 'openapi.v3.Document'))

export const encodeV2 = (text: string): Buffer => encode(v2Document(), JSON.parse(text))
export const encodeV3 = (text: string): Buffer => encode(v3Document(), JSON.parse(text))

function link(text: string, root: string): Message {
  const facts = JSON.parse(text) as Record<string, FieldFact[]>
  const messages = new Map<string, Message>()
  const messageOf = (name: string): Message | undefined => {
    const known = messages.get(name)
    if (known !== undefined || !Object.hasOwn(facts, name)) return known
    const message: Message = { name, fields: new Map(), isUnion: false, extensions: undefined, entries: undefined, wrapped: undefined }
    messages.set(name, message)
    const list = facts[name] ?? []
    message.isUnion = list.some((fact) => fact.oneof !== undefined)
    for (const fact of list) {
      const field: Field = {
        number: fact.number,
        name: fact.name,
        type: fact.type,
        isRepeated: fact.repeated === true,
        message: messageOf(fact.type),
      }
      if (/^(vendor|specification)_extension$/.test(fact.name)) message.extensions = field
      else if (field.isRepeated && /\.Named\w+$/.test(fact.type)) message.entries = field
      else message.fields.set(fact.json ?? fact.name, field)
    }
    const [only] = message.fields.values()
    if (message.fields.size === 1 && only?.isRepeated === true && message.entries === undefined) message.wrapped = only
    return message
  }
  const message = messageOf(root)
  if (message === undefined) throw new Error(`the table of ${root} is missing`)
  return message
}

function encode(message: Message, value: unknown): Buffer {
  const out = new BackwardWriter()
  writeMessage(out, message, value)
  return out.finish()
}

const ANY_YAML = 2
const NAME = 1

/** Members are written last to first, so that they read in the order of the JSON. */
function writeMessage(out: BackwardWriter, message: Message, value: unknown): void {
  if (message.name.endsWith('.Any')) out.text(ANY_YAML, toYamlText(value))
  else if (message.isUnion) {
    const field = alternativeOf(message, value)
    if (field !== undefined) writeValue(out, field, value)
  } else if (message.wrapped !== undefined) writeList(out, message.wrapped, Array.isArray(value) ? value : [value])
  else if (isJsonObject(value)) {
    const keys = Object.keys(value)
    for (let i = keys.length - 1; i >= 0; i--) writeMember(out, message, { key: keys[i] ?? '', value: value[keys[i] ?? ''] })
  }
}

function writeMember(out: BackwardWriter, message: Message, { key, value }: { key: string; value: unknown }): void {
  const field = message.fields.get(key)
  if (field === undefined) writeEntry(out, key.startsWith('x-') ? (message.extensions ?? message.entries) : message.entries, { key, value })
  else if (field.isRepeated) writeList(out, field, Array.isArray(value) ? value : [])
  // proto3 writes no zero scalars; messages are written even when empty.
  else if (field.message !== undefined || (value !== '' && value !== 0 && value !== false)) writeValue(out, field, value)
}

function writeEntry(out: BackwardWriter, entries: Field | undefined, { key, value }: { key: string; value: unknown }): void {
  const field = entries?.message?.fields.get('value')
  if (entries === undefined || field === undefined) return
  const end = out.written
  writeValue(out, field, value)
  out.text(NAME, key)
  out.close(entries.number, end)
}

function writeList(out: BackwardWriter, field: Field, list: readonly unknown[]): void {
  for (let i = list.length - 1; i >= 0; i--) writeValue(out, field, list[i])
}

function writeValue(out: BackwardWriter, field: Field, value: unknown): void {
  // A union that has no alternative for the value (a default that is an object, in v3) is not written at all.
  if (field.message?.isUnion === true && alternativeOf(field.message, value) === undefined) return
  if (field.message !== undefined) {
    const end = out.written
    writeMessage(out, field.message, value)
    out.close(field.number, end)
  } else if (field.type === 'string' && typeof value === 'string') out.text(field.number, value)
  else if (field.type === 'bool' && typeof value === 'boolean') out.integer(field.number, value ? 1 : 0)
  else if (field.type === 'int64' && isCount(value)) out.integer(field.number, value)
  else if (field.type === 'double' && typeof value === 'number') out.double(field.number, value)
}

/** Lengths and counts of a schema are never negative. */
const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** JSON has no level for a union: the value shows which alternative it is. */
function alternativeOf(message: Message, value: unknown): Field | undefined {
  const alternatives = [...message.fields.values()]
  const named = (name: string): Field | undefined => alternatives.find((field) => field.name === name)
  if (!isJsonObject(value))
    return alternatives.find((field) => field.type === (typeof value === 'number' ? 'double' : SCALARS.get(typeof value)))
  if (Object.hasOwn(value, '$ref')) return alternatives.find((field) => field.type.endsWith('Reference')) ?? alternatives[0]
  const place = Object.hasOwn(value, 'in') ? value.in : undefined
  if (named('body_parameter') !== undefined) return named(place === 'body' ? 'body_parameter' : 'non_body_parameter')
  if (named('query_parameter_sub_schema') !== undefined)
    return named(`${place === 'formData' ? 'form_data' : String(place)}_parameter_sub_schema`)
  if (named('api_key_security') !== undefined) return named('api_key_security')
  return alternatives.find((field) => field.message !== undefined)
}

const SCALARS: ReadonlyMap<string, string> = new Map([
  ['boolean', 'bool'],
  ['string', 'string'],
])
