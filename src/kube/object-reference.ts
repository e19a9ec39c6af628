/** How one object points at another. */
import type { KubeObject } from './meta.ts'

/** An object of a kind that is known from the context. The namespace of cluster-scoped objects is empty. */
export interface ObjectRef {
  namespace: string
  name: string
}

/** The same where the namespace may be omitted. */
export type ObjectName = Partial<Pick<ObjectRef, 'namespace'>> & Pick<ObjectRef, 'name'>

export interface GroupVersionKind {
  apiVersion: string
  kind: string
}

/** An object of any kind. */
export interface TypedObjectRef extends GroupVersionKind, ObjectName {}

export const refOf = ({ metadata }: Pick<KubeObject, 'metadata'>): ObjectRef => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
})

/** `<namespace>/<name>`, with an empty namespace for cluster-scoped objects. */
export const objectKey = (namespace: string | undefined, name: string | undefined): string => `${namespace ?? ''}/${name ?? ''}`

export const keyOfRef = ({ namespace, name }: ObjectName): string => objectKey(namespace, name)

export const keyOfObject = ({ metadata }: Pick<KubeObject, 'metadata'>): string => objectKey(metadata.namespace, metadata.name)

/** The inverse of `keyOfRef`; a key without a slash is a name. */
export function refOfKey(key: string): ObjectRef {
  const slash = key.indexOf('/')
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
