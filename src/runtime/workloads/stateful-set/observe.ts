/**
 * What a controller of sets watches and reads: the pods and revisions it controls or may adopt, and its claims. Nothing that
 * cannot be undone, such as scaling pods away, is based on a cache that is behind the set itself.
 */
import type { Client } from '../../../client/client.ts'
import { CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { ControllerRevision, PersistentVolumeClaim, Pod } from '../../../kinds/kubernetes/types.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { type Access, type Index, indexOf, type Reader, via, type Watch } from '../../controller.ts'
import { isFresh } from '../../live-owner.ts'
import { byController, bySelector, controlledBy, controllersOf, orphansIn, type Selecting } from '../pod/indexes.ts'
import { type Claim, type ClaimInput, claimObjects, mayAdopt, wouldAdopt } from '../pod/ownership.ts'
import { changesHistory, dataOf, ownerNameIn, readHistory } from '../revision/history.ts'
import { claimPrefixesOf, isMember, ordinalOf, parsePodName } from './identity.ts'
import { ordinalsOf } from './ordinals.ts'
import type { StatefulWorkload } from './workload.ts'

export interface ObservedSet<T extends StatefulWorkload> {
  set: T
  pods: Claim<Pod>
  revisions: Claim<ControllerRevision>
  /** The revision of that name in the set's namespace, whoever owns it. */
  revisionNamed(name: string): ControllerRevision | undefined
  claimNamed(name: string): PersistentVolumeClaim | undefined
  nowMs: number
}

const CLAIM_PREFIX = 'claim-prefix'

/** By owner, by selector, and by name: an object of another owner may hold the name a pod or revision needs. */
export const watchesOf = <T extends StatefulWorkload>(sets: Selecting<T>): Watch[] => [
  via(PODS, (pod, read) => [...controllersOf(read, sets, pod), ...named(pod.metadata.namespace, parsePodName(pod.metadata.name)?.parent)]),
  via(CONTROLLER_REVISIONS, (revision, read) => [
    ...controllersOf(read, sets, revision),
    ...named(revision.metadata.namespace, ownerNameIn(revision)),
  ]),
  via(PERSISTENT_VOLUME_CLAIMS, (claim, read) => setsOfClaim(sets, claim, read)),
]

export const indexesOf = <T extends StatefulWorkload>(sets: Selecting<T>): Index[] => [
  byController(PODS),
  byController(CONTROLLER_REVISIONS),
  bySelector(sets),
  indexOf(sets.resource, CLAIM_PREFIX, (set) => claimPrefixesOf(set).map((prefix) => `${set.metadata.namespace ?? ''}/${prefix}`)),
]

export const writesOf = <T extends StatefulWorkload>({ resource }: Selecting<T>): Access[] => [
  { resource, subresource: 'status', verbs: ['patch'] },
  { resource: PODS, verbs: ['create', 'update', 'patch', 'delete'] },
  { resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['create', 'patch'] },
  { resource: CONTROLLER_REVISIONS, verbs: ['create', 'patch', 'delete'] },
]

const named = (namespace = '', name: string | undefined): ObjectRef[] => (name === undefined ? [] : [{ namespace, name }])

/** `www-web-3`: the sets with claims `www-web-…`. */
function setsOfClaim<T extends StatefulWorkload>(sets: Selecting<T>, claim: PersistentVolumeClaim, read: Reader): ObjectRef[] {
  const { namespace = '', name } = claim.metadata
  const prefix = parsePodName(name)?.parent
  if (prefix === undefined) return []
  return read.byIndex(sets.resource, CLAIM_PREFIX, `${namespace}/${prefix}`).map((set) => ({ namespace, name: set.metadata.name ?? '' }))
}

export interface ObserveContext {
  read: Reader
  client: Client
  /** Whether a new pod is as grave as a new claim: where a pod that was chosen to go must not come back. */
  isEveryPodGrave?: boolean
}

/** Undefined when nothing can be decided: the set selects nothing, or the cache is behind. */
export async function observeSet<T extends StatefulWorkload>(
  sets: Selecting<T>,
  set: T,
  { read, client, isEveryPodGrave = false }: ObserveContext,
): Promise<ObservedSet<T> | undefined> {
  const { namespace = '', uid } = set.metadata
  const selector = sets.selectorOf(set)
  if (selector === undefined) return undefined
  const pods: ClaimInput<Pod> = { owner: set, selector, candidates: podsOf(read, set), also: (pod) => isMember(set, pod) }
  const candidates = [...controlledBy(read, CONTROLLER_REVISIONS, uid), ...orphansIn(read, CONTROLLER_REVISIONS, namespace)]
  const revisions = { owner: set, selector, candidates }
  const adopts = wouldAdopt(pods) || wouldAdopt(revisions)
  const isAllowed = !adopts || (await mayAdopt(client, sets.resource, set))
  const claim = claimObjects({ ...pods, mayAdopt: isAllowed })
  const history = claimObjects({ ...revisions, mayAdopt: isAllowed })
  const isGrave =
    changesHistory(readHistory(history.claimed, dataOf(set.spec?.template))) || touchesData(set, claim.claimed, isEveryPodGrave)
  // The event that the cache lacks will arrive, and enqueues the key.
  if (isGrave && !(await isFresh(client, sets.resource, set))) return undefined
  return {
    set,
    pods: claim,
    revisions: history,
    revisionNamed: (name) => read.get(CONTROLLER_REVISIONS, namespace, name),
    claimNamed: (name) => read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name),
    nowMs: read.nowMs(),
  }
}

/** Whether pods are to be scaled away, or claims created that nothing would clean up: never based on a stale cache. */
function touchesData(set: StatefulWorkload, pods: readonly Pod[], isEveryPodGrave: boolean): boolean {
  const ordinals = ordinalsOf(set)
  const wanted = pods.filter((pod) => ordinals.has(ordinalOf(pod))).length
  return wanted < pods.length || (wanted < ordinals.count && (isEveryPodGrave || claimPrefixesOf(set).length > 0))
}

const podsOf = (read: Reader, set: StatefulWorkload): Pod[] => [
  ...controlledBy(read, PODS, set.metadata.uid),
  ...orphansIn(read, PODS, set.metadata.namespace ?? ''),
]
