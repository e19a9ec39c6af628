/** The members of `up` at its hub: joined as any other cluster would be, and what the fleet does by default when one fails. */

import { type Client, createClient } from '../../client/client.ts'
import { isAlreadyExists } from '../../client/errors.ts'
import type { Transport } from '../../client/transport.ts'
import { CLUSTER_TAINT_POLICIES } from '../../kinds/karmada/resources.ts'
import { CLUSTER_NAMESPACE } from '../../kinds/karmada/well-known.ts'
import { NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { LocalClusters, LocalMembership } from '../../runtime/module/local-clusters.ts'
import { hasTokens, registerMember } from './join.ts'

/** Writes nothing when everything is as it was left. */
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
    // Those that were joined before, for which nobody has to do anything.
    beforeControllers: () => registerAll(false),
    // All others: the controllers of a member fill the tokens that joining it asks for.
    afterControllers: () => registerAll(true),
  }
}

/** No member was ever joined. What is made before the first is made once: who takes it away does not find it again after the next start. */
const isNew = async (hub: Client): Promise<boolean> =>
  !(await hub.list(NAMESPACES)).items.some(({ metadata }) => metadata.name === CLUSTER_NAMESPACE)

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
