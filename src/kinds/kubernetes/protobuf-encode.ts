/** Objects of the built-in kinds as protobuf messages: every field that Go's generated encoders write, in their order. */
import { Buffer } from 'node:buffer'
import { compareStrings } from '../../kube/go-print.ts'
import { parseMicroTime, parseTime } from '../../kube/go-time.ts'
import type { FieldModel, MessageModel } from './model.ts'
import { WIRE, WireWriter } from './wire.ts'

type Fields = Record<string, unknown>

export function encodeMessage(model: MessageModel, object: Fields): Buffer {
  const writer = new WireWriter()
  for (const wire of model.wire) {
    if (wire.inline !== undefined) writer.bytes(wire.number, encodeMessage(wire.inline, object))
    else writeField(writer, wire.number, wire.field, object[wire.field.name])
  }
  return writer.finish()
}

function writeField(writer: WireWriter, number: number, field: FieldModel, value: unknown): void {
  if (field.shape === 'list') {
    for (const item of Array.isArray(value) ? value : []) writeItem(writer, number, field, item)
  } else if (field.shape === 'map') {
    const map = (value ?? {}) as Fields
    for (const key of Object.keys(map).sort(compareStrings)) {
      const entry = new WireWriter()
      entry.bytes(1, Buffer.from(key))
      writeItem(entry, 2, field, map[key])
      writer.bytes(number, entry.finish())
    }
  } else if (value === undefined || value === null) {
    // Absent pointers and bytes are not written; other zero values always are.
    if (!field.pointer && field.kind !== 'bytes') writeItem(writer, number, field, undefined)
  } else writeItem(writer, number, field, value)
}

function writeItem(writer: WireWriter, number: number, field: FieldModel, value: unknown): void {
  switch (field.kind) {
    case 'bool':
      writer.tag(number, WIRE.VARINT)
      writer.varint(value === true ? 1 : 0)
      break
    case 'int32':
    case 'int64':
      writer.tag(number, WIRE.VARINT)
      writer.varint(BigInt((value as number | undefined) ?? 0))
      break
    case 'double':
      writer.double(number, (value as number | undefined) ?? 0)
      break
    default:
      writer.bytes(number, itemBytes(field, value))
  }
}

function itemBytes(field: FieldModel, value: unknown): Buffer {
  switch (field.kind) {
    case 'string':
      return Buffer.from(String(value ?? ''))
    case 'bytes':
      return Buffer.from(String(value ?? ''), 'base64')
    case 'message':
      return field.message === undefined ? Buffer.alloc(0) : encodeMessage(field.message, (value ?? {}) as Fields)
    case 'time':
    case 'microTime':
      return timeBytes(field.kind, value)
    case 'quantity':
      return single(Buffer.from(String(value ?? '0')))
    case 'intOrString':
      return intOrStringBytes(value)
    case 'raw':
      return value === undefined || value === null ? Buffer.alloc(0) : single(Buffer.from(JSON.stringify(value)))
    case 'strings':
      return stringsBytes(1, value)
    default:
      return schemaOrBytes(field, value)
  }
}

function single(value: Uint8Array): Buffer {
  const writer = new WireWriter()
  writer.bytes(1, value)
  return writer.finish()
}

function stringsBytes(number: number, value: unknown): Buffer {
  const writer = new WireWriter()
  for (const item of Array.isArray(value) ? value : []) writer.bytes(number, Buffer.from(String(item)))
  return writer.finish()
}

function timeBytes(kind: 'time' | 'microTime', value: unknown): Buffer {
  const instant = (kind === 'time' ? parseTime : parseMicroTime)(String(value ?? '')).value
  if (instant === undefined) return Buffer.alloc(0)
  const writer = new WireWriter()
  writer.tag(1, WIRE.VARINT)
  writer.varint(BigInt(instant.seconds))
  writer.tag(2, WIRE.VARINT)
  writer.varint(kind === 'time' ? 0 : instant.nanos)
  return writer.finish()
}

function intOrStringBytes(value: unknown): Buffer {
  const writer = new WireWriter()
  writer.tag(1, WIRE.VARINT)
  writer.varint(typeof value === 'string' ? 1 : 0)
  writer.tag(2, WIRE.VARINT)
  writer.varint(typeof value === 'number' ? BigInt(value) : 0)
  writer.bytes(3, Buffer.from(typeof value === 'string' ? value : ''))
  return writer.finish()
}

function schemaOrBytes(field: FieldModel, value: unknown): Buffer {
  const writer = new WireWriter()
  const model = field.message
  const isSchema = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (field.kind === 'schemaOrBool') {
    writer.tag(1, WIRE.VARINT)
    writer.varint(value === true || isSchema ? 1 : 0)
    if (isSchema && model !== undefined) writer.bytes(2, encodeMessage(model, value as Fields))
    return writer.finish()
  }
  if (isSchema && model !== undefined) writer.bytes(1, encodeMessage(model, value as Fields))
  for (const item of Array.isArray(value) ? value : []) {
    if (field.kind === 'schemaOrStrings') writer.bytes(2, Buffer.from(String(item)))
    else if (model !== undefined) writer.bytes(2, encodeMessage(model, item as Fields))
  }
  return writer.finish()
}
