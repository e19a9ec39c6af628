/** What a strategic merge patch needs from a schema: the strategy, the merge key and the schema below a field. */
import type { Schema } from '../schema.ts'
import { refuse } from './strategic-errors.ts'

export interface FieldStrategy {
  /** Schema of the value, or of an element when it is a list. */
  below: Schema
  strategy: 'merge' | 'replace' | ''
  mergeKey: string
}

const isMap = (schema: Schema): boolean => schema.additionalProperties !== undefined && schema.properties === undefined
const isStruct = (schema: Schema): boolean => schema.properties !== undefined || (schema.type === 'object' && !isMap(schema))

/** `PodSpec` of `io.k8s.api.core.v1.PodSpec`: the name of the Go type. */
const typeName = (schema: Schema): string => schema.definition?.split('.').at(-1) ?? ''

/** The kind of Go type a schema stands for. */
export function goKind(schema: Schema): string {
  if (isStruct(schema)) return 'struct'
  if (isMap(schema)) return 'map'
  if (schema.type === 'array') return 'slice'
  if (schema.type === 'integer') return schema.format === 'int64' ? 'int64' : 'int32'
  if (schema.type === 'boolean') return 'bool'
  return schema.type === 'number' ? 'float64' : 'string'
}

export function objectField(schema: Schema, key: string): FieldStrategy {
  if (!isStruct(schema)) refuse(`merging an object in json but data type is not struct, instead is: ${goKind(schema)}`)
  const properties = schema.properties ?? {}
  const field = Object.hasOwn(properties, key) ? properties[key] : undefined
  if (field === undefined) return refuse(`unable to find api field in struct ${typeName(schema)} for the json field "${key}"`)
  return { below: field, strategy: strategyOf(field), mergeKey: field['x-kubernetes-patch-merge-key'] ?? '' }
}

export function listField(schema: Schema, key: string): FieldStrategy {
  const field = objectField(schema, key)
  if (field.below.type !== 'array') return refuse(`expected slice or array type, but got: ${goKind(schema)}`)
  return { ...field, below: field.below.items ?? {} }
}

/** `retainKeys` is a promise by the client; the server does nothing differently. */
function strategyOf(schema: Schema): FieldStrategy['strategy'] {
  const strategies = (schema['x-kubernetes-patch-strategy'] ?? '').split(',').filter((s) => s !== 'retainKeys')
  return strategies[0] === 'merge' || strategies[0] === 'replace' ? strategies[0] : ''
}
