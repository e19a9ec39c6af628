/**
 * Which override policies may select an object, and which bindings a policy may select: both through indexes over kind and
 * name, so that neither a change of a policy nor a pass over a binding looks at what it cannot concern.
 */

import type { BindingKind } from '../../../kinds/karmada/binding-kinds.ts'
import type { Binding, ClusterOverridePolicy, OverridePolicy, ResourceSelector } from '../../../kinds/karmada/index.ts'
import { CLUSTER_OVERRIDE_POLICIES, OVERRIDE_POLICIES } from '../../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../../kube/object-reference.ts'
import { type Index, indexOf, type Reader } from '../../../runtime/controller.ts'
import type { OverridePolicies } from '../../override/index.ts'

type AnyPolicy = OverridePolicy | ClusterOverridePolicy

/** What is known about an object without having it: its reference in the binding. */
type Reference = Pick<ResourceSelector, 'apiVersion' | 'kind' | 'namespace' | 'name'>

const BY_KIND = 'overrides-by-kind'
const EVERY_KIND = '*'
const kindOf = ({ apiVersion, kind }: Pick<Reference, 'apiVersion' | 'kind'>): string => `${apiVersion} ${kind}`

function kindsOf({ spec }: AnyPolicy): string[] {
  const selectors = spec.resourceSelectors ?? []
  return selectors.length === 0 ? [EVERY_KIND] : [...new Set(selectors.map(kindOf))]
}

export const policyIndexes = (kind: BindingKind): Index[] => [
  indexOf(CLUSTER_OVERRIDE_POLICIES, BY_KIND, kindsOf),
  ...(kind.resource.namespaced
    ? [indexOf(OVERRIDE_POLICIES, BY_KIND, (policy: OverridePolicy) => kindsOf(policy).map((one) => `${policy.metadata.namespace}/${one}`))]
    : []),
]

/** All that may select an object of this kind; whether they do depends on its labels and name. */
export function policiesFor(kind: BindingKind, read: Reader, object: KubeObject): OverridePolicies {
  const keys = [kindOf(object), EVERY_KIND]
  const { namespace = '' } = object.metadata
  return {
    clusterPolicies: keys.flatMap((key) => read.byIndex(CLUSTER_OVERRIDE_POLICIES, BY_KIND, key)),
    policies: kind.resource.namespaced ? keys.flatMap((key) => read.byIndex(OVERRIDE_POLICIES, BY_KIND, `${namespace}/${key}`)) : [],
  }
}

const BY_TEMPLATE = 'by-template'
const named = (reference: Reference): string => `${kindOf(reference)} ${reference.name}`
const within = (reference: Reference): string => `${kindOf(reference)} ${reference.namespace ?? ''}/`

/** Bindings by what they propagate: by kind, by kind and name, and by kind and namespace. */
export const templateIndex = (kind: BindingKind): Index =>
  indexOf(kind.resource, BY_TEMPLATE, ({ spec: { resource } }: Binding) => [kindOf(resource), named(resource), within(resource)])

/** The bindings whose template a policy may select. `labelsMatch` decides for selectors by labels. */
export function bindingsMeant(
  kind: BindingKind,
  policy: AnyPolicy,
  { read, labelsMatch }: { read: Reader; labelsMatch(selector: ResourceSelector, binding: Binding): boolean },
): ObjectRef[] {
  const namespace = policy.metadata.namespace ?? ''
  const selectors = policy.spec.resourceSelectors ?? []
  if (selectors.length === 0) return read.list(kind.resource, namespace === '' ? undefined : namespace).map(refOf)
  return selectors.flatMap((selector) => {
    const scope = isSet(selector.namespace) ? selector.namespace : namespace
    const isWithin = ({ spec: { resource } }: Binding): boolean =>
      (scope === '' || resource.namespace === scope) && (namespace === '' || resource.namespace === namespace)
    return read
      .byIndex(kind.resource, BY_TEMPLATE, indexValue(selector, scope))
      .filter((binding) => isWithin(binding) && (isSet(selector.name) || labelsMatch(selector, binding)))
      .map(refOf)
  })
}

const isSet = (text: string | undefined): text is string => text !== undefined && text !== ''

function indexValue(selector: ResourceSelector, namespace: string): string {
  if (isSet(selector.name)) return named(selector)
  return namespace === '' ? kindOf(selector) : within({ ...selector, namespace })
}
