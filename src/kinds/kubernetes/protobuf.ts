/**
 * The protobuf envelope of the Kubernetes API (`k8s\0`, then a runtime.Unknown) around the messages of the built-in
 * kinds. Decoding gives the object that the same content sent as JSON would give; apiVersion and kind are the envelope's.
 */
import { goQuote } from '../../kube/go-print.ts'
import { JsonTextError } from '../../kube/json-text.ts'
import { type GroupVersionKind, groupVersion, type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import { DecodeError, notRegistered } from './decode-json.ts'
import { messageFor } from './message-names.ts'
import type { MessageModel } from './model.ts'
import { decodeMessageBytes } from './protobuf-decode.ts'
import { encodeMessage } from './protobuf-encode.ts'
import { expectWire, WIRE, WireError, WireReader, WireWriter } from './wire.ts'

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00])

interface Envelope {
  /** From the envelope; '' when it has none. */
  apiVersion: string
  kind: string
  raw: Uint8Array
}

const isProtobuf = (bytes: Uint8Array): boolean => MAGIC.equals(bytes.subarray(0, 4))

/** Opens the envelope. Throws DecodeError with the real server's message. */
function openEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new DecodeError('empty data')
  if (!isProtobuf(bytes)) throw new DecodeError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  if (bytes.length === MAGIC.length) throw new DecodeError('empty body')
  return refusing(() => readEnvelope(new WireReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), MAGIC.length)))
}

function readEnvelope(reader: WireReader): Envelope {
  const envelope: Envelope = { apiVersion: '', kind: '', raw: new Uint8Array() }
  while (!reader.done) {
    const { number, type } = reader.tag('Unknown')
    if (number === 1) {
      expectWire(type, WIRE.BYTES, 'TypeMeta')
      readTypeMeta(reader.part(), envelope)
    } else if (number === 2) {
      expectWire(type, WIRE.BYTES, 'Raw')
      envelope.raw = reader.bytes()
    } else reader.skip(type)
  }
  return envelope
}

function readTypeMeta(reader: WireReader, envelope: Envelope): void {
  while (!reader.done) {
    const { number, type } = reader.tag('TypeMeta')
    if (number !== 1 && number !== 2) reader.skip(type)
    else {
      expectWire(type, WIRE.BYTES, number === 1 ? 'APIVersion' : 'Kind')
      if (number === 1) envelope.apiVersion = reader.text()
      else envelope.kind = reader.text()
    }
  }
}

export interface DecodedProtobuf {
  object: KubeObject
  /** The type in the envelope, completed by the fallback. */
  gvk: GroupVersionKind
}

/** A whole body. `fallback` is its type when the envelope has none. Throws DecodeError. */
export function decodeProtobuf(body: Uint8Array, fallback?: GroupVersionKind): DecodedProtobuf {
  const { apiVersion, kind, raw } = openEnvelope(body)
  const type = `runtime.TypeMeta{APIVersion:${goQuote(apiVersion)}, Kind:${goQuote(kind)}}`
  const gvk = {
    ...(apiVersion === '' ? { group: fallback?.group ?? '', version: fallback?.version ?? '' } : parseGroupVersion(apiVersion)),
    kind: kind === '' ? (fallback?.kind ?? '') : kind,
  }
  if (gvk.kind === '') throw new DecodeError(`Object 'Kind' is missing in '${type}'`)
  if (gvk.version === '') throw new DecodeError(`Object 'apiVersion' is missing in '${type}'`)
  const model = messageFor(gvk)
  if (model === undefined) throw new DecodeError(notRegistered(gvk))
  return { object: decodeRawMessage(model, gvk, raw), gvk }
}

/** A bare message, without the envelope. Throws DecodeError. */
function decodeRawMessage(model: MessageModel, { group, version, kind }: GroupVersionKind, raw: Uint8Array): KubeObject {
  const body = refusing(() => decodeMessageBytes(model, raw))
  return (model.byName.has('kind') ? { kind, apiVersion: groupVersion(group, version), ...body } : body) as KubeObject
}

function refusing<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof WireError || error instanceof JsonTextError) throw new DecodeError(error.message)
    throw error
  }
}

/** An object as a whole protobuf body. */
export function encodeProtobuf(object: KubeObject, model: MessageModel): Buffer {
  const type = new WireWriter()
  type.bytes(1, Buffer.from(object.apiVersion))
  type.bytes(2, Buffer.from(object.kind))
  const unknown = new WireWriter()
  unknown.bytes(1, type.finish())
  unknown.bytes(2, encodeMessage(model, object))
  unknown.bytes(3, Buffer.alloc(0))
  unknown.bytes(4, Buffer.alloc(0))
  return Buffer.concat([MAGIC, unknown.finish()])
}
