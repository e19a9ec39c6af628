/** Which objects of a resource a list or watch selects: its selectors, compiled once per request. */
import {
  type FieldSelector,
  matchesFields,
  parseFieldSelector,
  requiredField,
  unknownField,
  unknownFieldMessage,
  unsupportedFieldMessage,
} from '../../kube/field-selector.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Parsed } from '../../kube/parsed.ts'
import { matchesLabels, parseLabelSelector } from '../../kube/selector.ts'
import { badRequestError } from '../../kube/status.ts'
import type { ListOptions } from '../options.ts'
import type { Scope } from '../scope.ts'

export interface Selection {
  /** Matches an object in the storage version. */
  matches(object: KubeObject): boolean
  /** True when every object matches, so that nothing has to be parsed. */
  selectsAll: boolean
  /** The one name the selection can match, if any: then it is a lookup, not a scan. */
  name: string | undefined
  namespace: string
}

export function parseSelection(scope: Scope, options: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>): Selection {
  const labels = understood(parseLabelSelector(options.labelSelector))
  const fields = understood(parseFieldSelector(options.fieldSelector))
  checkFields(scope, fields)
  const { selectableFields } = scope.served.definition.rules
  return {
    selectsAll: labels.length === 0 && fields.length === 0,
    name: scope.info.name !== '' ? scope.info.name : requiredField(fields, 'metadata.name'),
    namespace: scope.info.namespace !== '' ? scope.info.namespace : (requiredField(fields, 'metadata.namespace') ?? ''),
    matches(object) {
      if (!matchesLabels(labels, object.metadata.labels)) return false
      if (scope.info.name !== '' && object.metadata.name !== scope.info.name) return false
      if (fields.length === 0) return true
      const { name = '', namespace = '' } = object.metadata
      return matchesFields(fields, { ...(selectableFields?.(object) ?? {}), 'metadata.name': name, 'metadata.namespace': namespace })
    },
  }
}

function understood<T>(result: Parsed<T>): T {
  if (result.error !== undefined) throw badRequestError(result.error)
  return result.value
}

function checkFields(scope: Scope, selector: FieldSelector): void {
  const { rules, builtin, namespaced, group, kind } = scope.served.definition
  const own = rules.selectableFieldNames ?? []
  const isGeneral = own.length === 0
  // Kinds that declare their selectable fields and are cluster-scoped do not include the namespace.
  const general = !namespaced && !(builtin && isGeneral) ? ['metadata.name'] : ['metadata.name', 'metadata.namespace']
  const unknown = unknownField(selector, [...general, ...own])
  if (unknown === undefined) return
  const of = builtin ? { group, version: scope.served.version.name, kind } : undefined
  throw badRequestError(builtin && isGeneral ? unknownFieldMessage(unknown) : unsupportedFieldMessage(unknown, of))
}
