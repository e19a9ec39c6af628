/**
 * Blocks from and to other workers, over HTTP with few kept connections. A peer that fails is not asked again for a while; what it
 * sends is believed only when length and CRC-32 are right.
 */
import http from 'node:http'
import { crc32 } from 'node:zlib'
import type { Clock } from '../../base/clock.ts'
import type { Heat } from '../blocks/shelf.ts'
import type { BlockReader } from '../blocks/store.ts'
import { formatCrc, parseCrc } from '../blocks/trailer.ts'
import type { BlockKey } from '../protocol/block.ts'
import type { RequestSigning } from './options.ts'

export interface PeersOptions {
  signing: RequestSigning | undefined
  clock: Clock
  timeoutMs: number
  pauseMs: number
}

const PIECE = 256 * 1024

export class Peers {
  readonly #options: PeersOptions
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 8, maxFreeSockets: 4, timeout: 30_000 })
  readonly #failedAt = new Map<string, number>()

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /** Fills the buffer with a block that the peer has; false when it has it not, or cannot be asked. */
  async get(address: string, key: BlockKey, into: Buffer): Promise<boolean> {
    if (this.#options.clock.now() - (this.#failedAt.get(address) ?? Number.NEGATIVE_INFINITY) < this.#options.pauseMs) return false
    try {
      return await this.#get(address, key, into)
    } catch {
      this.#noteFailure(address)
      return false
    }
  }

  /** Whether the peer has taken the block, or had it. Rejects when it cannot be asked. */
  put(address: string, { key, reader, heat }: { key: BlockKey; reader: BlockReader; heat: Heat }): Promise<boolean> {
    const isHot = heat.segment === 'probation' ? 0 : 1
    const query = `?crc32=${formatCrc(reader.crc)}&used=${heat.usedAt}&hot=${isHot}`
    // The body is sent when the peer says that it has room.
    const headers = { 'content-length': reader.length, expect: '100-continue' }
    return new Promise((resolve, reject) => {
      const request = this.#request(address, { method: 'PUT', target: blockTarget(key) + query, headers })
      request.on('error', reject)
      request.on('continue', () => void sendAll(request, reader).catch((error: Error) => request.destroy(error)))
      request.on('response', (response) => {
        const { statusCode = 0 } = response
        response.resume()
        // Also the answer to a body that was never sent.
        if (!request.writableEnded) request.destroy()
        if (statusCode === 200 || statusCode === 201) resolve(true)
        else if (statusCode === 507) resolve(false)
        else reject(new Error(`the worker at ${address} answered ${statusCode}`))
      })
    })
  }

  close(): void {
    this.#agent.destroy()
  }

  #get(address: string, key: BlockKey, into: Buffer): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const headers = { 'cache-control': 'only-if-cached' }
      const request = this.#request(address, { method: 'GET', target: blockTarget(key), headers })
      request.on('error', reject)
      request.on('response', (response) => {
        if (response.statusCode === 404) {
          response.resume()
          return resolve(false)
        }
        const expected = parseCrc(String(response.headers['x-sluice-crc32']))
        let at = 0
        const fail = (reason: string) => {
          response.destroy()
          reject(new Error(reason))
        }
        if (response.statusCode !== 200 || expected === undefined) return fail(`it answered ${response.statusCode}`)
        response.on('data', (chunk: Buffer) => {
          if (at + chunk.length > into.length) return fail('it sent too much')
          at += chunk.copy(into, at)
        })
        response.on('error', reject)
        response.on('close', () => {
          if (at === into.length && crc32(into) === expected) resolve(true)
          else fail('it did not send the block')
        })
      })
      request.end()
    })
  }

  #request(address: string, of: { method: string; target: string; headers: http.OutgoingHttpHeaders }): http.ClientRequest {
    const { signing, timeoutMs } = this.#options
    const { method, target } = of
    const authorization = signing?.sign({ method, target, body: method === 'PUT' ? 'streamed' : undefined })
    const colon = address.lastIndexOf(':')
    const request = http.request({
      host: address.slice(0, colon).replace(/^\[|\]$/g, ''),
      port: Number(address.slice(colon + 1)),
      method,
      path: target,
      headers: { ...of.headers, ...(authorization === undefined ? {} : { authorization }) },
      agent: this.#agent,
      timeout: timeoutMs,
    })
    request.on('timeout', () => request.destroy(new Error(`the worker at ${address} does not answer`)))
    return request
  }

  #noteFailure(address: string): void {
    // Addresses come from the membership, so there are few; those of long ago are of no use.
    if (this.#failedAt.size > 1000) this.#failedAt.clear()
    this.#failedAt.set(address, this.#options.clock.now())
  }
}

export const blockTarget = ({ fileId, version, index }: BlockKey): string => `/v1/blocks/${fileId}/${version}/${index}`

async function sendAll(request: http.ClientRequest, reader: BlockReader): Promise<void> {
  const piece = Buffer.allocUnsafe(Math.min(PIECE, reader.length))
  for (let at = 0; at < reader.length; at += piece.length) {
    const length = Math.min(piece.length, reader.length - at)
    await reader.read(piece, at, length)
    await new Promise<void>((resolve, reject) => {
      request.once('close', resolve)
      request.write(piece.subarray(0, length), (error) => {
        request.off('close', resolve)
        return error ? reject(error) : resolve()
      })
    })
    if (request.destroyed) return
  }
  request.end()
}
