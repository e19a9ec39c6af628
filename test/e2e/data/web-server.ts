/** A server with one file: it can hold back the bytes after the first block, and the file can change. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A block of the cache. */
const BLOCK = 4 * 1024 * 1024

interface Held {
  request: IncomingMessage
  response: ServerResponse
  send(): void
}

export class WebServer {
  readonly #server: Server
  #content: Buffer
  #version = 1
  #held: Held[] | undefined
  #isMissing = false

  constructor(content: Buffer) {
    this.#content = content
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/film`
  }

  /** From now on nothing but the first block is sent. */
  hold(): void {
    this.#held ??= []
  }

  get isHolding(): boolean {
    return (this.#held ?? []).length > 0
  }

  /** The first that was held back is answered with the file of that time, as by a server that has it open, and the others anew. */
  letGo(): void {
    const [first, ...others] = this.#held ?? []
    this.#held = undefined
    first?.send()
    for (const { request, response } of others) this.#answer(request, response)
  }

  change(content: Buffer): void {
    this.#content = content
    this.#version++
  }

  /** While it is missing, it is answered with 404. */
  set isMissing(isMissing: boolean) {
    this.#isMissing = isMissing
  }

  close(): void {
    this.letGo()
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method, headers } = request
    if (this.#isMissing) return void response.writeHead(404).end()
    const [content, etag] = [this.#content, `"v${this.#version}"`]
    if (headers['if-match'] !== undefined && headers['if-match'] !== etag) return void response.writeHead(412).end()
    const [, from = '0', to = String(content.length - 1)] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    const [start, end] = [Number(from), Number(to) + 1]
    const body = content.subarray(start, end)
    const range = headers.range === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${content.length}` }
    const send = () => {
      response.writeHead(headers.range === undefined ? 200 : 206, { etag, 'content-length': body.length, ...range })
      response.end(method === 'HEAD' ? undefined : body)
    }
    if (this.#held === undefined || method === 'HEAD' || start < BLOCK) send()
    else this.#held.push({ request, response, send })
  }
}
