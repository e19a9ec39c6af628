/** A pod template as the kinds that make pods carry it. */
import { type FieldError, forbidden, invalid } from '../../../../kube/field-error.ts'
import { matchesLabels, selectorFromObject } from '../../../../kube/selector.ts'
import { entries, type Fields, fieldsOf, isSet, objects, raw, string, strings } from '../fields.ts'
import { labelErrors } from '../formats.ts'
import { annotationErrors, podAnnotationErrors } from './annotations.ts'
import { unsupported } from './errors.ts'
import { selectorValue, sorted } from './internal-json.ts'
import type { PodOptions, SpecAndMeta } from './options.ts'
import { profileMatchErrors } from './security-profiles.ts'
import { validatePodSpec } from './spec.ts'

/** Spec and metadata of the template under `key`. */
export const templateOf = (holder: Fields, key = 'template'): SpecAndMeta => {
  const template = fieldsOf(raw(holder, key))
  return { spec: fieldsOf(raw(template, 'spec')), metadata: fieldsOf(raw(template, 'metadata')) }
}

/** Errors of a template's labels and annotations name it without `metadata`, as the real server does. */
export function validatePodTemplate(path: string, template: SpecAndMeta, options: PodOptions): FieldError[] {
  const { spec, metadata } = template
  return [
    ...labelErrors(`${path}.labels`, metadata, 'labels'),
    ...annotationErrors(`${path}.annotations`, metadata),
    ...podAnnotationErrors(`${path}.annotations`, template, options),
    ...validatePodSpec(`${path}.spec`, spec, { metadata: undefined, options }),
    ...profileMatchErrors(`${path}.spec`, metadata, spec),
    ...(objects(spec, 'ephemeralContainers').length > 0
      ? [forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : []),
  ]
}

/** What every kind that keeps pods running requires of its template. */
export function longRunningErrors(path: string, { spec }: SpecAndMeta, kind: string): FieldError[] {
  const policy = string(spec, 'restartPolicy')
  return [
    ...(policy === 'Always' ? [] : [unsupported(`${path}.spec.restartPolicy`, policy, ['Always'])]),
    ...(isSet(spec, 'activeDeadlineSeconds')
      ? [forbidden(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`)]
      : []),
  ]
}

type SelectorMatch = 'invalid' | 'empty' | 'matches' | 'differs'

/** Whether a LabelSelector selects the labels; an absent one selects nothing. */
export function matchTemplate(selector: Fields | undefined, metadata: Fields): SelectorMatch {
  const parsed = selectorFromObject(
    selector === undefined
      ? undefined
      : {
          matchLabels: Object.fromEntries(entries(selector, 'matchLabels')),
          matchExpressions: objects(selector, 'matchExpressions').map((expression) => ({
            key: string(expression, 'key'),
            operator: string(expression, 'operator'),
            values: strings(expression, 'values'),
          })),
        },
  )
  if (parsed.error !== undefined) return 'invalid'
  if (parsed.value === undefined) return 'differs'
  if (parsed.value.length === 0) return 'empty'
  return matchesLabels(parsed.value, Object.fromEntries(entries(metadata, 'labels'))) ? 'matches' : 'differs'
}

export const templateLabelsError = (path: string, metadata: Fields): FieldError =>
  invalid(`${path}.metadata.labels`, sorted(raw(metadata, 'labels')), '`selector` does not match template `labels`')

export const isEmptySelector = (selector: Fields): boolean =>
  entries(selector, 'matchLabels').length === 0 && objects(selector, 'matchExpressions').length === 0

export const emptySelectorError = (path: string, selector: Fields, kind: string): FieldError =>
  invalid(path, selectorValue(selector), `empty selector is invalid for ${kind}`)
