/** Bodies that break off, are cut, expire or repeat lines. */
import { lines } from '../lines.ts'
import { TransportError, type TransportResponse } from '../transport.ts'
import type { Fault } from './fault-transport.ts'

type BodyFault = Extract<Fault, { do: 'break-off' | 'cut' | 'expire' | 'repeat' }>

const MAX_LINE_BYTES = 16 * 1024 * 1024
const EXPIRED = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'too old resource version, as planned',
  reason: 'Expired',
  code: 410,
}

export function faultyBody(response: TransportResponse, fault: BodyFault): AsyncIterable<Uint8Array> {
  switch (fault.do) {
    case 'break-off':
      return brokenOff(response, fault.afterBytes)
    case 'repeat':
      return stuttering(response)
    case 'cut':
      return ended(response, fault.afterLines, () => Promise.reject(new TransportError('the stream was cut, as planned')))
    case 'expire':
      return ended(response, fault.afterLines, async () => Buffer.from(`${JSON.stringify({ type: 'ERROR', object: EXPIRED })}\n`))
  }
}

async function* brokenOff(response: TransportResponse, afterBytes: number): AsyncGenerator<Uint8Array> {
  let left = afterBytes
  try {
    for await (const chunk of response.body) {
      if (chunk.length >= left) {
        yield chunk.subarray(0, left)
        throw new TransportError('the body broke off, as planned')
      }
      left -= chunk.length
      yield chunk
    }
  } finally {
    response.cancel()
  }
}

async function* ended(response: TransportResponse, afterLines: number, end: () => Promise<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = afterLines
  try {
    if (left === 0) yield await end()
    else
      for await (const line of lines(response.body, MAX_LINE_BYTES)) {
        yield withNewline(line)
        if (--left > 0) continue
        yield await end()
        return
      }
  } finally {
    response.cancel()
  }
}

async function* stuttering(response: TransportResponse): AsyncGenerator<Uint8Array> {
  let previous: Uint8Array | undefined
  try {
    for await (const line of lines(response.body, MAX_LINE_BYTES)) {
      yield withNewline(line)
      if (previous !== undefined) yield previous
      previous = withNewline(line)
    }
  } finally {
    response.cancel()
  }
}

const withNewline = (line: Uint8Array): Uint8Array => Buffer.concat([line, Buffer.from('\n')])
