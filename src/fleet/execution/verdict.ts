/**
 * What to do about one manifest in its member, given what is there: nothing, create it, replace what is there, wait, or
 * leave it alone and say why. An object is touched only when it is ours, when its former Work no longer exists, or when
 * the manifest says that it may be overwritten.
 */
import { messageOf } from '../../base/error-text.ts'
import type { Client } from '../../client/client.ts'
import { ApiError, ifFound } from '../../client/errors.ts'
import { CONFLICT_RESOLUTION_ANNOTATION } from '../../kinds/karmada/well-known.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import { pruneForMember } from '../interpreter/native/prune.ts'
import { isFrom, isManaged, mayOverwrite, workOf } from './manifest.ts'
import { digestOf, type Memory } from './memory.ts'
import { covers, mergedWith, pinnedTo, sameContent } from './merge.ts'

export type Verdict =
  | { do: 'nothing' }
  | { do: 'create'; resource: Resource; object: KubeObject }
  | { do: 'update'; resource: Resource; object: KubeObject }
  | { do: 'delete'; resource: Resource; object: KubeObject }
  /** Something else will enqueue the key; `why` where users should know. */
  | { do: 'wait'; why?: string }
  | Refusal

interface Refusal {
  do: 'refuse'
  why: string
}

/** Why an object in the member may not be touched for this Work; undefined when it may. */
export function conflictOf(input: {
  desired: KubeObject
  observed: KubeObject
  work: Work
  cluster: string
  hasWork(ref: ObjectRef): boolean
}): string | undefined {
  const { desired, observed, work, cluster, hasWork } = input
  const { namespace = '', name = '' } = observed.metadata
  const resource = `resource(kind=${desired.kind}, ${namespace}/${name})`
  if (isManaged(observed)) {
    const other = isFrom(observed, work) ? undefined : workOf(observed)
    if (other === undefined || !hasWork(other)) return undefined
    return `${resource} in the cluster ${cluster} is managed by work(${other.namespace}/${other.name})`
  }
  if (mayOverwrite(desired)) return undefined
  return `${resource} already exists in the cluster ${cluster} and the ${CONFLICT_RESOLUTION_ANNOTATION} strategy value is empty, Karmada will not manage this resource`
}

export interface Replacing {
  ref: ObjectRef
  ordinal: number
  desired: KubeObject
  observed: KubeObject
  /** Whether the Work is reported as applied: after a start, that is all we know of what was sent before. */
  wasApplied: boolean
  resource: Resource
  client: Client
  interpreter: Interpreter
  memory: Memory
}

/** For objects that a member stores as sent, nothing else has to be remembered. */
const AS_WANTED = Object.freeze({ sent: '' })

/**
 * Whether the object has to be replaced: not when it has the wanted content, and not when the member would turn the
 * replacement into what it has.
 */
export async function replacing(input: Replacing): Promise<Verdict> {
  const { ref, ordinal, desired, observed, wasApplied, resource, interpreter, memory } = input
  const merged = await merge(desired, observed, interpreter)
  if (isRefusal(merged)) return merged
  const [wanted, found] = [pruneForMember(merged), pruneForMember(observed)]
  const known = memory.form(ref, ordinal)
  if (sameContent(wanted, found)) {
    if (known === undefined) memory.keepForm(ref, ordinal, AS_WANTED)
    return { do: 'nothing' }
  }
  const [sent, left] = [digestOf(wanted), digestOf(found)]
  if (known?.sent === sent && known.left === left) return { do: 'nothing' }
  // All of it is there, or was sent before, as far as we remember: only the member knows whether the rest is its own doing.
  const mayBeSettled = known === undefined ? wasApplied || covers(found, wanted) : known.sent === sent || covers(found, wanted)
  if (mayBeSettled && (await wouldStay(input, merged, found))) {
    memory.keepForm(ref, ordinal, { sent, left })
    return { do: 'nothing' }
  }
  memory.keepForm(ref, ordinal, { sent })
  return { do: 'update', resource, object: merged }
}

const isRefusal = (merged: KubeObject | Refusal): merged is Refusal => !('metadata' in merged)

/**
 * A rule that fails is reported like a refusal of the member. If the member already has the wanted content, there is
 * nothing to retain, and the failure changes nothing.
 */
async function merge(desired: KubeObject, observed: KubeObject, interpreter: Interpreter): Promise<KubeObject | Refusal> {
  const merged = mergedWith(desired, observed)
  if (!interpreter.has(desired, 'Retain')) return merged
  try {
    return pinnedTo(await interpreter.retain(merged, observed), observed)
  } catch (error) {
    if (sameContent(pruneForMember(merged), pruneForMember(observed))) return merged
    return { do: 'refuse', why: `failed to retain fields: ${messageOf(error)}` }
  }
}

/** Asks the member, with a dry run, what it would make of the replacement. */
async function wouldStay({ client, resource }: Replacing, merged: KubeObject, found: KubeObject): Promise<boolean> {
  try {
    return sameContent(pruneForMember(await client.update(resource, merged, { dryRun: true })), found)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code >= 500) throw error
    // The member filled in a field that is immutable: then it stays.
    return error.code === 422 && covers(found, pruneForMember(merged))
  }
}

/** As the server has it now; undefined when it has none. */
export function liveObject(client: Client, resource: Resource, of: ObjectRef): Promise<KubeObject | undefined> {
  return ifFound(client.get(resource, of))
}
