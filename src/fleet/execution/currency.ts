/**
 * Whether a Work is still what it was when it was seen. After a start caches may begin in the past and catch up state by
 * state; what was written before this process began is therefore asked for once more, and what came later is news by itself.
 */
import type { Client } from '../../client/client.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import { isFresh } from '../../runtime/live-owner.ts'
import { executionNamespace } from '../names.ts'
import { WORKS } from '../resources.ts'

export type Currency = (work: Work, client: Client) => Promise<boolean>

export function createCurrency(): Currency {
  let begunAt: Promise<number> | undefined
  return async (work, client) => {
    begunAt ??= revisionNow(client)
    const asked = begunAt
    try {
      return Number(work.metadata.resourceVersion) > (await asked) || (await isFresh(client, WORKS, work))
    } catch (error) {
      if (begunAt === asked) begunAt = undefined
      throw error
    }
  }
}

/** Of a list that is empty: there is no cluster without a name. */
const revisionNow = async (client: Client): Promise<number> =>
  Number((await client.list(WORKS, { namespace: executionNamespace('') })).resourceVersion)
