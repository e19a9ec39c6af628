/**
 * Where a pod goes: a pure function of the pod and the snapshot. Nodes are checked until enough are found (in large
 * clusters not all), the best of them wins, and of equals the first by name. If none fits: which pods to preempt.
 * Cost: one check of every node at worst; see `looked`.
 */
import { histogram, NO_NODES, preemptionFailed, refusedByItself, unavailable } from './diagnosis.ts'
import { FILTERS } from './filters/all.ts'
import type { Rejection } from './filters/filter.ts'
import { Fitting } from './fitting.ts'
import { findVictims, ineligible, LEAVING } from './preemption.ts'
import { SCORES } from './scores/all.ts'
import type { Snapshot } from './snapshot.ts'
import type { NodeState } from './state/node-state.ts'
import type { PodInfo } from './state/pod-info.ts'

export type Decision = (
  | { kind: 'node'; node: string }
  /** These pods have to leave the node first. */
  | { kind: 'preempt'; node: string; victims: readonly PodInfo[]; message: string; rejectedBy: ReadonlySet<string> }
  | ({ kind: 'unschedulable'; nomination: Nomination } & Verdict)
) & {
  /** How many times a node was checked. */
  looked: number
}

export interface Verdict {
  message: string
  /** Names of the filters that rejected nodes. */
  rejectedBy: ReadonlySet<string>
  memo?: Memo
}

/** The node the pod was nominated to: void, still reserved for it, or awaited, because pods are leaving it for this one. */
export type Nomination = 'void' | 'kept' | 'awaited'

/** What nodes answered to a pod of the same kind before: valid for those that have not changed since. */
export type Memo = ReadonlyMap<string, { version: number; rejection: Rejection }>

export interface Hints {
  /** A node to be tried before all others: the one chosen before, when the outcome of that write is unknown. */
  first?: string
  memo?: Memo
}

const FEW_NODES = 100
const MIN_PERCENT = 5

export function schedule(pod: PodInfo, snapshot: Snapshot, hints: Hints = {}): Decision {
  const { nodes } = snapshot.cluster
  if (nodes.length === 0) return refuse(NO_NODES, EVERYBODY)
  const fitting = new Fitting(pod, snapshot)
  if (fitting.refused !== undefined) {
    const { reasons, by } = fitting.refused
    return refuse(refusedByItself(nodes.length, reasons.join(', ')), new Set([by]))
  }
  for (const name of [hints.first ?? '', pod.pod.status?.nominatedNodeName ?? '']) {
    const promised = name === '' ? undefined : snapshot.cluster.node(name)
    if (promised !== undefined && isAllowed(fitting, promised) && fitting.check(promised) === undefined)
      return { kind: 'node', node: promised.name, looked: fitting.asked }
  }
  const { feasible, rejections } = askNodes(pod, fitting, { snapshot, memo: fitting.isWide ? undefined : hints.memo })
  const [only] = feasible
  if (only !== undefined) {
    const node = feasible.length === 1 ? only : best(pod, feasible, snapshot)
    return { kind: 'node', node: node.name, looked: fitting.asked }
  }
  const rejectedBy = new Set([...rejections.values()].map(({ by }) => by))
  if (fitting.only !== undefined) rejectedBy.add('NodeAffinity')
  const unasked = { reason: "node(s) didn't satisfy plugin(s) [NodeAffinity]", count: nodes.length - rejections.size }
  return orPreempt({ pod, fitting, snapshot, rejections, why: histogram(rejections.values(), unasked), rejectedBy })
}

const EVERYBODY: ReadonlySet<string> = new Set(FILTERS.map(({ name }) => name))

const refuse = (message: string, rejectedBy: ReadonlySet<string>): Decision => ({
  kind: 'unschedulable',
  message,
  rejectedBy,
  nomination: 'void',
  looked: 0,
})

const isAllowed = ({ only }: Fitting, node: NodeState): boolean => only === undefined || only.has(node.name)

interface Asking {
  snapshot: Snapshot
  memo: Memo | undefined
}

