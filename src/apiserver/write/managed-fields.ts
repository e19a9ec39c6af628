/** Where requests meet server-side apply: who owns which field after a write. */
import { type ApplyContext, trackUpdate } from '../../kube/apply/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { parseGroupVersion } from '../../kube/meta.ts'
import { convertTo } from '../objects.ts'
import { nowOf, type Scope } from '../scope.ts'

export function applyContext(scope: Scope): ApplyContext {
  const { served, server } = scope
  return {
    schemaOf(apiVersion) {
      const { group, version } = parseGroupVersion(apiVersion)
      return server.catalog.find(group, version, served.definition.plural)?.version.schema
    },
    convert(object, apiVersion) {
      const { group, version } = parseGroupVersion(apiVersion)
      return server.catalog.find(group, version, served.definition.plural) === undefined ? undefined : convertTo(served, object, apiVersion)
    },
    subresource: scope.info.subresource,
    resetPaths: resetPaths(scope),
    now: nowOf(scope),
    gvk: { group: served.definition.group, version: served.version.name, kind: served.definition.kind },
  }
}

/** What a door cannot change, and so nobody owns through it. */
function resetPaths(scope: Scope): string[][] {
  const { definition } = scope.served
  if (!definition.subresources.some((sub) => sub.name === 'status')) return []
  if (scope.info.subresource === '') return [['status']]
  if (scope.info.subresource !== 'status') return []
  if (definition.builtin) return [['spec']]
  // The status door of a custom resource takes nothing but status.
  const properties = Object.keys(scope.served.version.schema.properties ?? {})
  return properties.filter((key) => !['status', 'metadata', 'apiVersion', 'kind'].includes(key)).map((key) => [key])
}

export function trackManagedFields(scope: Scope, write: { live: KubeObject | undefined; next: KubeObject; manager: string }): KubeObject {
  return trackUpdate({ ...write, context: applyContext(scope) })
}
