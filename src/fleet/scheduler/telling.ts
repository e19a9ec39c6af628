/** The sentences about the clusters of a decision: why each was chosen or not, in words that people can follow. */
import type { TargetCluster } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'
import type { Candidate } from './candidate.ts'
import type { ClusterFacts } from './cluster-facts.ts'
import { type Sentence, shortened, type Told } from './decision.ts'
import type { Demand } from './demand.ts'
import type { Selection } from './spread/selection.ts'

export interface Filtered {
  readonly feasible: readonly ClusterFacts[]
  /** The first of those that a filter refused. */
  readonly rejected: readonly Sentence[]
  /** How many were refused, by reason. */
  readonly reasons: ReadonlyMap<string, number>
}

const countOf = (reasons: ReadonlyMap<string, number>): number => [...reasons.values()].reduce((sum, count) => sum + count, 0)

/** What a condition can hold is 32768 characters; a thousand different taints are more. */
const MAX_CONDITION_MESSAGE = 32_000

/** Karmada's histogram of reasons. */
export function fitMessage(total: number, { reasons }: Filtered): string {
  if (reasons.size === 0) return `0/${total} clusters are available: no cluster exists.`
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort(compareStrings)
  return shortened(`0/${total} clusters are available: ${counted.join(', ')}.`, MAX_CONDITION_MESSAGE)
}

/** Clusters that would do by themselves, when all together would not. */
export interface InVain {
  readonly candidates: readonly Candidate[]
  readonly problem: string
}

export function tellFailure({ feasible, rejected, reasons }: Filtered, inVain: InVain | undefined): Told {
  const { candidates = [], problem = '' } = inVain ?? {}
  const sentence = ({ name, available }: Candidate): Sentence => ({
    name,
    why: `it fits, with ${available} replicas available, but ${problem}`,
  })
  return {
    total: feasible.length + countOf(reasons),
    chosen: 0,
    someChosen: () => [],
    someOthers: (count) => [...candidates.slice(0, count).map(sentence), ...rejected].slice(0, count),
    reasons: candidates.length === 0 ? reasons : new Map([...reasons, [problem, candidates.length]]),
  }
}

export interface Choice {
  readonly demand: Demand
  readonly candidates: readonly Candidate[]
  readonly selection: Extract<Selection, { selected: readonly Candidate[] }>
  readonly targets: readonly TargetCluster[]
  weightOf(cluster: string): number | undefined
}

export function tellChoice(choice: Choice, { feasible, rejected, reasons }: Filtered): Told {
  const { candidates, selection, targets } = choice
  const unselected = candidates.length - selection.selected.length
  const empty = selection.selected.length - targets.length
  return {
    total: feasible.length + countOf(reasons),
    chosen: targets.length,
    someChosen: (count) => {
      const some = targets.slice(0, count)
      const names = new Set(some.map(({ name }) => name))
      const found = new Map(candidates.filter(({ name }) => names.has(name)).map((candidate) => [candidate.name, candidate]))
      return some.map((target) => ({ name: target.name, why: whyChosen(target, found.get(target.name), choice) }))
    },
    someOthers: (count) => [...whyNot(choice, unselected + empty === 0 ? 0 : count), ...rejected].slice(0, count),
    reasons: new Map([
      ...reasons,
      ...(empty > 0 ? [['got no replicas', empty] as const] : []),
      ...(unselected > 0 ? [['not selected by the spread constraints', unselected] as const] : []),
    ]),
  }
}

/** The first candidates that came away with nothing. */
function whyNot(choice: Choice, count: number): Sentence[] {
  const { candidates, selection, targets } = choice
  const chosen = new Set(targets.map(({ name }) => name))
  const selected = new Set(selection.selected)
  const told: Sentence[] = []
  for (const one of candidates) {
    if (told.length >= count) break
    if (!chosen.has(one.name)) told.push({ name: one.name, why: selected.has(one) ? whyEmpty(one, choice) : selection.whyNot(one) })
  }
  return told
}

function whyChosen(target: TargetCluster, candidate: Candidate | undefined, { demand, weightOf }: Choice): string {
  const { name, replicas, components } = target
  const { score = 0, available = 0, tier = 0 } = candidate ?? {}
  const weight = weightOf(name)
  const gets = demand.strategy === 'Duplicated' ? `gets all ${replicas} replicas` : `gets ${replicas} of ${demand.replicas} replicas`
  const parts = [
    `score ${score}`,
    demand.isWorkload ? `${available} replicas available` : undefined,
    tier > 0 ? `takes overflow (tier ${tier})` : undefined,
    weight === undefined ? undefined : `weight ${weight}`,
    components === undefined ? undefined : `takes all ${components.length} components`,
    replicas === undefined ? undefined : gets,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

function whyEmpty({ name, available }: Candidate, { demand, weightOf }: Choice): string {
  const weight = weightOf(name)
  if (weight === undefined) return `not needed: others hold all ${demand.replicas} replicas (${available} replicas available)`
  return `weight ${weight} is too small for one of ${demand.replicas} replicas`
}
