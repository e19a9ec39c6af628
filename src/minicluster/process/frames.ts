/** The protocol between a shim and whatever is attached to its program: a kind, a length and bytes. */

/** To the shim: input, its end, and `columns rows`. From it: stdout and stderr. */
export const FRAME = { input: 0, stdout: 1, stderr: 2, endInput: 3, resize: 4 } as const

const HEAD_BYTES = 5
const MAX_FRAME_BYTES = 1024 * 1024

export function frame(kind: number, body: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt8(kind, 0)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/** Accepts bytes as they arrive; false when they are not frames. */
export function createFrameReader(onFrame: (kind: number, body: Buffer) => void): (chunk: Buffer) => boolean {
  let waiting: Buffer = Buffer.alloc(0)
  return (chunk) => {
    let rest = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32BE(1)
      if (length > MAX_FRAME_BYTES) return false
      if (rest.length < HEAD_BYTES + length) break
      onFrame(rest.readUInt8(0), rest.subarray(HEAD_BYTES, HEAD_BYTES + length))
      rest = rest.subarray(HEAD_BYTES + length)
    }
    waiting = Buffer.from(rest)
    return true
  }
}
