/** The members of `up` at its hub: joined as any other cluster would be, and what the fleet does by default when one fails. */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import { type Client, createClient } from '../client/client.ts'
import { isAlreadyExists } from '../client/errors.ts'
import type { Transport } from '../client/transport.ts'
import { registerMember } from '../fleet/membership/join.ts'
import { CLUSTER_TAINT_POLICIES } from '../fleet/resources.ts'
import type { KubeObject } from '../kube/meta.ts'

export interface OwnFleet {
  hub: Transport
  members: readonly { name: string; url: string; region: string; zones: readonly string[]; transport: Transport }[]
  clock: Clock
  random: Random
}

/** Writes nothing when everything is as it was left. */
export async function joinOwnMembers({ hub: way, members, clock, random }: OwnFleet): Promise<void> {
  const clientTo = (transport: Transport): Client => createClient({ transport, clock, random, userAgent: 'sluice/up' })
  const hub = clientTo(way)
  let isNew = false
  for (const { name, url, region, zones, transport } of members) {
    const member = clientTo(transport)
    const made = await registerMember({ hub, member, clock }, { name, apiEndpoint: url, provider: 'sluice', region, zones: [...zones] })
    isNew ||= made.some((one) => one.startsWith('hub: Cluster '))
    await member.close()
  }
  // Once, with the first members: who takes it away does not find it again after the next start.
  if (isNew) await installTaintPolicy(hub)
  await hub.close()
}

/** Work leaves a cluster that is not ready, as far as its policy lets it. */
const TAINT_POLICY = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'ClusterTaintPolicy',
  metadata: { name: 'leave-clusters-that-are-not-ready' },
  spec: {
    addOnConditions: [{ conditionType: 'Ready', operator: 'NotIn', statusValues: ['True'] }],
    removeOnConditions: [{ conditionType: 'Ready', operator: 'In', statusValues: ['True'] }],
    taints: [{ key: 'cluster.karmada.io/not-ready', effect: 'NoExecute' }],
  },
} satisfies KubeObject

async function installTaintPolicy(hub: Client): Promise<void> {
  try {
    await hub.create(CLUSTER_TAINT_POLICIES, TAINT_POLICY)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
