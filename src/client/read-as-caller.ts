/**
 * Reads of an explanation: bounded, and with the rights of whoever asks. What may not be read, or is not served, is an
 * answer like any other.
 */

import { groupVersion, type KubeObject } from '../kube/meta.ts'
import type { ObjectName } from '../kube/object-reference.ts'
import { collectionPath, type Resource, withQuery } from '../kube/resource.ts'
import type { Client } from './client.ts'
import { ApiError, isNotFound, statusOf } from './errors.ts'
import { readAll } from './transport.ts'

export const FORBIDDEN = 'forbidden'

const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.code === 403

/** Undefined: there is no such object. */
export type Got<T> = T | undefined | typeof FORBIDDEN

export async function got<T extends KubeObject>(client: Client, resource: Resource<T>, of: ObjectName): Promise<Got<T>> {
  try {
    return await client.get<T>(resource, of)
  } catch (error) {
    if (isNotFound(error)) return undefined
    if (isForbidden(error)) return FORBIDDEN
    throw error
  }
}

/** The beginning of a list. */
export interface Listed<T> {
  readonly items: readonly T[]
  /** There are more. */
  readonly isCut: boolean
  readonly isForbidden: boolean
}

export const NONE: Listed<never> = Object.freeze({ items: [], isCut: false, isForbidden: false })

/** Items of a list that are looked at. */
export const MOST_LISTED = 500

const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

export interface ListFirst {
  namespace?: string
  labelSelector?: string
  /** Only metadata is needed. */
  isMetadata?: boolean
}

/** One request, whatever there is. Of a resource that is not served there is nothing. */
export async function listFirst<T extends KubeObject>(client: Client, resource: Resource<T>, how: ListFirst = {}): Promise<Listed<T>> {
  const path = withQuery(collectionPath(resource, how.namespace), { limit: MOST_LISTED, labelSelector: how.labelSelector })
  const response = await client.raw({ method: 'GET', path, ...(how.isMetadata === true ? { headers: { accept: METADATA_ONLY } } : {}) })
  const text = (await readAll(response.body)).toString('utf8')
  if (response.status === 403) return { ...NONE, isForbidden: true }
  if (response.status === 404) return NONE
  if (response.status >= 400) throw new ApiError(response.status, statusOf(response.status, text))
  const { items, metadata } = JSON.parse(text) as { items?: T[] | null; metadata?: { continue?: string } }
  // Items of a list need not say what they are.
  const type = { apiVersion: groupVersion(resource.group, resource.version), kind: resource.kind }
  return { items: (items ?? []).map((item) => ({ ...item, ...type })), isCut: (metadata?.continue ?? '') !== '', isForbidden: false }
}
