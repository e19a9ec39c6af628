/** Objects for tests: a small valid default of each kind, with overrides where the last one wins. */
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'

/** What to merge over the default; `metadata` is merged into the default's metadata, other fields replace theirs. */
export interface Overrides {
  metadata?: ObjectMeta
  [field: string]: unknown
}

type Builder = (where: string, ...overrides: Overrides[]) => KubeObject

/** `where` is `namespace/name`, or the name of a cluster-scoped object. */
function builder(apiVersion: string, kind: string, defaults: Record<string, unknown> = {}): Builder {
  return (where, ...overrides) => {
    const slash = where.indexOf('/')
    const name = where.slice(slash + 1)
    const metadata: ObjectMeta = slash < 0 ? { name } : { namespace: where.slice(0, slash), name }
    const object: KubeObject = { apiVersion, kind, ...structuredClone(defaults), metadata }
    for (const { metadata: more, ...fields } of overrides) {
      Object.assign(object, fields)
      Object.assign(object.metadata, more)
    }
    return object
  }
}

export const aNamespace = builder('v1', 'Namespace')
export const aConfigMap = builder('v1', 'ConfigMap', { data: { key: 'value' } })
export const aClusterRole = builder('rbac.authorization.k8s.io/v1', 'ClusterRole', { rules: [] })

/** The kind that a definition by `aDefinition` defines; this makes instances of it. */
export const aWidget = builder('example.com/v1', 'Widget', { spec: { size: 1 } })
export const aCog = builder('example.com/v1', 'Cog', { spec: { size: 1 } })

export function anEvent(where: string, ...overrides: Overrides[]): KubeObject {
  const [namespace] = where.split('/')
  const involvedObject = { apiVersion: 'v1', kind: 'ConfigMap', name: 'some', namespace }
  return builder('v1', 'Event', {
    involvedObject,
    reason: 'Happened',
    message: 'it happened',
    type: 'Normal',
    source: { component: 'test' },
  })(where, ...overrides)
}

/** A definition of an `example.com/v1` kind; scope `Namespaced` by default. */
export function aDefinition(kind: string, scope: 'Namespaced' | 'Cluster' = 'Namespaced'): KubeObject {
  const singular = kind.toLowerCase()
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return builder('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    spec: {
      group: 'example.com',
      scope,
      names: { plural: `${singular}s`, singular, kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })(`${singular}s.example.com`)
}

/** Metadata with owner references. */
export function ownedBy(...owners: (KubeObject | { owner: KubeObject; blocks: boolean })[]): Overrides {
  const ownerReferences = owners.map((one) => {
    const { owner, blocks } = 'owner' in one ? (one as { owner: KubeObject; blocks: boolean }) : { owner: one as KubeObject, blocks: false }
    const { name = '', uid = '' } = owner.metadata
    return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, ...(blocks ? { blockOwnerDeletion: true } : {}) }
  })
  return { metadata: { ownerReferences } }
}

/** An owner that, deleted in the foreground, is not removed before this dependent. */
export const blockedBy = (owner: KubeObject): { owner: KubeObject; blocks: boolean } => ({ owner, blocks: true })
