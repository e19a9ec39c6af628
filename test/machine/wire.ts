/**
 * HTTP/1.1 over one kept-alive TLS connection, one request at a time, as cheap as possible: the load of a measurement must
 * not be the client's. An answer is complete, or the request failed with an unknown outcome.
 */
import { connect, type TLSSocket } from 'node:tls'

export interface WireTarget {
  host: string
  port: number
  /** PEM. */
  ca: string
  token: string
}

export interface WireAnswer {
  status: number
  body: Buffer
}

export interface WireRequest {
  method: string
  path: string
  body?: string | Buffer
  /** Default application/json. */
  contentType?: string
  accept?: string
}

/** The connection ended before the answer did. */
export class WireError extends Error {}

interface Waiting {
  resolve(answer: WireAnswer): void
  reject(error: WireError): void
  /** Body bytes as they arrive, for streams; the answer's body is then empty. */
  onData?(chunk: Buffer): void
}

export class Wire {
  readonly #socket: TLSSocket
  readonly #head: string
  readonly #reader = new AnswerReader()
  #waiting: Waiting | undefined
  #isClosed = false

  constructor(target: WireTarget) {
    this.#head = `Host: ${target.host}:${target.port}\r\nAuthorization: Bearer ${target.token}\r\nUser-Agent: sluice-load\r\n`
    this.#socket = connect({ host: target.host, port: target.port, ca: target.ca, ALPNProtocols: ['http/1.1'] })
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk) => this.#read(chunk))
    this.#socket.on('error', (error) => this.#fail(error.message))
    this.#socket.on('close', () => this.#fail('the connection was closed'))
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  request(request: WireRequest): Promise<WireAnswer> {
    return this.#send(request, undefined)
  }

  /** A request whose body is passed on as it arrives; settles when it ends. */
  stream(request: WireRequest, onData: (chunk: Buffer) => void): Promise<WireAnswer> {
    return this.#send(request, onData)
  }

  close(): void {
    this.#socket.destroy()
  }

  #send({ method, path, body, contentType, accept }: WireRequest, onData: Waiting['onData']): Promise<WireAnswer> {
    if (this.#isClosed) return Promise.reject(new WireError('the connection is closed'))
    if (this.#waiting !== undefined) return Promise.reject(new Error('one request at a time'))
    let head = `${method} ${path} HTTP/1.1\r\n${this.#head}Accept: ${accept ?? 'application/json'}\r\n`
    if (body !== undefined) head += `Content-Type: ${contentType ?? 'application/json'}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, onData }
      if (typeof body === 'string') this.#socket.write(`${head}\r\n${body}`)
      else {
        this.#socket.write(`${head}\r\n`)
        if (body !== undefined) this.#socket.write(body)
      }
    })
  }

  #read(chunk: Buffer): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    const answer = this.#reader.read(chunk, waiting.onData)
    if (answer === undefined) return
    this.#waiting = undefined
    waiting.resolve(answer)
  }

  #fail(message: string): void {
    this.#isClosed = true
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(new WireError(message))
    this.#socket.destroy()
  }
}

/** Parses answers from a stream of bytes: by Content-Length, or in chunks. */
class AnswerReader {
  #rest: Buffer = Buffer.alloc(0)
  #status = 0
  /** Bytes left of the body, or of the current chunk. */
  #left = 0
  #state: 'head' | 'length' | 'chunk-size' | 'chunk' | 'trailer' = 'head'
  #parts: Buffer[] = []

  read(chunk: Buffer, onData: ((chunk: Buffer) => void) | undefined): WireAnswer | undefined {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = data.subarray(data.length)
    const take = (part: Buffer): void => {
      if (part.length === 0) return
      if (onData === undefined) this.#parts.push(part)
      else onData(part)
    }
    for (;;) {
      if (this.#state === 'length' || this.#state === 'chunk') {
        const part = data.subarray(0, this.#left)
        this.#left -= part.length
        data = data.subarray(part.length)
        if (this.#state === 'chunk') take(this.#left < 2 ? part.subarray(0, Math.max(0, part.length - (2 - this.#left))) : part)
        else take(part)
        if (this.#left > 0) return undefined
        if (this.#state === 'length') return this.#finish(data)
        this.#state = 'chunk-size'
      }
      const end = data.indexOf(this.#state === 'head' ? '\r\n\r\n' : '\r\n')
      if (end < 0) {
        this.#rest = data
        return undefined
      }
      const line = data.toString('latin1', 0, end)
      data = data.subarray(end + (this.#state === 'head' ? 4 : 2))
      if (this.#state === 'head') this.#startBody(line)
      else if (this.#state === 'trailer') return this.#finish(data)
      else {
        // The chunk and the line end after it.
        this.#left = Number.parseInt(line, 16) + 2
        this.#state = this.#left === 2 ? 'trailer' : 'chunk'
      }
    }
  }

  #startBody(head: string): void {
    this.#status = Number(head.slice(9, 12))
    const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head)
    this.#left = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
    this.#state = isChunked ? 'chunk-size' : 'length'
  }

  #finish(rest: Buffer): WireAnswer {
    const body = this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts)
    this.#parts = []
    this.#rest = rest
    this.#state = 'head'
    return { status: this.#status, body }
  }
}
