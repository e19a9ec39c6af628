/**
 * A structural schema compiled, on first use, into its passes: prune (with the paths of what it removed), default, and validate
 * with the messages of the real server. Every pass is total: any JSON value may be given, nothing throws, and a pass
 * takes time proportional to the value (patterns are matched in linear time, see go-regexp.ts).
 */
import { type FieldError, fieldErrorMessage } from '../../kube/field-error.ts'
import type { Schema } from '../../kube/schema.ts'
import { once } from '../kubernetes/once.ts'
import { applyStructuralDefaults } from './defaults.ts'
import { validateListTypes } from './list-types.ts'
import { compileNode } from './node.ts'
import { coerceEmbedded, coerceMetadata, validateEmbedded } from './object-meta.ts'
import { pruneNulls, pruneUnknown } from './prune.ts'
import { validateValue } from './validate.ts'

export interface Structural {
  /** Prunes in place, metadata included; see KindVersion.coerce. */
  coerce(object: Record<string, unknown>): { unknown: string[]; error?: string }
  applyDefaults(object: Record<string, unknown>): void
  /** Values against the schema. With `old`: errors in parts that did not change are forgiven. */
  validateValues(object: Record<string, unknown>, old?: Record<string, unknown>): FieldError[]
  /** As on an update of the status subresource: only `status` is looked at. */
  validateStatusValues(object: Record<string, unknown>, old: Record<string, unknown>): FieldError[]
  /** Metadata of embedded resources. */
  validateEmbedded(object: Record<string, unknown>): FieldError[]
  /** Uniqueness in lists of type set and map; with `old`: forgiven when the old object already broke it. */
  validateListTypes(object: Record<string, unknown>, old?: Record<string, unknown>): FieldError[]
}

export function compileStructural(schema: Schema): Structural {
  const root = once(() => compileNode(schema))
  return {
    coerce(object) {
      const metadata = coerceMetadata(object, '')
      if (metadata.error !== undefined) return metadata
      const pruned = pruneUnknown(object, root(), true)
      pruneNulls(object, root())
      const embedded = coerceEmbedded(object, root())
      if (embedded.error !== undefined) return { unknown: [], error: fieldErrorMessage(embedded.error) }
      return { unknown: [...metadata.unknown, ...pruned, ...embedded.unknown] }
    },
    applyDefaults: (object) => applyStructuralDefaults(object, root()),
    validateValues: (object, old) => validateValue(object, root(), old === undefined ? {} : { old }),
    validateStatusValues(object, old) {
      const status = root().properties?.get('status')
      if (status === undefined || !Object.hasOwn(object, 'status')) return []
      return validateValue(object.status, status, { base: 'status', old: old.status })
    },
    validateEmbedded: (object) => validateEmbedded(object, root()),
    validateListTypes(object, old) {
      const errors = validateListTypes(object, root())
      return errors.length > 0 && old !== undefined && validateListTypes(old, root()).length > 0 ? [] : errors
    },
  }
}
