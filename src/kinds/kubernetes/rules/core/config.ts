/** ConfigMap, Secret and ServiceAccount: small documents whose keys, sizes and immutability are checked. */
import { deepEqual } from '../../../../base/json.ts'
import { type FieldError, forbidden, invalid, keyed, required, tooLong } from '../../../../kube/field-error.ts'
import { byteLength } from '../../../../kube/go-print.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkConfigMapKey } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { annotation, boolean, defaultString, type Fields, field, object, string, stringEntries, writableObjects } from '../fields.ts'
import { immutableErrors } from '../formats.ts'
import { goJsonObjectError } from './go-json.ts'

const MAX_BYTES = 1024 * 1024
const IMMUTABLE = 'field is immutable when `immutable` is set'
const REDACTED = '<secret contents redacted>'
const SERVICE_ACCOUNT_NAME = 'kubernetes.io/service-account.name'
const ENFORCE_MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets'

const isImmutable = (of: KubeObject): boolean => boolean(of, 'immutable')
/** The decoded length of base64 text, without decoding it. */
const base64Size = (text: string): number =>
  Math.max(0, Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0))

function keyErrors(path: string, key: string): FieldError[] {
  return checkConfigMapKey(key).map((message) => invalid(keyed(path, key), key, message))
}

function frozenErrors(object: KubeObject, old: KubeObject, keys: readonly string[]): FieldError[] {
  if (!isImmutable(old)) return []
  const errors: FieldError[] = isImmutable(object) ? [] : [forbidden('immutable', IMMUTABLE)]
  for (const key of keys) if (!deepEqual(field(object, key) ?? {}, field(old, key) ?? {})) errors.push(forbidden(key, IMMUTABLE))
  return errors
}

function configMapErrors(configMap: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const binary = object(configMap, 'binaryData')
  let size = 0
  for (const [key, value] of stringEntries(configMap, 'data')) {
    errors.push(...keyErrors('data', key))
    if (Object.hasOwn(binary, key)) errors.push(invalid(keyed('data', key), key, 'duplicate of key present in binaryData'))
    size += byteLength(value)
  }
  for (const [key, value] of stringEntries(configMap, 'binaryData')) {
    errors.push(...keyErrors('binaryData', key))
    size += base64Size(value)
  }
  if (size > MAX_BYTES) errors.push(tooLong('[]', MAX_BYTES))
  return errors
}

export const configMapRules: KindRules = {
  validateCreate: configMapErrors,
  validateUpdate: (object, old) => [...frozenErrors(object, old, ['data', 'binaryData']), ...configMapErrors(object)],
}

function secretErrors(secret: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of stringEntries(secret, 'data')) {
    errors.push(...keyErrors('data', key))
    size += base64Size(value)
  }
  if (size > MAX_BYTES) errors.push(tooLong('data', MAX_BYTES))
  return [...errors, ...secretTypeErrors(secret)]
}

function secretTypeErrors(secret: KubeObject): FieldError[] {
  const data = object(secret, 'data')
  const missing = (key: string): FieldError[] => (Object.hasOwn(data, key) ? [] : [required(keyed('data', key))])
  switch (string(secret, 'type')) {
    case 'kubernetes.io/service-account-token':
      return (annotation(secret, SERVICE_ACCOUNT_NAME) ?? '') === '' ? [required(keyed('metadata.annotations', SERVICE_ACCOUNT_NAME))] : []
    case 'kubernetes.io/dockercfg':
      return dockerConfigErrors(data, '.dockercfg')
    case 'kubernetes.io/dockerconfigjson':
      return dockerConfigErrors(data, '.dockerconfigjson')
    case 'kubernetes.io/basic-auth':
      return missing('username').length + missing('password').length === 2 ? [...missing('username'), ...missing('password')] : []
    case 'kubernetes.io/ssh-auth':
      return string(data, 'ssh-privatekey') === '' ? [required(keyed('data', 'ssh-privatekey'))] : []
    case 'kubernetes.io/tls':
      return [...missing('tls.crt'), ...missing('tls.key')]
    default:
      return []
  }
}

function dockerConfigErrors(data: Fields, key: string): FieldError[] {
  if (!Object.hasOwn(data, key)) return [required(keyed('data', key))]
  const problem = goJsonObjectError(Buffer.from(string(data, key), 'base64').toString('utf8'))
  return problem === undefined ? [] : [invalid(keyed('data', key), REDACTED, problem)]
}

/** stringData is stored encoded, and overrides existing data. */
function foldStringData(secret: KubeObject): void {
  const clear = stringEntries(secret, 'stringData')
  delete secret.stringData
  if (clear.length === 0) return
  const merged = new Map<string, unknown>(Object.entries(object(secret, 'data')))
  for (const [key, value] of clear) merged.set(key, Buffer.from(value, 'utf8').toString('base64'))
  secret.data = Object.fromEntries(merged)
}

/** The real server tries to load the key pair; only the usual mistakes are distinguished here. */
function tlsWarnings(secret: KubeObject): string[] {
  if (string(secret, 'type') !== 'kubernetes.io/tls') return []
  const pem = (key: string): string => Buffer.from(string(object(secret, 'data'), key), 'base64').toString('latin1')
  if (!/-----BEGIN [^-]+-----/.test(pem('tls.crt'))) return ['tls: failed to find any PEM data in certificate input']
  if (!/-----BEGIN [^-]+-----/.test(pem('tls.key'))) return ['tls: failed to find any PEM data in key input']
  return []
}

export const secretRules: KindRules = {
  applyDefaults(secret) {
    defaultString(secret, 'type', 'Opaque')
    foldStringData(secret)
  },
  prepareForUpdate(secret, old) {
    if (string(secret, 'type') === '') secret.type = old.type
  },
  validateCreate: secretErrors,
  validateUpdate: (secret, old) => [
    ...immutableErrors('type', string(secret, 'type'), string(old, 'type')),
    ...frozenErrors(secret, old, ['data']),
    ...secretErrors(secret),
  ],
  warnings: tlsWarnings,
  selectableFieldNames: ['type'],
  selectableFields: (secret) => ({ type: string(secret, 'type') }),
}

/** Of a reference to a secret only the name is kept. */
function cleanSecretReferences(account: KubeObject): void {
  for (const reference of writableObjects(account, 'secrets')) {
    for (const key of Object.keys(reference)) if (key !== 'name') delete reference[key]
  }
}

export const serviceAccountRules: KindRules = {
  prepareForCreate: cleanSecretReferences,
  prepareForUpdate: cleanSecretReferences,
  warnings(account, old) {
    if (old !== undefined && annotation(old, ENFORCE_MOUNTABLE) !== undefined) return []
    if (annotation(account, ENFORCE_MOUNTABLE) === undefined) return []
    return [
      `metadata.annotations[${ENFORCE_MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
    ]
  },
}
