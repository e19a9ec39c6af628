/** Which protobuf message is the Go struct of a kind. */
import type { GroupVersionKind } from '../../kube/meta.ts'
import { type MessageModel, messageModel } from './model.ts'
import { definitionNameFor } from './schemas.ts'

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1'

/** Kinds every group shares; OpenAPI does not know them all. */
const META_KINDS: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
  'PatchOptions',
  'Status',
  'UpdateOptions',
  'WatchEvent',
])

/** Go packages of groups whose package is not named like the group. */
const PACKAGES: ReadonlyMap<string, string> = new Map([
  ['', 'k8s.io.api.core'],
  ['rbac.authorization.k8s.io', 'k8s.io.api.rbac'],
  ['flowcontrol.apiserver.k8s.io', 'k8s.io.api.flowcontrol'],
  ['apiextensions.k8s.io', 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions'],
  ['apiregistration.k8s.io', 'k8s.io.kube_aggregator.pkg.apis.apiregistration'],
])

/** Model of a built-in kind, or undefined for what is not built in. */
export function messageFor({ group, version, kind }: GroupVersionKind): MessageModel | undefined {
  const definition = definitionNameFor(group, version, kind)
  if (definition !== undefined) return messageModel(`k8s.io.${definition.slice('io.k8s.'.length).replaceAll('-', '_')}`)
  const own = messageModel(`${PACKAGES.get(group) ?? `k8s.io.api.${group.replace(/\.k8s\.io$/, '')}`}.${version}.${kind}`)
  // Only whole kinds have TypeMeta; PodSpec is a message of the same package, but not a kind.
  if (own?.byName.has('apiVersion') && own.fields[0]?.name === 'kind') return own
  return META_KINDS.has(kind) ? messageModel(`${META}.${kind}`) : undefined
}
