/**
 * What happens to a body's strict errors (unknown and repeated fields) in each mode of field validation, and the type that a
 * body declares, which is read before anything else.
 */
import { isJsonObject, type Json } from '../../base/json.ts'
import { goQuote } from '../../kube/go-print.ts'
import { parseGroupVersion } from '../../kube/meta.ts'
import { DecodeError } from './decode-json.ts'

export type FieldValidationMode = 'Strict' | 'Warn' | 'Ignore'

export interface StrictOutcome {
  /** The message to refuse the request with. */
  error?: string
  /** Texts of Warning headers. */
  warnings: string[]
}

const YAML_PREFIXES = ['yaml: unmarshal errors:\n', 'error converting YAML to JSON: yaml: unmarshal errors:\n']

/** `errors` in the order in which they are reported: those of the text, then those of typed decoding. */
export function strictOutcome(mode: FieldValidationMode, errors: readonly string[]): StrictOutcome {
  if (errors.length === 0 || mode === 'Ignore') return { warnings: [] }
  if (mode === 'Strict') return { error: `strict decoding error: ${errors.join(', ')}`, warnings: [] }
  return { warnings: errors.flatMap(warningsOf) }
}

/** YAML's decoder reports all repeated keys in one text; each becomes a warning of its own. */
function warningsOf(error: string): string[] {
  const prefix = YAML_PREFIXES.find((p) => error.startsWith(p))
  return prefix === undefined
    ? [error]
    : error
        .slice(prefix.length)
        .split('\n')
        .map((line) => line.trim())
}

export interface DeclaredType {
  /** '' where the body declares none. */
  group: string
  version: string
  kind: string
}

/** The type a JSON or YAML body declares. Throws DecodeError when it cannot be read, as the real server does first of all. */
export function declaredType(value: Json): DeclaredType {
  if (value !== null && !isJsonObject(value)) throw unreadable(describe(value), `value of type ${GO_STRUCT}`)
  const apiVersion = textOf(value, 'apiVersion')
  const kind = textOf(value, 'kind')
  if (apiVersion.split('/').length > 2) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`)
  return { ...parseGroupVersion(apiVersion), kind }
}

const GO_STRUCT = `struct { APIVersion string ${goQuote('json:"apiVersion,omitempty"')}; Kind string ${goQuote('json:"kind,omitempty"')} }`

const unreadable = (what: string, into: string): DecodeError =>
  new DecodeError(`couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go ${into}`)

function textOf(object: { [key: string]: Json | undefined } | null, name: string): string {
  const value = object !== null && Object.hasOwn(object, name) ? (object[name] ?? null) : null
  if (value === null) return ''
  if (typeof value !== 'string') throw unreadable(describe(value), `struct field .${name} of type string`)
  return value
}

function describe(value: Json): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
