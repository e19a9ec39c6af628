/** What a pass over a Work observes: the Work, its cluster, and each of its manifests with what the member has of it. */

import type { Client } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { TransportError } from '../../client/transport.ts'
import type { Cluster, Work } from '../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace } from '../../kinds/karmada/names.ts'
import { CLUSTERS, WORKS } from '../../kinds/karmada/resources.ts'
import { CLUSTER_READY, EXECUTION_FINALIZER, WORK_APPLIED } from '../../kinds/karmada/well-known.ts'
import type { ManifestIdentifier, ManifestStatus } from '../../kinds/karmada/work.ts'
import { NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import { findCondition, isConditionTrue } from '../../kube/conditions.ts'
import { groupVersion, type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import type { GroupVersionKind, ObjectRef } from '../../kube/object-reference.ts'
import type { PassReader } from '../../runtime/controller.ts'
import { hasFinalizer } from '../../runtime/finalizer.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import { isFrom, isManaged, manifestsOf, preparedManifest } from './manifest.ts'
import { isUnservedAnswer, type MemberKinds, notServed } from './member-kinds.ts'
import type { Memory } from './memory.ts'
import { podsLeft } from './pods-left.ts'
import { type Reflection, reflect } from './reflect.ts'
import { conflictOf, liveObject, replacing, type Verdict } from './verdict.ts'

/** One manifest and what is to be done about it. */
export interface View {
  identifier: ManifestIdentifier
  desired: KubeObject
  verdict: Verdict
  /** Of the object in the member, where it is as it should be. */
  reflection?: Reflection
}

interface WorkContext {
  work: Work
  cluster: string
  nowMs: number
}

export type Observed =
  | { state: 'nothing' }
  /** Nothing is sent to the member; the status of what it has is still reported. */
  | ({ state: 'suspended'; views: readonly View[]; reflectedAtMs: number; mustAskAgain: boolean } & WorkContext)
  /** The cluster cannot be written to now. */
  | ({ state: 'waiting'; why: string } & WorkContext)
  | ({ state: 'placing'; views: readonly View[]; reflectedAtMs: number } & WorkContext)
  /**
   * It is being deleted; `managed` are those of its objects that the member still has, `pods` the number of pods that must
   * have ended first.
   */
  | ({ state: 'going'; managed: readonly ManagedObject[]; mustEndFirst?: boolean; pods?: number; waitsFor?: string } & WorkContext)

export interface ManagedObject {
  resource: Parameters<PassReader['follow']>[0]
  object: KubeObject
}

export interface Tools {
  interpreter: Interpreter
  kinds: MemberKinds
  memory: Memory
  /** Whether the hub still has the Work as it was observed: asked before anything is done in a member. */
  isCurrent(work: Work): Promise<boolean>
  /** Whether nothing of it may still be running there when it is gone: another cluster waits for that (purge mode Directly). */
  mustEndFirst(work: Work): Promise<boolean>
}

/** One pass: the reader, the client of the member, and what the pass is about. */
interface Pass extends WorkContext, Tools {
  ref: ObjectRef
  read: PassReader
  client: Client
  clusterObject: Cluster
}

export async function observeWork(ref: ObjectRef, work: Work | undefined, read: PassReader, tools: Tools): Promise<Observed> {
  const cluster = clusterOfExecutionNamespace(ref.namespace)
  if (work === undefined) tools.memory.forget(ref)
  if (work === undefined || cluster === undefined) return { state: 'nothing' }
  const clusterObject = read.get(CLUSTERS, '', cluster)
  const context: WorkContext = { work, cluster, nowMs: read.nowMs() }
  const client = read.clientOf(cluster)
  const why = obstacleTo(cluster, clusterObject, client)
  const isGoing = work.metadata.deletionTimestamp !== undefined
  if (isGoing && !hasFinalizer(work, EXECUTION_FINALIZER)) return { state: 'nothing' }
  if (!isGoing && work.spec?.suspendDispatching === true) {
    const reachable = client === undefined || clusterObject === undefined || why !== undefined ? undefined : { client, clusterObject }
    return suspended({ ...context, ...tools, ref, read, ...reachable })
  }
  if (client === undefined || clusterObject === undefined || why !== undefined) {
    if (!isGoing) return { state: 'waiting', why: why ?? '', ...context }
    // A cluster that is being removed and does not answer can never be cleaned up.
    const isHopeless = clusterObject === undefined || clusterObject.metadata.deletionTimestamp !== undefined
    return { state: 'going', managed: [], waitsFor: isHopeless ? undefined : why, ...context }
  }
  const pass: Pass = { ...context, ...tools, ref, read, client, clusterObject }
  return isGoing ? going(pass) : placing(pass)
}

async function going(pass: Pass): Promise<Observed> {
  const { work, cluster, nowMs } = pass
  const context: WorkContext = { work, cluster, nowMs }
  const managed = await managedOf(pass, identifiersOf(work))
  if (managed.length > 0 && !(await pass.isCurrent(work))) return { state: 'nothing' }
  if (work.spec?.preserveResourcesOnDeletion === true || !(await pass.mustEndFirst(work))) return { state: 'going', managed, ...context }
  return { state: 'going', managed, mustEndFirst: true, pods: await podsLeft(pass.client, manifestsOf(work)), ...context }
}

function obstacleTo(name: string, cluster: Cluster | undefined, client: Client | undefined): string | undefined {
  if (cluster === undefined) return `cluster(${name}) does not exist`
  if (!isConditionTrue(cluster.status?.conditions, CLUSTER_READY)) return `cluster(${name}) not ready`
  return client === undefined ? `cluster(${name}) cannot be reached: there is no address or no credentials for it` : undefined
}

async function placing(pass: Pass): Promise<Observed> {
  const { work, cluster, nowMs, memory, ref } = pass
  const manifests = manifestsOf(work)
  memory.noteKinds(ref, manifests)
  const views: View[] = []
  for (const [ordinal, manifest] of manifests.entries()) views.push(await viewOf(pass, manifest, ordinal))
  const left = await managedOf(pass, leftBehind(work, views))
  for (const { resource, object } of left)
    views.push({ identifier: identifierOf(object, -1), desired: object, verdict: { do: 'delete', resource, object } })
  const isWriting = views.some(({ verdict }) => verdict.do === 'create' || verdict.do === 'update' || verdict.do === 'delete')
  // A stale Work would undo a newer one, and what a deleted Work creates in a member is never removed again.
  if (isWriting && !(await pass.isCurrent(work))) return { state: 'nothing' }
  return { state: 'placing', views, reflectedAtMs: memory.reflectedAtMs(ref, work, nowMs), work, cluster, nowMs }
}

/** There is nothing to report about what was never applied. */
async function suspended(pass: Suspended): Promise<Observed> {
  const { work, cluster, nowMs, memory, ref } = pass
  const manifests = manifestsOf(work)
  memory.noteKinds(ref, manifests)
  const isThere = findCondition(work.status?.conditions, WORK_APPLIED) !== undefined && canReach(pass)
  const views: View[] = []
  let mustAskAgain = false
  for (const [ordinal, manifest] of manifests.entries()) {
    const desired = preparedManifest(manifest, work)
    let reflection: Reflection | undefined
    try {
      reflection = isThere ? await reflectionOf(pass, desired) : undefined
    } catch (error) {
      // That the Work is suspended is reported even while the member does not answer.
      if (!(error instanceof ApiError) && !(error instanceof TransportError)) throw error
      mustAskAgain = true
    }
    views.push({ identifier: identifierOf(desired, ordinal), desired, verdict: { do: 'wait' }, reflection })
  }
  // Objects to be deleted once the Work is resumed are not forgotten.
  for (const identifier of leftBehind(work, views)) views.push({ identifier, desired: objectOf(identifier), verdict: { do: 'wait' } })
  return { state: 'suspended', views, mustAskAgain, reflectedAtMs: memory.reflectedAtMs(ref, work, nowMs), work, cluster, nowMs }
}

type Suspended = Omit<Pass, 'client' | 'clusterObject'> & Partial<Pick<Pass, 'client' | 'clusterObject'>>
const canReach = (pass: Suspended): pass is Pass => pass.client !== undefined && pass.clusterObject !== undefined

/** Of the object in the member, if it is ours; undefined if nothing is known about it. */
async function reflectionOf(pass: Pass, desired: KubeObject): Promise<Reflection | undefined> {
  const resource = await resourceOf(pass, desired)
  const followed = resource === undefined ? undefined : pass.read.follow(resource, pass.cluster)
  const { namespace = '', name = '' } = desired.metadata
  const observed = followed?.get(resource?.namespaced === true ? namespace : '', name)
  return observed !== undefined && isManaged(observed) && isFrom(observed, pass.work) ? reflect(observed, pass.interpreter) : undefined
}

async function viewOf(pass: Pass, manifest: KubeObject, ordinal: number): Promise<View> {
  const desired = preparedManifest(manifest, pass.work)
  const view = { identifier: identifierOf(desired, ordinal), desired }
  try {
    const { verdict, observed } = await judge(pass, desired, ordinal)
    // What is being deleted there tells what holds it.
    const isAsItIs = verdict.do === 'nothing' || verdict.do === 'wait'
    if (!isAsItIs || observed === undefined) return { ...view, verdict }
    return { ...view, verdict, reflection: await reflect(observed, pass.interpreter) }
  } catch (error) {
    // An error answer from the member concerns this manifest; no answer at all concerns the whole pass.
    if (!(error instanceof ApiError) || error.code >= 500) throw error
    return { ...view, verdict: { do: 'refuse', why: error.message } }
  }
}

async function judge(pass: Pass, desired: KubeObject, ordinal: number): Promise<{ verdict: Verdict; observed?: KubeObject }> {
  const { read, cluster, client, work, ref } = pass
  // The last write hit an unknown path: what is served is asked for again.
  if (isUnservedAnswer(read.lastFailure() ?? {})) pass.kinds.forget(cluster)
  const resource = await resourceOf(pass, desired)
  if (resource === undefined) return { verdict: { do: 'refuse', why: notServed(cluster, desired) } }
  const at: ObjectRef = { namespace: resource.namespaced ? (desired.metadata.namespace ?? '') : '', name: desired.metadata.name ?? '' }
  const followed = read.follow(resource, cluster)
  // An object waits for its namespace, whose creation enqueues the key.
  if (resource.namespaced) read.follow(NAMESPACES, cluster)
  if (followed?.hasSynced !== true) return { verdict: { do: 'wait' } }
  const cached = followed.get(at.namespace, at.name)
  const observed = cached ?? (mustLook(pass) ? await liveObject(client, resource, at) : undefined)
  if (observed === undefined) return { verdict: { do: 'create', resource, object: desired } }
  const hasWork = (other: ObjectRef): boolean => read.get(WORKS, other.namespace, other.name) !== undefined
  const conflict = conflictOf({ desired, observed, work, cluster, hasWork })
  if (conflict !== undefined) return { verdict: { do: 'refuse', why: conflict } }
  if (observed.metadata.deletionTimestamp !== undefined)
    return { verdict: { do: 'wait', why: `${desired.kind} ${at.namespace}/${at.name} is being deleted in cluster(${cluster})` }, observed }
  const wasApplied = isConditionTrue(work.status?.conditions, WORK_APPLIED)
  return { verdict: await replacing({ ...pass, ref, ordinal, desired, observed, wasApplied, resource }), observed }
}

/** What is not in the cache may still exist, unmanaged or not yet seen: after a refusal the server is asked first. */
const mustLook = ({ read, work }: Pass): boolean =>
  read.lastFailure()?.reason === 'AlreadyExists' || findCondition(work.status?.conditions, WORK_APPLIED)?.status === 'False'

const resourceOf = ({ kinds, cluster, client, clusterObject, nowMs }: Pass, of: GroupVersionKind) =>
  kinds.find({ cluster, client, apiVersion: of.apiVersion, kind: of.kind, apiEnablements: clusterObject.status?.apiEnablements, nowMs })

/**
 * Those of the identified objects in the member that came from this Work. Always asked of the server: an object that is
 * missed here is never found again.
 */
async function managedOf(pass: Pass, identifiers: readonly ManifestIdentifier[]): Promise<ManagedObject[]> {
  const managed: ManagedObject[] = []
  for (const { group = '', version, kind, namespace = '', name } of identifiers) {
    const resource = await resourceOf(pass, { apiVersion: groupVersion(group, version), kind })
    const object = resource === undefined ? undefined : await liveObject(pass.client, resource, { namespace, name })
    if (resource !== undefined && object !== undefined && isManaged(object) && isFrom(object, pass.work)) managed.push({ resource, object })
  }
  return managed
}

/** Everything that the Work contains, or contained when its status was written. */
function identifiersOf(work: Work): ManifestIdentifier[] {
  const named = manifestsOf(work).map((manifest, ordinal) => identifierOf(manifest, ordinal))
  return [...named, ...reportedOf(work).filter((reported) => !named.some((one) => isSameObject(one, reported)))]
}

const leftBehind = (work: Work, views: readonly View[]): ManifestIdentifier[] =>
  reportedOf(work).filter((reported) => !views.some(({ identifier }) => isSameObject(identifier, reported)))

const reportedOf = ({ status }: Work): ManifestIdentifier[] =>
  ((status?.manifestStatuses ?? []) as readonly ManifestStatus[]).map(({ identifier }) => identifier)

export const isSameObject = (a: ManifestIdentifier, b: ManifestIdentifier): boolean =>
  (a.group ?? '') === (b.group ?? '') && a.kind === b.kind && (a.namespace ?? '') === (b.namespace ?? '') && a.name === b.name

const objectOf = ({ group = '', version, kind, namespace, name }: ManifestIdentifier): KubeObject => ({
  apiVersion: groupVersion(group, version),
  kind,
  metadata: { namespace, name },
})

function identifierOf({ apiVersion, kind, metadata }: KubeObject, ordinal: number): ManifestIdentifier {
  const { group, version } = parseGroupVersion(apiVersion)
  const { namespace, name = '' } = metadata
  const optional = { ...(group === '' ? {} : { group }), ...(namespace === undefined || namespace === '' ? {} : { namespace }) }
  return { ordinal, ...optional, version, kind, resource: '', name }
}
