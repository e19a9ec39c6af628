/**
 * Writes protobuf from end to beginning: by the time the front of a nested message is written its length is known, so
 * a document of tens of thousands of messages needs one buffer and no copies.
 */
const VARINT = 0
const FIXED64 = 1
const BYTES = 2

export class BackwardWriter {
  #buffer = Buffer.allocUnsafeSlow(64 * 1024)
  /** Where the written part begins. */
  #at = this.#buffer.length

  /** How much is written; taken before a message's last field, it marks where the message ends, for `close`. */
  get written(): number {
    return this.#buffer.length - this.#at
  }

  /** Puts tag and length before everything written since `mark`. */
  close(number: number, mark: number): void {
    this.#varint(this.written - mark)
    this.#tag(number, BYTES)
  }

  text(number: number, text: string): void {
    const length = Buffer.byteLength(text)
    this.#capacity(length)
    this.#at -= length
    this.#buffer.write(text, this.#at, length)
    this.#varint(length)
    this.#tag(number, BYTES)
  }

  /** `value` is a non-negative integer. */
  integer(number: number, value: number): void {
    this.#varint(value)
    this.#tag(number, VARINT)
  }

  double(number: number, value: number): void {
    this.#capacity(8)
    this.#at -= 8
    this.#buffer.writeDoubleLE(value, this.#at)
    this.#tag(number, FIXED64)
  }

  /** A copy of what was written, in a buffer of exactly that size. */
  finish(): Buffer {
    const out = Buffer.allocUnsafeSlow(this.written)
    this.#buffer.copy(out, 0, this.#at)
    return out
  }

  #tag(number: number, type: number): void {
    this.#varint(number * 8 + type)
  }

  #varint(value: number): void {
    let size = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
    this.#capacity(size)
    this.#at -= size
    let rest = value
    for (let i = 0; i < size; i++) {
      const isLast = i === size - 1
      this.#buffer[this.#at + i] = (rest % 0x80) | (isLast ? 0 : 0x80)
      rest = Math.floor(rest / 0x80)
    }
  }

  #capacity(extra: number): void {
    if (extra <= this.#at) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.written + extra))
    const at = grown.length - this.written
    this.#buffer.copy(grown, at, this.#at)
    this.#buffer = grown
    this.#at = at
  }
}
