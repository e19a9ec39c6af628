/**
 * What no override changes. An override says how an object differs between clusters, never which object it is: whoever may
 * change one object would otherwise write any other in a member, with the rights that the hub has there. And what a
 * permission grants is not for the owner of a namespace to say: the hub checked it when the object was written, and checks
 * no override.
 */
import { deepEqual } from '../../base/json.ts'
import { goQuote } from '../../kube/go-print.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import { DoesNotApply } from './json-patch.ts'

const RBAC = 'rbac.authorization.k8s.io'

const IDENTITY: readonly (readonly [string, (object: KubeObject) => unknown])[] = [
  ['apiVersion', ({ apiVersion }) => apiVersion],
  ['kind', ({ kind }) => kind],
  ['metadata.name', ({ metadata }) => metadata.name],
  ['metadata.namespace', ({ metadata }) => metadata.namespace],
]

/** Throws DoesNotApply, which names the field. */
export function checkIdentityIsKept(before: KubeObject, after: KubeObject): void {
  for (const [field, of] of IDENTITY) {
    if (of(before) === of(after)) continue
    throw new DoesNotApply(`${field} would change from ${printed(of(before))} to ${printed(of(after))}: overrides keep which object it is`)
  }
}

/** For policies in a namespace. Throws DoesNotApply, which names the field. */
export function checkGrantsAreKept(before: KubeObject, after: KubeObject): void {
  if (before === after || parseGroupVersion(before.apiVersion).group !== RBAC) return
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].find(
    (field) => field !== 'metadata' && !deepEqual(before[field], after[field]),
  )
  if (changed === undefined) return
  throw new DoesNotApply(`${changed} of a ${before.kind} would change: only a ClusterOverridePolicy changes what permissions grant`)
}

const printed = (value: unknown): string => (typeof value === 'string' ? goQuote(value) : value === undefined ? 'nothing' : 'another type')
