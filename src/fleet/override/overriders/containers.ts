/** Where the containers of an object are. The kind is matched by name, whatever its group; init containers are ignored. */
import { isJsonObject } from '../../../base/json.ts'
import { type Fields, fieldAt, withField } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'

const OF_TEMPLATE = ['spec', 'template', 'spec', 'containers'] as const
const WITH_TEMPLATE = ['ReplicaSet', 'Deployment', 'DaemonSet', 'StatefulSet', 'Job']

/** A copy with every container replaced by the result of `change`; other kinds are left unchanged. */
export function withContainers(object: KubeObject, change: (container: Fields) => Fields): KubeObject {
  const path = object.kind === 'Pod' ? ['spec', 'containers'] : WITH_TEMPLATE.includes(object.kind) ? OF_TEMPLATE : undefined
  const containers = path === undefined ? undefined : fieldAt(object, ...path)
  if (path === undefined || !Array.isArray(containers)) return object
  return withField(
    object,
    path,
    containers.map((container: unknown) => (isJsonObject(container) ? change(container) : container)),
  )
}
