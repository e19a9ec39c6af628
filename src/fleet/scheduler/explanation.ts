/** The sentences about the clusters of a decision: why each was chosen or not, in terms that users understand. */
import type { TargetCluster } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'
import type { Candidate, Candidates } from './candidate.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { type ExplanationInput, type Sentence, shortened } from './decision.ts'
import type { Demand } from './demand.ts'
import type { Selection } from './spread/selection.ts'

export interface Filtered {
  readonly feasible: readonly ClusterInfo[]
  /** The first of those that a filter rejected. */
  readonly rejected: readonly Sentence[]
  /** How many were rejected, by reason. */
  readonly reasons: ReadonlyMap<string, number>
}

const countOf = (reasons: ReadonlyMap<string, number>): number => [...reasons.values()].reduce((sum, count) => sum + count, 0)

/** A condition message is limited to 32768 characters; a thousand different taints need more. */
const MAX_CONDITION_MESSAGE = 32_000

/** Karmada's histogram of reasons. */
export function fitMessage(total: number, { reasons }: Filtered): string {
  if (reasons.size === 0) return `0/${total} clusters are available: no cluster exists.`
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort(compareStrings)
  return shortened(`0/${total} clusters are available: ${counted.join(', ')}.`, MAX_CONDITION_MESSAGE)
}

/** Clusters that would do individually, when all together would not. */
export interface FailedSelection {
  readonly candidates: Candidates
  readonly problem: string
}

export function explainFailure({ feasible, rejected, reasons }: Filtered, failedSelection: FailedSelection | undefined): ExplanationInput {
  const { candidates, problem = '' } = failedSelection ?? {}
  const count = candidates?.byName.length ?? 0
  const sentence = ({ name, available }: Candidate): Sentence => ({
    name,
    why: `it fits, with ${available} replicas available, but ${problem}`,
  })
  return {
    total: feasible.length + countOf(reasons),
    chosen: 0,
    someChosen: () => [],
    someOthers: (most) => [...(candidates?.preferred ?? []).slice(0, most).map(sentence), ...rejected].slice(0, most),
    reasons: count === 0 ? reasons : new Map([...reasons, [problem, count]]),
  }
}

export interface Choice {
  readonly demand: Demand
  readonly candidates: Candidates
  readonly selection: Extract<Selection, { selected: readonly Candidate[] }>
  readonly targets: readonly TargetCluster[]
  weightOf(candidate: Candidate): number | undefined
}

export function explainChoice(choice: Choice, { feasible, rejected, reasons }: Filtered): ExplanationInput {
  const { candidates, selection, targets } = choice
  const unselected = candidates.byName.length - selection.selected.length
  const empty = selection.selected.length - targets.length
  return {
    total: feasible.length + countOf(reasons),
    chosen: targets.length,
    someChosen: (count) =>
      targets
        .slice(0, count)
        .map((target) => ({ name: target.name, why: whyChosen(target, candidateNamed(target.name, candidates), choice) })),
    someOthers: (count) => [...whyNot(choice, unselected + empty === 0 ? 0 : count), ...rejected].slice(0, count),
    reasons: new Map([
      ...reasons,
      ...(empty > 0 ? [['got no replicas', empty] as const] : []),
      ...(unselected > 0 ? [['not selected by the spread constraints', unselected] as const] : []),
    ]),
  }
}

/** By binary search: they are in the order of their names. */
function candidateNamed(name: string, { byName }: Candidates): Candidate | undefined {
  let [low, high] = [0, byName.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const candidate = byName[middle] as Candidate
    const where = compareStrings(candidate.name, name)
    if (where === 0) return candidate
    if (where < 0) low = middle + 1
    else high = middle - 1
  }
  return undefined
}

/** The first candidates that got nothing: by preference if clusters were selected, else by name. */
function whyNot(choice: Choice, count: number): Sentence[] {
  if (count === 0) return []
  const { candidates, selection, targets } = choice
  const chosen = new Set(targets.map(({ name }) => name))
  const isSelected = (one: Candidate): boolean => selection.selectsAll === true || selection.selected.includes(one)
  const sentences: Sentence[] = []
  for (const one of selection.selectsAll === true ? selection.selected : candidates.preferred) {
    if (sentences.length >= count) break
    if (!chosen.has(one.name)) sentences.push({ name: one.name, why: isSelected(one) ? whyEmpty(one, choice) : selection.whyNot(one) })
  }
  return sentences
}

function whyChosen(target: TargetCluster, candidate: Candidate | undefined, { demand, weightOf }: Choice): string {
  const { replicas, components } = target
  const { score = 0, available = 0, tier = 0 } = candidate ?? {}
  const weight = candidate === undefined ? undefined : weightOf(candidate)
  let why = `score ${score}`
  if (demand.isWorkload) why += `, ${available} replicas available`
  if (tier > 0) why += `, takes overflow (tier ${tier})`
  if (weight !== undefined) why += `, weight ${weight}`
  if (components !== undefined) why += `, takes all ${components.length} components`
  if (replicas === undefined) return why
  return demand.strategy === 'Duplicated'
    ? `${why}, gets all ${replicas} replicas`
    : `${why}, gets ${replicas} of ${demand.replicas} replicas`
}

function whyEmpty(candidate: Candidate, { demand, weightOf }: Choice): string {
  const weight = weightOf(candidate)
  if (weight === undefined) return `not needed: others hold all ${demand.replicas} replicas (${candidate.available} replicas available)`
  return `weight ${weight} is too small for one of ${demand.replicas} replicas`
}
