import { parsedOf } from '../base/parsed-bytes.ts'

/**
 * Splits a stream of bytes at newlines without decoding; a line longer than the bound ends the stream with an error. A chunk
 * with a known parsed value is passed through as one line.
 */
const NEWLINE = 10

export async function* lines(body: AsyncIterable<Uint8Array>, maxLineBytes: number): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const chunk of body) {
    if (restBytes === 0 && chunk instanceof Buffer && parsedOf(chunk) !== undefined) {
      yield chunk
      continue
    }
    let buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (;;) {
      const end = buffer.indexOf(NEWLINE)
      if (restBytes + (end < 0 ? buffer.length : end) > maxLineBytes)
        throw new Error(`a line of the stream is longer than ${maxLineBytes} bytes`)
      if (end < 0) break
      const head = buffer.subarray(0, end)
      yield rest.length === 0 ? head : Buffer.concat([...rest, head])
      rest = []
      restBytes = 0
      buffer = buffer.subarray(end + 1)
    }
    if (buffer.length === 0) continue
    rest.push(buffer)
    restBytes += buffer.length
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}
