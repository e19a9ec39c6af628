/** Events about templates and policies, in Karmada's words. */
import type { Policy } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { EventIntent } from '../../../runtime/controller.ts'
import { type Claim, isOfCluster } from '../claim.ts'

const policyText = ({ metadata }: Policy): string =>
  metadata.namespace === undefined || metadata.namespace === ''
    ? `cluster policy(${metadata.name})`
    : `policy(${metadata.namespace}/${metadata.name})`

export const applied = (of: KubeObject, policy: Policy): EventIntent => ({
  of,
  type: 'Normal',
  reason: 'ApplyPolicySucceed',
  message: `Apply ${policyText(policy)} succeed`,
})

export const applyFailed = (of: KubeObject, policy: Policy, why: string): EventIntent => ({
  of,
  type: 'Warning',
  reason: 'ApplyPolicyFailed',
  message: `Apply ${policyText(policy)} failed: ${why}`,
})

/** A narrowing holds it back. */
export const held = (of: KubeObject, because: string): EventIntent => ({ of, type: 'Normal', reason: 'Held', message: because })

/** Nothing holds it back any more. */
export const released = (of: KubeObject): EventIntent => ({
  of,
  type: 'Normal',
  reason: 'Released',
  message: 'nothing holds it back any more: it can be scheduled',
})

/** With `why`: preemption failed. */
export function preempted(of: KubeObject, by: Claim, from: Claim, why?: string): EventIntent {
  const taker = isOfCluster(by) ? `Cluster propagation policy(${by.name})` : `Propagation policy(${by.namespace}/${by.name})`
  const giver = isOfCluster(from) ? `cluster propagation policy(${from.name})` : `propagation policy(${from.namespace}/${from.name})`
  return why === undefined
    ? { of, type: 'Normal', reason: 'PreemptPolicySucceed', message: `${taker} preempted ${giver} successfully` }
    : { of, type: 'Warning', reason: 'PreemptPolicyFailed', message: `${taker} failed to preempt ${giver}: ${why}` }
}
