/** Calls a webhook: one POST of JSON over TLS, bounded in time and in the size of the answer. */

import { Agent, buildConnector, request } from 'undici'
import { messageOf } from '../../base/error-text.ts'
import type { PostTarget } from '../post-json.ts'
import { TransportError } from '../transport.ts'

const MAX_ANSWER = 3 * 1024 * 1024

/** The decoded answer. Rejects when there is none in time, when it is too long, or when its status is not a success. */
export async function postJson({ url, caBundle, connectTo }: PostTarget, body: string, timeoutMs: number): Promise<unknown> {
  const agent = new Agent({ connect: connectorTo(connectTo, caBundle), connections: 1, pipelining: 0 })
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal })
    const text = await readBounded(answer.body)
    if (answer.statusCode !== 200) throw new TransportError(`${url} answered ${answer.statusCode}: ${text.slice(0, 200)}`)
    return decoded(url, text)
  } catch (error) {
    if (error instanceof TransportError) throw error
    throw new TransportError(`${url} did not answer: ${messageOf(error)}`, error)
  } finally {
    await agent.destroy()
  }
}

function decoded(url: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TransportError(`${url} answered no JSON: ${(error as Error).message}`, error)
  }
}

function connectorTo(address: PostTarget['connectTo'], ca: string | undefined): buildConnector.connector {
  const connect = buildConnector({ ca })
  if (address === undefined) return connect
  return (options, callback) =>
    connect(
      { ...options, hostname: address.host, port: String(address.port), servername: options.servername ?? options.hostname },
      callback,
    )
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > MAX_ANSWER) throw new TransportError(`the answer is longer than ${MAX_ANSWER} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
