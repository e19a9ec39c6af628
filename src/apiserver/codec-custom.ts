/** Bodies of custom resources: they have no Go type, so the schema decides what is kept, and they must declare their type. */
import { deepClone, isJsonObject } from '../base/json.ts'
import { strictOutcome } from '../kinds/kubernetes/field-validation.ts'
import { invalid } from '../kube/field-error.ts'
import { goQuote } from '../kube/go-print.ts'
import { refuseInexactIntegers } from '../kube/json-text.ts'
import type { KubeObject } from '../kube/meta.ts'
import { badRequestError, invalidError } from '../kube/status.ts'
import type { Body } from './body.ts'
import { describeBytes } from './describe-bytes.ts'
import type { FieldValidation } from './options.ts'
import { type Scope, warn } from './scope.ts'

export function decodeCustom(scope: Scope, body: Body, fieldValidation: FieldValidation): KubeObject {
  const { definition, version } = scope.served
  if (!isJsonObject(body.value)) throw badRequestError(`the body must be an object of kind ${definition.kind}`)
  refuseInexactIntegers(body.details)
  const object = deepClone(body.value) as unknown as KubeObject
  checkType(scope, object)
  const coerced = coerceCustom(scope, object)
  const duplicates = body.duplicates.map((path) => `duplicate field ${goQuote(path)}`)
  const outcome = strictOutcome(fieldValidation, [...body.strictErrors, ...duplicates, ...coerced.strictErrors])
  if (outcome.error !== undefined)
    throw badRequestError(
      `${definition.kind} in version ${goQuote(version.name)} cannot be handled as a ${definition.kind}: ${outcome.error}`,
    )
  for (const text of outcome.warnings) warn(scope, text)
  return coerced.object
}

function checkType(scope: Scope, object: KubeObject): void {
  const { definition, apiVersion } = scope.served
  const kind = typeof object.kind === 'string' ? object.kind : ''
  if (kind === '') throw kindMissing(scope)
  const given = typeof object.apiVersion === 'string' ? object.apiVersion : ''
  if (given !== apiVersion)
    throw badRequestError(`the API version in the data (${given}) does not match the expected API version (${apiVersion})`)
  if (kind === definition.kind) return
  const name = isJsonObject(object.metadata) ? String(object.metadata.name ?? '') : ''
  throw invalidError({ group: definition.group, kind }, name, [invalid('kind', kind, `must be ${definition.kind}`)])
}

function kindMissing(scope: Scope): Error {
  const body = scope.request.body ?? new Uint8Array()
  const text = Buffer.from(body).toString('utf8')
  const why = `Object 'Kind' is missing in '${text}'`
  return badRequestError(
    `the object provided is unrecognized (must be of type ${scope.served.definition.kind}): ${why} (${describeBytes(body)})`,
  )
}

/** Prunes and defaults in place; pruned fields are what strict validation reports. */
export function coerceCustom(scope: Scope, object: KubeObject): { object: KubeObject; strictErrors: string[] } {
  const { definition, version } = scope.served
  const { unknown, error } = version.coerce?.(object) ?? { unknown: [], error: undefined }
  if (error !== undefined) throw badRequestError(error)
  // Metadata may be absent; its own validation then reports what is required.
  if (!isJsonObject(object.metadata)) object.metadata = {}
  definition.rules.applyDefaults?.(object, version.name)
  return { object, strictErrors: unknown.map((path) => `unknown field ${goQuote(path)}`) }
}
