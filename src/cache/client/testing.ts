/** A master with an inventory that tests write, and workers that serve what the tests put there, over real HTTP. */
import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32 } from 'node:zlib'
import { formatCrc } from '../blocks/trailer.ts'
import { signRequest } from '../http/signed.ts'
import { createMaster } from '../master/master.ts'
import { membersJournal } from '../master/members-journal.ts'
import { type FakeInventory, fakeInventory } from '../master/testing.ts'
import { readTicket } from '../protocol/ticket.ts'
import { keptLog, realClock } from '../testing.ts'

const KEY = Buffer.alloc(32, 5)
export const BLOCK = 1024 * 1024

/** Content that can be made again: of any length, different for each seed. */
export function content(seed: string, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  const start = createHash('sha256').update(seed).digest()
  for (let at = 0; at < length; at += 32) {
    start.writeUInt32LE((at / 32) >>> 0)
    start.copy(bytes, at)
  }
  return bytes
}

export interface FakeWorker {
  address: string
  asked: string[]
  /** Answers instead of the worker; true: it did. */
  interfere?: (response: http.ServerResponse, target: string) => boolean
  close(): void
}

export interface Bench {
  origin: string
  inventory: FakeInventory
  /** From now on nobody gets a ticket; those that were given hold as long as they say. */
  withdraw(): void
  /** Puts a file at the source and into the inventory. */
  put(path: string, bytes: Buffer): void
  /** Changes the source alone. */
  changeSource(path: string, bytes: Buffer): void
  worker(name: string, node?: string): Promise<FakeWorker>
  close(): Promise<void>
}

export async function startBench(): Promise<Bench> {
  const inventory = fakeInventory(KEY)
  const sources = new Map<string, { version: string; bytes: Buffer }>()
  const workers: FakeWorker[] = []
  let isWithdrawn = false
  const log = keptLog()
  const master = createMaster({
    access: {
      key: KEY,
      namespace: 'ns',
      verifier: { verify: async (token) => (token === 'token' && !isWithdrawn ? { namespace: 'ns' } : { error: 'bad' }) },
      grants: async () => [],
      isWritable: () => false,
    },
    inventory,
    journal: membersJournal(undefined),
    blockBytes: BLOCK,
    clock: realClock,
    log,
    reloadMounts: async () => [],
    askToLeave: async () => ({}),
    askToClear: async () => ({}),
    askToStay: async () => ({}),
    preload: { replicas: 1, isAutomatic: false, askToLoad: async () => ({}) },
    limits: { closeMs: 100 },
  })
  const origin = `http://127.0.0.1:${await master.listen('127.0.0.1', 0)}`
  const versionOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

  function answer(worker: FakeWorker, request: http.IncomingMessage, response: http.ServerResponse): void {
    const target = request.url ?? ''
    worker.asked.push(target)
    if (worker.interfere?.(response, target)) return
    if (readTicket(KEY, request.headers.authorization?.slice(7) ?? '', Date.now() / 1000) === undefined) return void refuse(response, 401)
    const [, , , fileId = '', version = '', index = ''] = target.split('/')
    const entry = inventory.file(fileId)?.entry
    const source = entry && sources.get(entry.path)
    if (entry === undefined || source === undefined) return void refuse(response, 404)
    if (entry.version !== version || source.version !== version) return void refuse(response, 409)
    const bytes = source.bytes.subarray(Number(index) * BLOCK, (Number(index) + 1) * BLOCK)
    response.writeHead(200, { 'content-length': bytes.length, 'x-sluice-crc32': formatCrc(crc32(bytes)) }).end(bytes)
  }

  return {
    origin,
    inventory,
    withdraw() {
      isWithdrawn = true
    },
    put(path, bytes) {
      const { version } = inventory.put(path, bytes.length, versionOf(bytes))
      sources.set(path, { version, bytes })
    },
    changeSource(path, bytes) {
      sources.set(path, { version: 'changed', bytes })
    },
    async worker(name, node = 'elsewhere') {
      const server = http.createServer((request, response) => answer(worker, request, response))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      const worker: FakeWorker = { address, asked: [], close }
      workers.push(worker)
      const body = Buffer.from(
        JSON.stringify({ name, node, address, state: 'serving', tiers: [{ medium: 'SSD', quotaBytes: 1e9, usedBytes: 0 }] }),
      )
      const authorization = signRequest(KEY, { method: 'POST', target: '/v1/workers', body }, Date.now())
      await fetch(`${origin}/v1/workers`, { method: 'POST', body, headers: { authorization } })
      return worker
    },
    async close() {
      for (const worker of workers) worker.close()
      await master.close()
    },
  }
}

function refuse(response: http.ServerResponse, status: number): void {
  const text = JSON.stringify({ error: { code: String(status), message: `refused with ${status}` } })
  response.writeHead(status, { 'content-length': text.length }).end(text)
}
