/**
 * What a DaemonSet does next: its history first, then one pod wherever one belongs, then the update, a step at a time and
 * only when the nodes have what they should. Decided from what is observed; what was done before is not remembered.
 */
import { CONTROLLER_REVISIONS, DAEMON_SETS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { ControllerRevision, DaemonSet, Node, Pod } from '../../../kinds/kubernetes/types.ts'
import { type Action, type Batch, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { freshNames, podNamePrefix } from '../../../runtime/workloads/pod/from-template.ts'
import { type Claim, claimActions } from '../../../runtime/workloads/pod/ownership.ts'
import { isPodTerminal, nextPodAvailableInMs } from '../../../runtime/workloads/pod/state.ts'
import {
  dataOf,
  type Found,
  type History,
  newRevision,
  REVISION_LABEL,
  readHistory,
  renumber,
  truncate,
} from '../../../runtime/workloads/revision/history.ts'
import { templateHash, templateText } from '../deployment/template.ts'
import type { Verdict } from './eligibility.ts'
import { createdPod, deletedPod } from './events.ts'
import { type Changes, isGoing, type ManageInput, manage } from './manage.ts'
import { daemonPod, targetNode } from './pod.ts'
import { rollingUpdate } from './rolling-update.ts'
import { isStatusCurrent, statusOf } from './status.ts'

export interface Observed {
  set: DaemonSet
  /** Sorted by name. */
  nodes: readonly Node[]
  judge(node: Node): Verdict
  pods: Claim<Pod>
  revisions: Claim<ControllerRevision>
  /** The revision of that name in the set's namespace, whoever owns it. */
  revisionNamed(name: string): ControllerRevision | undefined
  isPodNamed(name: string): boolean
  /** Failed pods that must wait to be replaced, in milliseconds. */
  waits: ReadonlyMap<Pod, number>
  nowMs: number
}

/** Pods created and deleted in one pass: the rest follows in the next. */
const BURST = 250
const HISTORY_LIMIT = 10

export function plan(observed: Observed): Plan {
  const { set, pods, revisions, nowMs } = observed
  if (set.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const claimed = [
    ...claimActions({ resource: CONTROLLER_REVISIONS, owner: set, claim: revisions }),
    ...claimActions({ resource: PODS, owner: set, claim: pods }),
  ]
  const history = readHistory(revisions.claimed, dataOf(set.spec?.template))
  const { revision, exists, collisions } = currentOf(observed, history)
  // Pods are labelled with a revision only once it certainly exists; its appearance enqueues the key.
  if (!exists)
    return { actions: [...claimed, ...counted(set, collisions), { do: 'create', resource: CONTROLLER_REVISIONS, object: revision }] }
  const hash = labelOf(revision) || (revision.metadata.name ?? '')
  const input: ManageInput = { ...observed, podsByNode: byNode(pods.claimed), hash }
  const changes = nextChanges(input)
  const status = statusOf(input)
  const written: Action[] = isStatusCurrent(set.status, status)
    ? []
    : [{ do: 'patch', resource: DAEMON_SETS, of: set, patch: { status }, subresource: 'status' }]
  const waits = [...observed.waits.values(), nextPodAvailableInMs(pods.claimed, set.spec?.minReadySeconds ?? 0, nowMs)]
  const times = waits.filter((one) => one !== undefined)
  return {
    // The status is written first: a rejected creation must not keep it from being current.
    actions: [
      ...claimed,
      ...labelled(revisions.claimed),
      ...deduplicated(history, pods.claimed),
      ...renumber(history),
      ...written,
      ...truncated(observed, history),
      ...changed(observed, changes, hash),
    ],
    requeueAfterMs: times.length > 0 ? Math.min(...times) : undefined,
  }
}

function nextChanges(input: ManageInput): Changes {
  const changes = manage(input)
  const isSettled = changes.create.length === 0 && changes.remove.length === 0
  const isRolling = input.set.spec?.updateStrategy?.type === 'RollingUpdate'
  return isSettled && isRolling ? rollingUpdate(input) : changes
}

function currentOf({ set, revisionNamed }: Observed, history: History): Found {
  const collisions = set.status?.collisionCount
  if (history.current !== undefined) return { revision: history.current, exists: true, collisions }
  const template = set.spec?.template
  return newRevision({
    ...{ owner: set, template, data: dataOf(template), number: history.number, hashLabel: REVISION_LABEL, collisions },
    hashOf: (count) => templateHash(templateText(template), count),
    lookUp: revisionNamed,
  })
}

function counted(set: DaemonSet, collisionCount: number | undefined): Action[] {
  if (collisionCount === set.status?.collisionCount) return []
  return [{ do: 'patch', resource: DAEMON_SETS, of: set, patch: { status: { collisionCount } }, subresource: 'status' }]
}

const labelOf = (object: ControllerRevision | Pod): string => object.metadata.labels?.[REVISION_LABEL] ?? ''

/** A revision without a hash gets its name as the hash. */
const labelled = (revisions: readonly ControllerRevision[]): Action[] =>
  revisions
    .filter((revision) => labelOf(revision) === '')
    .map((of) => ({
      ...{ do: 'patch', resource: CONTROLLER_REVISIONS, of },
      patch: { metadata: { labels: { [REVISION_LABEL]: of.metadata.name } } },
    }))

/** Two revisions with one template become one, and the pods of the other are relabelled. */
function deduplicated({ current, duplicates }: History, pods: readonly Pod[]): Action[] {
  if (current === undefined || duplicates.length === 0) return []
  const kept = labelOf(current) || current.metadata.name
  const hashes = new Set(duplicates.map((one) => labelOf(one) || one.metadata.name))
  const relabelled = pods.filter((pod) => hashes.has(labelOf(pod)))
  return [
    ...relabelled.map((of): Action => ({ do: 'patch', resource: PODS, of, patch: { metadata: { labels: { [REVISION_LABEL]: kept } } } })),
    ...duplicates.map((of): Action => ({ do: 'delete', resource: CONTROLLER_REVISIONS, of })),
  ]
}

function truncated({ set, pods }: Observed, { old }: History): Action[] {
  const live = new Set(pods.claimed.map(labelOf).filter((hash) => hash !== ''))
  return truncate(old, old.length - (set.spec?.revisionHistoryLimit ?? HISTORY_LIMIT), (revision) => live.has(labelOf(revision)))
}

/** Pods that have ended and are being deleted no longer count. */
function byNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const found = new Map<string, Pod[]>()
  for (const pod of pods) {
    const node = targetNode(pod)
    if (node === undefined || (isPodTerminal(pod) && isGoing(pod))) continue
    const there = found.get(node)
    if (there === undefined) found.set(node, [pod])
    else there.push(pod)
  }
  return found
}

function changed({ set, isPodNamed }: Observed, { create, remove }: Changes, hash: string): Batch[] {
  const prefix = podNamePrefix(set.metadata.name ?? '')
  const creations = create.slice(0, BURST).map((node): Action => {
    // From the node alone: a decision based on a stale cache then meets the existing pod, of whatever revision.
    const seed = `${set.metadata.uid ?? ''} ${node}`
    const [name = ''] = freshNames(prefix, { seed, count: 1, isTaken: isPodNamed })
    return { do: 'create', resource: PODS, object: daemonPod({ set, node, name, hash }), ...createdPod(set, name) }
  })
  const deletions = remove
    .slice(0, BURST)
    .map(({ pod, why, node }): Action => ({ do: 'delete', resource: PODS, of: pod, ...deletedPod(set, pod, { why, node }) }))
  return [creations, deletions].filter((actions) => actions.length > 0).map((actions) => ({ do: 'batch', actions }))
}
