/**
 * Finalizers as actions: a controller's own finalizer is added to the list, or removed from it, with the object's version as
 * the precondition, so that the finalizers of others are preserved.
 */

import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import type { Action } from './controller.ts'

export const hasFinalizer = ({ metadata }: KubeObject, name: string): boolean => finalizersOf(metadata).includes(name)

export const addFinalizer = (resource: Resource, of: KubeObject, name: string): Action =>
  patchOf(resource, of, [...finalizersOf(of.metadata).filter((one) => one !== name), name])

export const removeFinalizer = (resource: Resource, of: KubeObject, name: string): Action =>
  patchOf(
    resource,
    of,
    finalizersOf(of.metadata).filter((one) => one !== name),
  )

const finalizersOf = ({ finalizers }: KubeObject['metadata']): readonly string[] => finalizers ?? []

const patchOf = (resource: Resource, of: KubeObject, finalizers: readonly string[]): Action => ({
  do: 'patch',
  resource,
  of,
  patch: { metadata: { finalizers } },
})
