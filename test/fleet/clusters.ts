/** What stories do to clusters at the hub: their own labels, taints and locations that they restore, capacity that only they use. */
import assert from 'node:assert/strict'
import type { Cluster } from '../../src/kinds/karmada/index.ts'
import { CLUSTERS } from '../../src/kinds/karmada/resources.ts'
import { NODES } from '../../src/kinds/kubernetes/resources.ts'
import type { FleetTestbed, Place } from './story.ts'

type Fields = Record<string, unknown>

/** Sets labels of a cluster; null removes one. Keys come from `unique`, so no other story is affected. */
export const relabel = (testbed: FleetTestbed, { name }: Place, labels: Readonly<Record<string, string | null>>): Promise<unknown> =>
  testbed.hub.patch(CLUSTERS, name, { metadata: { labels } })

/** Does something while a cluster's spec is changed, and restores it afterwards. Only in stories that run alone. */
export async function whileCluster(testbed: FleetTestbed, { name }: Place, spec: Fields, work: () => Promise<void>): Promise<void> {
  const cluster = await testbed.hub.get(CLUSTERS, name)
  assert.ok(cluster !== undefined)
  const before = cluster.spec as unknown as Fields
  await testbed.hub.patch(CLUSTERS, name, { spec })
  try {
    await work()
  } finally {
    await testbed.hub.patch(CLUSTERS, name, { spec: Object.fromEntries(Object.keys(spec).map((key) => [key, before[key] ?? null])) })
  }
}

export async function clusterNamed(testbed: FleetTestbed, name: string): Promise<Cluster> {
  const cluster = await testbed.hub.get(CLUSTERS, name)
  assert.ok(cluster !== undefined, `no cluster ${name}`)
  return cluster
}

/** An extended resource that nodes have and only this story requests, so that no other pods use its capacity. */
export interface OwnCapacity {
  /** For the spec of pods: one replica takes one. */
  readonly pod: Fields
  /** Sets these amounts in members, and waits until the hub knows. */
  give(amounts: Readonly<Record<string, number>>): Promise<void>
}

export function ownCapacity(testbed: FleetTestbed): OwnCapacity {
  const chip = `${testbed.unique('chips')}.dev/chip`
  const one = { [chip]: '1' }
  return {
    pod: { containers: [{ name: 'main', image: 'nginx:1.19.0', resources: { requests: one, limits: one } }] },
    async give(amounts) {
      for (const member of testbed.members) {
        const amount = amounts[member.name]
        const [node] = await member.list(NODES)
        if (amount === undefined || node?.metadata.name === undefined) continue
        const capacity = { [chip]: String(amount) }
        await member.patch(NODES, node.metadata.name, { status: { capacity: capacity, allocatable: capacity } }, { subresource: 'status' })
      }
      await testbed.until(`clusters with room ${JSON.stringify(amounts)}`, async () => {
        const clusters = await testbed.hub.list(CLUSTERS)
        const seen = Object.fromEntries(
          clusters.map(({ metadata, status }) => [metadata.name, String(status?.resourceSummary?.allocatable?.[chip])]),
        )
        return Object.entries(amounts).every(([name, amount]) => seen[name] === String(amount))
      })
    },
  }
}
