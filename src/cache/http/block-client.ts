/**
 * Gets blocks from workers into buffers of the caller: HTTP/1.1 with a few kept connections per worker. Costs a fraction of
 * what a general client does, and does nothing but this. A request that fails on a kept connection is sent again, at last on a
 * new one: the server may just have closed it.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { type BlockConnection, type ConnectionAnswer, connectBlocks } from './block-connection.ts'
import { BadResponse } from './response-head.ts'

export interface BlockRequest {
  /** `host:port`. */
  address: string
  method?: 'GET' | 'HEAD'
  target: string
  headers: ReadonlyMap<string, string>
  into: Buffer
  signal?: AbortSignal
}

export interface BlockClient {
  get(request: BlockRequest): Promise<ConnectionAnswer>
  close(): void
}

export interface BlockClientOptions {
  clock: Clock
  connectMs?: number
  idleMs?: number
  /** The whole of one request. */
  totalMs?: number
  connectionsPerWorker?: number
  receiveBytes?: number
}

interface Pool {
  connections: Set<BlockConnection>
  free: BlockConnection[]
  waiting: (() => void)[]
}

const ADDRESS = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):([0-9]{1,5})$/
const HEADER = /^[\x20-\x7e]*$/

export function createBlockClient(options: BlockClientOptions): BlockClient {
  const { clock, connectMs = 2000, idleMs = 15_000, totalMs = 60_000, connectionsPerWorker = 8, receiveBytes = 512 * 1024 } = options
  const receive = Buffer.allocUnsafeSlow(receiveBytes)
  const pools = new Map<string, Pool>()
  let isClosed = false

  function poolOf(address: string): Pool {
    let pool = pools.get(address)
    if (pool === undefined) {
      pool = { connections: new Set(), free: [], waiting: [] }
      pools.set(address, pool)
    }
    return pool
  }

  function open(address: string, pool: Pool): BlockConnection {
    const { host, port } = hostAndPort(address)
    const connection = connectBlocks({
      host,
      port,
      receive,
      connectMs,
      idleMs,
      onEnd() {
        pool.connections.delete(connection)
        pool.free = pool.free.filter((other) => other !== connection)
        if (pool.connections.size === 0 && pool.waiting.length === 0 && pools.get(address) === pool) pools.delete(address)
        pool.waiting.shift()?.()
      },
    })
    pool.connections.add(connection)
    return connection
  }

  async function take(address: string, signal: AbortSignal): Promise<{ connection: BlockConnection; isOld: boolean }> {
    for (;;) {
      if (isClosed || signal.aborted) throw reasonOf(signal)
      const pool = poolOf(address)
      const kept = pool.free.pop()
      if (kept !== undefined) return { connection: kept, isOld: true }
      if (pool.connections.size < connectionsPerWorker) return { connection: open(address, pool), isOld: false }
      await new Promise<void>((resolve) => {
        pool.waiting.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      if (signal.aborted) pool.waiting.shift()?.()
    }
  }

  function giveBack(address: string, connection: BlockConnection): void {
    const pool = pools.get(address)
    if (pool === undefined || !connection.isUsable()) return
    pool.free.push(connection)
    pool.waiting.shift()?.()
  }

  async function attempt(request: BlockRequest, signal: AbortSignal): Promise<ConnectionAnswer> {
    const head = headOf(request)
    for (;;) {
      const { connection, isOld } = await take(request.address, signal)
      const cancel = () => connection.destroy(reasonOf(signal))
      signal.addEventListener('abort', cancel, { once: true })
      try {
        return await connection.request({ method: request.method ?? 'GET', head, into: request.into })
      } catch (error) {
        // Reads may be repeated; a new connection gets no second chance.
        if (!isOld || signal.aborted || isClosed) throw error
      } finally {
        signal.removeEventListener('abort', cancel)
        giveBack(request.address, connection)
      }
    }
  }

  return {
    async get(request) {
      const ended = new AbortController()
      const cancel = () => ended.abort(new BadResponse('not wanted any more'))
      request.signal?.addEventListener('abort', cancel, { once: true })
      if (request.signal?.aborted) cancel()
      const timer = new AbortController()
      void sleep(clock, totalMs, timer.signal).then(() => ended.abort(new BadResponse('the answer took too long')))
      try {
        return await attempt(request, ended.signal)
      } finally {
        request.signal?.removeEventListener('abort', cancel)
        timer.abort()
      }
    },
    close() {
      isClosed = true
      for (const pool of [...pools.values()]) for (const connection of [...pool.connections]) connection.destroy(new BadResponse('closed'))
      pools.clear()
    },
  }
}

const reasonOf = (signal: AbortSignal): Error => (signal.reason instanceof Error ? signal.reason : new BadResponse('closed'))

export function hostAndPort(address: string): { host: string; port: number } {
  const match = ADDRESS.exec(address)
  const port = Number(match?.[3])
  if (match === null || !(port > 0 && port < 65536)) throw new BadResponse(`${JSON.stringify(address.slice(0, 100))} is not host:port`)
  return { host: match[1] ?? match[2] ?? '', port }
}

function headOf({ address, method = 'GET', target, headers }: BlockRequest): string {
  const lines = [`${method} ${target} HTTP/1.1`, `host: ${address}`, ...[...headers].map(([name, value]) => `${name}: ${value}`)]
  if (!lines.every((line) => HEADER.test(line))) throw new BadResponse('a header cannot be sent')
  return `${lines.join('\r\n')}\r\n\r\n`
}
