/**
 * Managed fields of the scale subresource: a Scale shows who owns the replicas of its parent, and writing a Scale moves
 * that ownership, under the parent's own path and version.
 */
import { groupVersion, type ManagedFieldsEntry } from '../meta.ts'
import { fieldElement } from './element.ts'
import { difference, fieldSetOf, hasPath } from './field-set.ts'
import { decodeManaged, encodeManaged, type Managed, Ownership } from './managed.ts'

const SCALE_VERSION = 'autoscaling/v1'
const SCALE_REPLICAS = ['f:spec', 'f:replicas']

export interface ScaleOwnership {
  /** managedFields of the parent as stored. */
  parent: readonly ManagedFieldsEntry[]
  /** Of the request. */
  group: string
  version: string
  /** apiVersion → path of the replicas in the parent, e.g. ['spec', 'replicas']; undefined for a version without scale. */
  replicasPaths: ReadonlyMap<string, readonly string[] | undefined>
}

const elementsOf = (path: readonly string[]): string[] => path.map(fieldElement)

/** managedFields of the Scale made from the parent; undefined when nobody owns the replicas. */
export function scaleManagedFields({ parent, replicasPaths }: ScaleOwnership): ManagedFieldsEntry[] | undefined {
  const scale: Managed = new Map()
  for (const [id, owner] of decodeManaged(parent, true)) {
    const path = replicasPaths.get(owner.info.apiVersion)
    if (path === undefined || !hasPath(owner.set, elementsOf(path))) continue
    scale.set(id, owner.with({ set: fieldSetOf(SCALE_REPLICAS), info: { ...owner.info, apiVersion: SCALE_VERSION } }))
  }
  return encodeManaged(scale)
}

/**
 * managedFields of the parent after its Scale was written with these entries. Updaters have another version in a Scale
 * than in its parent, so theirs are always removed there and come back as entries of their own, without a time: this
 * is what the real server does.
 */
export function parentManagedFields(input: ScaleOwnership, written: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] | undefined {
  const scale = decodeManaged(written, true)
  const parent = decodeManaged(input.parent, true)
  const out: Managed = new Map()
  for (const [id, owner] of parent) {
    if (!input.replicasPaths.has(owner.info.apiVersion)) continue
    const path = input.replicasPaths.get(owner.info.apiVersion)
    const replicas = path === undefined ? undefined : elementsOf(path)
    if (replicas === undefined || !hasPath(owner.set, replicas) || scale.delete(id)) {
      out.set(id, owner)
      continue
    }
    const set = difference(owner.set, fieldSetOf(replicas))
    if (set.size > 0) out.set(id, owner.with({ set }))
  }
  const apiVersion = groupVersion(input.group, input.version)
  const replicas = elementsOf(input.replicasPaths.get(apiVersion) ?? [])
  for (const [id, owner] of scale) {
    if (!hasPath(owner.set, SCALE_REPLICAS)) continue
    out.set(id, new Ownership({ ...owner.info, apiVersion }, parent.get(id)?.time, { set: fieldSetOf(replicas) }))
  }
  return encodeManaged(out)
}
