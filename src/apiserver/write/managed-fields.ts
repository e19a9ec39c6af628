/** Where requests meet server-side apply: who owns which field after a write. */

import { DecodeError } from '../../kinds/kubernetes/decode-json.ts'
import { type ApplyContext, resetPathsOf, trackUpdate } from '../../kube/apply/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { parseGroupVersion } from '../../kube/meta.ts'
import { badRequestError } from '../../kube/status.ts'
import { convertTo } from '../objects.ts'
import { nowOf, type Scope } from '../scope.ts'

export function applyContext(scope: Scope): ApplyContext {
  const { served, server } = scope
  const isUnpruned = served.definition.isSameInAllVersions === true
  return {
    schemaOf(apiVersion) {
      const { group, version } = parseGroupVersion(apiVersion)
      return server.catalog.find(group, version, served.definition.plural)?.version.schema
    },
    convert(object, apiVersion) {
      const { group, version } = parseGroupVersion(apiVersion)
      if (server.catalog.find(group, version, served.definition.plural) === undefined) return undefined
      // Between equivalent versions nothing is pruned: the caller is to see that an object does not fit.
      if (isUnpruned) return { ...object, apiVersion }
      try {
        return convertTo(served, object, apiVersion)
      } catch (error) {
        // The result of an apply may not be a valid object of its kind; then it cannot be converted either.
        if (error instanceof DecodeError)
          throw badRequestError(`${served.definition.kind} cannot be converted to ${apiVersion}: ${error.message}`)
        throw error
      }
    },
    subresource: scope.info.subresource,
    resetPaths: resetPathsOf({
      group: served.definition.group,
      kind: served.definition.kind,
      subresource: scope.info.subresource,
      builtin: served.definition.builtin,
      hasStatus: served.definition.subresources.some((subresource) => subresource.name === 'status'),
    }),
    convertsUnpruned: isUnpruned,
    now: nowOf(scope),
    ...(served.definition.zeroObject === undefined ? {} : { emptyObject: served.definition.zeroObject(served.apiVersion) }),
    gvk: { group: served.definition.group, version: served.version.name, kind: served.definition.kind },
  }
}

export function trackManagedFields(scope: Scope, write: { live: KubeObject | undefined; next: KubeObject; manager: string }): KubeObject {
  return trackUpdate({ ...write, context: applyContext(scope) })
}
