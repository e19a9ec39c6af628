/**
 * Bodies in: JSON, YAML or protobuf to a private, decoded and defaulted object of the kind the path names, with the real
 * server's words for everything that is wrong with them.
 */
import type { Json } from '../base/json.ts'
import { deepClone, isJsonObject } from '../base/json.ts'
import { DecodeError, decodeTyped } from '../kinds/kubernetes/decode-json.ts'
import { decodeProtobuf } from '../kinds/kubernetes/protobuf.ts'
import { goQuote } from '../kube/go-print.ts'
import { invalid } from '../kube/field-error.ts'
import { type JsonDetails, JsonTextError, parseJsonText, refuseInexactIntegers } from '../kube/json-text.ts'
import { type GroupVersionKind, type KubeObject, parseGroupVersion } from '../kube/meta.ts'
import { badRequestError, failure, invalidError } from '../kube/status.ts'
import { parseYamlText, YamlTextError } from '../kube/yaml-text.ts'
import { describeBytes } from './describe-bytes.ts'
import type { FieldValidation } from './options.ts'
import { header, type Scope, warn } from './scope.ts'

const ACCEPTED = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
const SCHEME = 'pkg/runtime/scheme.go:111'

interface Parsed {
  value: Json
  duplicates: string[]
  details?: JsonDetails
  /** Protobuf comes decoded. */
  isTyped?: boolean
}

/** The body of a create or update. */
export function decodeBody(scope: Scope, fieldValidation: FieldValidation): KubeObject {
  const { definition } = scope.served
  const parsed = parseBody(scope, definition.kind)
  return definition.builtin ? decodeBuiltin(scope, parsed, fieldValidation) : decodeCustom(scope, parsed, fieldValidation)
}

