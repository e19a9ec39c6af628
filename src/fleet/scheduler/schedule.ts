/**
 * The decision: filter → score → select → assign, for one affinity term after another. Pure: the same clusters and the same
 * binding give the same answer, whatever the order in which they became known. Clusters are in the order of their names.
 */
import type { TargetCluster } from '../../kinds/karmada/index.ts'
import { SCHEDULED_MESSAGE } from '../../kinds/karmada/well-known.ts'
import { type FleetMeasures, untimed } from '../metrics/measures.ts'
import { assignReplicas } from './assign.ts'
import { type Candidate, candidatesOf } from './candidate.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { type Decision, type Explanation, explanationOf, MAX_EXPLAINED, type Reason, type Sentence } from './decision.ts'
import type { Demand, Term } from './demand.ts'
import { type Estimate, estimatorFor, type InFlight, NOTHING_IN_FLIGHT } from './estimator.ts'
import { explainChoice, explainFailure, type FailedSelection, type Filtered, fitMessage } from './explanation.ts'
import { FILTERS } from './filters/all.ts'
import type { Check } from './filters/filter.ts'
import { selectClusters } from './spread/select.ts'

export interface Snapshot {
  /** In the order of their names. */
  readonly clusters: readonly ClusterInfo[]
  /** What was decided but does not show in the clusters yet. */
  readonly inFlight?: InFlight
  /** The time at which temporary tolerations are evaluated (default: none has expired). */
  readonly nowMs?: number
}

export interface ScheduleOptions {
  /** Also lists selected clusters that get no replicas (default false). */
  readonly propagateEmptyWorkloads?: boolean
  /** Records how long each step takes (default: nowhere). */
  readonly measures?: Pick<FleetMeasures, 'timed'>
}

export function schedule(
  { clusters, inFlight = NOTHING_IN_FLIGHT, nowMs = Number.NEGATIVE_INFINITY }: Snapshot,
  demand: Demand,
  options: ScheduleOptions = {},
): Decision {
  const estimate = estimatorFor(demand, inFlight)
  const failed: Attempt[] = []
  for (const term of demand.terms.slice(firstTerm(demand))) {
    const attempt = attemptWith(term, { clusters, demand, estimate, nowMs, options })
    if (attempt.reason === 'Success') return succeeded(demand, attempt, term.name, failed)
    failed.push(attempt)
  }
  return failedWith(demand, failed)
}

/** Earlier terms are not tried again, unless rescheduling is requested. */
function firstTerm({ terms, hasNamedTerms, observedTerm, isFresh }: Demand): number {
  if (!hasNamedTerms || isFresh) return 0
  return Math.max(
    0,
    terms.findIndex(({ name }) => name === observedTerm),
  )
}

interface Attempt {
  readonly reason: Reason
  readonly message: string
  readonly targets: readonly TargetCluster[]
  readonly explanation: Explanation
}

function succeeded(
  demand: Demand,
  { targets, explanation }: Attempt,
  affinityName: string | undefined,
  failed: readonly Attempt[],
): Decision {
  return {
    reason: 'Success',
    message: SCHEDULED_MESSAGE,
    clusters: settled(demand.clusters, targets),
    affinityName,
    failures: failed.map((attempt, i) => failureText(demand, i, attempt)),
    explanation,
  }
}

/** The failure of the first term is the one reported. If no cluster fits, the previous decision cannot stay. */
function failedWith(demand: Demand, failed: readonly Attempt[]): Decision {
  const [first] = failed
  if (first === undefined) throw new Error('a placement has at least one term')
  const { reason, message, explanation } = first
  const isUnfit = reason === 'NoClusterFit'
  const terms = demand.hasNamedTerms ? failed.map((attempt, i) => failureText(demand, i, attempt)) : []
  const failures = demand.hasNamedTerms && !isUnfit ? terms : [...terms, message]
  return { reason, message, clusters: isUnfit ? [] : undefined, affinityName: undefined, failures, explanation }
}

