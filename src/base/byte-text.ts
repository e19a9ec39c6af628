/**
 * Long-lived bytes as text, one character per byte. Buffers are outside V8's heap, and V8 marks the whole heap again for
 * every 64 MiB of them allocated, however large the heap is; text counts towards the heap's own size.
 */
export type ByteText = string & { readonly [oneCharacterPerByte]: true }
declare const oneCharacterPerByte: unique symbol

/** The UTF-8 of a text. */
export const utf8Of = (text: string): ByteText =>
  (Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')) as ByteText

export const byteTextOf = (bytes: Buffer, from = 0, end = bytes.length): ByteText => bytes.toString('latin1', from, end) as ByteText

export const bytesOf = (text: ByteText): Buffer => Buffer.from(text, 'latin1')

export function joinedBytes(parts: readonly ByteText[]): Buffer {
  const joined = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) at += writeBytes(part, joined, at)
  return joined
}

/** Writes the bytes at `at`, and returns how many there are. The target must be large enough. */
export const writeBytes = (text: ByteText, target: Buffer, at: number): number => target.write(text, at, 'latin1')

/** The bytes decoded as UTF-8. */
export const readUtf8 = (text: ByteText): string => (Buffer.byteLength(text) === text.length ? text : bytesOf(text).toString())
