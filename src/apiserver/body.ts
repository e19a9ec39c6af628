/** The bytes of a request as a value: JSON, YAML or protobuf, with the real server's messages for what cannot be read. */
import { isJsonObject, type Json } from '../base/json.ts'
import { DecodeError } from '../kinds/kubernetes/decode-json.ts'
import { type DeclaredType, declaredType } from '../kinds/kubernetes/field-validation.ts'
import { decodeProtobuf } from '../kinds/kubernetes/protobuf.ts'
import { type ApiRequest, header } from '../kube/http.ts'
import { type JsonDetails, JsonTextError, parseJsonText } from '../kube/json-text.ts'
import type { GroupVersionKind } from '../kube/meta.ts'
import { badRequestError, failure } from '../kube/status.ts'
import { parseYamlText, YamlTextError } from '../kube/yaml-text.ts'
import { describeBytes } from './describe-bytes.ts'

export interface Body {
  value: Json
  /** The type that the text declares; '' where it declares none. */
  declared: DeclaredType
  /** Strict errors of the text's decoder: repeated keys in YAML. */
  strictErrors: string[]
  /** Paths of repeated keys of JSON. */
  duplicates: string[]
  details?: JsonDetails
  /** Protobuf arrives typed: nothing is unknown, nothing is repeated. */
  isTyped: boolean
}

export const JSON_TYPE = 'application/json'
export const YAML_TYPE = 'application/yaml'
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'

export function mediaType(request: ApiRequest): string {
  return (header(request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** `accepted` lists the media types in the order in which the error names them; a body without a type is JSON. */
export function readBody(request: ApiRequest, expected: GroupVersionKind, accepted: readonly string[]): Body {
  const type = mediaType(request)
  const bytes = request.body ?? new Uint8Array()
  if (type !== '' && !accepted.includes(type)) throw unsupportedType(accepted)
  try {
    if (type === YAML_TYPE) return fromText(parseYamlText(bytes))
    if (type === PROTOBUF_TYPE) return fromProtobuf(bytes, expected)
    return fromText({ ...parseJsonBytes(bytes), strictErrors: [] })
  } catch (error) {
    if (error instanceof DecodeError || error instanceof YamlTextError)
      throw badRequestError(
        `the object provided is unrecognized (must be of type ${expected.kind}): ${error.message} (${describeBytes(bytes)})`,
      )
    throw error
  }
}

function unsupportedType(accepted: readonly string[]): Error {
  return failure(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
}

function parseJsonBytes(bytes: Uint8Array): { value: Json; duplicates: string[]; details?: JsonDetails } {
  try {
    return parseJsonText(bytes)
  } catch (error) {
    if (error instanceof JsonTextError) throw new DecodeError(`couldn't get version/kind; json parse error: ${error.message}`)
    throw error
  }
}

function fromText(parsed: { value: Json; duplicates: string[]; strictErrors: string[]; details?: JsonDetails }): Body {
  return { ...parsed, declared: declaredType(parsed.value), isTyped: false }
}

function fromProtobuf(bytes: Uint8Array, expected: GroupVersionKind): Body {
  const { object, gvk } = decodeProtobuf(bytes, expected)
  if (!isJsonObject(object)) throw new DecodeError('the message is not an object')
  return { value: object as Json, declared: gvk, strictErrors: [], duplicates: [], isTyped: true }
}
