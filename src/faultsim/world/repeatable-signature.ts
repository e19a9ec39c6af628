/**
 * Deterministic ES256 signatures (RFC 6979), so that what a world stores is the same in every run. For worlds alone: the
 * arithmetic is not constant-time, and the keys of worlds protect nothing.
 */
import { createECDH, createHash, createHmac, createPrivateKey } from 'node:crypto'
import type { JsonObject } from '../../base/json.ts'

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const SIZE = 32

/** A compact JWT; the same claims and key always give the same text. */
export function signJwtRepeatably(claims: JsonObject, key: { pem: string; id: string }): string {
  const part = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'ES256', kid: key.id })}.${part(claims)}`
  return `${signed}.${signRepeatably(signed, key.pem).toString('base64url')}`
}

function signRepeatably(text: string, pem: string): Buffer {
  const secret = Buffer.from(createPrivateKey(pem).export({ format: 'jwk' }).d ?? '', 'base64url')
  const digest = createHash('sha256').update(text).digest()
  const [d, z] = [numberOf(secret), modulo(numberOf(digest))]
  for (const nonce of nonces(secret, digest)) {
    const point = createECDH('prime256v1')
    point.setPrivateKey(bytesOf(nonce))
    const r = modulo(numberOf(point.getPublicKey().subarray(1, 1 + SIZE)))
    const s = modulo(inverse(nonce) * (z + r * d))
    if (r !== 0n && s !== 0n) return Buffer.concat([bytesOf(r), bytesOf(s)])
  }
  throw new Error('there is always another nonce')
}

/** RFC 6979, 3.2. */
function* nonces(secret: Buffer, digest: Buffer): Generator<bigint> {
  const seed = Buffer.concat([secret, bytesOf(modulo(numberOf(digest)))])
  const mac = (key: Buffer, ...parts: Buffer[]): Buffer => createHmac('sha256', key).update(Buffer.concat(parts)).digest()
  let v: Buffer = Buffer.alloc(SIZE, 1)
  let k: Buffer = Buffer.alloc(SIZE, 0)
  for (const step of [0, 1]) {
    k = mac(k, v, Buffer.from([step]), seed)
    v = mac(k, v)
  }
  for (;;) {
    v = mac(k, v)
    const candidate = numberOf(v)
    if (candidate > 0n && candidate < ORDER) yield candidate
    k = mac(k, v, Buffer.from([0]))
    v = mac(k, v)
  }
}

const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`)
const bytesOf = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(SIZE * 2, '0'), 'hex')
const modulo = (value: bigint): bigint => ((value % ORDER) + ORDER) % ORDER

/** By Fermat: the order is prime. */
function inverse(value: bigint): bigint {
  let [result, base, exponent] = [1n, modulo(value), ORDER - 2n]
  for (; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = modulo(result * base)
    base = modulo(base * base)
  }
  return result
}
