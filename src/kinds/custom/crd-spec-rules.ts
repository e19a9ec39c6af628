/**
 * Validation of a CustomResourceDefinition's spec. The real server validates its internal form, in which what is the
 * same in all versions is moved to the top: that is why messages mention `spec.validation` and `spec.subresources`
 * although nobody wrote such fields. `internalOf` makes that form.
 */
import { deepEqual } from '../../base/json.ts'
import { child, duplicate, type FieldError, forbidden, index, invalid, notSupported, required, tooMany } from '../../kube/field-error.ts'
import { isPrintable } from '../../kube/go-print.ts'
import { checkDns1035Label, checkDns1123Subdomain } from '../../kube/names.ts'
import type { CrdColumn, CrdNames, CrdScale, CrdSpec, CrdVersion } from './crd.ts'
import { validateConversion } from './crd-conversion-rules.ts'
import { hasDefault, validateDefaults } from './crd-default-rules.ts'
import { type SchemaOptions, validateOpenApiSchema } from './crd-openapi-rules.ts'
import { followFieldPath, printSchema, type RawSchema, setFieldsOf, someSchema } from './crd-schema.ts'
import { structuralInitError, validateStructural } from './crd-structural-rules.ts'

export interface SpecOptions extends SchemaOptions {
  requirePrunedDefaults: boolean
  requireRecognizedReviewVersion: boolean
  allowInvalidCaBundle: boolean
  /** Versions ('' for the top) that may keep more selectable fields than allowed. */
  mayKeepSelectableFields: ReadonlySet<string>
}

const MAX_SELECTABLE_FIELDS = 8
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

interface Shared {
  schema: RawSchema | undefined
  subresources: CrdVersion['subresources'] | undefined
  columns: CrdColumn[] | undefined
  selectableFields: { jsonPath: string }[] | undefined
}

interface InternalVersion extends Shared {
  version: CrdVersion
}

interface InternalSpec {
  top: Shared
  versions: InternalVersion[]
}

function internalOf(spec: CrdSpec): InternalSpec {
  const of = (v: CrdVersion): InternalVersion => ({
    version: v,
    schema: v.schema?.openAPIV3Schema as RawSchema | undefined,
    subresources: v.subresources,
    columns: v.additionalPrinterColumns,
    selectableFields: v.selectableFields,
  })
  const versions = (spec.versions ?? []).map(of)
  const top: Shared = { schema: undefined, subresources: undefined, columns: undefined, selectableFields: undefined }
  for (const key of ['schema', 'subresources', 'columns', 'selectableFields'] as const) {
    const first = versions[0]?.[key]
    if (!versions.every((v) => deepEqual(v[key], first))) continue
    Object.assign(top, { [key]: first })
    for (const v of versions) v[key] = undefined
  }
  return { top, versions }
}

