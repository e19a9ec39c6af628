/**
 * Policies found by what they select: kind, namespace and name of the template lead to the few policies that can match,
 * however many there are. A selector without a name (or, in a cluster policy, without a namespace) is indexed under `*`.
 */
import type { ClusterPropagationPolicy, Policy, PropagationPolicy, ResourceSelector } from '../../kinds/karmada/index.ts'
import { CLUSTER_PROPAGATION_POLICIES, PROPAGATION_POLICIES } from '../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type Index, indexOf, type Reader } from '../../runtime/controller.ts'

const SELECTS = 'selects'
const OVERRIDES = 'waits-for-override'
const PRIORITY_CLASS = 'priority-class'
const ANY = '*'

const keyOf = (namespace: string, { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>, name: string): string =>
  `${namespace} ${apiVersion} ${kind} ${name}`

export const selectorsOf = ({ spec }: Policy): readonly ResourceSelector[] => spec?.resourceSelectors ?? []

const namespacedKeys = (policy: PropagationPolicy): string[] => [
  ...new Set(selectorsOf(policy).map((selector) => keyOf(policy.metadata.namespace ?? '', selector, selector.name || ANY))),
]

const clusterKeys = (policy: ClusterPropagationPolicy): string[] => [
  ...new Set(selectorsOf(policy).map((selector) => keyOf(selector.namespace || ANY, selector, selector.name || ANY))),
]

const overridesOf = ({ metadata, spec }: Policy): string[] =>
  (spec?.dependentOverrides ?? []).map((name) => `${metadata.namespace ?? ''}/${name}`)

const classesOf = ({ spec }: Policy): string[] => {
  const name = spec?.schedulePriority?.priorityClassName
  return name === undefined ? [] : [name]
}

export const POLICY_INDEXES: readonly Index[] = [
  indexOf(PROPAGATION_POLICIES, SELECTS, namespacedKeys),
  indexOf(CLUSTER_PROPAGATION_POLICIES, SELECTS, clusterKeys),
  indexOf(PROPAGATION_POLICIES, OVERRIDES, overridesOf),
  indexOf(CLUSTER_PROPAGATION_POLICIES, OVERRIDES, overridesOf),
  indexOf(PROPAGATION_POLICIES, PRIORITY_CLASS, classesOf),
  indexOf(CLUSTER_PROPAGATION_POLICIES, PRIORITY_CLASS, classesOf),
]

export interface Candidates {
  namespaced: readonly Policy[]
  cluster: readonly Policy[]
}

/** Every policy that may select this template; `decide` determines whether it does. */
export function candidatesFor(template: KubeObject, read: Reader): Candidates {
  const { namespace = '', name = '' } = template.metadata
  const names = [name, ANY]
  const within = namespace === '' ? [ANY] : [namespace, ANY]
  return {
    namespaced:
      namespace === '' ? [] : names.flatMap((one) => read.byIndex(PROPAGATION_POLICIES, SELECTS, keyOf(namespace, template, one))),
    cluster: within.flatMap((scope) =>
      names.flatMap((one) => read.byIndex(CLUSTER_PROPAGATION_POLICIES, SELECTS, keyOf(scope, template, one))),
    ),
  }
}

/** Policies that wait for an override policy of this name; without a namespace: for a cluster override policy. */
export function policiesWaitingFor({ metadata }: KubeObject, read: Reader): Policy[] {
  const { namespace = '', name = '' } = metadata
  return namespace === ''
    ? read.byIndex(CLUSTER_PROPAGATION_POLICIES, OVERRIDES, `/${name}`)
    : read.byIndex(PROPAGATION_POLICIES, OVERRIDES, `${namespace}/${name}`)
}

export function policiesOfClass(name: string, read: Reader): Policy[] {
  return [...read.byIndex(PROPAGATION_POLICIES, PRIORITY_CLASS, name), ...read.byIndex(CLUSTER_PROPAGATION_POLICIES, PRIORITY_CLASS, name)]
}
