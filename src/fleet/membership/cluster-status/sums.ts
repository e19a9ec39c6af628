/**
 * What a member has and what its pods take, kept by events: each change of a node or pod takes away what it was and adds what
 * it is, so the work per change does not grow with the cluster. Equal to counting everything anew, in any order of events.
 */
import type { ClusterStatus, ResourceSummary } from '../../../kinds/karmada/index.ts'
import { type Amounts, type NodeFacts, type PodFacts, resourceListOf } from './amounts.ts'

export interface Summary {
  nodeSummary: NonNullable<ClusterStatus['nodeSummary']>
  resourceSummary: ResourceSummary
}

export interface Sums {
  node(old: NodeFacts | undefined, now: NodeFacts | undefined): void
  pod(old: PodFacts | undefined, now: PodFacts | undefined): void
  summary(): Summary
}

export function createSums(): Sums {
  const allocatable = createSum()
  const counted = { allocating: createSum(), allocated: createSum() }
  const nodes = { totalNum: 0, readyNum: 0 }
  const node = ({ isReady, allocatable: amounts }: NodeFacts, sign: Sign): void => {
    nodes.totalNum += sign
    if (!isReady) return
    nodes.readyNum += sign
    allocatable.change(amounts, sign)
  }
  const pod = ({ counts, requests }: PodFacts, sign: Sign): void => {
    if (counts === undefined) return
    counted[counts].change(requests, sign)
    counted[counts].change(ONE_POD, sign)
  }
  return {
    node(old, now) {
      if (old !== undefined) node(old, -1)
      if (now !== undefined) node(now, 1)
    },
    pod(old, now) {
      if (old !== undefined) pod(old, -1)
      if (now !== undefined) pod(now, 1)
    },
    summary() {
      const allocating = counted.allocating.positive()
      const allocated = counted.allocated.positive()
      return {
        nodeSummary: { ...nodes },
        resourceSummary: {
          allocatable: resourceListOf(allocatable.all()),
          ...(allocating.length === 0 ? {} : { allocating: resourceListOf(allocating) }),
          ...(allocated.length === 0 ? {} : { allocated: resourceListOf(allocated) }),
        },
      }
    },
  }
}

type Sign = 1 | -1
const ONE_POD: Amounts = [['pods', 1n]]

interface Sum {
  change(amounts: Amounts, sign: Sign): void
  /** Also what is zero: a resource that nodes know and have nothing of. */
  all(): [string, bigint][]
  positive(): [string, bigint][]
}

function createSum(): Sum {
  const entries = new Map<string, { amount: bigint; holders: number }>()
  return {
    change(amounts, sign) {
      for (const [name, amount] of amounts) {
        const entry = entries.get(name) ?? { amount: 0n, holders: 0 }
        entry.amount += sign === 1 ? amount : -amount
        entry.holders += sign
        if (entry.holders === 0) entries.delete(name)
        else entries.set(name, entry)
      }
    },
    all: () => [...entries].map(([name, { amount }]) => [name, amount]),
    positive: () => [...entries].filter(([, { amount }]) => amount > 0n).map(([name, { amount }]) => [name, amount]),
  }
}
