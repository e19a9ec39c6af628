/** NodeResourcesFit: what a pod requests must be free on the node. */
import type { Node } from '../../../kinds/kubernetes/types.ts'
import { type Amounts, amountsOf } from '../../../kube/amounts.ts'
import type { NodeState } from '../state/node-state.ts'
import { type Filter, type Rejection, rejection } from './filter.ts'

const NAME = 'NodeResourcesFit'
const PODS = 'pods'
const TOO_MANY_PODS = 'Too many pods'
const ORDER = ['cpu', 'memory', 'ephemeral-storage']

export const nodeResourcesFit: Filter = {
  name: NAME,
  prepare({ requests }) {
    const wanted = inOrder(requests)
    return { check: (node) => reject(wanted, node) }
  },
  listens: ['node', 'pod-removed', 'pod-changed'],
  isHelpedBy(change, { requests }) {
    if (change.kind === 'node') return change.now !== undefined && helps(requests, change.old, change.now)
    if (change.kind !== 'pod' || change.old === undefined) return false
    const { now, old } = change
    if (now === undefined) return true
    return [...requests.keys()].some((name) => (now.requests.get(name) ?? 0) < (old.requests.get(name) ?? 0))
  },
}

/** In a fixed order, because reasons are listed in it. */
function inOrder(requests: Amounts): [string, number][] {
  const rest = [...requests.keys()].filter((name) => !ORDER.includes(name)).sort()
  return [...ORDER, ...rest].flatMap((name): [string, number][] => {
    const amount = requests.get(name) ?? 0
    return amount > 0 ? [[name, amount]] : []
  })
}

function reject(wanted: readonly [string, number][], node: NodeState): Rejection | undefined {
  let reasons: string[] | undefined
  let isFinal = false
  if (node.pods.size + 1 > node.allowedPods) reasons = [TOO_MANY_PODS]
  for (const [name, amount] of wanted) {
    const capacity = node.allocatable.get(name) ?? 0
    if (amount <= capacity - (node.requested.get(name) ?? 0)) continue
    reasons ??= []
    reasons.push(`Insufficient ${name}`)
    // More than the node has at all: removing pods would not help.
    isFinal ||= amount > capacity
  }
  return reasons === undefined ? undefined : rejection(NAME, reasons, isFinal)
}

/** An empty node of this size would do, and it has more than before of a requested resource. */
function helps(requests: Amounts, old: Node | undefined, now: Node): boolean {
  const has = amountsOf(now.status?.allocatable)
  for (const [name, amount] of requests) if (amount > (has.get(name) ?? 0)) return false
  if ((has.get(PODS) ?? 0) < 1) return false
  if (old === undefined) return true
  const had = amountsOf(old.status?.allocatable)
  return [PODS, ...requests.keys()].some((name) => (has.get(name) ?? 0) > (had.get(name) ?? 0))
}
