/** Reads blocks from workers as a client does, and compares every byte with what the file's version has there. */
import { crc32 } from 'node:zlib'
import { parseCrc } from '../../../src/cache/blocks/trailer.ts'
import { isBelow } from '../../../src/cache/config/paths.ts'
import { type BlockClient, createBlockClient } from '../../../src/cache/http/block-client.ts'
import { signRequest } from '../../../src/cache/http/signed.ts'
import { type BlockKey, blockCount, blockLength } from '../../../src/cache/protocol/block.ts'
import { fileIdOf } from '../../../src/cache/protocol/file.ts'
import { realClock } from '../../../src/cache/testing.ts'
import type { Checks } from '../checks.ts'
import { bytesOf, type Content, type Contents } from './contents.ts'

export interface BlockReaderOptions {
  key: Uint8Array
  contents: Contents
  checks: Pick<Checks<'blocks'>, 'judge'>
  blockBytes: number
}

export interface AskedBlock {
  address: string
  path: string
  content: Content
  index: number
  /** Only if the worker has it already. */
  isCachedOnly?: boolean
}

export type BlockOutcome = 'right' | 'wrong' | 'refused' | 'unreachable'

export class BlockReader {
  readonly #options: BlockReaderOptions
  readonly #client: BlockClient = createBlockClient({ clock: realClock, totalMs: 20_000 })
  readonly #into: Buffer

  constructor(options: BlockReaderOptions) {
    this.#options = options
    this.#into = Buffer.alloc(options.blockBytes)
  }

  /** One at a time. */
  async read({ address, path, content, index, isCachedOnly = false }: AskedBlock): Promise<BlockOutcome> {
    const { key, checks, blockBytes } = this.#options
    const into = this.#into.subarray(0, blockLength(content.size, blockBytes, index))
    const target = `/v1/blocks/${fileIdOf(key, path)}/${content.version}/${index}`
    const headers = new Map([['authorization', signRequest(key, { method: 'GET', target }, Date.now())]])
    if (isCachedOnly) headers.set('cache-control', 'only-if-cached')
    let answer: Awaited<ReturnType<BlockClient['get']>>
    try {
      answer = await this.#client.get({ address, target, headers, into })
    } catch {
      // Killed, or being started.
      return 'unreachable'
    }
    if (answer.status !== 200) return 'refused'
    const what = `block ${index} of ${path} in version ${content.version} from ${address}`
    const crc = parseCrc(answer.headers.get('x-sluice-crc32'))
    const start = index * blockBytes
    const expected = bytesOf(content.seed, content.size).subarray(start, start + into.length)
    const problem =
      answer.bodyBytes !== into.length
        ? `${what} has ${answer.bodyBytes} instead of ${into.length} bytes`
        : crc !== undefined && crc !== crc32(into)
          ? `${what} has another CRC than was said`
          : into.equals(expected)
            ? undefined
            : `${what} has wrong bytes (${answer.headers.get('x-sluice-from')})`
    checks.judge('blocks', problem)
    return problem === undefined ? 'right' : 'wrong'
  }

  /** Every block that the sources have now; how many were not served. */
  async readAll(addresses: readonly string[], below = '/'): Promise<number> {
    const { contents, blockBytes } = this.#options
    let missing = 0
    for (const [relative, content] of contents.newestBelow('/'))
      for (let index = 0; isBelow(`/${relative}`, below) && index < blockCount(content.size, blockBytes); index++)
        for (const address of addresses) {
          const outcome = await this.read({ address, path: `/${relative}`, content, index })
          if (outcome === 'refused' || outcome === 'unreachable') missing++
        }
    return missing
  }

  /** Blocks that lie in a worker's files, of whichever version; a text when one is of no version that ever was. */
  async readStored(address: string, keys: readonly BlockKey[]): Promise<string | undefined> {
    const { key, contents } = this.#options
    const paths = new Map(contents.paths().map((path) => [fileIdOf(key, path), path]))
    for (const { fileId, version, index } of keys) {
      const path = paths.get(fileId) ?? ''
      const content = contents.ofVersion(path, version)
      if (content === undefined) return `${address} has a block of version ${version} of ${path || fileId}, which never was`
      await this.read({ address, path, content, index, isCachedOnly: true })
    }
    return undefined
  }

  close(): void {
    this.#client.close()
  }
}
