/**
 * Objects with their type, and conversion between versions. A version that is no longer served is undefined:
 * what was recorded in it is dropped.
 */
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject } from '../meta.ts'
import type { Schema } from '../schema.ts'
import { type Atom, rootAtom } from './types.ts'
import { validateTyped } from './validate.ts'

/** What the caller knows about the kind that is written to. */
export interface ApplyContext {
  /** The kind of the request: the version in the URL. */
  gvk: { group: string; version: string; kind: string }
  /** Linked schema of the kind in a served version; undefined when that version does not exist. */
  schemaOf(apiVersion: string): Schema | undefined
  /** The same object in another served version; undefined when there is none. */
  convert(object: KubeObject, apiVersion: string): KubeObject | undefined
  /** '' for the object itself. */
  subresource: string
  /** Fields that this subresource resets: writing them gives no ownership. E.g. [['status']]. */
  resetPaths: readonly (readonly string[])[]
  /** Conversion does not prune: the result may have fields that the schema of the version does not know, and is then refused. */
  convertsUnpruned?: boolean
  /** metav1.Time of the request. */
  now: string
  /**
   * An object of the kind with nothing set, in the version of the request, as the codec makes it (Go's zero value for
   * built-in kinds). Default: derived from the schema.
   */
  emptyObject?: KubeObject
}

export interface Typed {
  readonly object: KubeObject
  readonly atom: Atom
  readonly apiVersion: string
}

/** The object in that version; a stored object may be in another. Undefined when the version is not served. */
export function typed(object: KubeObject, apiVersion: string, context: ApplyContext): Typed | undefined {
  const schema = context.schemaOf(apiVersion)
  const here = object.apiVersion === apiVersion ? object : context.convert(object, apiVersion)
  return schema === undefined || here === undefined ? undefined : { object: here, atom: rootAtom(schema), apiVersion }
}

/** Undefined when the version is no longer served. Throws ShapeError when the object does not fit it. */
export function convertTyped(value: Typed, apiVersion: string, context: ApplyContext): Typed | undefined {
  if (value.apiVersion === apiVersion) return value
  const schema = context.schemaOf(apiVersion)
  if (schema === undefined) return undefined
  // Pruning may have removed the metadata temporarily; conversions may rely on it.
  const source = isJsonObject(value.object.metadata) ? value.object : { ...(value.object as KubeObject), metadata: {} }
  const object = context.convert(source, apiVersion)
  if (object === undefined) return undefined
  const atom = rootAtom(schema)
  if (context.convertsUnpruned) validateTyped(object, atom, true)
  return { object, atom, apiVersion }
}
