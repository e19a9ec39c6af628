/** Where the scale subresource reads and writes: replicas must be counts wherever a custom resource keeps them. */
import { isJsonObject } from '../../base/json.ts'
import { type FieldError, invalid } from '../../kube/field-error.ts'
import { goPrint } from '../../kube/go-print.ts'
import { isInt64 } from './check-number.ts'
import type { CrdScale } from './crd.ts'

const MAX_INT32 = 2147483647

export function validateScale(
  object: Record<string, unknown>,
  scale: CrdScale | undefined,
  parts: readonly ('spec' | 'status')[],
): FieldError[] {
  if (scale === undefined) return []
  const errors: FieldError[] = []
  if (parts.includes('spec')) errors.push(...validateCount(object, scale.specReplicasPath))
  if (parts.includes('status')) {
    errors.push(...validateCount(object, scale.statusReplicasPath))
    const path = scale.labelSelectorPath
    if (path !== undefined) {
      const found = nested(object, path, 'string')
      if (found.error !== undefined) errors.push(invalid(path, '', found.error))
    }
  }
  return errors
}

function validateCount(object: Record<string, unknown>, path: string): FieldError[] {
  const found = nested(object, path, 'int64')
  if (found.error !== undefined) return [invalid(path, 0, found.error)]
  const count = typeof found.value === 'number' ? found.value : 0
  if (count < 0) return [invalid(path, count, 'should be a non-negative integer')]
  return count > MAX_INT32 ? [invalid(path, count, `should be less than or equal to ${MAX_INT32}`)] : []
}

/** The value at a dotted path, or what is wrong on the way there; absent is fine. */
function nested(object: Record<string, unknown>, path: string, expected: 'string' | 'int64'): { value?: unknown; error?: string } {
  const fields = path.replace(/^\./, '').split('.')
  let value: unknown = object
  for (let i = 0; i < fields.length; i++) {
    if (value === null || value === undefined) return {}
    if (!isJsonObject(value)) return { error: accessorError(fields.slice(0, i + 1), value, 'map[string]interface{}') }
    const field = fields[i] ?? ''
    if (!Object.hasOwn(value, field)) return {}
    value = value[field]
  }
  return goType(value) === expected ? { value } : { error: accessorError(fields, value, expected) }
}

const accessorError = (fields: readonly string[], value: unknown, expected: string): string =>
  `.${fields.join('.')} accessor error: ${goPrint(value)} is of the type ${goType(value)}, expected ${expected}`

function goType(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return isInt64(value) ? 'int64' : 'float64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'map[string]interface {}'
}
