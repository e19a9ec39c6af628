/** A stream of chunks → pieces of one length, the last one shorter; one piece is in memory at a time. */
export async function* piecesOf(chunks: AsyncIterable<Uint8Array>, total: number, length: number): AsyncGenerator<Uint8Array, void> {
  let [left, filled] = [total, 0]
  const buffer = Buffer.allocUnsafe(Math.min(length, total))
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const taken = Math.min(chunk.length - at, Math.min(buffer.length, left) - filled)
      if (taken === 0) throw new Error('more was read than the file has')
      buffer.set(chunk.subarray(at, at + taken), filled)
      at += taken
      filled += taken
      if (filled < Math.min(buffer.length, left)) continue
      left -= filled
      yield buffer.subarray(0, filled)
      filled = 0
    }
  }
  if (left > 0) throw new Error(`only ${total - left + filled} of ${total} bytes were read`)
}

const MIB = 1024 * 1024
/** Of S3. */
const MOST_PIECES = 10_000
const LEAST_PIECE = 8 * MIB
const LARGEST_PIECE = 64 * MIB

/** Undefined: the file has too many. Files of one piece are sent whole. */
export function pieceBytesFor(size: number): number | undefined {
  const needed = Math.ceil(size / MOST_PIECES / MIB) * MIB
  return needed > LARGEST_PIECE ? undefined : Math.max(LEAST_PIECE, needed)
}
