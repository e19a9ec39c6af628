/**
 * PodTopologySpread: domains with fewer of the matching pods are better. A pod without constraints of its own is
 * spread like its siblings: over hosts and zones, among the pods of its services and its owner.
 */
import type { KubeObject } from '../../../kube/meta.ts'
import { type LabelSelector, matchesLabels } from '../../../kube/selector.ts'
import type { Snapshot } from '../snapshot.ts'
import { readSelector } from '../state/affinity-term.ts'
import type { NodeState } from '../state/node-state.ts'
import type { PodInfo } from '../state/pod-info.ts'
import { countedNodes, hasAllKeys, type Spread, spreadQuery, spreadsOf } from '../state/spread.ts'
import { MAX_SCORE, type PreparedScore, type Score } from './score.ts'

const HOSTNAME = 'kubernetes.io/hostname'
const DEFAULTS: readonly { topologyKey: string; maxSkew: number }[] = [
  { topologyKey: HOSTNAME, maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5 },
]

export const podTopologySpreadScore: Score = {
  name: 'PodTopologySpread',
  weight: 2,
  prepare(pod, snapshot, nodes) {
    const isOwn = (pod.pod.spec?.topologySpreadConstraints ?? []).length > 0
    const spreads = isOwn ? spreadsOf(pod, 'ScheduleAnyway') : defaultSpreads(pod, snapshot)
    return spreads.length === 0 ? undefined : prepare({ pod, spreads, isOwn }, snapshot, nodes)
  },
}

interface Spreading {
  pod: PodInfo
  spreads: readonly Spread[]
  /** Whether the pod itself has the constraint: then nodes without all labels are left out. */
  isOwn: boolean
}

interface Domains {
  spread: Spread
  onNodes: ReadonlyMap<string, number> | undefined
  counts: Map<string, number>
  weight: number
}

function prepare({ pod, spreads, isOwn }: Spreading, { cluster }: Snapshot, nodes: readonly NodeState[]): PreparedScore {
  const isIgnored = (node: NodeState): boolean => isOwn && !hasAllKeys(spreads, node)
  const considered = isOwn ? nodes.filter((node) => !isIgnored(node)) : nodes
  const isCounted = countedNodes(pod)
  const domains = spreads.map((spread): Domains => {
    const query = spreadQuery(pod.namespace, spread)
    const onNodes = query === undefined ? undefined : cluster.countsOf(query)
    if (spread.topologyKey === HOSTNAME) return { spread, onNodes, counts: new Map(), weight: Math.log(considered.length + 2) }
    const counts = new Map(considered.map((node) => [node.label(spread.topologyKey) ?? '', 0]))
    for (const node of cluster.nodes) {
      const value = node.label(spread.topologyKey) ?? ''
      const known = counts.get(value)
      if (known === undefined || isIgnored(node) || !isCounted(spread, node)) continue
      counts.set(value, known + (onNodes?.get(node.name) ?? 0))
    }
    return { spread, onNodes, counts, weight: Math.log(counts.size + 2) }
  })
  return {
    of(node) {
      if (isIgnored(node)) return 0
      let score = 0
      for (const { spread, onNodes, counts, weight } of domains) {
        const value = node.label(spread.topologyKey)
        if (value === undefined) continue
        const count = spread.topologyKey === HOSTNAME ? (onNodes?.get(node.name) ?? 0) : (counts.get(value) ?? 0)
        score += count * weight + (spread.maxSkew - 1)
      }
      return Math.round(score)
    },
    normalise: (scores, of) => normalise(scores, isOwn ? of.map(isIgnored) : []),
  }
}

/** `isIgnored` by index; absent means false. */
function normalise(scores: number[], isIgnored: readonly boolean[]): void {
  let most = 0
  let least = Number.MAX_SAFE_INTEGER
  for (const [i, score] of scores.entries()) {
    if (isIgnored[i]) continue
    most = Math.max(most, score)
    least = Math.min(least, score)
  }
  for (const [i, score] of scores.entries()) {
    if (isIgnored[i]) scores[i] = 0
    else scores[i] = most === 0 ? MAX_SCORE : Math.trunc((MAX_SCORE * (most + least - score)) / most)
  }
}

function defaultSpreads(pod: PodInfo, snapshot: Snapshot): Spread[] {
  const selector = siblingSelector(pod, snapshot)
  if (selector.length === 0) return []
  return DEFAULTS.map((one) => ({ ...one, minDomains: 1, selector, honoursAffinity: true, honoursTaints: false }))
}

/** The selector of a pod's services combined with that of its ReplicaSet or StatefulSet. */
function siblingSelector(pod: PodInfo, { objects }: Snapshot): LabelSelector {
  const labels = new Map<string, string>()
  for (const service of objects.servicesFor(pod.namespace, pod.labels)) {
    const selector = service.spec?.selector
    if (selector === undefined || !matchesLabels(exactly(Object.entries(selector)), pod.labels)) continue
    for (const [key, value] of Object.entries(selector)) labels.set(key, value)
  }
  const owner = pod.pod.metadata.ownerReferences?.find(({ controller }) => controller === true)
  return [...exactly([...labels]), ...(owner === undefined ? [] : ownerSelector(pod.namespace, owner, objects))]
}

const exactly = (labels: readonly (readonly [string, string])[]): LabelSelector =>
  labels.map(([key, value]) => ({ key, operator: '=', values: [value] }))

function ownerSelector(
  namespace: string,
  owner: { apiVersion: string; kind: string; name: string },
  objects: Snapshot['objects'],
): LabelSelector {
  if (owner.apiVersion !== 'apps/v1') return []
  let found: KubeObject | undefined
  if (owner.kind === 'ReplicaSet') found = objects.replicaSet(namespace, owner.name)
  if (owner.kind === 'StatefulSet') found = objects.statefulSet(namespace, owner.name)
  return readSelector((found?.spec as { selector?: unknown } | undefined)?.selector) ?? []
}
