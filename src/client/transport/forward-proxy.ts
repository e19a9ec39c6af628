/**
 * Connections through a forward proxy: it is asked to connect (HTTP CONNECT), and what follows is between us and the server
 * alone, TLS included. The proxy sees only the destination, and the headers meant for it.
 */
import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'

export interface ForwardProxy {
  /** http:// or https://, with user and password if it requires them. */
  url: string
  /** For the proxy alone; several values of a header are separated by commas. */
  headers?: Readonly<Record<string, string>>
}

const CONNECT_TIMEOUT_MS = 30_000

/** Throws when the URL cannot be that of a proxy. */
export function checkProxy({ url }: ForwardProxy): void {
  const { protocol } = parsedUrl(url)
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error(`the proxy ${shown(url)} is neither http nor https`)
}

/** Rejects when the proxy does not answer, or refuses. */
export function tunnelThrough(proxy: ForwardProxy, to: { hostname: string; port: string | number }): Promise<Socket> {
  const url = parsedUrl(proxy.url)
  const path = `${to.hostname.includes(':') ? `[${to.hostname.replace(/^\[|\]$/g, '')}]` : to.hostname}:${to.port}`
  return new Promise((resolve, reject) => {
    const failed = (why: string): void => reject(new Error(`the proxy ${shown(proxy.url)} ${why}`))
    const request = (url.protocol === 'https:' ? https : http).request({
      method: 'CONNECT',
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? undefined : url.port,
      path,
      agent: false,
      headers: { host: path, ...authorization(url), ...listed(proxy.headers) },
      timeout: CONNECT_TIMEOUT_MS,
    })
    request.once('connect', (response, socket: Socket) => {
      if (response.statusCode === 200) return resolve(socket)
      socket.destroy()
      failed(`refuses: ${response.statusCode} ${response.statusMessage}`)
    })
    request.once('response', (response) => {
      response.destroy()
      failed(`refuses: ${response.statusCode} ${response.statusMessage}`)
    })
    request.once('timeout', () => request.destroy(new Error('no answer in time')))
    request.once('error', (error) => failed(`does not answer: ${error.message}`))
    request.end()
  })
}

function parsedUrl(url: string): URL {
  if (!URL.canParse(url)) throw new Error(`${shown(url)} is no address of a proxy`)
  return new URL(url)
}

/** Without the password. */
const shown = (url: string): string => url.replace(/\/\/[^/@]*@/, '//')

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` }
}

const listed = (headers: ForwardProxy['headers'] = {}): Record<string, string[]> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.split(',')]))
