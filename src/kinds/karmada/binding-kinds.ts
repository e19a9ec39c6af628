/**
 * ResourceBinding and ClusterResourceBinding are the same thing under two sets of names. Code that works on bindings takes a
 * `BindingKind` and never asks which of the two it is.
 */

import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Binding } from './index.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from './resources.ts'
import {
  BINDING_FINALIZER,
  CLUSTER_BINDING_FINALIZER,
  CLUSTER_RESOURCE_BINDING_ID,
  CLUSTER_RESOURCE_BINDING_NAME,
  RESOURCE_BINDING_ID,
  RESOURCE_BINDING_NAME,
  RESOURCE_BINDING_NAMESPACE,
} from './well-known.ts'

export interface BindingKind {
  readonly resource: Resource<Binding>
  /** The name of a controller for this kind: `fleet.binding.works`, with a suffix for cluster-scoped ones. */
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

/** Empty until admission has assigned one. */
export const permanentIdOf = ({ idLabel }: BindingKind, { metadata }: KubeObject): string => metadata.labels?.[idLabel] ?? ''
