/** The order in which nodes are checked: round-robin over zones, by name within a zone, so that any stretch covers all zones. */
import type { NodeState } from './node-state.ts'

const ZONE = 'topology.kubernetes.io/zone'
const REGION = 'topology.kubernetes.io/region'

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const zoneOf = (node: NodeState): string => `${node.label(REGION) ?? ''}:${node.label(ZONE) ?? ''}`

export function inOrder(nodes: Iterable<NodeState>): NodeState[] {
  const zones = new Map<string, NodeState[]>()
  for (const node of nodes) {
    const zone = zoneOf(node)
    const there = zones.get(zone)
    if (there === undefined) zones.set(zone, [node])
    else there.push(node)
  }
  const lists = [...zones].sort(([a], [b]) => byText(a, b)).map(([, list]) => list.sort((a, b) => byText(a.name, b.name)))
  const longest = Math.max(0, ...lists.map((list) => list.length))
  const order: NodeState[] = []
  for (let i = 0; i < longest; i++)
    for (const list of lists) {
      const node = list[i]
      if (node !== undefined) order.push(node)
    }
  return order
}
