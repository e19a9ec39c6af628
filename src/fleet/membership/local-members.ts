/** The members of `up` at its hub: joined like any other cluster, and the default policy for clusters that fail. */

import { type Client, createClient } from '../../client/client.ts'
import { isAlreadyExists } from '../../client/errors.ts'
import type { Transport } from '../../client/transport.ts'
import { CLUSTER_TAINT_POLICIES } from '../../kinds/karmada/resources.ts'
import { CLUSTER_NAMESPACE } from '../../kinds/karmada/well-known.ts'
import { NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { LocalClusters, LocalMembership } from '../../runtime/module/local-clusters.ts'
import { hasTokens, registerMember } from './join.ts'

/** Writes nothing when everything is as it was. */
export function localMembers({ hub: transportToHub, members, clock, random }: LocalClusters): LocalMembership {
  const clientTo = (transport: Transport): Client => createClient({ transport, clock, random, userAgent: 'sluice/up' })
  const joined = new Set<string>()

  async function registerAll(mayWait: boolean): Promise<void> {
    const hub = clientTo(transportToHub())
    if (await isNew(hub)) await installTaintPolicy(hub)
    for (const { name, url, region, zones, transport } of members.filter((one) => !joined.has(one.name))) {
      const member = clientTo(transport())
      const request = { name, apiEndpoint: url, provider: 'sluice', region, zones: [...zones] }
      if (mayWait || (await hasTokens(member, request))) {
        await registerMember({ hub, member, clock }, request)
        joined.add(name)
      }
      await member.close()
    }
    await hub.close()
  }

  return {
    // Those joined before, whose tokens exist already.
    beforeControllers: () => registerAll(false),
    // All others: a member's controllers fill in the tokens that joining requests.
    afterControllers: () => registerAll(true),
  }
}

/**
 * Whether no member was ever joined. What is created before the first one is created only once: if the user deletes it, it
 * does not come back at the next start.
 */
const isNew = async (hub: Client): Promise<boolean> =>
  !(await hub.list(NAMESPACES)).items.some(({ metadata }) => metadata.name === CLUSTER_NAMESPACE)

/** Workloads leave a cluster that is not ready, as far as their policy permits. */
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
