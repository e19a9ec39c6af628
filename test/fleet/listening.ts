/** A server of a story that controllers call over HTTPS: in virtual time it is simulated, elsewhere it listens on loopback. */
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { makeAuthority, makeLeaf, makePrivateKey } from '../../src/apiserver/pki/certificates.ts'
import { seededRandom } from '../../src/base/random.ts'
import type { PostJson } from '../../src/client/post-json.ts'
import { TransportError } from '../../src/client/transport.ts'

/** The body of a request, and the body of its response. */
export type Answer = (body: string) => string

export interface Listening {
  /** As configurations name a server. */
  readonly clientConfig: { url: string; caBundle: string }
  /** While this is true, connections are closed without an answer. */
  isDown: boolean
}

export interface Listener extends Listening {
  close(): Promise<void>
}

const HOUR_MS = 3_600_000
const HOST = '127.0.0.1'

/** A real one, with a certificate of its own authority. */
export async function listenOnLoopback(answer: Answer): Promise<Listener> {
  const { authority, leaf } = await certificates()
  const server = createServer({ cert: leaf.certificate, key: leaf.key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => response.end(answer(Buffer.concat(chunks).toString('utf8'))))
  })
  server.on('connection', (socket: Socket) => {
    if (listener.isDown) socket.destroy()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, HOST, resolve))
  const listener: Listener = {
    clientConfig: { url: `https://${HOST}:${(server.address() as AddressInfo).port}/interpret`, caBundle: inBase64(authority) },
    isDown: false,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)))
        server.closeAllConnections()
      }),
  }
  return listener
}

async function certificates() {
  const validity = { notBeforeMs: Date.now() - HOUR_MS, notAfterMs: Date.now() + HOUR_MS, random: seededRandom(Date.now()) }
  const key = await makePrivateKey()
  const authority = await makeAuthority(key, 'authority of a story', validity)
  const subject = { commonName: 'webhook of a story', organizations: [] }
  const leaf = await makeLeaf({ ...validity, subject, authority: { certificate: authority, key }, purpose: { server: [HOST] } })
  return { authority, leaf }
}

const inBase64 = (text: string): string => Buffer.from(text).toString('base64')

/** Servers of a world, where there is no network. */
export class PlayedServers {
  readonly #open = new Map<string, { listening: Listening; answer: Answer }>()
  #opened = 0

  listen(answer: Answer): Listener {
    const url = `https://rules${++this.#opened}.world/interpret`
    const listener: Listener = {
      clientConfig: { url, caBundle: inBase64(authorityOf(url)) },
      isDown: false,
      close: async () => void this.#open.delete(url),
    }
    this.#open.set(url, { listening: listener, answer })
    return listener
  }

  /** Fails as the real client does. */
  readonly call: PostJson = async ({ url, caBundle }, body) => {
    const found = this.#open.get(url)
    if (found === undefined || found.listening.isDown) throw new TransportError(`${url} did not answer: nobody listens`)
    if (caBundle !== authorityOf(url)) throw new TransportError(`${url} did not answer: its certificate is of somebody else`)
    const text = found.answer(body)
    try {
      return JSON.parse(text)
    } catch (error) {
      throw new TransportError(`${url} answered no JSON: ${(error as Error).message}`, error)
    }
  }
}

const authorityOf = (url: string): string => `the authority of ${url}`
