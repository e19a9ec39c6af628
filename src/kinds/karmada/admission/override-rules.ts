/** Validation of override policies. Of the deprecated single-rule form only the clusters are validated, as always. */
import { child, type FieldError, index, invalid, required } from '../../../kube/field-error.ts'
import { validateAnnotations } from '../../../kube/validate-meta.ts'
import { labelErrors } from '../../kubernetes/rules/formats.ts'
import type { FieldOverrider, FieldPatch, OverrideRule, Overriders, OverrideSpec } from '../override-spec.ts'
import { clusterAffinityErrors } from './cluster-affinity-rules.ts'
import { selectorErrors } from './selector-rules.ts'

/** `namespace` is empty for policies without one. */
export function overrideErrors(spec: OverrideSpec, namespace: string): FieldError[] {
  const { overrideRules, targetCluster, overriders } = spec
  const errors = clusterAffinityErrors('spec.targetCluster', targetCluster)
  if (overrideRules !== undefined && targetCluster !== undefined)
    errors.push(invalid('spec.targetCluster', targetCluster, "overrideRules and targetCluster can't co-exist"))
  if (overrideRules !== undefined && changesAnything(overriders))
    errors.push(invalid('spec.overriders', overriders, "overrideRules and overriders can't co-exist"))
  return [
    ...errors,
    ...(overrideRules ?? []).flatMap((rule, i) => ruleErrors(index('spec.overrideRules', i), rule)),
    ...selectorErrors('spec.resourceSelectors', spec.resourceSelectors, namespace),
  ]
}

/** Changes inside fields are newer than rules: combined with rules they have no effect, and were never refused. */
const changesAnything = ({ fieldOverrider: _, ...overriders }: Overriders = {}): boolean =>
  Object.values(overriders).some((list) => Array.isArray(list) && list.length > 0)

function ruleErrors(path: string, { overriders, targetCluster }: OverrideRule): FieldError[] {
  const at = child(path, 'overriders')
  const { annotationsOverrider = [], labelsOverrider = [], imageOverrider = [], fieldOverrider = [] } = overriders
  return [
    ...annotationsOverrider.flatMap(({ value }, i) =>
      validateAnnotations(value, child(index(child(at, 'annotationsOverrider'), i), 'value')),
    ),
    ...labelsOverrider.flatMap((overrider, i) => labelErrors(child(index(child(at, 'labelsOverrider'), i), 'value'), overrider, 'value')),
    ...imageOverrider.flatMap(({ predicate }, i) =>
      pointerErrors(child(index(child(at, 'imageOverrider'), i), 'predicate', 'path'), predicate?.path),
    ),
    ...fieldOverrider.flatMap((overrider, i) => fieldErrors(index(child(at, 'fieldOverrider'), i), overrider)),
    ...clusterAffinityErrors(child(path, 'targetCluster'), targetCluster),
  ]
}

function fieldErrors(path: string, overrider: FieldOverrider): FieldError[] {
  const { fieldPath, json = [], yaml = [] } = overrider
  const errors: FieldError[] = []
  if (json.length > 0 && yaml.length > 0)
    errors.push(invalid(path, overrider, 'FieldOverrider has both YAML and JSON set. Only one is allowed'))
  if (json.length === 0 && yaml.length === 0) errors.push(required(path, 'FieldOverrider must have either JSON or YAML set'))
  return [
    ...errors,
    ...pointerErrors(child(path, 'fieldPath'), fieldPath),
    ...json.flatMap((patch, i) => patchErrors(index(child(path, 'json'), i), patch)),
    ...yaml.flatMap((patch, i) => patchErrors(index(child(path, 'yaml'), i), patch)),
  ]
}

function patchErrors(path: string, { subPath, operator, value }: FieldPatch): FieldError[] {
  const errors = pointerErrors(child(path, 'subPath'), subPath)
  const isSet = value !== undefined && value !== null
  if (operator === 'remove' && isSet) errors.push(invalid(child(path, 'value'), value, 'value is not allowed for remove operation'))
  if (operator !== 'remove' && !isSet) errors.push(invalid(child(path, 'value'), value, 'value is required for add or replace operation'))
  return errors
}

const pointerErrors = (path: string, pointer: string | undefined): FieldError[] =>
  pointer === undefined || pointer === '' || pointer.startsWith('/')
    ? []
    : [invalid(path, pointer, 'JSON pointer must be empty or start with a "/"')]
