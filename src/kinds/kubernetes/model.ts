/**
 * The Go structs behind the built-in kinds, from the facts: which JSON name belongs to which type, what is a pointer,
 * what an encoder leaves out. One model serves typed JSON decoding and both directions of protobuf.
 *
 * A value of a message is an array of slots, one per JSON field (fields of embedded structs are spliced in where Go
 * would print them); `finish` turns the slots into the JSON object an API server answers.
 */
import type { JsonObject } from '../../base/json.ts'
import messagesText from './facts/messages.facts'
import { once } from './once.ts'

export type ValueKind =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  | 'bytes'
  | 'message'
  | 'time'
  | 'microTime'
  | 'quantity'
  | 'intOrString'
  /** Any JSON value, kept unchanged. */
  | 'raw'
  | 'schemaOrBool'
  | 'schemaOrList'
  | 'schemaOrStrings'
  /** A named list of strings that is a message on the wire. */
  | 'strings'

export interface FieldModel {
  readonly slot: number
  readonly name: string
  readonly shape: 'one' | 'list' | 'map'
  readonly kind: ValueKind
  /** For kind 'message', and the schema that the schemaOr… kinds may hold. */
  readonly message: MessageModel | undefined
  readonly pointer: boolean
  /** Encoders write the zero value too. */
  readonly printsZero: boolean
  /** Where Go's error messages say the field is: its name, behind the names of embedded structs it comes from. */
  readonly errorPath: string
  /** Types as Go's error messages name them: of the field, and of an item of a list or map. */
  readonly goType: string
  readonly goItem: string
}

/** How a field number of the wire reaches slots: one field, or an embedded message whose slots start at `offset`. */
export type WireField =
  | { readonly number: number; readonly field: FieldModel; readonly inline?: undefined }
  | { readonly number: number; readonly inline: MessageModel; readonly offset: number; readonly field?: undefined }

export interface MessageModel {
  readonly name: string
  /** `Pod` */
  readonly structName: string
  readonly fields: readonly FieldModel[]
  readonly byName: ReadonlyMap<string, FieldModel>
  /** In ascending number, as encoders write. */
  readonly wire: readonly WireField[]
  readonly wireByNumber: ReadonlyMap<number, WireField>
  readonly isList: boolean
}

type FieldFact = [number: number, name: string, type: string, flags?: string, goType?: string]
type MessageFact = ('t' | FieldFact)[]

const facts = once(() => new Map(Object.entries(JSON.parse(messagesText) as Record<string, MessageFact>)))

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1'
const EXTENSIONS = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1'

const SPECIAL: ReadonlyMap<string, ValueKind> = new Map([
  ['string', 'string'],
  ['bool', 'bool'],
  ['int32', 'int32'],
  ['int64', 'int64'],
  ['double', 'double'],
  ['bytes', 'bytes'],
  [`${META}.Time`, 'time'],
  [`${META}.MicroTime`, 'microTime'],
  [`${META}.FieldsV1`, 'raw'],
  [`${META}.Verbs`, 'strings'],
  ['k8s.io.apimachinery.pkg.runtime.RawExtension', 'raw'],
  ['k8s.io.apimachinery.pkg.api.resource.Quantity', 'quantity'],
  ['k8s.io.apimachinery.pkg.util.intstr.IntOrString', 'intOrString'],
  [`${EXTENSIONS}.JSON`, 'raw'],
  [`${EXTENSIONS}.JSONSchemaPropsOrBool`, 'schemaOrBool'],
  [`${EXTENSIONS}.JSONSchemaPropsOrArray`, 'schemaOrList'],
  [`${EXTENSIONS}.JSONSchemaPropsOrStringArray`, 'schemaOrStrings'],
])

const GO_SCALARS: Readonly<Partial<Record<ValueKind, string>>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
}

/** Write-once results of a pure computation; a model is registered before it is complete so that cycles close. */
const models = new Map<string, MessageModel>()

