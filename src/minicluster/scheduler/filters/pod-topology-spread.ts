/** PodTopologySpread: no domain may have more of the matching pods than the emptiest one plus maxSkew. */
import { deepEqual } from '../../../base/json.ts'
import type { Node } from '../../../kinds/kubernetes/types.ts'
import type { Snapshot } from '../snapshot.ts'
import type { NodeState } from '../state/node-state.ts'
import type { PodInfo } from '../state/pod-info.ts'
import { countedNodes, hasAllKeys, type Spread, selects, spreadQuery, spreadsOf } from '../state/spread.ts'
import { type Change, type Filter, type Prepared, rejection } from './filter.ts'

const NAME = 'PodTopologySpread'
const TOO_MANY = rejection(NAME, "node(s) didn't match pod topology spread constraints", false)
const NO_LABEL = rejection(NAME, "node(s) didn't match pod topology spread constraints (missing required label)", true)

interface Domains {
  readonly spread: Spread
  readonly isSelf: 0 | 1
  readonly counts: Map<string, number>
  /** Over all domains; undefined when it has to be recomputed. */
  least: number | undefined
}

export const podTopologySpread: Filter = {
  name: NAME,
  prepare(pod, snapshot) {
    const spreads = spreadsOf(pod, 'DoNotSchedule')
    return spreads.length === 0 ? undefined : prepare(pod, spreads, snapshot)
  },
  listens: ['node', 'pod-added', 'pod-removed', 'pod-changed'],
  isHelpedBy(change, pod) {
    const spreads = spreadsOf(pod, 'DoNotSchedule')
    return change.kind === 'node' ? movesDomains(change, spreads) : change.kind === 'pod' && movesCounts(change, pod, spreads)
  },
}

function prepare(pod: PodInfo, spreads: readonly Spread[], { cluster }: Snapshot): Prepared {
  const isCounted = countedNodes(pod)
  const domains = spreads.map(
    (spread): Domains => ({ spread, isSelf: selects(spread, pod.labels) ? 1 : 0, counts: new Map(), least: undefined }),
  )
  for (const { spread, counts } of domains) {
    const query = spreadQuery(pod.namespace, spread)
    const onNodes = query === undefined ? undefined : cluster.countsOf(query)
    for (const node of cluster.nodes) {
      if (!hasAllKeys(spreads, node) || !isCounted(spread, node)) continue
      const value = node.label(spread.topologyKey) ?? ''
      counts.set(value, (counts.get(value) ?? 0) + (onNodes?.get(node.name) ?? 0))
    }
  }
  return {
    isWide: true,
    check(node) {
      for (const domain of domains) {
        const value = node.label(domain.spread.topologyKey)
        if (value === undefined) return NO_LABEL
        const skew = (domain.counts.get(value) ?? 0) + domain.isSelf - leastOf(domain)
        if (skew > domain.spread.maxSkew) return TOO_MANY
      }
      return undefined
    },
    simulate(other, node, sign) {
      if (other.namespace !== pod.namespace || other.isTerminating || !hasAllKeys(spreads, node)) return
      for (const domain of domains) imagineIn(domain, { other, node, sign }, isCounted)
    },
  }
}

function leastOf(domain: Domains): number {
  const { counts, spread } = domain
  if (counts.size < spread.minDomains) return 0
  if (domain.least === undefined) {
    let least = Number.POSITIVE_INFINITY
    for (const count of counts.values()) if (count < least) least = count
    domain.least = least
  }
  return domain.least
}

interface Imagined {
  other: PodInfo
  node: NodeState
  sign: 1 | -1
}

function imagineIn(domain: Domains, { other, node, sign }: Imagined, isCounted: (spread: Spread, node: NodeState) => boolean): void {
  const { spread, counts } = domain
  if (spread.selector?.length === 0 || !selects(spread, other.labels) || !isCounted(spread, node)) return
  const value = node.label(spread.topologyKey) ?? ''
  counts.set(value, (counts.get(value) ?? 0) + sign)
  domain.least = undefined
}

function movesCounts(change: Extract<Change, { kind: 'pod' }>, pod: PodInfo, spreads: readonly Spread[]): boolean {
  const { old, now } = change
  if ((old ?? now)?.namespace !== pod.namespace) return false
  const counts = (one: PodInfo | undefined, spread: Spread): boolean =>
    one !== undefined && !one.isTerminating && selects(spread, one.labels)
  return spreads.some((spread) => counts(old, spread) !== counts(now, spread))
}

function movesDomains({ old, now }: Extract<Change, { kind: 'node' }>, spreads: readonly Spread[]): boolean {
  const valuesOf = (node: Node | undefined): (string | undefined)[] | undefined =>
    node && spreads.map(({ topologyKey }) => node.metadata.labels?.[topologyKey])
  const isIn = (values: (string | undefined)[] | undefined): boolean => values?.every((value) => value !== undefined) === true
  const [before, after] = [valuesOf(old), valuesOf(now)]
  if (!isIn(before) && !isIn(after)) return false
  return (
    !deepEqual(before, after) || !deepEqual(old?.spec?.taints, now?.spec?.taints) || !deepEqual(old?.metadata.labels, now?.metadata.labels)
  )
}
