/** What enqueues a binding, and which changes do not matter to its Works. */
import { deepEqual } from '../../../base/json.ts'
import type { BindingKind } from '../../../kinds/karmada/binding-kinds.ts'
import type { Binding, Cluster, ClusterOverridePolicy, OverridePolicy, Work } from '../../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace } from '../../../kinds/karmada/names.ts'
import { implicitPriorityOf } from '../../../kinds/karmada/resource-selector-match.ts'
import { CLUSTER_OVERRIDE_POLICIES, CLUSTERS, OVERRIDE_POLICIES, WORKS } from '../../../kinds/karmada/resources.ts'
import { NAMESPACES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../../kube/object-reference.ts'
import { type Index, indexOf, type Reader, via, type Watch } from '../../../runtime/controller.ts'
import type { Templates } from '../../../runtime/templates.ts'
import { targetsOf } from '../targets.ts'
import { workNameOf } from '../work-for.ts'
import { worksIndex } from '../works-index.ts'
import { bindingsMeant, policyIndexes, templateIndex } from './policies.ts'

const ON_CLUSTER = 'on-cluster'
const BY_WORK_NAME = 'by-work-name'

export const indexesOf = (kind: BindingKind): Index[] => [
  worksIndex(kind),
  templateIndex(kind),
  indexOf(kind.resource, ON_CLUSTER, ({ spec }: Binding) => targetsOf(spec).map(({ name }) => name)),
  indexOf(kind.resource, BY_WORK_NAME, (binding: Binding) => [workNameOf(binding)]),
  ...policyIndexes(kind),
]

/** A binding's status does not matter here. */
export const isSpecChanged = (old: Binding, binding: Binding): boolean =>
  old.metadata.generation !== binding.metadata.generation || isRelabelled(old, binding)

const isRelabelled = (old: KubeObject, { metadata }: KubeObject): boolean =>
  old.metadata.deletionTimestamp !== metadata.deletionTimestamp ||
  !deepEqual(old.metadata.labels, metadata.labels) ||
  !deepEqual(old.metadata.finalizers, metadata.finalizers)

/** Neither does a Work's status; what we wrote there does. */
const isTouched = (old: Work, work: Work): boolean =>
  old.metadata.generation !== work.metadata.generation ||
  isRelabelled(old, work) ||
  !deepEqual(old.metadata.annotations, work.metadata.annotations)

/** The traits of a cluster that overrides can select by. */
const hasOtherTraits = (old: Cluster, cluster: Cluster): boolean => {
  const traits = ({ metadata, spec }: Cluster): unknown => [metadata.labels, spec.provider, spec.region, spec.zones]
  return !deepEqual(traits(old), traits(cluster))
}

export function watchesOf(kind: BindingKind, templates: Templates): Watch[] {
  const onCluster = (read: Reader, cluster: string): ObjectRef[] => read.byIndex(kind.resource, ON_CLUSTER, cluster).map(refOf)
  const meant = (policy: OverridePolicy | ClusterOverridePolicy, read: Reader): ObjectRef[] =>
    bindingsMeant(kind, policy, {
      read,
      labelsMatch(selector, binding) {
        const template = templates.get(binding.spec.resource)
        return template !== undefined && implicitPriorityOf([selector], template) > 0
      },
    })
  return [
    via(
      WORKS,
      (work, read) => {
        const named = kind.namedBy(work)
        // Also bindings that need a Work of this name, and cannot have it because it belongs to another.
        const wanting = read.byIndex(kind.resource, BY_WORK_NAME, work.metadata.name ?? '').map(refOf)
        return named === undefined ? wanting : [named, ...wanting]
      },
      { isRelevantUpdate: isTouched },
    ),
    via(CLUSTERS, ({ metadata }, read) => onCluster(read, metadata.name ?? ''), { isRelevantUpdate: hasOtherTraits, priority: 'low' }),
    via(
      NAMESPACES,
      ({ metadata }, read) => {
        const cluster = clusterOfExecutionNamespace(metadata.name ?? '')
        return cluster === undefined ? [] : onCluster(read, cluster)
      },
      // All that matters is that it exists.
      { isRelevantUpdate: () => false, priority: 'low' },
    ),
    via(CLUSTER_OVERRIDE_POLICIES, meant),
    ...(kind.resource.namespaced ? [via(OVERRIDE_POLICIES, meant)] : []),
  ]
}
