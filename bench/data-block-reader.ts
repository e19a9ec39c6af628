/** Reads blocks of a dataset into memory, as a client does that completes files from them: over HTTP, or from files of its node. */
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../src/base/random.ts'
import { createBlockFetcher } from '../src/cache/client/block-fetcher.ts'
import { createLocalBlocks } from '../src/cache/client/local-blocks.ts'
import { linkVolume } from '../src/cache/client/master-link.ts'
import { emptyTree } from '../src/cache/client/tree.ts'
import { createBlockClient } from '../src/cache/http/block-client.ts'
import { createRequester } from '../src/cache/http/request.ts'
import { type BlockKey, blockCount, blockLength, DEFAULT_BLOCK_BYTES } from '../src/cache/protocol/block.ts'
import { CLOCK } from './clock.ts'

export interface BlockReaderShape {
  /** `host:port` */
  master: string
  dataset: { namespace: string; name: string }
  /** Where it pretends to be. */
  node: string
  /** Directories of that node with block files. */
  tiers: readonly string[]
  token(): Promise<string>
}

export interface WantedBlock {
  key: BlockKey
  length: number
}

export interface BlockReader {
  /** Of all files; asked for once. */
  blocks(): Promise<WantedBlock[]>
  /** Until it is whole in memory. */
  read(block: WantedBlock, into: Buffer): Promise<void>
  close(): void
}

export function openBlockReader({ master, dataset, node, tiers, token }: BlockReaderShape): BlockReader {
  const requester = createRequester()
  const blocks = createBlockClient({ clock: CLOCK })
  const ended = new AbortController()
  const link = linkVolume({ origin: `http://${master}`, requester, clock: CLOCK, token }, '/')
  const local = createLocalBlocks(tiers, dataset)
  const fetcher = createBlockFetcher({ link, blocks, requester, local, node, clock: CLOCK, random: seededRandom(2) })
  return {
    async blocks() {
      const tree = emptyTree('/')
      while (!tree.isComplete) {
        await link.update(tree, 0, ended.signal)
        if (!tree.isComplete) await sleep(50)
      }
      return [...tree.files.values()].flatMap(({ fileId, version, size }) =>
        Array.from({ length: blockCount(size, DEFAULT_BLOCK_BYTES) }, (_, index) => ({
          key: { fileId, version, index },
          length: blockLength(size, DEFAULT_BLOCK_BYTES, index),
        })),
      )
    },
    read: ({ key, length }, into) => fetcher.fetch(key, into.subarray(0, length), ended.signal),
    close() {
      ended.abort()
      blocks.close()
      requester.close()
    },
  }
}

/** Each block once, so many at a time. */
export async function readEach(reader: BlockReader, wanted: readonly WantedBlock[], atATime: number): Promise<void> {
  const left = [...wanted]
  const lane = async (): Promise<void> => {
    const buffer = Buffer.allocUnsafeSlow(DEFAULT_BLOCK_BYTES)
    for (let next = left.pop(); next !== undefined; next = left.pop()) await reader.read(next, buffer)
  }
  await Promise.all(Array.from({ length: atATime }, lane))
}
