/** The sentences about the clusters of a decision: why each was chosen or not, in words that people can follow. */
import type { TargetCluster } from '../../kinds/karmada/index.ts'
import { compareStrings } from '../../kube/go-print.ts'
import type { Candidate } from './candidate.ts'
import type { Told } from './decision.ts'
import type { Demand } from './demand.ts'
import type { Selection } from './spread/selection.ts'

/** A cluster that a filter refused. */
export interface Rejected {
  readonly name: string
  readonly kind: string
  why(): string
}

/** Karmada's histogram of reasons. */
export function fitMessage(total: number, rejected: readonly Rejected[]): string {
  if (rejected.length === 0) return `0/${total} clusters are available: no cluster exists.`
  const counts = new Map<string, number>()
  for (const { kind } of rejected) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort(compareStrings)
  return `0/${total} clusters are available: ${reasons.join(', ')}.`
}

/** Clusters that would do by themselves, when all together would not. */
export const fittingInVain = (candidates: readonly Candidate[], problem: string): Told['others'] =>
  candidates.map(({ name, available }) => ({
    name,
    kind: problem,
    why: () => `it fits, with ${available} replicas available, but ${problem}`,
  }))

export interface Choice {
  readonly demand: Demand
  readonly candidates: readonly Candidate[]
  readonly selection: Extract<Selection, { selected: readonly Candidate[] }>
  readonly targets: readonly TargetCluster[]
  readonly weights: ReadonlyMap<string, number>
}

export function tellChoice(choice: Choice, rejected: readonly Rejected[]): Pick<Told, 'chosen' | 'others'> {
  const { candidates, selection, targets } = choice
  const chosen = new Set(targets.map(({ name }) => name))
  const selected = new Set(selection.selected)
  const byName = new Map(candidates.map((candidate) => [candidate.name, candidate]))
  const others: Rejected[] = [...rejected]
  for (const one of candidates) {
    if (chosen.has(one.name)) continue
    if (selected.has(one)) others.push({ name: one.name, kind: 'got no replicas', why: () => whyEmpty(one, choice) })
    else others.push({ name: one.name, kind: 'not selected by the spread constraints', why: () => selection.whyNot(one) })
  }
  return {
    chosen: targets.map((target) => ({ name: target.name, why: () => whyChosen(target, byName.get(target.name), choice) })),
    others,
  }
}

function whyChosen(target: TargetCluster, candidate: Candidate | undefined, { demand, weights }: Choice): string {
  const { name, replicas, components } = target
  const { score = 0, available = 0, tier = 0 } = candidate ?? {}
  const weight = weights.get(name)
  const gets =
    replicas === undefined
      ? undefined
      : demand.strategy === 'Duplicated'
        ? `gets all ${replicas} replicas`
        : `gets ${replicas} of ${demand.replicas} replicas`
  const parts = [
    `score ${score}`,
    demand.isWorkload ? `${available} replicas available` : undefined,
    tier > 0 ? `takes overflow (tier ${tier})` : undefined,
    weight === undefined ? undefined : `weight ${weight}`,
    components === undefined ? undefined : `takes all ${components.length} components`,
    gets,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

function whyEmpty({ name, available }: Candidate, { demand, weights }: Choice): string {
  const weight = weights.get(name)
  if (weight === undefined) return `not needed: others hold all ${demand.replicas} replicas (${available} replicas available)`
  return `weight ${weight} is too small for one of ${demand.replicas} replicas`
}
