/**
 * What override policies make of an object for one cluster. Cluster policies are applied first, then those of the object's
 * namespace; among them, the more specific later, so that it wins, and by name if equally specific; within a policy, its
 * rules in the order in which they are listed; within a rule, the kinds of overriders in a fixed order. Pure and
 * independent of the order in which policies are given. If one overrider cannot be applied, nothing is; nor is a rule that
 * changes what no override may change.
 */

import { clusterMatcher } from '../../kinds/karmada/cluster-affinity-match.ts'
import type { Cluster, ClusterOverridePolicy, OverridePolicy, OverrideRule, Overriders } from '../../kinds/karmada/index.ts'
import { type ImplicitPriority, resourceMatcher } from '../../kinds/karmada/resource-selector-match.ts'
import { compareStrings } from '../../kube/go-print.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type AppliedOverride, appliedAnnotations } from './applied.ts'
import { DoesNotApply } from './json-patch.ts'
import { checkGrantsAreKept, checkIdentityIsKept } from './kept.ts'
import { applyOverriders } from './overriders/index.ts'

export interface OverridePolicies {
  clusterPolicies: readonly ClusterOverridePolicy[]
  /** Policies of namespaces other than the object's are ignored. */
  policies: readonly OverridePolicy[]
}

export interface Overridden {
  object: KubeObject
  appliedClusterOverrides: readonly AppliedOverride[]
  appliedOverrides: readonly AppliedOverride[]
  /** What the Work records about them. */
  annotations: Readonly<Record<string, string>>
}

/** A policy that cannot be applied; the message names the policy, the cluster, the overrider and its path. */
export class OverrideError extends Error {
  readonly policy: string
  readonly cluster: string
  constructor({ policy, cluster, problem }: { policy: string; cluster: string; problem: string }) {
    super(`Apply ${policy} for cluster(${cluster}) failed: ${problem}`)
    this.name = 'OverrideError'
    this.policy = policy
    this.cluster = cluster
  }
}

export type OverrideOutcome = (Overridden & { error?: undefined }) | { error: OverrideError }

export function applyOverrides(input: { object: KubeObject; cluster: Cluster } & OverridePolicies): OverrideOutcome {
  try {
    return overridesOf(input)(input.object, input.cluster)
  } catch (error) {
    if (error instanceof OverrideError) return { error }
    throw error
  }
}

/** The same for many clusters: selectors are parsed once. The returned function throws OverrideError. */
export function overridesOf({ clusterPolicies, policies }: OverridePolicies): (object: KubeObject, cluster: Cluster) => Overridden {
  const [ofClusters, ofNamespaces] = [clusterPolicies.map(compiled), policies.map(compiled)]
  return (object, cluster) => {
    const first = applyAll(ofClusters, object, cluster)
    const { namespace = '' } = first.object.metadata
    const own = namespace === '' ? [] : ofNamespaces.filter((policy) => policy.namespace === namespace)
    const second = applyAll(own, first.object, cluster)
    const applied = { appliedClusterOverrides: first.applied, appliedOverrides: second.applied }
    return { object: second.object, ...applied, annotations: appliedAnnotations(applied) }
  }
}

interface Compiled {
  name: string
  namespace: string | undefined
  priorityFor(object: KubeObject): ImplicitPriority
  rules: readonly { matches: ReturnType<typeof clusterMatcher>; overriders: Overriders }[]
}

function compiled({ metadata, spec }: OverridePolicy | ClusterOverridePolicy): Compiled {
  const selectors = spec.resourceSelectors ?? []
  // Before rules existed, a policy was itself a single rule.
  const single: OverrideRule = { targetCluster: spec.targetCluster, overriders: spec.overriders ?? {} }
  const rules = spec.overrideRules ?? []
  return {
    name: metadata.name ?? '',
    namespace: metadata.namespace,
    priorityFor: selectors.length === 0 ? () => 1 : resourceMatcher(selectors),
    rules: (rules.length === 0 ? [single] : rules).map((rule) => ({
      matches: clusterMatcher(rule.targetCluster),
      overriders: rule.overriders,
    })),
  }
}

function applyAll(policies: readonly Compiled[], object: KubeObject, cluster: Cluster) {
  const matching = policies
    .map((policy) => ({ policy, priority: policy.priorityFor(object) }))
    .filter(({ priority }) => priority > 0)
    .sort((a, b) => a.priority - b.priority || compareStrings(a.policy.name, b.policy.name))
  const applied: AppliedOverride[] = []
  let current = object
  for (const { policy } of matching) {
    for (const { matches, overriders } of policy.rules) {
      if (!matches(cluster)) continue
      current = applyRule(policy, overriders, { object: current, cluster })
      applied.push({ policyName: policy.name, overriders })
    }
  }
  return { object: current, applied }
}

function applyRule({ name, namespace }: Compiled, overriders: Overriders, { object, cluster }: { object: KubeObject; cluster: Cluster }) {
  try {
    const overridden = applyOverriders(object, overriders)
    checkIdentityIsKept(object, overridden)
    if (namespace !== undefined) checkGrantsAreKept(object, overridden)
    return overridden
  } catch (error) {
    if (!(error instanceof DoesNotApply)) throw error
    const policy = namespace === undefined ? `cluster override policy(${name})` : `override policy(${namespace}/${name})`
    throw new OverrideError({ policy, cluster: cluster.metadata.name ?? '', problem: error.message })
  }
}
