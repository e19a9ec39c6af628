/**
 * Decodes bodies into a private, defaulted object of the kind the path names, with the real server's messages for
 * everything that is wrong with them. Managed fields, admission and rules work on the result.
 */
import { deepClone, isJsonObject, type Json } from '../base/json.ts'
import { DecodeError, decodeTyped, notRegistered } from '../kinds/kubernetes/decode-json.ts'
import { strictOutcome } from '../kinds/kubernetes/field-validation.ts'
import { invalid } from '../kube/field-error.ts'
import { goQuote } from '../kube/go-print.ts'
import { JsonTextError, parseJsonText } from '../kube/json-text.ts'
import { type GroupVersionKind, groupVersion, type KubeObject, parseGroupVersion } from '../kube/meta.ts'
import { badRequestError, invalidError } from '../kube/status.ts'
import { parseYamlText, YamlTextError } from '../kube/yaml-text.ts'
import { type Body, JSON_TYPE, PROTOBUF_TYPE, readBody, YAML_TYPE } from './body.ts'
import type { Served } from './catalog.ts'
import { coerceCustom, decodeCustom } from './codec-custom.ts'
import type { FieldValidation } from './options.ts'
import { type Scope, warn } from './scope.ts'

const BUILTIN_TYPES = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE]
const CUSTOM_TYPES = [JSON_TYPE, YAML_TYPE]

const kindOf = (served: Served): GroupVersionKind => ({
  group: served.definition.group,
  version: served.version.name,
  kind: served.definition.kind,
})

/** The body of a create or update. */
export function decodeBody(scope: Scope, fieldValidation: FieldValidation): KubeObject {
  const { served } = scope
  if (!served.definition.builtin) return decodeCustom(scope, readBody(scope.request, kindOf(served), CUSTOM_TYPES), fieldValidation)
  const body = readBody(scope.request, kindOf(served), BUILTIN_TYPES)
  const declared = declaredOr(body, kindOf(served))
  const cannot = (why: string): Error =>
    badRequestError(`${declared.kind} in version ${goQuote(declared.version)} cannot be handled as a ${served.definition.kind}: ${why}`)
  const decoded = decodeAs(scope, { value: body.value, declared, details: body.details, isTyped: body.isTyped }, cannot)
  reportStrict(scope, fieldValidation, [...body.strictErrors, ...decoded.strictErrors], cannot)
  served.definition.rules.applyDefaults?.(decoded.object, served.version.name)
  return decoded.object
}

/** What a body does not say about its type is taken from the path. */
function declaredOr(body: Pick<Body, 'declared'>, path: GroupVersionKind): GroupVersionKind {
  const { declared } = body
  const hasVersion = declared.version !== ''
  return {
    group: hasVersion ? declared.group : path.group,
    version: hasVersion ? declared.version : path.version,
    kind: declared.kind === '' ? path.kind : declared.kind,
  }
}

interface Declared {
  value: Json
  declared: GroupVersionKind
  details?: Body['details']
  isTyped: boolean
}

interface Decoded {
  object: KubeObject
  strictErrors: string[]
}

/** Decodes the object as the type it declares, and then requires that this is what the path serves. */
function decodeAs(scope: Scope, body: Declared, cannot: (why: string) => Error): Decoded {
  const { served } = scope
  const { declared } = body
  const path = kindOf(served)
  const isOther = declared.group !== path.group || declared.version !== path.version || declared.kind !== path.kind
  if (isOther && !isRegistered(scope, declared)) throw cannot(notRegistered(declared))
  const decoded = body.isTyped ? { object: body.value as unknown as KubeObject, strictErrors: [] } : typed(declared, body, cannot)
  if (isOther)
    throw cannot(noConversion(declared, { group: parseGroupVersion(served.storageApiVersion).group, kind: served.definition.kind }))
  return { object: withType(decoded.object, path), strictErrors: decoded.strictErrors }
}

function typed(gvk: GroupVersionKind, body: Pick<Declared, 'value' | 'details'>, cannot: (why: string) => Error): Decoded {
  try {
    return decodeTyped(gvk, body.value, body.details)
  } catch (error) {
    if (error instanceof DecodeError) throw cannot(error.message)
    throw error
  }
}

