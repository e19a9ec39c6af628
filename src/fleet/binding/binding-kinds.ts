/**
 * ResourceBinding and ClusterResourceBinding are one thing with two sets of names. Whoever works on bindings takes a
 * `BindingKind` and never asks which of the two it is.
 */
import type { Resource } from '../../client/resource.ts'
import type { Binding, Work } from '../../kinds/karmada/index.ts'
import {
  BINDING_FINALIZER,
  CLUSTER_BINDING_FINALIZER,
  CLUSTER_RESOURCE_BINDING_ID,
  CLUSTER_RESOURCE_BINDING_NAME,
  RESOURCE_BINDING_ID,
  RESOURCE_BINDING_NAME,
  RESOURCE_BINDING_NAMESPACE,
} from '../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Index, ObjectRef } from '../../runtime/controller.ts'
import { indexOf } from '../../runtime/controller.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS, WORKS } from '../resources.ts'

export interface BindingKind {
  readonly resource: Resource<Binding>
  /** What a controller for this kind is called: `fleet.binding.works`, and the same with an ending for cluster-scoped ones. */
  controllerName(base: string): string
  /** Label of the permanent id: on the binding, its Works and their manifests. */
  readonly idLabel: string
  readonly finalizer: string
  /** Annotations by which a Work and its manifest name their binding. */
  nameAnnotations(binding: ObjectRef): Record<string, string>
  /** The binding that an object names by its annotations. */
  namedBy(object: KubeObject): ObjectRef | undefined
  /** As events name it. */
  display(binding: ObjectRef): string
}

export const NAMESPACED_BINDINGS: BindingKind = Object.freeze({
  resource: RESOURCE_BINDINGS as Resource<Binding>,
  controllerName: (base: string) => base,
  idLabel: RESOURCE_BINDING_ID,
  finalizer: BINDING_FINALIZER,
  nameAnnotations: ({ namespace, name }: ObjectRef) => ({ [RESOURCE_BINDING_NAMESPACE]: namespace, [RESOURCE_BINDING_NAME]: name }),
  namedBy({ metadata }: KubeObject) {
    const namespace = metadata.annotations?.[RESOURCE_BINDING_NAMESPACE]
    const name = metadata.annotations?.[RESOURCE_BINDING_NAME]
    return namespace === undefined || name === undefined ? undefined : { namespace, name }
  },
  display: ({ namespace, name }: ObjectRef) => `ResourceBinding(${namespace}/${name})`,
})

export const CLUSTER_SCOPED_BINDINGS: BindingKind = Object.freeze({
  resource: CLUSTER_RESOURCE_BINDINGS as Resource<Binding>,
  controllerName: (base: string) => `${base}.cluster-scoped`,
  idLabel: CLUSTER_RESOURCE_BINDING_ID,
  finalizer: CLUSTER_BINDING_FINALIZER,
  nameAnnotations: ({ name }: ObjectRef) => ({ [CLUSTER_RESOURCE_BINDING_NAME]: name }),
  namedBy({ metadata }: KubeObject) {
    const name = metadata.annotations?.[CLUSTER_RESOURCE_BINDING_NAME]
    return name === undefined ? undefined : { namespace: '', name }
  },
  display: ({ name }: ObjectRef) => `ClusterResourceBinding(${name})`,
})

export const BINDING_KINDS: readonly BindingKind[] = Object.freeze([NAMESPACED_BINDINGS, CLUSTER_SCOPED_BINDINGS])

export const refOf = ({ metadata }: KubeObject): ObjectRef => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' })

/** Empty while admission has not given it one. */
export const permanentIdOf = ({ idLabel }: BindingKind, { metadata }: KubeObject): string => metadata.labels?.[idLabel] ?? ''

const WORKS_OF_BINDING = 'works-of-binding'
const byId = (id: string): string => `id ${id}`
const byName = ({ namespace, name }: ObjectRef): string => `name ${namespace}/${name}`

/** Works by the binding they were made for: by its permanent id, and by its name. */
export const worksIndex = (kind: BindingKind): Index =>
  indexOf(WORKS, WORKS_OF_BINDING, (work: Work) => {
    const id = permanentIdOf(kind, work)
    const ref = kind.namedBy(work)
    return [...(id === '' ? [] : [byId(id)]), ...(ref === undefined ? [] : [byName(ref)])]
  })

interface WorksReader {
  byIndex(resource: typeof WORKS, index: string, value: string): Work[]
}

export const worksWithId = (read: WorksReader, id: string): Work[] => (id === '' ? [] : read.byIndex(WORKS, WORKS_OF_BINDING, byId(id)))

/** Also of a binding that had the name before. */
export const worksNaming = (read: WorksReader, ref: ObjectRef): Work[] => read.byIndex(WORKS, WORKS_OF_BINDING, byName(ref))
