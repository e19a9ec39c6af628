/**
 * Which policy a template belongs to. Pure, and independent of the order in which policies are given: a valid claim stays;
 * otherwise the best policy of the template's namespace, then the best of the cluster. Best: highest priority, then the most
 * specific selector, then the smaller name. A policy that preempts takes what a lower one has claimed.
 */
import type { Policy } from '../../kinds/karmada/index.ts'
import { type ImplicitPriority, implicitPriorityOf } from '../../kinds/karmada/resource-selector-match.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type Claim, claimBy, isOfCluster, isSameClaim } from './claim.ts'

const BY_NAME: ImplicitPriority = 3

export interface Choice {
  template: KubeObject
  claim: Claim | undefined
  /** The policy that the claim names, where there is one. */
  claimed: Policy | undefined
  /** Policies that may match, in any order and more than once. */
  namespaced: readonly Policy[]
  cluster: readonly Policy[]
  /** Whether policies may preempt at all. */
  preemption: boolean
}

export interface Decision {
  /** Undefined: no policy applies. */
  policy: Policy | undefined
  /** The policy it is taken from. */
  preempts?: Claim
}

export function decide(choice: Choice): Decision {
  const { claim, claimed } = choice
  if (claim === undefined || claimed === undefined || !isValidClaim(choice.template, claim, claimed)) return { policy: bestOf(choice) }
  const preemptor = choice.preemption ? preemptorOf(choice, claim, claimed) : undefined
  return preemptor === undefined ? { policy: claimed } : { policy: preemptor, preempts: claim }
}

/** The policy exists, is the one that made the claim, is not being deleted, and still selects the template. */
export function isValidClaim(template: KubeObject, claim: Claim, policy: Policy | undefined): boolean {
  return (
    policy !== undefined &&
    isAlive(policy) &&
    isSameClaim(claim, claimBy(policy)) &&
    isWithinReach(policy, template) &&
    specificity(policy, template) > 0
  )
}

const isAlive = ({ metadata }: Policy): boolean => metadata.deletionTimestamp === undefined

const isWithinReach = ({ metadata }: Policy, template: KubeObject): boolean =>
  (metadata.namespace ?? '') === '' || metadata.namespace === template.metadata.namespace

const specificity = (policy: Policy, template: KubeObject): ImplicitPriority =>
  implicitPriorityOf(policy.spec?.resourceSelectors ?? [], template)

const bestOf = ({ template, namespaced, cluster }: Choice): Policy | undefined => best(namespaced, template) ?? best(cluster, template)

function best(policies: readonly Policy[], template: KubeObject): Policy | undefined {
  let found: { policy: Policy; implicit: ImplicitPriority } | undefined
  for (const policy of policies) {
    if (!isAlive(policy) || !isWithinReach(policy, template)) continue
    const implicit = specificity(policy, template)
    if (implicit > 0 && (found === undefined || isBetter({ policy, implicit }, found))) found = { policy, implicit }
  }
  return found?.policy
}

type Rated = { policy: Policy; implicit: ImplicitPriority }

function isBetter(a: Rated, b: Rated): boolean {
  const [priority, other] = [priorityOf(a.policy), priorityOf(b.policy)]
  if (priority !== other) return priority > other
  if (a.implicit !== b.implicit) return a.implicit > b.implicit
  return (a.policy.metadata.name ?? '') < (b.policy.metadata.name ?? '')
}

const priorityOf = ({ spec }: Policy): number => spec?.priority ?? 0

/**
 * Only policies that name the template preempt: a namespaced policy preempts namespaced ones of lower priority and any
 * cluster policy; a cluster policy preempts cluster policies of lower priority.
 */
function preemptorOf({ template, namespaced, cluster }: Choice, claim: Claim, claimed: Policy): Policy | undefined {
  const isHigher = (policy: Policy): boolean => priorityOf(policy) > priorityOf(claimed)
  const may = (policy: Policy): boolean => policy.spec?.preemption === 'Always' && specificity(policy, template) === BY_NAME
  const own = namespaced.filter((policy) => may(policy) && (isOfCluster(claim) || isHigher(policy)))
  const ofCluster = isOfCluster(claim) ? cluster.filter((policy) => may(policy) && isHigher(policy)) : []
  return best(own, template) ?? best(ofCluster, template)
}
