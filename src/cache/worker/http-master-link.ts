/**
 * The master over HTTP: heartbeats and files, each request signed, bounded in time and size. What comes back is checked, because
 * a worker places blocks by it and reads sources by it.
 */
import http from 'node:http'
import { isJsonObject } from '../../base/json.ts'
import type { FileEntry } from '../protocol/file.ts'
import type { Membership, WorkerEntry } from '../protocol/membership.ts'
import type { SourceFile } from '../sources/source.ts'
import type { MasterLink, RequestSigning, WorkerFile } from './options.ts'

export interface HttpMasterLinkOptions {
  /** `host:port` */
  address: string
  signing: RequestSigning | undefined
  timeoutMs?: number
}

const MOST_ANSWER_BYTES = 4 * 1024 * 1024
const TIMEOUT_MS = 5000
const MOST_CONNECTIONS = 16
const STATES: readonly unknown[] = ['serving', 'leaving', 'gone']

export interface HttpMasterLink extends MasterLink {
  close(): void
}

export function httpMasterLink(options: HttpMasterLinkOptions): HttpMasterLink {
  // All are kept: a node that fills with small files asks for many at a time, and again at once.
  const agent = new http.Agent({ keepAlive: true, maxSockets: MOST_CONNECTIONS, maxFreeSockets: MOST_CONNECTIONS })
  const ask = (asked: Asked) => request(agent, options, asked)
  return {
    async heartbeat(beat, signal) {
      const { status, body } = await ask({ method: 'POST', target: '/v1/workers', body: Buffer.from(JSON.stringify(beat)), signal })
      if (status !== 200) throw new Error(`the master answered ${status} to a heartbeat`)
      return membershipOf(body)
    },
    async file(fileId, signal) {
      const { status, body } = await ask({ method: 'GET', target: `/v1/files/${fileId}`, signal })
      if (status === 404) return undefined
      if (status !== 200) throw new Error(`the master answered ${status} for a file`)
      return fileOf(body, fileId)
    },
    close: () => agent.destroy(),
  }
}

interface Asked {
  method: string
  target: string
  body?: Buffer
  signal: AbortSignal
}

function request(agent: http.Agent, options: HttpMasterLinkOptions, asked: Asked): Promise<{ status: number; body: unknown }> {
  const { method, target, body } = asked
  const authorization = options.signing?.sign({ method, target, body })
  const colon = options.address.lastIndexOf(':')
  const headers = {
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
  }
  // For the whole exchange: a master that sends a byte now and then must not hold a worker up.
  const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)
  return new Promise((resolve, reject) => {
    const sent = http.request({
      host: options.address.slice(0, colon).replace(/^\[|\]$/g, ''),
      port: Number(options.address.slice(colon + 1)),
      method,
      path: target,
      headers,
      agent,
      signal: AbortSignal.any([asked.signal, timeout]),
    })
    sent.on('error', (error) => reject(timeout.aborted ? new Error('the master does not answer in time') : error))
    sent.on('response', (response) => {
      const chunks: Buffer[] = []
      let length = 0
      response.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > MOST_ANSWER_BYTES) sent.destroy(new Error('the answer of the master is too long'))
        else chunks.push(chunk)
      })
      response.on('error', reject)
      response.on('end', () => {
        try {
          const isJson = response.statusCode === 200
          resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(Buffer.concat(chunks).toString()) : undefined })
        } catch {
          reject(new Error('the answer of the master is no JSON'))
        }
      })
    })
    sent.end(body)
  })
}

function membershipOf(body: unknown): Membership {
  if (isJsonObject(body) && Number.isSafeInteger(body.epoch) && isWorkers(body.workers) && isWorkers(body.previous)) {
    return { epoch: body.epoch as number, workers: body.workers, previous: body.previous }
  }
  throw new Error('the master answered no membership')
}

const isWorkers = (value: unknown): value is WorkerEntry[] & NonNullable<unknown> => Array.isArray(value) && value.every(isWorker)

const isWorker = (value: unknown): boolean =>
  isJsonObject(value) &&
  [value.name, value.address, value.node].every((text) => typeof text === 'string') &&
  typeof value.weight === 'number' &&
  STATES.includes(value.state)

function fileOf(body: unknown, fileId: string): WorkerFile {
  if (isJsonObject(body) && (typeof body.mount === 'string' || typeof body.mount === 'number')) {
    const { mount, source, entry } = body
    if (isJsonObject(source) && isJsonObject(entry) && entry.fileId === fileId && isSize(source.size) && isSize(entry.size)) {
      const texts = [source.path, entry.path, entry.version]
      if (texts.every((text) => typeof text === 'string')) {
        return { mount, source: source as unknown as SourceFile, entry: entry as unknown as FileEntry }
      }
    }
  }
  throw new Error('the master answered no file')
}

const isSize = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
