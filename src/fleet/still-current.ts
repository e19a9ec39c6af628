/**
 * Whether a cached object is still what the server has. After a start, caches may begin in the past and catch up state by
 * state; objects written before this process began are therefore read once more. Whatever is written later arrives as an
 * event anyway.
 */
import type { Client } from '../client/client.ts'
import { executionNamespace } from '../kinds/karmada/names.ts'
import { WORKS } from '../kinds/karmada/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import { isFresh } from '../runtime/live-owner.ts'

export type StillCurrent = (object: KubeObject, client: Client) => Promise<boolean>

export function createStillCurrent(resource: Resource): StillCurrent {
  let begunAt: Promise<number> | undefined
  return async (object, client) => {
    begunAt ??= revisionNow(client)
    const asked = begunAt
    try {
      return Number(object.metadata.resourceVersion) > (await asked) || (await isFresh(client, resource, object))
    } catch (error) {
      if (begunAt === asked) begunAt = undefined
      throw error
    }
  }
}

/** The revision of a list that is always empty: no cluster has an empty name. */
const revisionNow = async (client: Client): Promise<number> =>
  Number((await client.list(WORKS, { namespace: executionNamespace('') })).resourceVersion)
