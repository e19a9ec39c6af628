/**
 * Replaces what cannot be equal between two servers (uids, times, versions, addresses) by labels, and sorts what the real
 * server does not order. Everything else stays, so that an extra key is a difference.
 */
import type { Names } from './names.ts'
import type { Json, JsonObject } from './transcript.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g
/** Requests only contain older times. */
const TIME = /20(?:2[5-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g

export interface NormaliseOptions {
  names: Names
  keepManagedFields: boolean
  /** The value is a BOOKMARK event: its object's metadata is that of a list. */
  isBookmark?: boolean
}

export function normaliseText(value: string, names: Names): string {
  let text = value
    .replaceAll(names.namespace, '<ns>')
    .replace(UUID, (uid) => names.uid(uid))
    .replace(TIME, '<time>')
  for (const [name, label] of names.generated) text = text.replaceAll(name, label)
  return text
    .replace(/too old resource version: \d+ \(\d+\)/g, 'too old resource version: <n> (<n>)')
    .replace(/Too large resource version: (\d+), current: \d+/g, 'Too large resource version: $1, current: <n>')
    .replace(/(resourceVersion\\*":\\*")\d+/g, '$1<n>')
    .replace(/\b(precondition|record) \(\d+\)/g, '$1 (<n>)')
    .replace(/\b(provided resource version|resource version|resourceVersion) \d{1,15}\b/g, '$1 <n>')
}

export function normalise(value: Json, options: NormaliseOptions): Json {
  if (Array.isArray(value)) return value.map((one) => normalise(one, options))
  if (typeof value === 'string') return normaliseText(value, options.names)
  if (value === null || typeof value !== 'object') return value
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'managedFields' && Array.isArray(inner) && !options.keepManagedFields) continue
    out[normaliseText(key, options.names)] = normaliseMember(value, key, options)
  }
  if (value.kind === 'Status') sortCauses(out)
  return out
}

function normaliseMember(owner: JsonObject, key: string, options: NormaliseOptions): Json {
  const value = owner[key] ?? null
  if (key === 'metadata' && isObject(value) && (isList(owner) || options.isBookmark === true)) return listMetadata(value, options)
  if (key === 'managedFields' && Array.isArray(value))
    return sortedBy(
      value.map((one) => normalise(one, options)),
      managedFieldsOrder,
    )
  return labelOf(key, value, options.names) ?? normalise(value, options)
}

/** Values that get a label because of the key they stand under. */
function labelOf(key: string, value: Json, names: Names): Json | undefined {
  switch (key) {
    case 'resourceVersion':
      return typeof value === 'string' && /^\d+$/.test(value) && value !== '0' ? names.version(value) : undefined
    case 'clusterIP':
      return typeof value === 'string' && value !== '' && value !== 'None' ? '<clusterIP>' : undefined
    case 'clusterIPs':
      return Array.isArray(value) ? value.map((ip) => (ip === 'None' ? ip : '<clusterIP>')) : undefined
    case 'nodePort':
    case 'healthCheckNodePort':
      return typeof value === 'number' && value >= 30000 ? '<nodePort>' : undefined
    case 'storageVersionHash':
      return typeof value === 'string' ? '<hash>' : undefined
    case 'token':
      return typeof value === 'string' && value.split('.').length === 3 ? '<token>' : undefined
    default:
      return undefined
  }
}

function listMetadata(metadata: JsonObject, options: NormaliseOptions): Json {
  const { resourceVersion, continue: token, ...rest } = metadata
  const out = normalise(rest, options) as JsonObject
  if (resourceVersion !== undefined) out.resourceVersion = resourceVersion === '' ? '' : '<listrv>'
  if (token !== undefined && token !== null && token !== '') out.continue = '<continue>'
  return out
}

const isObject = (value: Json): value is JsonObject => value !== null && typeof value === 'object' && !Array.isArray(value)

const isList = (owner: JsonObject): boolean =>
  Array.isArray(owner.items) || (typeof owner.kind === 'string' && (owner.kind.endsWith('List') || owner.kind === 'Table'))

/** The server orders entries by operation and then by whole seconds, which no two runs share. */
const managedFieldsOrder = (entry: Json): string =>
  isObject(entry) ? joined([entry.operation, entry.manager, entry.subresource, entry.apiVersion, JSON.stringify(entry.fieldsV1)]) : ''

const causeOrder = (cause: Json): string => (isObject(cause) ? joined([cause.field, cause.reason, cause.message]) : '')

/** Causes are partly collected from maps. */
function sortCauses(status: JsonObject): void {
  const details = status.details ?? null
  if (isObject(details) && Array.isArray(details.causes)) details.causes = sortedBy(details.causes, causeOrder)
}

const joined = (values: unknown[]): string => values.join('\u0000')

const sortedBy = (list: Json[], order: (one: Json) => string): Json[] => [...list].sort((a, b) => (order(a) < order(b) ? -1 : 1))
