/**
 * The protobuf wire format: a reader that trusts nothing and a growing writer. Lengths are checked against the remaining
 * input before anything is allocated, so hostile input costs at most its own size.
 */
export class WireError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WireError'
  }
}

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const START_GROUP = 3
const END_GROUP = 4
const FIXED32 = 5

/** The message of Go's generated decoders for input that ends early. */
const unexpectedEnd = (): WireError => new WireError('unexpected EOF')

export class WireReader {
  readonly #bytes: Buffer
  #at: number
  readonly #end: number

  constructor(bytes: Buffer, from = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = from
    this.#end = end
  }

  get done(): boolean {
    return this.#at >= this.#end
  }

  /** Low 32 bits are enough for tags, lengths, booleans and int32; ten bytes at most. */
  varint32(): number {
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= this.#end) throw unexpectedEnd()
      const byte = this.#bytes[this.#at++] ?? 0
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new WireError('proto: integer overflow')
  }

  /** An int64 as a bigint. */
  varint64(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.#at >= this.#end) throw unexpectedEnd()
      const byte = this.#bytes[this.#at++] ?? 0
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, value)
    }
    throw new WireError('proto: integer overflow')
  }

  tag(struct: string): { number: number; type: number } {
    const tag = this.varint32() >>> 0
    const number = tag >>> 3
    const type = tag & 7
    if (type === END_GROUP) throw new WireError(`proto: ${struct}: wiretype end group for non-group`)
    if (number === 0) throw new WireError(`proto: ${struct}: illegal tag ${number} (wire type ${tag})`)
    return { number, type }
  }

  /** A length-prefixed part as a reader over the same memory. */
  part(): WireReader {
    const length = this.#length()
    this.#at += length
    return new WireReader(this.#bytes, this.#at - length, this.#at)
  }

  bytes(): Buffer {
    const length = this.#length()
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  text(): string {
    const length = this.#length()
    this.#at += length
    return this.#bytes.toString('utf8', this.#at - length, this.#at)
  }

  double(): number {
    if (this.#end - this.#at < 8) throw unexpectedEnd()
    this.#at += 8
    return this.#bytes.readDoubleLE(this.#at - 8)
  }

  /** The remaining bytes. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#at, this.#end)
  }

  skip(type: number): void {
    let groups = 0
    for (let next = type; ; ) {
      if (next === VARINT) this.varint32()
      else if (next === FIXED64) this.#advance(8)
      else if (next === BYTES) this.#advance(this.#length())
      else if (next === FIXED32) this.#advance(4)
      else if (next === START_GROUP) groups++
      else if (next === END_GROUP && groups > 0) groups--
      else throw new WireError(next === END_GROUP ? 'proto: unexpected end of group' : `proto: illegal wireType ${next}`)
      if (groups === 0) return
      next = this.varint32() & 7
    }
  }

  #advance(length: number): void {
    if (length > this.#end - this.#at) throw unexpectedEnd()
    this.#at += length
  }

  #length(): number {
    const length = this.varint32()
    if (length < 0) throw new WireError('proto: negative length found during unmarshaling')
    if (length > this.#end - this.#at) throw unexpectedEnd()
    return length
  }
}

/** Requires a wire type; throws Go's message otherwise. */
export function expectWire(type: number, wanted: number, name: string): void {
  if (type !== wanted) throw new WireError(`proto: wrong wireType = ${type} for field ${name}`)
}

export const WIRE = { VARINT, FIXED64, BYTES } as const

export class WireWriter {
  #buffer = Buffer.allocUnsafe(256)
  #length = 0

  #reserve(extra: number): void {
    if (this.#length + extra <= this.#buffer.length) return
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + extra))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }

  varint(value: number | bigint): void {
    let rest = BigInt.asUintN(64, BigInt(value))
    this.#reserve(10)
    while (rest >= 0x80n) {
      this.#buffer[this.#length++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.#buffer[this.#length++] = Number(rest)
  }

  tag(number: number, type: number): void {
    this.varint((number << 3) | type)
  }

  bytes(number: number, value: Uint8Array): void {
    this.tag(number, BYTES)
    this.varint(value.length)
    this.#reserve(value.length)
    this.#buffer.set(value, this.#length)
    this.#length += value.length
  }

  double(number: number, value: number): void {
    this.tag(number, FIXED64)
    this.#reserve(8)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }
}
