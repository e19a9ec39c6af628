/** What every write has to check or fill in about metadata, whatever the kind. */
import { nameSuffix, uuid } from '../../base/random.ts'
import type { KubeObject, OwnerReference } from '../../kube/meta.ts'
import { badRequestError, failure } from '../../kube/status.ts'
import { nowOf, type Scope, warn } from '../scope.ts'

const MAX_GENERATED_BASE = 58

/** The namespace of a body must be absent or that of the path; cluster-scoped objects have none. */
export function alignNamespace(scope: Scope, object: KubeObject): void {
  if (!scope.served.definition.namespaced) {
    delete object.metadata.namespace
    return
  }
  const given = object.metadata.namespace ?? ''
  if (given !== '' && given !== scope.info.namespace)
    throw badRequestError('the namespace of the provided object does not match the namespace sent on the request')
  object.metadata.namespace = scope.info.namespace
}

/** A PUT or PATCH must have the name that is in its path. */
export function checkName(object: KubeObject, name: string): void {
  const given = object.metadata.name ?? ''
  if (given === '') throw badRequestError(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (given !== name) throw badRequestError(`the name of the object (${given}) does not match the name on the URL (${name})`)
}

/** System fields of a new object. Whatever a client sent for them is overwritten. */
export function fillNewMetadata(scope: Scope, object: KubeObject): void {
  const meta = object.metadata
  // Anything but a number is treated as absent.
  if (/^\d*[1-9]\d*$/.test(meta.resourceVersion ?? '')) throw failure(500, '', 'resourceVersion should not be set on objects to be created')
  delete meta.resourceVersion
  delete meta.deletionTimestamp
  delete meta.deletionGracePeriodSeconds
  delete meta.selfLink
  meta.uid = uuid(scope.server.random)
  meta.creationTimestamp = nowOf(scope)
  if ((meta.name ?? '') === '' && (meta.generateName ?? '') !== '') meta.name = generatedName(scope, meta.generateName ?? '')
}

export function generatedName(scope: Scope, generateName: string): string {
  return generateName.slice(0, MAX_GENERATED_BASE) + nameSuffix(scope.server.random)
}

/** Fields of a live object that no update may lose or change without validation noticing. */
export function carryOverMetadata(object: KubeObject, old: KubeObject): void {
  const meta = object.metadata
  const before = old.metadata
  if ((meta.uid ?? '') === '') meta.uid = before.uid
  if (before.generation !== undefined) meta.generation = before.generation
  else delete meta.generation
  if (before.creationTimestamp) meta.creationTimestamp = before.creationTimestamp
  if (before.deletionTimestamp !== undefined) meta.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined && meta.deletionGracePeriodSeconds === undefined)
    meta.deletionGracePeriodSeconds = before.deletionGracePeriodSeconds
  delete meta.selfLink
}

/** Duplicate owner references are stored once, with a warning to the client. */
export function dedupeOwnerReferences(scope: Scope, object: KubeObject, afterMutation: boolean): void {
  const references = object.metadata.ownerReferences
  if (references === undefined || references.length < 2) return
  const seen = new Set<string>()
  const repeated = new Set<string>()
  const kept: OwnerReference[] = []
  for (const reference of references) {
    if (seen.has(reference.uid)) repeated.add(reference.uid)
    else {
      seen.add(reference.uid)
      kept.push(reference)
    }
  }
  if (repeated.size === 0) return
  object.metadata.ownerReferences = kept
  for (const uid of repeated)
    warn(
      scope,
      `.metadata.ownerReferences contains duplicate entries${afterMutation ? ' after mutating admission happens' : ''}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uid}`,
    )
}
