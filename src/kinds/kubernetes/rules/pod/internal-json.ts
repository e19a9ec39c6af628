/**
 * Objects as the real server's internal Go structs print in messages: `{"Type":"X","RollingUpdate":null}`. Takes the wire
 * form; returns the struct's own names, order and zero values.
 */
import { setOwn } from '../../../../base/json.ts'
import { METADATA_FIELDS } from '../../../../kube/meta.ts'
import { type Fields, fieldsOf, isFields, maybeObject, raw } from '../fields.ts'
import { INTERNAL_STRUCTS } from './internal-structs.ts'
import { unifiedDiff } from './unified-diff.ts'

interface Column {
  goName: string
  jsonName: string
  type: string
}

const STRUCTS: ReadonlyMap<string, readonly Column[]> = new Map(
  Object.entries(INTERNAL_STRUCTS).map(([name, columns]) => [name, columns.split(', ').map(parseColumn)]),
)

/** Structs print at about ten times their size; no message is worth more than this. */
const MAX_DIFF_CHARACTERS = 200_000

function parseColumn(column: string): Column {
  if (column.startsWith('>')) return { goName: '', jsonName: '', type: column }
  const [names = '', type = ''] = column.split(' ')
  const [goName = '', jsonName = `${goName.charAt(0).toLowerCase()}${goName.slice(1)}`] = names.split('=')
  return { goName, jsonName, type }
}

/** A value of the named struct with Go's names and order; unset stays unset, to print as null. */
export function internalValue(struct: string, value: unknown): Fields | undefined {
  return isFields(value) ? renderStruct(struct, value) : undefined
}

/** How the real server shows what changed between two structs: a unified diff of their indented JSON. */
export function internalDiff(struct: string, before: Fields, after: Fields): string {
  if (JSON.stringify(before).length + JSON.stringify(after).length > MAX_DIFF_CHARACTERS) return '(too large to compare)\n'
  return unifiedDiff(indentedJson(renderStruct(struct, before)), indentedJson(renderStruct(struct, after)))
}

/** JSON as Go indents it: one space per level, empty lists and maps closed at once, and HTML characters escaped. */
const indentedJson = (value: Fields): string =>
  JSON.stringify(value, null, 1).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

function renderStruct(struct: string, value: Fields): Fields {
  const source = struct === 'PodSpec' ? withHostNamespaces(value) : value
  const out: Fields = {}
  for (const { goName, jsonName, type } of STRUCTS.get(struct) ?? []) {
    if (type === '>ObjectMeta') Object.assign(out, objectMeta(fieldsOf(raw(source, 'metadata'))))
    else if (type.startsWith('>')) Object.assign(out, renderStruct(type.slice(1), source))
    else out[goName] = renderField(type, raw(source, jsonName))
  }
  return out
}

function renderField(type: string, value: unknown): unknown {
  switch (type) {
    case 's':
      return typeof value === 'string' ? value : ''
    case 'i':
      return typeof value === 'number' ? value : 0
    case 'b':
      return value === true
    case 'q':
      return typeof value === 'string' ? value : '0'
    case 'io':
      return value ?? 0
    case '':
      return sorted(value) ?? null
    default:
      if (type.startsWith('[]')) return Array.isArray(value) ? value.map((item) => renderStruct(type.slice(2), fieldsOf(item))) : null
      if (type.startsWith('*')) return isFields(value) ? renderStruct(type.slice(1), value) : null
      return renderStruct(type, fieldsOf(value))
  }
}

/** In the internal types the host namespaces belong to the security context, which is always there. */
function withHostNamespaces(spec: Fields): Fields {
  const moved: Fields = { ...maybeObject(spec, 'securityContext') }
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers']) moved[key] = raw(spec, key)
  return { ...spec, securityContext: moved }
}

/** Metadata and label selectors carry their wire names in the internal types too; only the order of fields is theirs. */
function objectMeta(metadata: Fields): Fields {
  const out: Fields = {}
  for (const key of METADATA_FIELDS) if (Object.hasOwn(metadata, key)) out[key] = sorted(metadata[key])
  return out
}

/** A label selector with its fields in the order Go writes them. */
export function selectorValue(selector: Fields | undefined): Fields | undefined {
  if (selector === undefined) return undefined
  const out: Fields = {}
  if (isFields(selector.matchLabels) && Object.keys(selector.matchLabels).length > 0) out.matchLabels = sorted(selector.matchLabels)
  if (Array.isArray(selector.matchExpressions) && selector.matchExpressions.length > 0) {
    out.matchExpressions = selector.matchExpressions.map((expression) => {
      const { key = '', operator = '', values } = fieldsOf(expression)
      return Array.isArray(values) && values.length > 0 ? { key, operator, values } : { key, operator }
    })
  }
  return out
}

/** Go writes maps with their keys sorted. */
export function sorted(value: unknown): unknown {
  if (!isFields(value)) return value
  if (Array.isArray(value.matchExpressions) || isFields(value.matchLabels)) return selectorValue(value)
  const out: Fields = {}
  for (const key of Object.keys(value).sort()) setOwn(out, key, value[key])
  return out
}
