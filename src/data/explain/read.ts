/**
 * Reads of an explanation: bounded, and with the rights of whoever asks. What may not be read, or is not served, is an answer
 * like any other.
 */
import type { Client } from '../../client/client.ts'
import { ApiError, isNotFound, statusOf } from '../../client/errors.ts'
import { readAll } from '../../client/transport.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectName } from '../../kube/object-reference.ts'
import { collectionPath, type Resource, withQuery } from '../../kube/resource.ts'

export const FORBIDDEN = 'forbidden'

/** Undefined: there is no such object. */
export type Got<T> = T | undefined | typeof FORBIDDEN

export async function got<T extends KubeObject>(client: Client, resource: Resource<T>, of: ObjectName): Promise<Got<T>> {
  try {
    return await client.get<T>(resource, of)
  } catch (error) {
    if (isNotFound(error)) return undefined
    if (error instanceof ApiError && error.code === 403) return FORBIDDEN
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
const MOST_LISTED = 500

/** One request, whatever there is. */
export async function listFirst<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  { namespace, labelSelector }: { namespace: string; labelSelector?: string },
): Promise<Listed<T>> {
  const path = withQuery(collectionPath(resource, namespace), { limit: MOST_LISTED, labelSelector })
  const response = await client.raw({ method: 'GET', path })
  const text = (await readAll(response.body)).toString('utf8')
  if (response.status === 403) return { ...NONE, isForbidden: true }
  if (response.status >= 400) throw new ApiError(response.status, statusOf(response.status, text))
  const { items, metadata } = JSON.parse(text) as { items?: T[] | null; metadata?: { continue?: string } }
  return { items: items ?? [], isCut: (metadata?.continue ?? '') !== '', isForbidden: false }
}
