/**
 * Whether the clients of a runtime may run on any node (global, the default), or only beside its workers (co-located): the field
 * `spec.fuse.global`, which only our definitions have, or an annotation, which any runtime can have. Pure.
 */
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'

const FUSE_GLOBAL = 'sluice.dev/fuse-global'

/** Kinds whose workers label no node: nothing could be beside them. */
const UNLABELLED: readonly string[] = ['ThinRuntime']

/** The field wins over the annotation. What is neither true nor false is no wish. */
export function isFuseGlobal({ kind, metadata, spec }: KubeObject): boolean {
  if (UNLABELLED.includes(kind)) return true
  const fuse = isJsonObject(spec) && Object.hasOwn(spec, 'fuse') ? spec.fuse : undefined
  const field = isJsonObject(fuse) && Object.hasOwn(fuse, 'global') ? fuse.global : undefined
  if (typeof field === 'boolean') return field
  const annotations = metadata.annotations ?? {}
  return !(Object.hasOwn(annotations, FUSE_GLOBAL) && annotations[FUSE_GLOBAL] === 'false')
}