export function validateSpec(spec: CrdSpec, options: SpecOptions): FieldError[] {
  const internal = internalOf(spec)
  const errors = [...groupAndScope(spec), ...missingSchemas(internal)]
  const schemas = [internal.top.schema, ...internal.versions.map((v) => v.schema)]
  if (spec.preserveUnknownFields && schemas.some((s) => someSchema(s, hasDefault)))
    errors.push(invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'))
  for (const [i, version] of internal.versions.entries())
    errors.push(...validateVersion(version, internal, { options, path: index('spec.versions', i) }))
  errors.push(...versionList(spec, internal))
  errors.push(...requiredNames(spec.names), ...validateNames(spec.names, 'spec.names'))
  const hasStatus = [internal.top, ...internal.versions].some((v) => v.subresources?.status !== undefined)
  errors.push(...validateSchema(internal.top.schema, { hasStatus, options, path: 'spec.validation' }))
  errors.push(...validateScaleSubresource(internal.top.subresources?.scale, 'spec.subresources'))
  errors.push(...(internal.top.columns ?? []).flatMap((c, i) => validateColumn(c, index('spec.additionalPrinterColumns', i))))
  if ((internal.top.selectableFields ?? []).length > 0) errors.push(...topSelectableFields(internal, options))
  const strategy = spec.conversion?.strategy ?? ''
  if (spec.conversion !== undefined && strategy !== 'None' && spec.preserveUnknownFields)
    errors.push(invalid('spec.conversion.strategy', strategy, 'must be None if spec.preserveUnknownFields is true'))
  return [...errors, ...validateConversion(spec.conversion, options)]
}

function groupAndScope(spec: CrdSpec): FieldError[] {
  const errors: FieldError[] = []
  const group = spec.group ?? ''
  const wrong = checkDns1123Subdomain(group)
  if (group === '') errors.push(required('spec.group'))
  else if (wrong.length > 0) errors.push(invalid('spec.group', group, wrong.join(',')))
  else if (!group.includes('.')) errors.push(invalid('spec.group', group, 'should be a domain with at least one dot'))
  if (!spec.scope) errors.push(required('spec.scope'))
  else if (spec.scope !== 'Cluster' && spec.scope !== 'Namespaced')
    errors.push(notSupported('spec.scope', spec.scope, ['Cluster', 'Namespaced']))
  return errors
}

function missingSchemas({ top, versions }: InternalSpec): FieldError[] {
  if (top.schema !== undefined) return []
  return versions.flatMap((v, i) => (v.schema === undefined ? [required(`spec.versions[${i}].schema.openAPIV3Schema`)] : []))
}

function validateVersion(v: InternalVersion, internal: InternalSpec, at: { options: SpecOptions; path: string }): FieldError[] {
  const { options, path } = at
  const { name, deprecated, deprecationWarning } = v.version
  const errors: FieldError[] = []
  const wrong = checkDns1035Label(name ?? '')
  if (wrong.length > 0) errors.push(invalid(child(path, 'name'), name ?? '', wrong.join(',')))
  for (const message of deprecationErrors(deprecated === true, deprecationWarning))
    errors.push(invalid(child(path, 'deprecationWarning'), deprecationWarning, message))
  const subresources = internal.versions.some((one) => one.subresources !== undefined) ? v.subresources : internal.top.subresources
  errors.push(...validateSchema(v.schema, { hasStatus: subresources?.status !== undefined, options, path: child(path, 'schema') }))
  errors.push(...validateScaleSubresource(v.subresources?.scale, child(path, 'subresources')))
  errors.push(...(v.columns ?? []).flatMap((c, i) => validateColumn(c, index(child(path, 'additionalPrinterColumns'), i))))
  if ((v.selectableFields ?? []).length > 0) {
    const fieldsPath = child(path, 'selectableFields')
    if (v.schema === undefined)
      errors.push(invalid(fieldsPath, '', 'may only be set when `version.schema.openAPIV3Schema` is not included'))
    else
      errors.push(
        ...validateSelectableFields(v.selectableFields ?? [], v.schema, {
          path: fieldsPath,
          mayKeep: options.mayKeepSelectableFields.has(name),
        }),
      )
  }
  return errors
}

function topSelectableFields({ top }: InternalSpec, options: SpecOptions): FieldError[] {
  const fields = top.selectableFields ?? []
  if (top.schema === undefined) return [invalid('spec.selectableFields', '', 'may only be set when validations.schema is included')]
  return validateSelectableFields(fields, top.schema, { path: 'spec.selectableFields', mayKeep: options.mayKeepSelectableFields.has('') })
}

function deprecationErrors(deprecated: boolean, warning: string | undefined): string[] {
  if (warning === undefined) return []
  if (!deprecated) return ['can only be set for deprecated versions']
  const errors: string[] = []
  if (Buffer.byteLength(warning) > 256) errors.push('must be <= 256 characters long')
  if (warning === '') errors.push('must not be an empty string')
  let at = 0
  for (const char of warning) {
    if (!isPrintable(char)) {
      errors.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`)
      break
    }
    at += Buffer.byteLength(char)
  }
  return errors
}

function versionList(spec: CrdSpec, { versions }: InternalSpec): FieldError[] {
  const errors: FieldError[] = []
  const printed = () => (versions.length === 0 ? null : versions.map(printVersion))
  const names = versions.map((v) => v.version.name ?? '')
  if (new Set(names).size < names.length) errors.push(invalid('spec.versions', printed(), 'must contain unique version names'))
  if (versions.filter((v) => v.version.storage).length !== 1)
    errors.push(invalid('spec.versions', printed(), 'must have exactly one version marked as storage version'))
  const first = spec.versions?.[0]?.name ?? ''
  const wrong = first === '' ? [] : checkDns1035Label(first)
  if (wrong.length > 0) errors.push(invalid('spec.version', first, wrong.join(',')))
  return errors
}

/** The internal Go struct as encoding/json prints it. */
function printVersion(v: InternalVersion): Record<string, unknown> {
  const scale = v.subresources?.scale
  return {
    Name: v.version.name ?? '',
    Served: v.version.served === true,
    Storage: v.version.storage === true,
    Deprecated: v.version.deprecated === true,
    DeprecationWarning: v.version.deprecationWarning ?? null,
    Schema: v.schema === undefined ? null : { OpenAPIV3Schema: printSchema(v.schema) },
    Subresources:
      v.subresources === undefined
        ? null
        : {
            Status: v.subresources.status === undefined ? null : {},
            Scale:
              scale === undefined
                ? null
                : {
                    SpecReplicasPath: scale.specReplicasPath,
                    StatusReplicasPath: scale.statusReplicasPath,
                    LabelSelectorPath: scale.labelSelectorPath ?? null,
                  },
          },
    AdditionalPrinterColumns:
      v.columns?.map((c) => ({
        Name: c.name,
        Type: c.type,
        Format: c.format ?? '',
        Description: c.description ?? '',
        Priority: c.priority ?? 0,
        JSONPath: c.jsonPath,
      })) ?? null,
    SelectableFields: v.selectableFields?.map((f) => ({ JSONPath: f.jsonPath })) ?? null,
  }
}

function requiredNames(names: CrdNames | undefined): FieldError[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const).flatMap((key) => (names?.[key] ? [] : [required(`spec.names.${key}`)]))
}

export function validateNames(names: CrdNames | undefined, path: string): FieldError[] {
  const errors: FieldError[] = []
  const check = (field: string, value: string, shown: string) => {
    const wrong = checkDns1035Label(value)
    const mixed = value === shown ? '' : 'may have mixed case, but should otherwise match: '
    if (wrong.length > 0) errors.push(invalid(field, shown, mixed + wrong.join(',')))
  }
  for (const key of ['plural', 'singular'] as const) if (names?.[key]) check(child(path, key), names[key] ?? '', names[key] ?? '')
  for (const key of ['kind', 'listKind'] as const) {
    const name = names?.[key] ?? ''
    const wrong = name === '' ? [] : checkDns1035Label(name.toLowerCase())
    if (wrong.length > 0)
      errors.push(invalid(child(path, key), name, `may have mixed case, but should otherwise match: ${wrong.join(',')}`))
  }
  for (const [i, name] of (names?.shortNames ?? []).entries()) check(index(child(path, 'shortNames'), i), name, name)
  if (names?.kind && names.kind === names.listKind)
    errors.push(invalid(child(path, 'listKind'), names.listKind, 'kind and listKind may not be the same'))
  for (const [i, name] of (names?.categories ?? []).entries()) check(index(child(path, 'categories'), i), name, name)
  return errors
}

function validateColumn(column: CrdColumn, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (!column.name) errors.push(required(child(path, 'name')))
  const types = `must be one of ${COLUMN_TYPES.join(',')}`
  if (!column.type) errors.push(required(child(path, 'type'), types))
  else if (!COLUMN_TYPES.includes(column.type)) errors.push(invalid(child(path, 'type'), column.type, types))
  if (column.format && !COLUMN_FORMATS.includes(column.format))
    errors.push(invalid(child(path, 'format'), column.format, `must be one of ${COLUMN_FORMATS.join(',')}`))
  if (!column.jsonPath) errors.push(required(child(path, 'JSONPath')))
  else errors.push(...simplePath(column.jsonPath, child(path, 'JSONPath')))
  return errors
}

const simplePath = (text: string, path: string): FieldError[] =>
  text.startsWith('.') ? [] : [invalid(path, text, 'must be a simple json path starting with .')]

function validateScaleSubresource(scale: CrdScale | undefined, path: string): FieldError[] {
  if (scale === undefined) return []
  const at = (key: string) => child(path, `scale.${key}`)
  const under = (key: 'specReplicasPath' | 'statusReplicasPath', prefix: string): FieldError[] => {
    const value = scale[key] ?? ''
    if (value === '') return [required(at(key))]
    const simple = simplePath(value, at(key))
    if (simple.length > 0 || value.startsWith(`${prefix}.`)) return simple
    return [invalid(at(key), value, `should be a json path under ${prefix}`)]
  }
  const errors = [...under('specReplicasPath', '.spec'), ...under('statusReplicasPath', '.status')]
  const selector = scale.labelSelectorPath ?? ''
  if (selector === '') return errors
  const simple = simplePath(selector, at('labelSelectorPath'))
  if (simple.length > 0) return [...errors, ...simple]
  if (/^\.(spec|status)\./.test(selector)) return errors
  return [...errors, invalid(at('labelSelectorPath'), selector, 'should be a json path under either .spec or .status')]
}

function validateSelectableFields(
  fields: { jsonPath: string }[],
  schema: RawSchema,
  where: { path: string; mayKeep: boolean },
): FieldError[] {
  const { path, mayKeep } = where
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, { jsonPath }] of fields.entries()) {
    const at = child(index(path, i), 'jsonPath')
    if (!jsonPath) {
      errors.push(required(at))
      continue
    }
    const found = followFieldPath(jsonPath, schema, false)
    if (found.error !== undefined) {
      errors.push(invalid(at, jsonPath, `is an invalid path: ${found.error}`))
      continue
    }
    if (/^metadata(\.|\[|$)/.test(found.path)) errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'))
    if (!['string', 'boolean', 'integer'].includes(found.schema.type ?? ''))
      errors.push(
        invalid(
          at,
          jsonPath,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      )
    if (seen.has(found.path)) errors.push(duplicate(at, jsonPath))
    seen.add(found.path)
  }
  if (seen.size > MAX_SELECTABLE_FIELDS && !mayKeep) errors.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS))
  return errors
}

const ROOT_FIELDS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'.split(
    ' ',
  )

/** With a status subresource, the root may only contain what still holds when status is validated alone. */
function rootFields(schema: RawSchema, path: string): FieldError[] {
  for (const name of setFieldsOf(schema)) {
    if (name === 'Type' && schema.type !== 'object') {
      const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      return [invalid(child(path, 'type'), schema.type, detail)]
    }
    if (!ROOT_FIELDS.includes(name)) {
      const detail = `only [${ROOT_FIELDS.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`
      return [invalid(path, printSchema(schema), detail)]
    }
  }
  return []
}

function validateSchema(schema: RawSchema | undefined, of: { hasStatus: boolean; options: SpecOptions; path: string }): FieldError[] {
  if (schema === undefined) return []
  const path = child(of.path, 'openAPIV3Schema')
  const errors = of.hasStatus ? rootFields(schema, path) : []
  if (schema.nullable) errors.push(forbidden(child(path, 'nullable'), 'nullable cannot be true at the root'))
  const initError = structuralInitError(schema)
  if (initError === undefined) {
    const structural = validateStructural(schema, path)
    errors.push(...(structural.length > 0 ? structural : validateDefaults(schema, path, of.options.requirePrunedDefaults)))
  }
  errors.push(...validateOpenApiSchema(schema, path, of.options))
  if (errors.length === 0 && initError !== undefined) errors.push(invalid(path, '', initError))
  return errors
}