function parseBody(scope: Scope, kind: string): Parsed {
  const body = scope.request.body ?? new Uint8Array()
  const type = (header(scope.request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === '' || type === 'application/json') return parseJsonBody(body, kind)
  if (type === 'application/yaml') return parseYamlBody(body, kind)
  if (type === 'application/vnd.kubernetes.protobuf' && scope.served.definition.builtin) return parseProtobufBody(body, kind)
  throw failure(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${scope.served.definition.builtin ? ACCEPTED : 'application/json, application/yaml'}`,
  )
}

function parseJsonBody(body: Uint8Array, kind: string): Parsed {
  try {
    const parsed = parseJsonText(body)
    if (parsed.value !== null && !isJsonObject(parsed.value))
      throw new JsonTextError(
        `json: cannot unmarshal ${goKind(parsed.value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
      )
    return parsed
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    throw unrecognized(kind, `couldn't get version/kind; json parse error: ${error.message}`, body)
  }
}

function parseYamlBody(body: Uint8Array, kind: string): Parsed {
  try {
    return parseYamlText(Buffer.from(body).toString('utf8'))
  } catch (error) {
    if (!(error instanceof YamlTextError)) throw error
    throw unrecognized(kind, error.message, body)
  }
}

function parseProtobufBody(body: Uint8Array, kind: string): Parsed {
  try {
    return { value: decodeProtobuf(body).object as unknown as Json, duplicates: [], isTyped: true }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw unrecognized(kind, error.message, body)
  }
}

const unrecognized = (kind: string, why: string, body: Uint8Array): Error =>
  badRequestError(`the object provided is unrecognized (must be of type ${kind}): ${why} (${describeBytes(body)})`)

function goKind(value: Json): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** What the object says it is; what it does not say is what the path says. */
function declaredKind(scope: Scope, value: Json): GroupVersionKind {
  const { definition, version } = scope.served
  const object = isJsonObject(value) ? value : {}
  const apiVersion = Object.hasOwn(object, 'apiVersion') && typeof object.apiVersion === 'string' ? object.apiVersion : ''
  const kind = Object.hasOwn(object, 'kind') && typeof object.kind === 'string' ? object.kind : ''
  const parsed = apiVersion === '' ? { group: definition.group, version: version.name } : parseGroupVersion(apiVersion)
  return { ...parsed, kind: kind === '' ? definition.kind : kind }
}

function decodeBuiltin(scope: Scope, parsed: Parsed, fieldValidation: FieldValidation): KubeObject {
  const { definition, version } = scope.served
  const declared = declaredKind(scope, parsed.value)
  const cannot = (why: string): Error => badRequestError(`${declared.kind} in version ${goQuote(declared.version)} cannot be handled as a ${definition.kind}: ${why}`)
  const object = decodeDeclared(scope, declared, parsed, cannot)
  const { strictErrors } = object
  if (strictErrors.length > 0) {
    if (fieldValidation === 'Strict') throw cannot(`strict decoding error: ${strictErrors.join(', ')}`)
    if (fieldValidation === 'Warn') for (const text of strictErrors) warn(scope, text)
  }
  definition.rules.applyDefaults?.(object.object, version.name)
  return object.object
}

interface Decoded {
  object: KubeObject
  strictErrors: string[]
}

/** Decodes as what the object says it is, and then insists that this is what the path serves. */
function decodeDeclared(scope: Scope, declared: GroupVersionKind, parsed: Parsed, cannot: (why: string) => Error): Decoded {
  const { definition, version } = scope.served
  if (parsed.isTyped) {
    const object = parsed.value as unknown as KubeObject
    if (!isServed(scope, declared)) throw cannot(mismatch(scope, declared))
    return { object: withType(scope, object), strictErrors: [] }
  }
  const isOther = !isServed(scope, declared)
  if (isOther && !isRegistered(scope, declared)) throw cannot(notRegistered(declared))
  try {
    const typed = decodeTyped(declared, parsed.value, parsed.details)
    if (isOther) throw cannot(mismatch(scope, declared))
    return { object: withType(scope, typed.object), strictErrors: typed.strictErrors }
  } catch (error) {
    if (error instanceof DecodeError) throw cannot(error.message)
    throw error
  }

  function isServed(_scope: Scope, gvk: GroupVersionKind): boolean {
    return gvk.group === definition.group && gvk.version === version.name && gvk.kind === definition.kind
  }
}

function withType(scope: Scope, object: KubeObject): KubeObject {
  object.kind = scope.served.definition.kind
  object.apiVersion = scope.served.apiVersion
  object.metadata ??= {}
  return object
}

function isRegistered(scope: Scope, gvk: GroupVersionKind): boolean {
  const kind = gvk.kind.endsWith('List') ? gvk.kind.slice(0, -'List'.length) : gvk.kind
  return scope.server.catalog.findKind(gvk.group, gvk.version, kind)?.definition.builtin === true
}

const notRegistered = (gvk: GroupVersionKind): string =>
  `no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`)} in scheme ${goQuote(SCHEME)}`

function mismatch(scope: Scope, gvk: GroupVersionKind): string {
  const { definition } = scope.served
  return `converting (${gvk.version}.${gvk.kind}) to (${definition.group === '' ? 'core' : definition.group.split('.')[0]}.${definition.kind}): unknown conversion`
}

function decodeCustom(scope: Scope, parsed: Parsed, fieldValidation: FieldValidation): KubeObject {
  const { definition, version, apiVersion } = scope.served
  if (!isJsonObject(parsed.value)) throw badRequestError(`the body must be an object of kind ${definition.kind}`)
  refuseInexactIntegers(parsed.details)
  const object = deepClone(parsed.value) as unknown as KubeObject
  const given = typeof object.apiVersion === 'string' ? object.apiVersion : ''
  if (given !== apiVersion) throw badRequestError(`the API version in the data (${given}) does not match the expected API version (${apiVersion})`)
  if (typeof object.kind !== 'string' || object.kind === '')
    throw badRequestError(`Object 'Kind' is missing in '${Buffer.from(scope.request.body ?? []).toString('utf8').slice(0, 200)}'`)
  if (object.kind !== definition.kind)
    throw invalidError({ group: definition.group, kind: object.kind }, isJsonObject(object.metadata) ? String(object.metadata.name ?? '') : '', [
      invalid('kind', object.kind, `must be ${definition.kind}`),
    ])
  return finishCustom(scope, object, { fieldValidation, duplicates: parsed.duplicates, refuse: (why) => badRequestError(why) })

  function finishCustom(
    _scope: Scope,
    custom: KubeObject,
    how: { fieldValidation: FieldValidation; duplicates: readonly string[]; refuse: (why: string) => Error },
  ): KubeObject {
    const { unknown, error } = version.coerce?.(custom) ?? { unknown: [] as string[] }
    if (error !== undefined) throw how.refuse(error)
    const strict = [...how.duplicates.map((path) => `duplicate field ${goQuote(path)}`), ...unknown.map((path) => `unknown field ${goQuote(path)}`)]
    if (strict.length > 0 && how.fieldValidation === 'Strict')
      throw badRequestError(`${definition.kind} in version ${goQuote(version.name)} cannot be handled as a ${definition.kind}: strict decoding error: ${strict.join(', ')}`)
    if (how.fieldValidation === 'Warn') for (const text of strict) warn(scope, text)
    definition.rules.applyDefaults?.(custom, version.name)
    return custom
  }
}

export interface PatchedOptions {
  fieldValidation: FieldValidation
  /** What the decoder of the patch itself noticed. */
  strictErrors: readonly string[]
  /** The patch as its error message shows it; default: the patched object. */
  shown: string | undefined
}

/** The result of a patch (or of an apply) is decoded like a body, but its errors speak of the patch. */
export function decodePatched(scope: Scope, value: unknown, options: PatchedOptions): KubeObject {
  const { definition, version } = scope.served
  const refuse = (why: string): Error =>
    invalidError({ group: '', kind: '' }, '', [invalid('patch', options.shown ?? JSON.stringify(sortedTop(value)), why)])
  let object: KubeObject
  let strictErrors: string[]
  if (definition.builtin) {
    const declared = declaredKind(scope, value as Json)
    const cannot = (why: string): Error => refuse(why)
    const decoded = decodeDeclared(scope, declared, { value: value as Json, duplicates: [] }, cannot)
    object = decoded.object
    strictErrors = [...options.strictErrors, ...decoded.strictErrors]
  } else {
    object = deepClone(value) as KubeObject
    const coerced = version.coerce?.(object) ?? { unknown: [] as string[] }
    if (coerced.error !== undefined) throw badRequestError(coerced.error)
    strictErrors = [...options.strictErrors, ...coerced.unknown.map((path) => `unknown field ${goQuote(path)}`)]
  }
  if (strictErrors.length > 0) {
    if (options.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${strictErrors.join(', ')}`)
    if (options.fieldValidation === 'Warn') for (const text of strictErrors) warn(scope, text)
  }
  definition.rules.applyDefaults?.(object, version.name)
  return object
}

