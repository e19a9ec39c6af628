/** Which resource an object belongs to: looked up among the built-in kinds, guessed by Kubernetes' own rule for others. */

import { kindsOf } from '../../composition.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

const known = new Map(
  kindsOf('hub', false).flatMap((kind) =>
    kind.versions.map((version) => [
      `${kind.group}/${version.name} ${kind.kind}`,
      { group: kind.group, version: version.name, plural: kind.plural, kind: kind.kind, namespaced: kind.namespaced } satisfies Resource,
    ]),
  ),
)

export function resourceOfObject(object: KubeObject): Resource {
  const { group, version } = parseGroupVersion(object.apiVersion)
  const builtin = known.get(`${group}/${version} ${object.kind}`)
  return (
    builtin ?? {
      group,
      version,
      plural: pluralOf(object.kind.toLowerCase()),
      kind: object.kind,
      namespaced: object.metadata.namespace !== undefined,
    }
  )
}

const pluralOf = (singular: string): string =>
  singular.endsWith('s') ? `${singular}es` : singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
