/** Objects as a schema allows them, and a little beyond: each field absent, null, empty, smallest, largest, too large, of another type. */
import { type Json, setOwn } from '../../src/base/json.ts'
import type { Schema } from '../../src/kube/schema.ts'
import type { Choice } from './choice.ts'
import { hostileString, hostileValue } from './hostile.ts'

export interface SchemaOptions {
  /** Share of optional fields that are set. */
  density: number
  /** Share of fields that are wrong on purpose. */
  wrong: number
}

const MAX_DEPTH = 9

export function fromSchema(schema: Schema, choice: Choice, options: SchemaOptions, depth = 0): Json {
  if (choice.chance(options.wrong)) return hostileValue(choice)
  const [first] = schema.enum ?? []
  if (first !== undefined) return choice.of(schema.enum ?? []) as Json
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string')
    return choice.of<Json>([0, 80, 65536, '50%', 'http', '101%'])
  switch (schema.type) {
    case 'string':
      return stringFor(schema, choice)
    case 'integer':
    case 'number':
      return choice.of([0, 1, -1, schema.minimum ?? 2, schema.maximum ?? 3, (schema.maximum ?? 2 ** 31 - 1) + 1, 80, 2 ** 31 - 1])
    case 'boolean':
      return choice.chance(0.5)
    case 'array':
      return Array.from(
        {
          length:
            depth > MAX_DEPTH
              ? 0
              : choice.weighted([
                  [2, 0],
                  [6, 1],
                  [2, 2],
                ] as const),
        },
        () => fromSchema(schema.items ?? {}, choice, options, depth + 1),
      )
    default:
      return objectFor(schema, choice, options, depth)
  }
}

function objectFor(schema: Schema, choice: Choice, options: SchemaOptions, depth: number): Json {
  const object: Record<string, Json> = {}
  const required = new Set(schema.required ?? [])
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const share = required.has(name) ? 0.97 : depth > MAX_DEPTH ? 0 : options.density / (1 + depth / 2)
    if (choice.chance(share)) setOwn(object, name, fromSchema(property, choice, options, depth + 1))
  }
  const extra = schema.additionalProperties
  if (typeof extra === 'object' && depth <= MAX_DEPTH)
    for (let i = choice.below(3); i > 0; i--)
      setOwn(object, choice.of(['app', 'cpu', 'memory', 'example.com/a', 'key', 'x']), fromSchema(extra, choice, options, depth + 1))
  return object
}

const WORDS = [
  'a',
  'app',
  'web',
  'default',
  'Always',
  'TCP',
  'nginx',
  '/data',
  'example.com/x',
  '1',
  '100m',
  '1Gi',
  'v1',
  'Pod',
  'In',
  'ClusterIP',
  'http',
]

function stringFor(schema: Schema, choice: Choice): string {
  if (schema.definition?.endsWith('Quantity')) return choice.of(['1', '100m', '1Gi', '-1', '1e3', '0.5', '999999999Ei', 'x'])
  if (schema.format === 'date-time') return choice.of(['2025-01-01T00:00:00Z', '2025-01-01T00:00:00.123456Z', 'yesterday'])
  if (schema.format === 'byte') return choice.of(['', 'YQ==', 'YQ', '!!!!'])
  return choice.chance(0.9) ? choice.of(WORDS) : hostileString(choice)
}
