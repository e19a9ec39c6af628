/** Asks for a short text: one GET, bounded in time and in the size of the answer. */

import { Agent, request } from 'undici'
import { messageOf } from '../../base/error-text.ts'
import type { TextBounds } from '../get-text.ts'
import { TransportError } from '../transport.ts'

export async function getText(url: string, { timeoutMs, maxBytes, signal }: TextBounds): Promise<string> {
  const agent = new Agent({ connections: 1, pipelining: 0 })
  try {
    const bound = AbortSignal.timeout(timeoutMs)
    const answer = await request(url, { dispatcher: agent, signal: signal === undefined ? bound : AbortSignal.any([bound, signal]) })
    if (answer.statusCode !== 200) throw new TransportError(`${url} answered ${answer.statusCode}`)
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      length += chunk.length
      if (length > maxBytes) throw new TransportError(`the answer is longer than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch (error) {
    if (error instanceof TransportError) throw error
    throw new TransportError(`${url} did not answer: ${messageOf(error)}`, error)
  } finally {
    await agent.destroy()
  }
}