function withType(object: KubeObject, gvk: GroupVersionKind): KubeObject {
  object.kind = gvk.kind
  object.apiVersion = groupVersion(gvk.group, gvk.version)
  object.metadata ??= {}
  return object
}

function isRegistered(scope: Scope, gvk: GroupVersionKind): boolean {
  const kind = gvk.kind.endsWith('List') ? gvk.kind.slice(0, -'List'.length) : gvk.kind
  return scope.server.catalog.findKind(gvk.group, gvk.version, kind)?.definition.builtin === true
}

/** Conversions go through the server's own form of a kind, which has no version. */
function noConversion(from: GroupVersionKind, to: { group: string; kind: string }): string {
  const internal = to.group === '' ? 'core' : to.group.split('.')[0]
  return `converting (${from.version}.${from.kind}) to (${internal}.${to.kind}): unknown conversion`
}

function reportStrict(scope: Scope, mode: FieldValidation, errors: readonly string[], cannot: (why: string) => Error): void {
  const outcome = strictOutcome(mode, errors)
  if (outcome.error !== undefined) throw cannot(outcome.error)
  for (const text of outcome.warnings) warn(scope, text)
}

export interface PatchedOptions {
  fieldValidation: FieldValidation
  /** Strict errors of the decoder of the patch itself. */
  strictErrors: readonly string[]
  /** What the error message shows: the patch itself, or the patched object printed in Go's order. */
  shown(): string
  /** The patched object is restored from a tree of values instead of being decoded from text, and its errors differ. */
  isRestored?: boolean
  /** The error for a value that cannot be restored; default: an invalid patch. */
  refuse?(why: string): Error
}

/** An object with its fields in the order of Go's structs, for texts that show it. */
export function inGoOrder(scope: Scope, object: KubeObject): KubeObject {
  return scope.served.definition.builtin ? decodeTyped(kindOf(scope.served), object as unknown as Json).object : object
}

/** A patched document is printed with its outermost keys in order, as Go prints maps. */
export function printPatched(value: unknown): string {
  if (!isJsonObject(value)) return JSON.stringify(value)
  const sorted = Object.keys(value).sort()
  return JSON.stringify(Object.fromEntries(sorted.map((key) => [key, value[key]])))
}

/** The result of a patch (or of an apply) is decoded like a body, but its errors refer to the patch. */
export function decodePatched(scope: Scope, value: unknown, options: PatchedOptions): KubeObject {
  const { served } = scope
  const cannot = (why: string): Error => invalidError({ group: '', kind: '' }, '', [invalid('patch', options.shown(), why)])
  if (!served.definition.builtin) {
    const coerced = coerceCustom(scope, deepClone(value) as KubeObject)
    reportStrict(scope, options.fieldValidation, [...options.strictErrors, ...coerced.strictErrors], cannot)
    return coerced.object
  }
  const declared = declaredOr({ declared: declaredOf(value) }, kindOf(served))
  const refusal = options.refuse ?? cannot
  const refuse = options.isRestored ? (why: string) => refusal(asRestoreError(why)) : refusal
  const decoded = decodeAs(scope, { value: value as Json, declared, isTyped: false }, refuse)
  reportStrict(scope, options.fieldValidation, [...options.strictErrors, ...decoded.strictErrors], cannot)
  served.definition.rules.applyDefaults?.(decoded.object, served.version.name)
  return decoded.object
}

const TYPE_MISMATCH = /^json: cannot unmarshal (\w+)(?: (\S+))? into Go (?:struct field \S+|value) of type (\S+)$/
const GO_KINDS: Readonly<Record<string, string>> = { object: 'map', array: 'slice', number: 'int64', bool: 'bool', string: 'string' }

/** Go's converter has fewer messages for a wrong type than its JSON decoder. */
function asRestoreError(why: string): string {
  const [, from = '', figure = '', to = ''] = TYPE_MISMATCH.exec(why) ?? []
  if (to === '') return why
  const kind = figure.includes('.') ? 'float64' : (GO_KINDS[from] ?? from)
  if (to.startsWith('[]')) return `cannot restore slice from ${kind}`
  if (to.startsWith('map[')) return `cannot restore map from ${kind}`
  if (!/^[a-z0-9]+$/.test(to)) return `cannot restore struct from: ${kind}`
  // Only numbers can be converted at all, to each other and (as characters) to text; even then the value is refused.
  const isConvertible = kind === 'int64' ? to !== 'bool' : kind === 'float64' && /^(int|uint|float)/.test(to)
  return isConvertible ? `cannot convert ${kind} to ${to}` : `unrecognized type: ${to}`
}