/** Model of a protobuf message by its full name, e.g. `k8s.io.api.core.v1.Pod`. */
export function messageModel(name: string): MessageModel | undefined {
  const known = models.get(name)
  if (known !== undefined) return known
  const fact = facts().get(name)
  if (fact === undefined) return undefined
  const fields: FieldModel[] = []
  const wire: WireField[] = []
  const byName = new Map<string, FieldModel>()
  const wireByNumber = new Map<number, WireField>()
  const structName = name.slice(name.lastIndexOf('.') + 1)
  const model: MessageModel = { name, structName, fields, byName, wire, wireByNumber, isList: structName.endsWith('List') }
  models.set(name, model)
  for (const entry of fact) {
    if (entry === 't') {
      for (const text of ['kind', 'apiVersion'])
        fields.push({ ...fieldModel([0, text, 'string'], fields.length), errorPath: `TypeMeta.${text}` })
    } else if (entry[3]?.includes('i')) {
      const inline = messageModel(entry[2])
      if (inline === undefined) throw new Error(`${name} embeds ${entry[2]}, which is not in the facts`)
      wire.push({ number: entry[0], inline, offset: fields.length })
      const prefix = inline.structName
      for (const field of inline.fields) fields.push({ ...field, slot: fields.length, errorPath: `${prefix}.${field.errorPath}` })
    } else {
      const field = fieldModel(entry, fields.length)
      fields.push(field)
      wire.push({ number: entry[0], field })
    }
  }
  for (const field of fields) byName.set(field.name, field)
  wire.sort((a, b) => a.number - b.number)
  for (const field of wire) wireByNumber.set(field.number, field)
  return model
}

function fieldModel([, name, type, flags = '', goType]: FieldFact, slot: number): FieldModel {
  const kind = SPECIAL.get(type) ?? (type.endsWith('.ExtraValue') ? 'strings' : 'message')
  const goOne = GO_SCALARS[kind] ?? type.split('.').slice(-2).join('.')
  const shape = flags.includes('r') ? 'list' : flags.includes('m') ? 'map' : 'one'
  const declared = goType ?? (shape === 'list' ? `[]${goOne}` : shape === 'map' ? `map[string]${goOne}` : goOne)
  return {
    slot,
    name,
    errorPath: name,
    shape,
    kind,
    message:
      kind === 'message' ? messageModel(type) : kind.startsWith('schemaOr') ? messageModel(`${EXTENSIONS}.JSONSchemaProps`) : undefined,
    pointer: flags.includes('p'),
    printsZero: flags.includes('n') || (shape === 'one' && !/[pz]/.test(flags) && STRUCTS.has(kind)),
    goType: declared,
    goItem: itemType(declared, shape, goOne),
  }
}

/** `[]v1.Capability` → `v1.Capability`; a named list or map type keeps the plain name of its items. */
function itemType(declared: string, shape: FieldModel['shape'], plain: string): string {
  if (shape === 'list' && declared.startsWith('[]')) return declared.slice(2)
  if (shape === 'map' && declared.startsWith('map[')) return declared.slice(declared.indexOf(']') + 1)
  return shape === 'one' ? declared : plain
}

/** The JSON object of a message from its slots; an undefined slot is Go's zero value. */
export function finish(model: MessageModel, slots: readonly unknown[]): JsonObject {
  const out: Record<string, unknown> = {}
  for (const field of model.fields) {
    const value = slots[field.slot]
    if (value === undefined) {
      if (field.printsZero) out[field.name] = field.shape === 'one' && !field.pointer ? zeroOfField(field) : unset(model, field)
    } else if (field.shape !== 'one') {
      const empty = Array.isArray(value) ? value.length === 0 : isEmptyObject(value as object)
      if (!empty) out[field.name] = value
      else if (field.printsZero) out[field.name] = unset(model, field)
    } else if (field.pointer || field.printsZero) {
      out[field.name] = value
    } else if (value !== '' && value !== 0 && value !== false && value !== null) {
      out[field.name] = value
    }
  }
  return out as JsonObject
}

/** The server serializes a list without items as empty, and any other unset list, map or pointer as null. */
const unset = (model: MessageModel, field: FieldModel): unknown => (model.isList && field.name === 'items' ? [] : null)

/** Bytes and named lists that were never set print as null; as items of a list or map they print as empty. */
const zeroOfField = (field: FieldModel): unknown => (field.kind === 'bytes' || field.kind === 'strings' ? null : zeroValue(field))

/** Structs in Go: omitempty never leaves them out, so their zero value is printed. */
const STRUCTS: ReadonlySet<ValueKind> = new Set(['message', 'time', 'microTime', 'quantity', 'intOrString', 'raw'])

function isEmptyObject(value: object): boolean {
  for (const _key in value) return false
  return true
}

/** What Go prints for the zero value of one item of the field's type. */
export function zeroValue(field: FieldModel): unknown {
  switch (field.kind) {
    case 'string':
    case 'bytes':
      return ''
    case 'bool':
    case 'schemaOrBool':
      return false
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0
    case 'quantity':
      return '0'
    case 'strings':
      return []
    case 'message':
      return field.message === undefined ? {} : finish(field.message, [])
    default:
      return null
  }
}
