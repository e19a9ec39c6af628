/**
 * Answers to requests for one block: GET, HEAD and PUT. Bytes are sent through one buffer as fast as the peer takes them; when
 * something fails in the middle of an answer, the connection is cut, so that nobody takes a part for the whole.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf } from '../../base/error-text.ts'
import type { BlockReader, BlockStore } from '../blocks/store.ts'
import { formatCrc, parseCrc } from '../blocks/trailer.ts'
import { isBelow } from '../config/paths.ts'
import { HttpError } from '../http/errors.ts'
import { type BlockKey, MAX_BLOCK_BYTES } from '../protocol/block.ts'
import type { Access } from './access.ts'
import { type ByteRange, byteRange } from './byte-range.ts'
import type { Fetches } from './fetches.ts'
import type { FileLookup } from './file-lookup.ts'
import type { WorkerCounters } from './options.ts'

export interface BlockAnswersOptions {
  store: BlockStore
  fetches: Fetches
  files: FileLookup
  access: Access
  counters: WorkerCounters
  mayStore: () => boolean
}

export interface Asked {
  key: BlockKey
  query: URLSearchParams
  request: IncomingMessage
  response: ServerResponse
  /** Aborts when the peer is gone. */
  signal: AbortSignal
}

interface Head {
  from: 'memory' | 'disk' | 'peer' | 'source'
  length: number
  crc?: number
}

export class BlockAnswers {
  readonly #options: BlockAnswersOptions

  constructor(options: BlockAnswersOptions) {
    this.#options = options
  }

  async get(asked: Asked): Promise<void> {
    const { store, counters } = this.#options
    const { key, request } = asked
    await this.#checkReader(asked)
    const reader = await store.read(key)
    if (reader !== undefined) {
      const sent = await this.#sendFile(asked, reader)
      counters.hits++
      counters.hitBytes += sent
    } else if (request.headers['cache-control'] === 'only-if-cached') {
      throw new HttpError(404, 'NotHere', 'the block is not here')
    } else {
      counters.misses++
      counters.missBytes += await this.#sendArriving(asked)
    }
  }

  async head(asked: Asked): Promise<void> {
    await this.#checkReader(asked)
    if (!this.#options.store.has(asked.key)) throw new HttpError(404, 'NotHere', 'the block is not here')
    asked.response.writeHead(200).end()
  }

  /** A block from a worker that leaves. */
  async put({ key, query, request, response }: Asked): Promise<void> {
    const { store, counters, access, mayStore } = this.#options
    access.signed(request, 'streamed')
    const length = Number(request.headers['content-length'] ?? Number.NaN)
    if (Number.isNaN(length)) throw new HttpError(411, 'LengthRequired', 'say content-length')
    if (length < 1 || length > MAX_BLOCK_BYTES) throw new HttpError(413, 'TooLarge', `a block has 1 to ${MAX_BLOCK_BYTES} bytes`)
    const crc = parseCrc(query.get('crc32'))
    const usedAt = Number(query.get('used') ?? '')
    if (crc === undefined || !Number.isSafeInteger(usedAt) || usedAt < 0) throw new HttpError(400, 'BadQuery', 'say crc32 and used')
    if (store.has(key)) return void response.writeHead(200, { 'content-length': 0 }).end()
    // Somebody asked for it here meanwhile, and it comes from elsewhere: whether it stays is known when it has come.
    if (store.isBusy(key)) throw new HttpError(503, 'Busy', 'the block is being written here: send it once more')
    const heat = { segment: query.get('hot') === '1' ? ('protected' as const) : ('probation' as const), usedAt }
    const writer = mayStore() ? await store.begin(key, length, heat) : undefined
    if (writer === undefined) {
      counters.notTaken++
      throw new HttpError(507, 'NoRoom', 'there is no room without driving out what is used more')
    }
    try {
      if (request.headers.expect !== undefined) response.writeContinue()
      for await (const chunk of request as AsyncIterable<Buffer>) await writer.write(chunk)
      await writer.commit(crc)
    } catch (error) {
      await writer.abort()
      throw new HttpError(400, 'NotTaken', `the block was not taken: ${messageOf(error)}`)
    }
    counters.taken++
    counters.takenBytes += length
    response.writeHead(201, { 'content-length': 0 }).end()
  }

  async #checkReader({ key, request }: Asked): Promise<void> {
    const { access, files } = this.#options
    const subPath = access.reader(request)
    if (subPath === '/' || isBelow(await files.path(key.fileId), subPath)) return
    throw new HttpError(403, 'Forbidden', 'the ticket is for another part of the dataset')
  }

  async #sendFile({ request, response }: Asked, reader: BlockReader): Promise<number> {
    const { buffers } = this.#options.store
    const buffer = buffers.take()
    try {
      const { start, end } = begin(response, request, {
        length: reader.length,
        crc: reader.crc,
        from: reader.medium === 'MEM' ? 'memory' : 'disk',
      })
      for (let at = start; at < end; ) {
        const length = Math.min(buffer.length, end - at)
        await reader.read(buffer, at, length)
        if (!(await written(response, buffer.subarray(0, length)))) return at - start
        at += length
      }
      response.end()
      return end - start
    } finally {
      buffers.give(buffer)
      await reader.close()
    }
  }

  async #sendArriving({ key, request, response, signal }: Asked): Promise<number> {
    const arriving = await this.#options.fetches.join(key, signal)
    try {
      const { start, end } = begin(response, request, arriving)
      let at = start
      while (at < end) {
        const bytes = (await arriving.after(at)).subarray(0, end - at)
        if (!(await written(response, bytes))) return at - start
        at += bytes.length
      }
      response.end()
      return end - start
    } finally {
      arriving.leave()
    }
  }
}

function begin(response: ServerResponse, request: IncomingMessage, { length, crc, from }: Head): ByteRange {
  const range = byteRange(request.headers.range, length)
  const isWhole = range.end - range.start === length
  response.writeHead(request.headers.range === undefined ? 200 : 206, {
    'content-type': 'application/octet-stream',
    'content-length': range.end - range.start,
    'x-sluice-from': from,
    ...(request.headers.range === undefined ? {} : { 'content-range': `bytes ${range.start}-${range.end - 1}/${length}` }),
    ...(isWhole && crc !== undefined ? { 'x-sluice-crc32': formatCrc(crc) } : {}),
  })
  return range
}

/** Resolves when the bytes are with the system and their buffer can be used again; false when the peer is gone. */
function written(response: ServerResponse, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve(false)
    const onClose = () => resolve(false)
    response.once('close', onClose)
    response.write(bytes, (error) => {
      response.off('close', onClose)
      resolve(!error)
    })
  })
}