function failureText(demand: Demand, index: number, { message }: Attempt): string {
  const { kind, namespace, name } = demand
  const where = namespace === undefined ? name : `${namespace}/${name}`
  return `failed to schedule ${kind}(${where}) with clusterAffiliates index(${firstTerm(demand) + index}): ${message}`
}

interface World {
  readonly clusters: readonly ClusterInfo[]
  readonly demand: Demand
  readonly estimate: Estimate
  readonly nowMs: number
  readonly options: ScheduleOptions
}

function attemptWith(term: Term, world: World): Attempt {
  const { clusters, demand, estimate, options } = world
  const timed = options.measures?.timed ?? untimed
  const filtered = timed('Filter', () => filter(term, world))
  const { feasible } = filtered
  const fail = (reason: Reason, message: string, failedSelection: FailedSelection | undefined): Attempt => ({
    reason,
    message,
    targets: [],
    explanation: explanationOf(explainFailure(filtered, failedSelection)),
  })
  if (feasible.length === 0) return fail('NoClusterFit', fitMessage(clusters.length, filtered), undefined)
  const candidates = timed('Score', () => candidatesOf(feasible, { demand, term, estimate }))
  const selection = timed('Select', () => selectClusters(demand, candidates))
  if (selection.selected === undefined) {
    const { problem } = selection
    return fail('SchedulerError', `failed to select clusters: ${problem}`, { candidates, problem })
  }
  const { selected } = selection
  const assignment = timed('AssignReplicas', () => assignReplicas(demand, term, selected))
  if (assignment.targets === undefined) {
    const { problem, isShortage } = assignment
    return fail(isShortage ? 'Unschedulable' : 'SchedulerError', `failed to assign replicas: ${problem}`, { candidates, problem })
  }
  const targets =
    options.propagateEmptyWorkloads === true
      ? withEmpty(assignment.targets, selection.selectsAll === true ? candidates.preferred : selected)
      : assignment.targets
  const choice = { demand, candidates, selection, targets, weightOf: assignment.weightOf }
  return { reason: 'Success', message: '', targets, explanation: explanationOf(explainChoice(choice, filtered)) }
}

/** Clusters that are being deleted are skipped without a reason. */
function filter(term: Term, { clusters, demand, nowMs }: World): Filtered {
  const checks = FILTERS.map((one) => one.prepare(demand, term, nowMs)).filter((check): check is Check => check !== undefined)
  const feasible: ClusterInfo[] = []
  const rejected: Sentence[] = []
  const reasons = new Map<string, number>()
  for (const info of clusters) {
    if (info.isDeleting) continue
    const why = firstReason(checks, info)
    if (why === undefined) {
      feasible.push(info)
      continue
    }
    reasons.set(why, (reasons.get(why) ?? 0) + 1)
    if (rejected.length < MAX_EXPLAINED) rejected.push({ name: info.name, why })
  }
  return { feasible, rejected, reasons }
}

function firstReason(checks: readonly Check[], info: ClusterInfo): string | undefined {
  for (const check of checks) {
    const reason = check(info)
    if (reason !== undefined) return reason
  }
  return undefined
}

function withEmpty(targets: readonly TargetCluster[], selected: readonly Candidate[]): readonly TargetCluster[] {
  const names = new Set(targets.map(({ name }) => name))
  return [...targets, ...selected.filter(({ name }) => !names.has(name)).map(({ name }) => ({ name }))]
}

/** If clusters and replicas are the same, their order is kept: another order would be a meaningless change. */
function settled(before: readonly TargetCluster[], now: readonly TargetCluster[]): readonly TargetCluster[] {
  if (before.length !== now.length) return now
  const texts = new Map(now.map((target) => [target.name, textOf(target)]))
  return before.every((target) => texts.get(target.name) === textOf(target)) ? before : now
}

const textOf = ({ replicas = 0, components = [] }: TargetCluster): string =>
  `${replicas} ${components.map((one) => `${one.name}:${one.replicas}`).join()}`
