/**
 * Which bindings depend on the object of a binding: found from the annotations of bindings, by name or by labels, through
 * indexes. The list of referrers is always computed as a whole, never added to.
 */
import type { BindingSnapshot, ResourceBinding } from '../../../kinds/karmada/index.ts'
import { bindingName, bindingReferenceKey } from '../../../kinds/karmada/names.ts'
import { RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import { DEPENDED_BY_LABEL_PREFIX, RESOURCE_BINDING_ID } from '../../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, objectKey } from '../../../kube/object-reference.ts'
import { type Index, indexOf, type Reader } from '../../../runtime/controller.ts'
import type { Templates } from '../../../runtime/templates.ts'
import { templateWithin } from '../../binding/index.ts'
import { controllerUidOf } from '../../detector/binding/desired.ts'
import type { DependentReference } from '../../interpreter/interpreter.ts'
import { dependenciesOf, isReachable, means, takesDependencies } from '../references.ts'

const BY_NAME = 'needs-by-name'
const BY_LABELS = 'needs-by-labels'

const reachable = (binding: ResourceBinding): DependentReference[] =>
  takesDependencies(binding) ? dependenciesOf(binding).filter((reference) => isReachable(reference, binding)) : []

const labelsKeyOf = (namespace: string | undefined, { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): string =>
  `${namespace ?? ''} ${apiVersion} ${kind}`

export const REFERRER_INDEXES: readonly Index[] = [
  indexOf(RESOURCE_BINDINGS, BY_NAME, (binding) =>
    reachable(binding).flatMap(({ kind, name }) =>
      name === undefined ? [] : [objectKey(binding.metadata.namespace, bindingName(kind, name))],
    ),
  ),
  indexOf(RESOURCE_BINDINGS, BY_LABELS, (binding) => [
    ...new Set(
      reachable(binding).flatMap((reference) => (reference.name === undefined ? [labelsKeyOf(binding.metadata.namespace, reference)] : [])),
    ),
  ]),
]

/** The attached bindings of everything that the references of a binding match now. */
export function neededBy(binding: ResourceBinding, templates: Templates): ObjectRef[] {
  const { namespace = '' } = binding.metadata
  return reachable(binding).flatMap((reference) => {
    const { kind, name } = reference
    if (name !== undefined) return [{ namespace, name: bindingName(kind, name) }]
    return [...templates.selectedBy({ ...reference, namespace })].map(({ object }) => ({
      namespace,
      name: bindingName(kind, object.metadata.name ?? ''),
    }))
  })
}

export interface Dependency {
  /** The object that is needed, or that the binding belongs to; undefined while there is none. */
  object: KubeObject | undefined
  /** The bindings that need it, in a stable order. */
  referrers: readonly ResourceBinding[]
  /** Whether the binding belongs to another object, which exists. */
  isTaken: boolean
  /** Cluster-scoped objects that are referenced by name, whether they exist or not. */
  ofCluster: readonly NamedReference[]
}

/**
 * The object behind the binding of this name, and the bindings that need it. If several objects share the name: the one
 * that has the binding already, or the first by kind.
 */
export function dependencyOf(ref: ObjectRef, binding: ResourceBinding | undefined, read: Reader, templates: Templates): Dependency {
  const { namespace, name } = ref
  const owner = binding === undefined ? undefined : controllerUidOf(binding)
  const byName = read.byIndex(RESOURCE_BINDINGS, BY_NAME, `${namespace}/${name}`)
  const ofCluster = clusterScoped(byName, name, templates)
  const current = binding?.spec === undefined ? undefined : templateWithin(templates, binding)
  const objects = [
    ...templates.ofBinding(namespace, name).map(({ object }) => object),
    ...ofCluster.flatMap((reference) => templates.get({ ...reference, namespace: '' }) ?? []),
    ...(current === undefined ? [] : [current]),
  ]
  const candidates = objects.map((object) => ({ object, referrers: referrersOf(object, namespace, byName, read) }))
  const needed = candidates.filter(({ referrers }) => referrers.length > 0)
  const isOwner = ({ object }: { object: KubeObject }): boolean => object.metadata.uid === owner
  const first = needed.toSorted((a, b) => (a.object.apiVersion < b.object.apiVersion ? -1 : 1))[0]
  const chosen = needed.find(isOwner) ?? first ?? candidates.find(isOwner)
  const isTaken = chosen !== undefined && !isOwner(chosen) && candidates.some(isOwner)
  return { object: chosen?.object, referrers: chosen?.referrers ?? [], isTaken, ofCluster }
}

export type NamedReference = DependentReference & { name: string }

/** They have no namespace, but the bindings that need them do: they are found through the references themselves. */
const clusterScoped = (referrers: readonly ResourceBinding[], name: string, templates: Templates): NamedReference[] =>
  referrers.flatMap(reachable).filter((reference): reference is NamedReference => {
    if (reference.name === undefined || bindingName(reference.kind, reference.name) !== name) return false
    return templates.resourceOf(reference.apiVersion, reference.kind)?.namespaced === false
  })

function referrersOf(object: KubeObject, namespace: string, byName: readonly ResourceBinding[], read: Reader): ResourceBinding[] {
  const candidates = [...byName, ...read.byIndex(RESOURCE_BINDINGS, BY_LABELS, labelsKeyOf(namespace, object))]
  const referrers = candidates.filter((binding) => reachable(binding).some((reference) => means(reference, object)))
  return [...new Set(referrers)].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
}

export const snapshotOf = ({ metadata, spec }: ResourceBinding): BindingSnapshot => ({
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  name: metadata.name ?? '',
  ...(spec?.clusters === undefined ? {} : { clusters: spec.clusters }),
})

const labelOf = ({ metadata }: ResourceBinding): string =>
  `${DEPENDED_BY_LABEL_PREFIX}${bindingReferenceKey(metadata.namespace, metadata.name ?? '')}`

/** The labels that stand for these referrers. */
export const labelsOf = (referrers: readonly ResourceBinding[]): Record<string, string> =>
  Object.fromEntries(referrers.map((binding) => [labelOf(binding), binding.metadata.labels?.[RESOURCE_BINDING_ID] ?? '']))
