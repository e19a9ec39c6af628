/** Asks a webhook: one POST of JSON over TLS, bounded in time and in the size of the answer. */
import { Agent, request } from 'undici'
import { TransportError } from '../transport.ts'

const MAX_ANSWER = 3 * 1024 * 1024

/** The decoded answer. Rejects when there is none in time, when it is too long, or when it is no success. */
export async function postJson(url: string, caBundle: string | undefined, body: string, timeoutMs: number): Promise<unknown> {
  const agent = new Agent({ connect: { ca: caBundle }, connections: 1, pipelining: 0 })
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal })
    const text = await readBounded(answer.body)
    if (answer.statusCode !== 200) throw new TransportError(`${url} answered ${answer.statusCode}: ${text.slice(0, 200)}`)
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof TransportError) throw error
    throw new TransportError(`${url} did not answer: ${error instanceof Error ? error.message : String(error)}`, error)
  } finally {
    await agent.destroy()
  }
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
