/** What the strategies of all kinds with a pod template share. */

import type { FieldError } from '../../../../kube/field-error.ts'
import { invalid } from '../../../../kube/field-error.ts'
import { checkDns1123Label, checkPercent } from '../../../../kube/names.ts'
import { FIELD_IMMUTABLE } from '../../../../kube/validate-meta.ts'
import { type Fields, fieldsOf, maybeNumber, maybeObject, number, raw, string } from '../fields.ts'
import { defaultPodSpec, ensureFields } from '../pod/defaults.ts'
import { dropDisabledFields } from '../pod/disabled-fields.ts'
import { invalidEach, nonNegative } from '../pod/errors.ts'
import { dropInitContainerAnnotations } from '../pod/pod-defaults.ts'
import { semanticEqual } from '../pod/semantic.ts'

/** Defaults of the template under `key`, which is created if missing. */
export function defaultTemplate(holder: Fields, key = 'template'): void {
  const template = ensureFields(holder, key)
  ensureFields(template, 'metadata')
  dropInitContainerAnnotations(maybeObject(template, 'metadata'))
  defaultPodSpec(ensureFields(template, 'spec'))
}

/** Drops what is behind a gate from a template's spec. */
export function dropDisabledTemplateFields(holder: Fields, old: Fields | undefined, key = 'template'): void {
  const template = maybeObject(holder, key)
  const spec = maybeObject(template, 'spec')
  if (spec !== undefined) dropDisabledFields(spec, maybeObject(maybeObject(old, key), 'spec'))
}

/** The object's own spec; always there after defaulting. */
export const specOf = (object: Fields): Fields => fieldsOf(raw(object, 'spec'))
export const statusOf = (object: Fields): Fields => fieldsOf(raw(object, 'status'))
export const metadataOf = (object: Fields): Fields => fieldsOf(raw(object, 'metadata'))

/** Copies a top-level field from the stored object, or removes it where the stored one has none. */
export function keepOld(object: Fields, old: Fields, key: string): void {
  const value = raw(old, key)
  if (value === undefined) delete object[key]
  else object[key] = value
}

/** Sets the first generation. */
export function beginGenerations(object: Fields): void {
  ensureFields(object, 'metadata').generation = 1
}

/** Increments the generation when the spec changed (or when the caller says so). */
export function countGeneration(object: Fields, old: Fields, hasChanged = !semanticEqual(specOf(object), specOf(old), 'spec')): void {
  const generation = number(metadataOf(old), 'generation')
  const metadata = ensureFields(object, 'metadata')
  if (hasChanged) metadata.generation = generation + 1
}

export const hasNewGeneration = (object: Fields, old: Fields): boolean =>
  number(metadataOf(object), 'generation') !== number(metadataOf(old), 'generation')

/** Names that end up in pod names and host names should be DNS labels. */
export function podNameWarnings(object: Fields): string[] {
  const messages = checkDns1123Label(string(metadataOf(object), 'name'))
  if (messages.length === 0) return []
  const advice = 'this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended'
  return [`metadata.name: ${advice}: [${messages.join(' ')}]`]
}

export const immutableErrors = (path: string, { next, old, value }: { next: unknown; old: unknown; value: unknown }): FieldError[] =>
  semanticEqual(next, old) ? [] : [invalid(path, value, FIELD_IMMUTABLE)]

/** An int-or-percent that is not negative; unset reads as 0. */
export function intOrPercentErrors(path: string, value: number | string): FieldError[] {
  return typeof value === 'string' ? invalidEach(path, value, checkPercent(value)) : nonNegative(path, value)
}

/** The number of an int-or-percent, whichever it is; other text reads as its leading number, or 0. */
export function intOrPercentNumber(value: number | string): number {
  if (typeof value === 'number') return value
  if (checkPercent(value).length === 0) return Number(value.slice(0, -1))
  return /^[+-]?\d+$/.test(value) ? Number(value) : 0
}

export const over100PercentErrors = (path: string, value: number | string): FieldError[] =>
  typeof value === 'string' && checkPercent(value).length === 0 && Number(value.slice(0, -1)) > 100
    ? [invalid(path, value, 'must not be greater than 100%')]
    : []

/** Counters of a status: none negative, none above its total. */
export function counterErrors(
  status: Fields,
  rules: { counters: readonly string[]; parts: readonly string[]; ready: string },
): FieldError[] {
  const errors = rules.counters.flatMap((key) => nonNegative(`status.${key}`, maybeNumber(status, key)))
  const replicas = number(status, 'replicas')
  for (const key of rules.parts) {
    const value = number(status, key)
    if (value > replicas) errors.push(invalid(`status.${key}`, value, 'cannot be greater than status.replicas'))
  }
  const available = number(status, 'availableReplicas')
  if (available > number(status, 'readyReplicas')) errors.push(invalid('status.availableReplicas', available, rules.ready))
  return errors
}

export function collisionErrors(status: Fields, old: Fields): FieldError[] {
  const [next, before] = [maybeNumber(status, 'collisionCount'), maybeNumber(old, 'collisionCount')]
  const isDecremented = before !== undefined && (next === undefined || next < before)
  return isDecremented ? [invalid('status.collisionCount', next ?? 0, 'cannot be decremented')] : []
}

/** A status with the counters that are always written. */
export const emptyStatus = (...counters: string[]): Fields => Object.fromEntries(counters.map((key) => [key, 0]))
