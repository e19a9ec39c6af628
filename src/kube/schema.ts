/**
 * The one schema language of the project: OpenAPI v3 with the x-kubernetes extensions.
 *
 * Schemas handed to decoding, patching, applying and pruning are *linked*: they hold no `$ref` and no single-element
 * `allOf` wrapper, and may be cyclic (JSONSchemaProps is). Never walk a schema without walking a value along with it.
 */
export interface Schema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  format?: string
  title?: string
  description?: string
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
  required?: string[]
  default?: unknown
  enum?: unknown[]
  nullable?: boolean
  pattern?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minProperties?: number
  maxProperties?: number
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  not?: Schema
  example?: unknown
  externalDocs?: unknown
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'atomic' | 'granular'
  'x-kubernetes-patch-strategy'?: string
  'x-kubernetes-patch-merge-key'?: string
  'x-kubernetes-validations'?: ValidationRule[]
  'x-kubernetes-unions'?: unknown
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[]
  /** Name of the OpenAPI definition a linked built-in schema came from, e.g. `io.k8s.api.core.v1.PodSpec`. */
  definition?: string
}

export interface ValidationRule {
  rule: string
  message?: string
  messageExpression?: string
  reason?: string
  fieldPath?: string
  optionalOldSelf?: boolean
}

/** What a quantity looks like (`500m`, `2Gi`, 3), as every definition with one writes it. */
export const QUANTITY_PATTERN =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'
