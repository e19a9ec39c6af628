/**
 * Keeps one pod of every DaemonSet on every node it belongs on. Sole writer of: the set's status, its pods as objects,
 * its ControllerRevisions. Runs again when the set, one of its pods or revisions, or the set of nodes it belongs on
 * changes, when a pod has been ready for long enough, and when a failed one may be replaced. Deletion: pods and revisions
 * go by their owner reference.
 */

import type { Client } from '../../../client/client.ts'
import { CONTROLLER_REVISIONS, DAEMON_SETS, NAMESPACES, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { DaemonSet, Node, Pod } from '../../../kinds/kubernetes/types.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { type ObjectRef, refOf } from '../../../kube/object-reference.ts'
import { type Controller, defineController, indexOf, NOTHING_TO_DO, type Reader, via } from '../../../runtime/controller.ts'
import { isFresh } from '../../../runtime/live-owner.ts'
import {
  byController,
  bySelector,
  controlledBy,
  controllersOf,
  orphansIn,
  readSelector,
  type Selecting,
} from '../../../runtime/workloads/pod/indexes.ts'
import { type ClaimInput, claimObjects, controllerOf, mayAdopt, wouldAdopt } from '../../../runtime/workloads/pod/ownership.ts'
import { changesHistory, dataOf, ownerNameIn, readHistory } from '../../../runtime/workloads/revision/history.ts'
import { type Admit, asksForProcess, judgeOf, playedUnless, type Verdict } from './eligibility.ts'
import { createFailedPodBackoff, type FailedPodBackoff } from './failed-pod-backoff.ts'
import { isGoing } from './manage.ts'
import { type Observed, plan } from './plan.ts'
import { targetNode } from './pod.ts'

const SETS: Selecting<DaemonSet> = { resource: DAEMON_SETS, selectorOf: (set) => readSelector(set.spec?.selector) }
/** Pods of sets, by the set's uid and the node, and by the node alone. */
const ON_NODE = 'on-node'
/** Sets by a label that every node they belong on has, or `ANYWHERE`. */
const NODE_LABEL = 'node-label'
/** No label is empty. */
const ANYWHERE = ''

export interface DaemonSetOptions {
  /** What admission makes of new pods (default: those that do not ask to be processes are allowed on simulated nodes). */
  admit?: Admit
}

export function daemonSet({ admit = playedUnless(asksForProcess) }: DaemonSetOptions = {}): Controller {
  const backoff = createFailedPodBackoff()
  return defineController<Observed | undefined, DaemonSet>({
    name: 'minicluster.workloads.daemon-set',
    component: 'daemonset-controller',
    for: DAEMON_SETS,
    watches: [
      via(PODS, (pod, read) => controllersOf(read, SETS, pod)),
      // By name too: an object of another owner may hold the name a revision needs.
      via(CONTROLLER_REVISIONS, (revision, read) => [
        ...controllersOf(read, SETS, revision),
        ...setNamed(revision.metadata.namespace, ownerNameIn(revision)),
      ]),
      via(NODES, (node, read) => setsOfNode(node, read, admit)),
      // The namespace can also determine where pods run.
      via(NAMESPACES, (namespace, read) => read.list(DAEMON_SETS, namespace.metadata.name).map(refOf)),
    ],
    indexes: [
      byController(PODS),
      byController(CONTROLLER_REVISIONS),
      bySelector(SETS),
      indexOf(PODS, ON_NODE, (pod) => {
        const controller = controllerOf(pod)
        const node = controller?.kind === 'DaemonSet' ? targetNode(pod) : undefined
        return node === undefined ? [] : [`${controller?.uid} ${node}`, node]
      }),
      // Caches of datasets have a set each, which a label calls to a node: a change of a node must not cost as much as there are.
      indexOf(DAEMON_SETS, NODE_LABEL, ({ spec }) => {
        const [first] = Object.entries(spec?.template?.spec?.nodeSelector ?? {})
        return [first === undefined ? ANYWHERE : first.join('=')]
      }),
    ],
    writes: [
      { resource: DAEMON_SETS, subresource: 'status', verbs: ['patch'] },
      { resource: PODS, verbs: ['create', 'patch', 'delete'] },
      { resource: CONTROLLER_REVISIONS, verbs: ['create', 'patch', 'delete'] },
    ],
    reads: [{ resource: DAEMON_SETS, verbs: ['get'] }],
    concurrency: 2,
    observe: (_key, set, read, client) => (set === undefined ? undefined : observe({ set, read, client, admit, backoff })),
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
  })
}

const setNamed = (namespace = '', name: string | undefined): ObjectRef[] => (name === undefined ? [] : [{ namespace, name }])

const judgeFor = (set: DaemonSet, read: Reader, admit: Admit): ((node: Node) => Verdict) =>
  judgeOf({ set, admit, namespace: read.get(NAMESPACES, '', set.metadata.namespace ?? '') })

/**
 * Of the sets that may belong on the node, or have pods there, those to which it makes a difference. An outdated version of the
 * node is compared with the current one.
 */
function setsOfNode(node: Node, read: Reader, admit: Admit): ObjectRef[] {
  const name = node.metadata.name ?? ''
  const live = read.get(NODES, '', name)
  return [...candidatesOf(node, read)]
    .filter((set) => {
      const judge = judgeFor(set, read, admit)
      const verdict = judge(node)
      const hasPods = read.byIndex(PODS, ON_NODE, `${set.metadata.uid} ${name}`).length > 0
      if (live === undefined) return verdict.shouldRun || hasPods
      if (live !== node) {
        const now = judge(live)
        return now.shouldRun !== verdict.shouldRun || now.mayStay !== verdict.mayStay
      }
      return verdict.shouldRun ? !hasPods : hasPods
    })
    .map(refOf)
}

function candidatesOf({ metadata: { name = '', labels = {} } }: Node, read: Reader): Set<DaemonSet> {
  const anchors = [ANYWHERE, ...Object.entries(labels).map((label) => label.join('='))]
  const present = read.byIndex(PODS, ON_NODE, name).flatMap((pod) => {
    const set = read.get(DAEMON_SETS, pod.metadata.namespace ?? '', controllerOf(pod)?.name ?? '')
    return set === undefined ? [] : [set]
  })
  return new Set([...anchors.flatMap((anchor) => read.byIndex(DAEMON_SETS, NODE_LABEL, anchor)), ...present])
}

interface View {
  set: DaemonSet
  read: Reader
  client: Client
  admit: Admit
  backoff: FailedPodBackoff
}

async function observe({ set, read, client, admit, backoff }: View): Promise<Observed | undefined> {
  const { namespace = '', uid } = set.metadata
  const selector = SETS.selectorOf(set)
  // A selector that selects everything fails validation; it would take all pods of the namespace.
  if (selector === undefined || selector.length === 0) return undefined
  const pods: ClaimInput<Pod> = {
    owner: set,
    selector,
    candidates: [...controlledBy(read, PODS, uid), ...orphansIn(read, PODS, namespace)],
  }
  const candidates = [...controlledBy(read, CONTROLLER_REVISIONS, uid), ...orphansIn(read, CONTROLLER_REVISIONS, namespace)]
  const revisions = { owner: set, selector, candidates }
  const adopts = wouldAdopt(pods) || wouldAdopt(revisions)
  const isAllowed = !adopts || (await mayAdopt(client, DAEMON_SETS, set))
  const history = claimObjects({ ...revisions, mayAdopt: isAllowed })
  const isChanging = changesHistory(readHistory(history.claimed, dataOf(set.spec?.template)))
  // The event that the cache lacks will arrive, and enqueues the key.
  if (isChanging && !(await isFresh(client, DAEMON_SETS, set))) return undefined
  const claim = claimObjects({ ...pods, mayAdopt: isAllowed })
  const nowMs = read.nowMs()
  const nodes = read.list(NODES).sort((a, b) => compareStrings(a.metadata.name ?? '', b.metadata.name ?? ''))
  const judge = judgeFor(set, read, admit)
  // Used several times in a pass.
  const verdicts = new Map(nodes.map((node) => [node, judge(node)]))
  return {
    set,
    nodes,
    judge: (node) => verdicts.get(node) ?? judge(node),
    pods: claim,
    revisions: history,
    revisionNamed: (name) => read.get(CONTROLLER_REVISIONS, namespace, name),
    isPodNamed: (name) => read.get(PODS, namespace, name) !== undefined,
    waits: waitsOf(set, claim.claimed, { backoff, nowMs }),
    nowMs,
  }
}

function waitsOf(set: DaemonSet, pods: readonly Pod[], { backoff, nowMs }: { backoff: FailedPodBackoff; nowMs: number }): Map<Pod, number> {
  const waits = new Map<Pod, number>()
  for (const pod of pods) {
    if (pod.status?.phase !== 'Failed' || isGoing(pod)) continue
    const place = `${set.metadata.uid}/${set.status?.observedGeneration ?? 0}/${targetNode(pod)}`
    const waitMs = backoff.waitMs(place, pod.metadata.uid ?? '', nowMs)
    if (waitMs > 0) waits.set(pod, waitMs)
  }
  return waits
}
