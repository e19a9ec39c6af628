/**
 * What a client asks of the master: a ticket for each sub path (renewed well before it ends), the membership, the inventory.
 * Everything that comes back is checked.
 */
import type { Clock } from '../../base/clock.ts'
import { isJsonObject } from '../../base/json.ts'
import { HttpError } from '../http/errors.ts'
import type { Requester } from '../http/request.ts'
import type { Membership, WorkerEntry } from '../protocol/membership.ts'
import { applyLine, type Tree } from './tree.ts'

export interface MasterLinkOptions {
  /** `http://host:port` */
  origin: string
  requester: Requester
  clock: Clock
  /** The client's own service-account token, read anew each time: it is rotated. */
  token(): Promise<string>
}

export interface VolumeLink {
  /** The value of the header `authorization`; undefined where the engine runs without tickets. */
  authorization(signal: AbortSignal): Promise<string | undefined>
  /** The ticket was refused: the next one is new. */
  forgetTicket(): void
  membership(signal: AbortSignal): Promise<Membership>
  /** Brings the tree up to date; with `waitSeconds`, waits for something newer than it has. */
  update(tree: Tree, waitSeconds: number, signal: AbortSignal): Promise<void>
}

const RENEW_SECONDS = 600
const MOST_WORKERS = 10_000
const MOST_INVENTORY_BYTES = 8 * 1024 ** 3
const INVENTORY_MS = 10 * 60_000

export function linkVolume({ origin, requester, clock, token }: MasterLinkOptions, subPath: string): VolumeLink {
  let ticket: { text: string; expiresAt: number } | undefined

  async function authorization(signal: AbortSignal): Promise<string | undefined> {
    if (ticket === undefined || ticket.expiresAt - clock.now() / 1000 < RENEW_SECONDS) {
      const body = Buffer.from(JSON.stringify({ token: await token(), subPath, mode: 'read' }))
      const answer = await requester.json({ origin, target: '/v1/tickets', method: 'POST', body, signal })
      if (!isJsonObject(answer) || typeof answer.ticket !== 'string' || typeof answer.expiresAt !== 'number')
        throw new Error('the master sent no ticket')
      ticket = { text: answer.ticket, expiresAt: answer.expiresAt }
    }
    return ticket.text === '' ? undefined : `Bearer ${ticket.text}`
  }

  async function withTicket<T>(signal: AbortSignal, ask: (headers: Record<string, string>) => Promise<T>): Promise<T> {
    for (let isRepeated = false; ; isRepeated = true) {
      const value = await authorization(signal)
      try {
        return await ask(value === undefined ? {} : { authorization: value })
      } catch (error) {
        if (isRepeated || !(error instanceof HttpError) || error.status !== 401) throw error
        ticket = undefined
      }
    }
  }

  return {
    authorization,
    forgetTicket() {
      ticket = undefined
    },
    membership: (signal) =>
      withTicket(signal, async (headers) => readMembership(await requester.json({ origin, target: '/v1/membership', headers, signal }))),
    update: (tree, waitSeconds, signal) =>
      withTicket(signal, async (headers) => {
        const since = tree.revision < 0 ? '' : `&since=${tree.revision}&wait=${waitSeconds}&complete=${tree.isComplete}`
        const target = `/v1/inventory?subPath=${encodeURIComponent(subPath)}${since}`
        let isEnded = false
        try {
          for await (const line of requester.lines({
            origin,
            target,
            headers,
            signal,
            mostBytes: MOST_INVENTORY_BYTES,
            timeoutMs: INVENTORY_MS,
          })) {
            applyLine(tree, line)
            isEnded = isJsonObject(line) && Object.hasOwn(line, 'revision')
          }
          if (!isEnded) throw new Error('the inventory broke off')
        } catch (error) {
          // Half of an answer was applied perhaps: the next one begins anew. An answer that never came changed nothing.
          if (!(error instanceof HttpError)) tree.revision = -1
          throw error
        }
      }),
  }
}

function readMembership(value: unknown): Membership {
  if (!isJsonObject(value) || !Number.isSafeInteger(value.epoch) || !Array.isArray(value.workers) || value.workers.length > MOST_WORKERS)
    throw new Error('the master sent no membership')
  const isEntry = (worker: unknown): boolean =>
    isJsonObject(worker) &&
    [worker.name, worker.address, worker.node, worker.state].every((text) => typeof text === 'string') &&
    typeof worker.weight === 'number'
  if (!value.workers.every(isEntry)) throw new Error('the master sent no membership')
  return { epoch: value.epoch as number, workers: value.workers as unknown as WorkerEntry[], previous: [] }
}
