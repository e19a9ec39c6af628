/**
 * DefaultPreemption: on which node removing less important pods would make the pod fit, and which ones. Budgets are
 * respected where possible; then the least important pods go, as few as possible; the same snapshot gives the same answer.
 */
import type { Pod, PodDisruptionBudget } from '../../kinds/kubernetes/types.ts'
import { matchesLabels } from '../../kube/selector.ts'
import { type Rejection, rejection } from './filters/filter.ts'
import type { Fitting } from './fitting.ts'
import type { Snapshot } from './snapshot.ts'
import { readSelector } from './state/affinity-term.ts'
import type { NodeState } from './state/node-state.ts'
import type { PodInfo } from './state/pod-info.ts'

export interface Candidate {
  node: NodeState
  /** Most important first. */
  victims: readonly PodInfo[]
  /** How many of them violate a budget. */
  violations: number
}

export const LEAVING = 'not eligible due to a terminating pod on the nominated node.'
const NO_VICTIMS = rejection('', 'No preemption victims found for incoming pod', true)
const MIN_CANDIDATES = 100
const MIN_CANDIDATES_PERCENT = 10

/** Why a pod may not preempt, or undefined when it may. */
export function ineligible(pod: PodInfo, nominated: { node: NodeState | undefined; rejection: Rejection | undefined }): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  if (nominated.node === undefined || nominated.rejection?.isFinal === true) return undefined
  for (const other of nominated.node.pods.values()) if (other.priority < pod.priority && isLeavingForAnother(other.pod)) return LEAVING
  return undefined
}

function isLeavingForAnother({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp === undefined) return false
  const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  return target?.status === 'True' && target.reason === 'PreemptionByScheduler'
}

export interface Search {
  pod: PodInfo
  fitting: Fitting
  snapshot: Snapshot
  /** Where removing pods might help, in the order to try. */
  nodes: readonly NodeState[]
}

/** The best candidate, or the rejection of every node. */
export function findVictims(search: Search): { best: Candidate } | { tried: Rejection[] } {
  const { nodes, snapshot } = search
  const enough = Math.min(nodes.length, Math.max(MIN_CANDIDATES, Math.trunc((nodes.length * MIN_CANDIDATES_PERCENT) / 100)))
  const budgets = snapshot.objects.budgets()
  const candidates: Candidate[] = []
  const tried: Rejection[] = []
  let clean = 0
  for (const node of nodes) {
    const found = victimsOn(node, search, budgets)
    if ('reasons' in found) tried.push(found)
    else {
      candidates.push(found)
      if (found.violations === 0) clean++
      if (clean > 0 && candidates.length >= enough) break
    }
  }
  const best = bestOf(candidates, startTimes(snapshot.nowMs))
  return best === undefined ? { tried } : { best }
}

/** The pod must fit without all less important pods; then as many of those as possible are kept, most important first. */
function victimsOn(node: NodeState, { pod, fitting, snapshot }: Search, budgets: readonly PodDisruptionBudget[]): Candidate | Rejection {
  const possible = [...node.pods.values()].filter((other) => other.priority < pod.priority)
  if (possible.length === 0) return NO_VICTIMS
  const nodeCopy = node.copy()
  for (const other of possible) fitting.simulate(other, nodeCopy, -1)
  const gone = new Set(possible)
  const letStay = (other: PodInfo): boolean => {
    fitting.simulate(other, nodeCopy, 1)
    gone.delete(other)
    if (fitting.check(nodeCopy) === undefined) return true
    fitting.simulate(other, nodeCopy, -1)
    gone.add(other)
    return false
  }
  try {
    const rejected = fitting.check(nodeCopy)
    if (rejected !== undefined) return rejected
    const startOf = startTimes(snapshot.nowMs)
    const sorted = possible.sort((a, b) => byImportance(a, b, startOf))
    const { violating, others } = splitByBudget(sorted, budgets)
    const violations = violating.filter((other) => !letStay(other)).length
    for (const other of others) letStay(other)
    return { node, victims: [...gone].sort((a, b) => byImportance(a, b, startOf)), violations }
  } finally {
    for (const other of gone) fitting.simulate(other, nodeCopy, 1)
  }
}

type StartOf = (pod: PodInfo) => number

/** A pod that has not started counts as started just now. */
function startTimes(nowMs: number): StartOf {
  return ({ pod }) => {
    const started = Date.parse(pod.status?.startTime ?? '')
    return Number.isNaN(started) ? nowMs : started
  }
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Higher priority first, then the one that started earlier. */
const byImportance = (a: PodInfo, b: PodInfo, startOf: StartOf): number =>
  b.priority - a.priority || startOf(a) - startOf(b) || byText(a.key, b.key)

/** Which pods could not go without violating a budget, if all before them in the list had gone. */
function splitByBudget(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]): { violating: PodInfo[]; others: PodInfo[] } {
  const left = budgets.map((budget) => ({
    namespace: budget.metadata.namespace,
    selector: readSelector(budget.spec?.selector),
    disrupted: budget.status?.disruptedPods ?? {},
    allowed: budget.status?.disruptionsAllowed ?? 0,
  }))
  const violating: PodInfo[] = []
  const others: PodInfo[] = []
  for (const pod of pods) {
    let isViolating = false
    for (const budget of left) {
      if (budget.namespace !== pod.namespace || budget.selector === undefined || budget.selector.length === 0) continue
      if (
        pod.labels === undefined ||
        !matchesLabels(budget.selector, pod.labels) ||
        Object.hasOwn(budget.disrupted, pod.pod.metadata.name ?? '')
      )
        continue
      budget.allowed--
      if (budget.allowed < 0) {
        isViolating = true
        break
      }
    }
    ;(isViolating ? violating : others).push(pod)
  }
  return { violating, others }
}

/** Fewest violated budgets, then the least important victims, then the fewest, then those that have run the shortest. */
function bestOf(candidates: readonly Candidate[], startOf: StartOf): Candidate | undefined {
  const measures: ((candidate: Candidate) => number)[] = [
    ({ violations }) => violations,
    ({ victims }) => victims[0]?.priority ?? 0,
    ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
    ({ victims }) => victims.length,
    ({ victims }) => -Math.min(...victims.filter(({ priority }) => priority === victims[0]?.priority).map(startOf)),
  ]
  let left = [...candidates]
  for (const measure of measures) {
    if (left.length <= 1) break
    const values = left.map(measure)
    const least = Math.min(...values)
    left = left.filter((_, i) => values[i] === least)
  }
  return left.sort((a, b) => byText(a.node.name, b.node.name))[0]
}
