/**
 * Gets one block, whole and checked, into a buffer: from a file of this node, else from its owner over HTTP, else from the next in
 * order; when nobody answers, again with fresh membership and longer pauses, a few times. A file that has another version by now
 * rejects with FileChanged at once: bytes of two versions are never mixed.
 */
import { crc32 } from 'node:zlib'
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Random } from '../../base/random.ts'
import { parseCrc } from '../blocks/trailer.ts'
import type { BlockClient } from '../http/block-client.ts'
import { readErrorBody } from '../http/errors.ts'
import type { Requester } from '../http/request.ts'
import { createPlacement, type Placement } from '../placement/placement.ts'
import { type BlockKey, blockName } from '../protocol/block.ts'
import type { WorkerEntry } from '../protocol/membership.ts'
import type { Figures } from './figures.ts'
import type { LocalBlocks } from './local-blocks.ts'
import type { VolumeLink } from './master-link.ts'

/** The file is not the version that the inventory said; the inventory must be asked again. */
export class FileChanged extends Error {
  override readonly name = 'FileChanged'
}

export interface BlockFetcher {
  /** Fills `into`, whose length is the block's. */
  fetch(key: BlockKey, into: Buffer, signal: AbortSignal): Promise<void>
  /** Tells workers which of their blocks were read directly. */
  reportUses(signal: AbortSignal): Promise<void>
}

export interface BlockFetcherOptions {
  link: VolumeLink
  blocks: BlockClient
  requester: Requester
  local: LocalBlocks
  /** The node this client runs on. */
  node: string
  clock: Clock
  random: Random
  figures?: Figures
}

const ROUNDS = 4
const FIRST_PAUSE_MS = 250
const MEMBERSHIP_MS = 5000
/** Asked for one block: its owners, and some after them. */
const MOST_ASKED = 4
const MOST_USES = 1000

export function createBlockFetcher(options: BlockFetcherOptions): BlockFetcher {
  const { link, blocks, local, node, clock, random, requester, figures } = options
  let placement: Placement | undefined
  let placedAtMs = 0
  let asking: Promise<void> | undefined
  let uses = new Map<string, string[]>()

  async function refresh(signal: AbortSignal): Promise<Placement> {
    asking ??= link
      .membership(signal)
      .then(({ workers }) => {
        placement = createPlacement(workers)
        placedAtMs = clock.now()
      })
      .finally(() => {
        asking = undefined
      })
    await asking
    return placement ?? createPlacement([])
  }

  const current = (signal: AbortSignal): Promise<Placement> | Placement =>
    placement !== undefined && clock.now() - placedAtMs < MEMBERSHIP_MS ? placement : refresh(signal)

  function readLocally(worker: WorkerEntry, key: BlockKey, into: Buffer): boolean {
    if (worker.node !== node || !local.read(key, into)) return false
    const names = uses.get(worker.address) ?? []
    // A lost notice costs a little heat, nothing else.
    if (names.length < MOST_USES) names.push(blockName(key))
    uses.set(worker.address, names)
    figures?.read('local', into.length)
    return true
  }

  /** Undefined: it is here. Else why not. */
  async function ask(worker: WorkerEntry, key: BlockKey, of: { into: Buffer; signal: AbortSignal }): Promise<string | undefined> {
    const authorization = await link.authorization(of.signal)
    const headers = new Map(authorization === undefined ? [] : [['authorization', authorization]])
    const target = `/v1/blocks/${key.fileId}/${key.version}/${key.index}`
    const answer = await blocks.get({ address: worker.address, target, headers, into: of.into, signal: of.signal })
    if (answer.status === 200) {
      if (answer.bodyBytes !== of.into.length) return `${worker.name} sent ${answer.bodyBytes} instead of ${of.into.length} bytes`
      const crc = parseCrc(answer.headers.get('x-sluice-crc32'))
      if (crc !== undefined && crc !== crc32(of.into)) return `${worker.name} sent a damaged block`
      figures?.read('remote', of.into.length)
      return undefined
    }
    const refusal = readErrorBody(answer.status, answer.refusal)
    if (answer.status === 409 || answer.status === 404) throw new FileChanged(refusal.message)
    if (answer.status === 401) link.forgetTicket()
    return `${worker.name}: ${refusal.message}`
  }

  async function askInOrder(
    owners: readonly WorkerEntry[],
    key: BlockKey,
    of: { into: Buffer; signal: AbortSignal },
  ): Promise<string | undefined> {
    let why = 'no worker serves'
    for (const worker of owners) {
      if (readLocally(worker, key, of.into)) return undefined
      try {
        const problem = await ask(worker, key, of)
        if (problem === undefined) return undefined
        why = problem
      } catch (error) {
        if (error instanceof FileChanged || of.signal.aborted) throw error
        why = `${worker.name}: ${messageOf(error)}`
      }
    }
    return why
  }

  return {
    async fetch(key, into, signal) {
      let why: string | undefined
      for (let round = 0; round < ROUNDS; round++) {
        if (round > 0) await sleep(clock, FIRST_PAUSE_MS * 4 ** (round - 1) * (0.5 + random.next()), signal)
        if (signal.aborted) throw new Error('ended')
        const owners = (await (round === 0 ? current(signal) : refresh(signal))).ownersOf(key, MOST_ASKED)
        why = await askInOrder(owners, key, { into, signal })
        if (why === undefined) return
      }
      throw new Error(why)
    },
    async reportUses(signal) {
      const noted = uses
      uses = new Map()
      for (const [address, names] of noted) {
        const authorization = await link.authorization(signal)
        const body = Buffer.from(JSON.stringify({ uses: names }))
        const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
        // Whoever cannot be told has lost nothing but heat.
        await requester
          .json({ origin: `http://${address}`, target: '/v1/uses', method: 'POST', body, headers, signal })
          .catch(() => undefined)
      }
    },
  }
}
