/** RuntimeClass: how containers are run, what that costs and where it can be done. */
import { duplicate, type FieldError, forbidden, index, keyed, required } from '../../../../kube/field-error.ts'
import { goJson } from '../../../../kube/go-print.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1123Label } from '../../../../kube/names.ts'
import type { KindRules } from '../../../kind.ts'
import { limitResourceNameErrors, resourceQuantityErrors } from '../core/resources.ts'
import { type Fields, field, maybeObject, object, objects, string, stringEntries } from '../fields.ts'
import { immutableErrors, labelErrors } from '../formats.ts'
import { invalidEach } from '../pod/errors.ts'
import { tolerationListErrors } from '../pod/tolerations.ts'
import { deprecatedNodeLabel } from '../storage/node-labels.ts'

function schedulingErrors(scheduling: Fields): FieldError[] {
  const seen = new Set<string>()
  return [
    ...labelErrors('scheduling.nodeSelector', scheduling, 'nodeSelector'),
    ...tolerationListErrors('scheduling.tolerations', objects(scheduling, 'tolerations')),
    ...objects(scheduling, 'tolerations').flatMap((toleration, i) => {
      const names = ['key', 'operator', 'value', 'effect']
      const key = goJson(names.map((name) => string(toleration, name)))
      const known = seen.has(key)
      seen.add(key)
      const shown = {
        ...Object.fromEntries(names.map((name) => [`${name.charAt(0).toUpperCase()}${name.slice(1)}`, string(toleration, name)])),
        TolerationSeconds: field(toleration, 'tolerationSeconds') ?? null,
      }
      return known ? [duplicate(index('scheduling.tolerations', i), shown)] : []
    }),
  ]
}

function overheadErrors(overhead: Fields): FieldError[] {
  const fixed = object(overhead, 'podFixed')
  const names = Object.keys(fixed).sort()
  const errors = names.flatMap((name) => [
    ...limitResourceNameErrors(keyed('overhead.limits', name), 'Container', name),
    ...resourceQuantityErrors(keyed('overhead.limits', name), name, field(fixed, name)),
  ])
  const onlyHuge = names.some((name) => name.startsWith('hugepages-')) && !names.includes('cpu') && !names.includes('memory')
  return onlyHuge ? [...errors, forbidden('overhead', 'HugePages require cpu or memory')] : errors
}

function validateCreate(runtimeClass: KubeObject): FieldError[] {
  const handler = string(runtimeClass, 'handler')
  const errors = handler === '' ? [required('handler')] : invalidEach('handler', handler, checkDns1123Label(handler))
  const [overhead, scheduling] = [maybeObject(runtimeClass, 'overhead'), maybeObject(runtimeClass, 'scheduling')]
  if (overhead !== undefined) errors.push(...overheadErrors(overhead))
  return scheduling === undefined ? errors : [...errors, ...schedulingErrors(scheduling)]
}

export const runtimeClassRules: KindRules = {
  validateCreate,
  validateUpdate: (runtimeClass, old) => immutableErrors('handler', string(runtimeClass, 'handler'), string(old, 'handler')),
  warnings: (runtimeClass) =>
    stringEntries(object(runtimeClass, 'scheduling'), 'nodeSelector').flatMap(([key]) => {
      const message = deprecatedNodeLabel(key)
      return message === undefined ? [] : [`scheduling.nodeSelector: ${message}`]
    }),
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
}
