/**
 * What replaces an object in a member: the manifest, plus everything that belongs to the member. Kept are the finalizers,
 * owners and status there, and labels and annotations that others added; dropped are keys that we managed and the manifest
 * no longer has.
 */
import { isJsonObject } from '../../base/json.ts'
import { MANAGED_ANNOTATIONS, MANAGED_LABELS } from '../../kinds/karmada/well-known.ts'
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'
import { keysListed } from './manifest.ts'

type Texts = Readonly<Record<string, string>>

export function mergedWith(desired: KubeObject, observed: KubeObject): KubeObject {
  const managed = observed.metadata.annotations ?? {}
  const labels = kept(desired.metadata.labels, observed.metadata.labels, managed[MANAGED_LABELS])
  const annotations = kept(desired.metadata.annotations, observed.metadata.annotations, managed[MANAGED_ANNOTATIONS])
  return pinnedTo({ ...desired, metadata: { ...desired.metadata, labels, annotations } }, observed)
}

/** Names the object and revision it replaces, and keeps what only the member writes. Repeated after users' Retain rules were applied. */
export function pinnedTo(merged: KubeObject, observed: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, finalizers, ownerReferences } = observed.metadata
  const metadata: ObjectMeta = { ...merged.metadata, name, namespace, uid, resourceVersion, finalizers, ownerReferences }
  for (const field of ['namespace', 'finalizers', 'ownerReferences'] as const) if (metadata[field] === undefined) delete metadata[field]
  const { status: _, ...rest } = merged
  const whole: KubeObject = { ...rest, apiVersion: merged.apiVersion, kind: merged.kind, metadata }
  // Kinds without a status subresource would lose their status with a PUT that lacks it.
  return observed.status === undefined ? whole : { ...whole, status: observed.status }
}

function kept(desired: Texts = {}, observed: Texts = {}, managedList: string | undefined): Record<string, string> {
  const managed = new Set(keysListed(managedList))
  const others = Object.entries(observed).filter(([key]) => !Object.hasOwn(desired, key) && !managed.has(key))
  return { ...Object.fromEntries(others), ...desired }
}

/** Equality of content; null counts as absent. */
export function sameContent(a: unknown, b: unknown): boolean {
  if (a === b || (isNothing(a) && isNothing(b))) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameContent(item, b[i]))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  return holds(a, b) && Object.keys(b).every((key) => isNothing(b[key]) || !isNothing(own(a, key)))
}

/** Whether `live` has everything of `wanted`, and possibly more. */
export function covers(live: unknown, wanted: unknown): boolean {
  if (isNothing(wanted) || live === wanted) return true
  if (Array.isArray(wanted)) return Array.isArray(live) && live.length === wanted.length && wanted.every((item, i) => covers(live[i], item))
  if (!isJsonObject(wanted) || !isJsonObject(live)) return false
  return Object.keys(wanted).every((key) => covers(own(live, key), wanted[key]))
}

const holds = (a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(a).every((key) => sameContent(a[key], own(b, key)))

const own = (object: Readonly<Record<string, unknown>>, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined)

const isNothing = (value: unknown): boolean => value === undefined || value === null
