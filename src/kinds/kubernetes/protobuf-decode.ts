/**
 * Protobuf messages of the built-in kinds, read into the same slots as typed JSON and finished by the same rules, so
 * that an object is the same whichever way it came. Unknown field numbers are skipped.
 */
import { type Json, type JsonObject, setOwn } from '../../base/json.ts'
import { parseJsonText } from '../../kube/json-text.ts'
import { printInstant, quantityText } from './go-values.ts'
import { type FieldModel, finish, type MessageModel, zeroValue } from './model.ts'
import { expectWire, WIRE, WireError, WireReader } from './wire.ts'

/** Messages nest by type, JSONSchemaProps without bound; nesting deeper than JSON allows is refused. */
const MAX_DEPTH = 1000

interface State {
  depth: number
}

export function decodeMessageBytes(model: MessageModel, bytes: Uint8Array): JsonObject {
  return readMessage({ depth: 0 }, model, new WireReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
}

function readMessage(state: State, model: MessageModel, reader: WireReader): JsonObject {
  const slots: unknown[] = new Array(model.fields.length)
  readInto(state, model, reader, { slots, offset: 0 })
  return finish(model, slots)
}

interface Target {
  readonly slots: unknown[]
  /** Where the slots of this message start: embedded messages share the slots of the outer one. */
  readonly offset: number
}

function readInto(state: State, model: MessageModel, reader: WireReader, target: Target): void {
  if (++state.depth > MAX_DEPTH) throw new WireError(`proto: exceeded max depth (${MAX_DEPTH} levels are accepted)`)
  while (!reader.done) {
    const { number, type } = reader.tag(model.structName)
    const wire = model.wireByNumber.get(number)
    if (wire === undefined) reader.skip(type)
    else if (wire.inline !== undefined) {
      expectWire(type, WIRE.BYTES, wire.inline.structName)
      readInto(state, wire.inline, reader.part(), { slots: target.slots, offset: target.offset + wire.offset })
    } else readField(state, wire.field, type, { reader, slots: target.slots, slot: target.offset + wire.field.slot })
  }
  state.depth--
}

interface Place {
  readonly reader: WireReader
  readonly slots: unknown[]
  readonly slot: number
}

function readField(state: State, field: FieldModel, type: number, { reader, slots, slot }: Place): void {
  if (field.shape === 'map') {
    expectWire(type, WIRE.BYTES, field.name)
    const map = (slots[slot] ?? {}) as Record<string, unknown>
    slots[slot] = map
    readMapEntry(state, field, reader.part(), map)
    return
  }
  if (field.shape === 'one') {
    slots[slot] = readItem(state, field, type, reader)
    return
  }
  const list = (slots[slot] ?? []) as unknown[]
  slots[slot] = list
  // Kubernetes never packs; Go's decoders accept it all the same.
  if (type === WIRE.BYTES && (field.kind === 'int32' || field.kind === 'int64' || field.kind === 'bool')) {
    const packed = reader.part()
    while (!packed.done) list.push(readItem(state, field, WIRE.VARINT, packed))
  } else list.push(readItem(state, field, type, reader))
}

function readMapEntry(state: State, field: FieldModel, reader: WireReader, map: Record<string, unknown>): void {
  let key = ''
  let value: unknown
  while (!reader.done) {
    const { number, type } = reader.tag(field.name)
    if (number === 1) {
      expectWire(type, WIRE.BYTES, field.name)
      key = reader.text()
    } else if (number === 2) value = readItem(state, field, type, reader)
    else reader.skip(type)
  }
  setOwn(map, key, value ?? zeroValue(field))
}

function readItem(state: State, field: FieldModel, type: number, reader: WireReader): unknown {
  switch (field.kind) {
    case 'bool':
      expectWire(type, WIRE.VARINT, field.name)
      return reader.varint64() !== 0n
    case 'int32':
      expectWire(type, WIRE.VARINT, field.name)
      return reader.varint32()
    case 'int64':
      expectWire(type, WIRE.VARINT, field.name)
      return exactNumber(reader.varint64(), field.name)
    case 'double':
      expectWire(type, WIRE.FIXED64, field.name)
      return finiteNumber(reader.double(), field.name)
    default:
      expectWire(type, WIRE.BYTES, field.name)
      return readBytes(state, field, reader)
  }
}

function exactNumber(value: bigint, name: string): number {
  const number = Number(value)
  if (BigInt(number) === value) return number
  throw new WireError(`proto: ${name}: number ${value} cannot be kept exactly: integers between -(2^53-1) and 2^53-1 are supported`)
}

function finiteNumber(value: number, name: string): number {
  if (Number.isFinite(value)) return value
  throw new WireError(`proto: ${name}: unsupported value: ${value}`)
}

function readBytes(state: State, field: FieldModel, reader: WireReader): unknown {
  switch (field.kind) {
    case 'string':
      return reader.text()
    case 'bytes':
      return reader.bytes().toString('base64')
    case 'message':
      return field.message === undefined ? {} : readMessage(state, field.message, reader.part())
    case 'time':
    case 'microTime':
      return readTime(field.kind, reader.part()) ?? undefined
    case 'quantity':
      return readQuantity(reader.part())
    case 'intOrString':
      return readIntOrString(reader.part())
    case 'raw':
      return readRaw(reader.part())
    case 'strings':
      return readStrings(reader.part())
    default:
      return readSchemaOr(state, field, reader.part())
  }
}

/** Reads a small message by a table of what to do with each field number. */
function readParts(reader: WireReader, parts: Record<number, { type: number; read: (reader: WireReader) => void }>): void {
  while (!reader.done) {
    const { number, type } = reader.tag('message')
    const part = Object.hasOwn(parts, number) ? parts[number] : undefined
    if (part === undefined) reader.skip(type)
    else {
      expectWire(type, part.type, String(number))
      part.read(reader)
    }
  }
}

/** An empty message is the zero time. */
function readTime(kind: 'time' | 'microTime', reader: WireReader): string | null {
  if (reader.done) return null
  let seconds = 0n
  let nanos = 0
  readParts(reader, {
    1: { type: WIRE.VARINT, read: (r) => (seconds = r.varint64()) },
    2: { type: WIRE.VARINT, read: (r) => (nanos = r.varint32()) },
  })
  if (seconds > 253402300799n || seconds < -62167219200n) throw new WireError(`proto: time ${seconds} is outside of years 0 to 9999`)
  // metav1.Time drops nanoseconds, MicroTime keeps microseconds.
  return printInstant(kind, { seconds: Number(seconds), nanos: kind === 'time' ? 0 : Math.max(0, nanos - (nanos % 1000)) })
}

function readQuantity(reader: WireReader): string {
  let text = ''
  readParts(reader, { 1: { type: WIRE.BYTES, read: (r) => (text = r.text()) } })
  if (text === '') return '0'
  const quantity = quantityText(text)
  if (quantity.error !== undefined) throw new WireError(quantity.error)
  return quantity.value
}

function readIntOrString(reader: WireReader): number | string {
  let type = 0
  let number = 0
  let text = ''
  readParts(reader, {
    1: { type: WIRE.VARINT, read: (r) => (type = r.varint32()) },
    2: { type: WIRE.VARINT, read: (r) => (number = r.varint32()) },
    3: { type: WIRE.BYTES, read: (r) => (text = r.text()) },
  })
  return type === 1 ? text : number
}

function readRaw(reader: WireReader): Json {
  let raw: Buffer | undefined
  readParts(reader, { 1: { type: WIRE.BYTES, read: (r) => (raw = r.bytes()) } })
  return raw === undefined || raw.length === 0 ? null : parseJsonText(raw).value
}

function readStrings(reader: WireReader): string[] {
  const items: string[] = []
  readParts(reader, { 1: { type: WIRE.BYTES, read: (r) => items.push(r.text()) } })
  return items
}

/** JSONSchemaPropsOrBool {1 allows, 2 schema}, …OrArray {1 schema, 2 schemas}, …OrStringArray {1 schema, 2 strings}. */
function readSchemaOr(state: State, field: FieldModel, reader: WireReader): unknown {
  let allows = false
  let schema: unknown
  const items: unknown[] = []
  const readSchema = (r: WireReader): unknown => (field.message === undefined ? {} : readMessage(state, field.message, r.part()))
  if (field.kind === 'schemaOrBool') {
    readParts(reader, {
      1: { type: WIRE.VARINT, read: (r) => (allows = r.varint64() !== 0n) },
      2: { type: WIRE.BYTES, read: (r) => (schema = readSchema(r)) },
    })
    return schema ?? allows
  }
  readParts(reader, {
    1: { type: WIRE.BYTES, read: (r) => (schema = readSchema(r)) },
    2: { type: WIRE.BYTES, read: (r) => items.push(field.kind === 'schemaOrStrings' ? r.text() : readSchema(r)) },
  })
  return items.length > 0 ? items : (schema ?? null)
}