function sortedTop(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, value[key]]))
}

/** The body of an apply, as it was sent: the fields it has are the fields its manager wants to own. */
export function decodeAppliedBody(scope: Scope, body: Uint8Array): KubeObject {
  const text = Buffer.from(body).toString('utf8')
  try {
    const parsed = text.trimStart().startsWith('{') ? parseJsonText(text) : parseYamlText(text)
    if (!isJsonObject(parsed.value)) throw new YamlTextError('the body must be one object')
    return parsed.value as unknown as KubeObject
  } catch (error) {
    if (error instanceof YamlTextError || error instanceof JsonTextError) throw badRequestError(`error decoding YAML: ${error.message}`)
    throw error
  }
}

/** A body of another built-in kind than the path's own: Scale, Binding, Eviction, reviews. */
export function decodeVirtual(scope: Scope, gvk: GroupVersionKind): KubeObject {
  const body = scope.request.body ?? new Uint8Array()
  const type = (header(scope.request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const parsed =
    type === 'application/vnd.kubernetes.protobuf' ? parseProtobufBody(body, gvk.kind) : type === 'application/yaml' || type === 'application/apply-patch+yaml' ? parseYamlBody(body, gvk.kind) : parseJsonBody(body, gvk.kind)
  const apiVersion = gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`
  const cannot = (why: string): Error => badRequestError(`${gvk.kind} in version ${goQuote(gvk.version)} cannot be handled as a ${gvk.kind}: ${why}`)
  if (isJsonObject(parsed.value)) {
    const declared = declaredKind(scope, parsed.value)
    const saysOther = (typeof parsed.value.kind === 'string' && parsed.value.kind !== '' && declared.kind !== gvk.kind) || (typeof parsed.value.apiVersion === 'string' && parsed.value.apiVersion !== '' && parsed.value.apiVersion !== apiVersion)
    if (saysOther) throw badRequestError(`${declared.kind} in version ${goQuote(declared.version)} cannot be handled as a ${gvk.kind}: ${isRegistered(scope, declared) ? `converting (${declared.version}.${declared.kind}) to (${gvk.version}.${gvk.kind}): unknown conversion` : notRegistered(declared)}`)
  }
  try {
    const object = parsed.isTyped ? (parsed.value as unknown as KubeObject) : decodeTyped(gvk, parsed.value, parsed.details).object
    object.kind = gvk.kind
    object.apiVersion = apiVersion
    object.metadata ??= {}
    return object
  } catch (error) {
    if (error instanceof DecodeError) throw cannot(error.message)
    throw error
  }
}

/** DeleteOptions, if the request has a body. */
export function decodeDeleteOptions(scope: Scope): Record<string, unknown> | undefined {
  if ((scope.request.body?.length ?? 0) === 0) return undefined
  const type = (header(scope.request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (!['', 'application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'].includes(type))
    throw failure(415, 'UnsupportedMediaType', `the body of the request was in an unknown format - accepted media types include: ${ACCEPTED}`)
  const { kind: _kind, apiVersion: _apiVersion, ...options } = decodeVirtualOptions(scope)
  return options
}

function decodeVirtualOptions(scope: Scope): Record<string, unknown> {
  const body = scope.request.body ?? new Uint8Array()
  const type = (header(scope.request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const parsed =
    type === 'application/vnd.kubernetes.protobuf' ? parseProtobufBody(body, 'DeleteOptions') : type === 'application/yaml' ? parseYamlBody(body, 'DeleteOptions') : parseJsonBody(body, 'DeleteOptions')
  if (parsed.isTyped) return parsed.value as unknown as Record<string, unknown>
  try {
    return decodeTyped({ group: '', version: 'v1', kind: 'DeleteOptions' }, parsed.value, parsed.details).object
  } catch (error) {
    if (error instanceof DecodeError) throw badRequestError(`DeleteOptions in version "v1" cannot be handled as a DeleteOptions: ${error.message}`)
    throw error
  }
}