/** Each pod starts at a different node, so that all nodes get their turn; the same pod always starts at the same one. */
function askNodes(
  pod: PodInfo,
  fitting: Fitting,
  { snapshot, memo }: Asking,
): { feasible: NodeState[]; rejections: Map<string, Rejection> } {
  const all = snapshot.cluster.nodes
  const nodes = fitting.only === undefined ? all : all.filter((node) => isAllowed(fitting, node))
  const enough = enoughOf(nodes.length)
  const start = enough < nodes.length ? hashOf(pod.key) % nodes.length : 0
  const feasible: NodeState[] = []
  const rejections = new Map<string, Rejection>()
  for (let i = 0; i < nodes.length && feasible.length < enough; i++) {
    const node = nodes[(start + i) % nodes.length] as NodeState
    const known = memo?.get(node.name)
    const rejection = known?.version === node.version ? known.rejection : fitting.check(node)
    if (rejection === undefined) feasible.push(node)
    else rejections.set(node.name, rejection)
  }
  return { feasible, rejections }
}

/** How many nodes to compare: all of few, a part of many. */
export function enoughOf(nodes: number): number {
  if (nodes < FEW_NODES) return nodes
  const percent = Math.max(MIN_PERCENT, 50 - Math.trunc(nodes / 125))
  return Math.max(FEW_NODES, Math.trunc((nodes * percent) / 100))
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash
}

/** The highest sum of weighted scores; of equals the first by name. */
function best(pod: PodInfo, nodes: readonly NodeState[], snapshot: Snapshot): NodeState {
  const totals = totalScores(pod, nodes, snapshot)
  let at = 0
  for (let i = 1; i < nodes.length; i++) {
    const total = totals[i] ?? 0
    const highest = totals[at] ?? 0
    if (total > highest || (total === highest && (nodes[i]?.name ?? '') < (nodes[at]?.name ?? ''))) at = i
  }
  return nodes[at] as NodeState
}

function totalScores(pod: PodInfo, nodes: readonly NodeState[], snapshot: Snapshot): number[] {
  const totals = nodes.map(() => 0)
  for (const { weight, prepare } of SCORES) {
    const prepared = prepare(pod, snapshot, nodes)
    if (prepared === undefined) continue
    const scores = nodes.map((node) => prepared.of(node))
    prepared.normalise?.(scores, nodes)
    for (let i = 0; i < totals.length; i++) totals[i] = (totals[i] ?? 0) + weight * (scores[i] ?? 0)
  }
  return totals
}

interface Failed {
  pod: PodInfo
  fitting: Fitting
  snapshot: Snapshot
  rejections: Map<string, Rejection>
  why: string
  rejectedBy: ReadonlySet<string>
}

function orPreempt({ pod, fitting, snapshot, rejections, why, rejectedBy }: Failed): Decision {
  const { nodes } = snapshot.cluster
  const nominated = pod.pod.status?.nominatedNodeName ?? ''
  const memo = fitting.isWide ? undefined : memoOf(rejections, snapshot)
  const give = (preemption: string, nomination: Nomination): Decision => {
    const message = unavailable(nodes.length, why, preemption)
    return { kind: 'unschedulable', message, rejectedBy, nomination, memo, looked: fitting.asked }
  }
  const may = ineligible(pod, { node: snapshot.cluster.node(nominated), rejection: rejections.get(nominated) })
  if (may !== undefined) return give(may, may === LEAVING ? 'awaited' : 'kept')
  const start = hashOf(pod.key) % nodes.length
  const helpful = [...nodes.slice(start), ...nodes.slice(0, start)].filter(({ name }) => rejections.get(name)?.isFinal === false)
  const found = findVictims({ pod, fitting, snapshot, nodes: helpful })
  if ('tried' in found) return give(preemptionFailed(nodes.length, found.tried), 'void')
  const { node, victims } = found.best
  return { kind: 'preempt', node: node.name, victims, message: unavailable(nodes.length, why), rejectedBy, looked: fitting.asked }
}

function memoOf(rejections: ReadonlyMap<string, Rejection>, { cluster }: Snapshot): Memo {
  const memo = new Map<string, { version: number; rejection: Rejection }>()
  for (const [name, rejection] of rejections) memo.set(name, { version: cluster.node(name)?.version ?? -1, rejection })
  return memo
}