function declaredOf(value: unknown): GroupVersionKind {
  if (!isJsonObject(value)) return { group: '', version: '', kind: '' }
  const { apiVersion, kind } = value
  return { ...parseGroupVersion(typeof apiVersion === 'string' ? apiVersion : ''), kind: typeof kind === 'string' ? kind : '' }
}

/** The body of an apply, as it was sent: the fields it has are the fields its manager wants to own. */
export interface AppliedBody {
  object: KubeObject
  /** Repeated keys; reported only after the apply itself has succeeded. */
  strictErrors: readonly string[]
}

export function decodeAppliedBody(body: Uint8Array): AppliedBody {
  const parsed = parseApplied(Buffer.from(body).toString('utf8'))
  // An empty body is an empty object.
  const value = parsed.value ?? {}
  if (!isJsonObject(value)) {
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    const why = `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`
    throw badRequestError(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`)
  }
  return { object: value as unknown as KubeObject, strictErrors: parsed.strictErrors }
}

/** JSON is parsed as JSON, for speed, as long as a YAML parser would give the same result. */
function parseApplied(text: string): { value: Json; strictErrors: readonly string[] } {
  if (text.trimStart().startsWith('{')) {
    try {
      const parsed = parseJsonText(text)
      if (parsed.duplicates.length === 0) return { value: parsed.value, strictErrors: [] }
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error
    }
  }
  try {
    return parseYamlText(text)
  } catch (error) {
    if (error instanceof YamlTextError) throw badRequestError(`error decoding YAML: error converting YAML to JSON: ${error.message}`)
    throw error
  }
}

/** Reports the strict errors of an applied body: as a refusal or as warnings, as the request asks. */
export function reportAppliedStrict(scope: Scope, mode: FieldValidation, errors: readonly string[]): void {
  for (const text of errors) {
    if (mode === 'Strict') throw badRequestError(`error strict decoding YAML: error converting YAML to JSON: ${text}`)
    if (mode === 'Warn') reportStrict(scope, mode, [text], badRequestError)
  }
}

/** A body of another built-in kind than the path's own: Scale, Binding, Eviction, reviews, options. */
export function decodeVirtual(scope: Scope, gvk: GroupVersionKind, olderVersion = gvk.version): KubeObject {
  const body = readBody(scope.request, gvk, BUILTIN_TYPES)
  const declared = declaredOr(body, gvk)
  const cannot = (why: string): Error =>
    badRequestError(`${declared.kind} in version ${goQuote(declared.version)} cannot be handled as a ${gvk.kind}: ${why}`)
  const isVersion = declared.version === gvk.version || declared.version === olderVersion
  if (declared.group !== gvk.group || !isVersion || declared.kind !== gvk.kind)
    throw cannot(isRegistered(scope, declared) ? noConversion(declared, gvk) : notRegistered(declared))
  const decoded = body.isTyped ? (body.value as unknown as KubeObject) : typed(gvk, body, cannot).object
  return withType(decoded, gvk)
}

const DELETE_OPTIONS: GroupVersionKind = { group: '', version: 'v1', kind: 'DeleteOptions' }

/** DeleteOptions, if the request has a body. They may be sent in any version: all are equivalent. */
export function decodeDeleteOptions(scope: Scope): Record<string, unknown> | undefined {
  if ((scope.request.body?.length ?? 0) === 0) return undefined
  const body = readBody(scope.request, DELETE_OPTIONS, BUILTIN_TYPES)
  const declared = declaredOr(body, DELETE_OPTIONS)
  if (declared.kind !== DELETE_OPTIONS.kind) throw badRequestError(notRegistered(declared))
  const object = body.isTyped ? (body.value as unknown as KubeObject) : typed(DELETE_OPTIONS, body, badRequestError).object
  const { kind: _kind, apiVersion: _apiVersion, ...options } = object
  return options
}
