/**
 * Migration from client-side to server-side apply, for the manager `kubectl` only: fields that the last-applied annotation
 * accounts for are not conflicts, and an existing annotation is kept up to date.
 */
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject } from '../meta.ts'
import { compareTyped } from './compare.ts'
import { difference, emptyFieldSet, type FieldSet } from './field-set.ts'
import { goJson } from './go-text.ts'
import { ShapeError } from './shape-error.ts'
import { toFieldSet } from './to-field-set.ts'
import { validateTyped } from './validate.ts'
import type { Typed } from './versions.ts'

export const KUBECTL_MANAGER = 'kubectl'
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'
const TOTAL_ANNOTATION_BYTES = 256 * 1024

function annotationsOf(object: KubeObject): Record<string, unknown> | undefined {
  const annotations: unknown = object.metadata?.annotations
  return isJsonObject(annotations) ? annotations : undefined
}

function lastAppliedText(object: KubeObject): string {
  const annotations = annotationsOf(object)
  const text = annotations !== undefined && Object.hasOwn(annotations, ANNOTATION) ? annotations[ANNOTATION] : undefined
  return typeof text === 'string' ? text : ''
}

/** Fields of the annotation that still have, in the live object, the value they were applied with. */
export function fieldsOfLastApplied(live: Typed): FieldSet {
  const text = lastAppliedText(live.object)
  if (text === '') return emptyFieldSet
  const applied = parseObject(text)
  if (applied === undefined || applied.apiVersion !== live.apiVersion) return emptyFieldSet
  try {
    validateTyped(applied, live.atom, false)
    const { added, modified, removed } = compareTyped(applied, live.object, live.atom)
    return difference(difference(difference(toFieldSet(applied, live.atom), modified), added), removed)
  } catch (error) {
    // An annotation that does not fit the schema accounts for nothing.
    if (error instanceof ShapeError) return emptyFieldSet
    throw error
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The object with its annotation updated to what was applied, or without an annotation that would be too large. */
export function withLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  if (lastAppliedText(object) === '') return object
  const { [ANNOTATION]: _old, ...others } = annotationsOf(object) ?? {}
  const annotations: Record<string, unknown> = { ...others, [ANNOTATION]: `${goJson(withoutAnnotation(applied))}\n` }
  if (bytesOf(annotations) > TOTAL_ANNOTATION_BYTES) delete annotations[ANNOTATION]
  return { ...object, metadata: { ...object.metadata, annotations: annotations as Record<string, string> } }
}

function withoutAnnotation(applied: KubeObject): KubeObject {
  const annotations = annotationsOf(applied)
  if (annotations === undefined) return applied
  const { [ANNOTATION]: _old, ...rest } = annotations
  return { ...applied, metadata: { ...applied.metadata, annotations: rest as Record<string, string> } }
}

function bytesOf(annotations: Record<string, unknown>): number {
  let bytes = 0
  for (const [key, value] of Object.entries(annotations)) bytes += Buffer.byteLength(key) + Buffer.byteLength(String(value))
  return bytes
}
