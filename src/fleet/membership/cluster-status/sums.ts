/**
 * What a member has and what its pods use, updated by events: each change of a node or pod subtracts its old amounts and
 * adds the new ones, so the work per change does not grow with the cluster. Equal to counting everything anew, in any order
 * of events.
 */
import type { ClusterStatus, ResourceSummary } from '../../../kinds/karmada/index.ts'
import type { QuantityFormat } from '../../../kube/quantity.ts'
import { type AmountList, type NodeResources, type PodResources, resourceListOf } from './amounts.ts'

export interface Summary {
  nodeSummary: NonNullable<ClusterStatus['nodeSummary']>
  resourceSummary: ResourceSummary
}

export interface Sums {
  node(old: NodeResources | undefined, now: NodeResources | undefined): void
  pod(old: PodResources | undefined, now: PodResources | undefined): void
  summary(): Summary
}

export function createSums(): Sums {
  const allocatable = createSum()
  const counted = { allocating: createSum(), allocated: createSum() }
  const nodes = { totalNum: 0, readyNum: 0 }
  const node = ({ isReady, allocatable: amounts }: NodeResources, sign: Sign): void => {
    nodes.totalNum += sign
    if (isReady) nodes.readyNum += sign
    allocatable.change(amounts, sign)
  }
  const pod = ({ counts, requests }: PodResources, sign: Sign): void => {
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
      const lists = {
        allocatable: allocatable.all(),
        allocating: counted.allocating.positive(),
        allocated: counted.allocated.positive(),
      }
      const reported = Object.entries(lists).filter(([, list]) => list.length > 0)
      return {
        nodeSummary: Object.fromEntries(Object.entries(nodes).filter(([, count]) => count > 0)),
        resourceSummary: Object.fromEntries(reported.map(([name, list]) => [name, resourceListOf(list)])),
      }
    },
  }
}

type Sign = 1 | -1
const ONE_POD: AmountList = [['pods', 1n]]

interface Sum {
  change(amounts: AmountList, sign: Sign): void
  /** Includes zeros: resources that nodes list and have none of. Each in the format that most of it was written in. */
  all(): AmountList
  /** In the usual format. */
  positive(): AmountList
}

function createSum(): Sum {
  const entries = new Map<string, { amount: bigint; holders: number; forms: Record<QuantityFormat, number> }>()
  return {
    change(amounts, sign) {
      for (const [name, amount, form] of amounts) {
        const entry = entries.get(name) ?? { amount: 0n, holders: 0, forms: { DecimalSI: 0, BinarySI: 0, DecimalExponent: 0 } }
        entry.amount += sign === 1 ? amount : -amount
        entry.holders += sign
        if (form !== undefined) entry.forms[form] += sign
        if (entry.holders === 0) entries.delete(name)
        else entries.set(name, entry)
      }
    },
    all: () => [...entries].map(([name, { amount, forms }]) => [name, amount, mostOf(forms)] as const),
    positive: () => [...entries].filter(([, { amount }]) => amount > 0n).map(([name, { amount }]) => [name, amount] as const),
  }
}

const mostOf = (forms: Record<QuantityFormat, number>): QuantityFormat =>
  (Object.keys(forms) as QuantityFormat[]).reduce((most, form) => (forms[form] > forms[most] ? form : most))
