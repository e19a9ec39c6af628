/**
 * Checks service-account tokens: compact JWTs signed with RS256 or ES256 by one of the issuer's published keys. Pure. A token
 * cannot choose how it is verified: the algorithm must be the one its key is for.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../base/json.ts'

export interface PublicKey {
  id: string
  algorithm: 'RS256' | 'ES256'
  key: KeyObject
}

export interface Expected {
  issuer: string
  audience: string
  nowMs: number
}

export type Verdict = { namespace: string } | { error: string }

const LONGEST_TOKEN = 16 * 1024
const LEEWAY_SECONDS = 60
const MOST_KEYS = 64
const BASE64URL = /^[A-Za-z0-9_-]+$/
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** The keys of a JWKS that can be used; others are left out. */
export function readKeySet(parsed: unknown): PublicKey[] {
  const keys = isJsonObject(parsed) && Array.isArray(parsed.keys) ? parsed.keys.slice(0, MOST_KEYS) : []
  return keys.flatMap((jwk) => {
    if (!isJsonObject(jwk) || typeof jwk.kid !== 'string') return []
    const algorithm = jwk.kty === 'RSA' ? 'RS256' : jwk.kty === 'EC' && jwk.crv === 'P-256' ? 'ES256' : undefined
    if (algorithm === undefined || (jwk.alg !== undefined && jwk.alg !== algorithm)) return []
    try {
      return [{ id: jwk.kid, algorithm, key: createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' }) } as const]
    } catch {
      // A key that OpenSSL does not take is no key; the others still are.
      return []
    }
  })
}

/** The id of the key that a token says it is signed with; undefined when it is no JWT. */
export const keyIdOf = (token: string): string | undefined => {
  const kid = partsOf(token)?.header.kid
  return typeof kid === 'string' ? kid : undefined
}

/** The issuer that a token names, unverified: for tokens that this program was given by the cluster itself. */
export const issuerOf = (token: string): string | undefined => {
  const issuer = partsOf(token)?.claims.iss
  return typeof issuer === 'string' ? issuer : undefined
}

export function checkToken(token: string, keys: readonly PublicKey[], expected: Expected): Verdict {
  const parts = partsOf(token)
  if (parts === undefined) return { error: 'this is not a service-account token' }
  const { header, claims } = parts
  const key = keys.find(({ id, algorithm }) => id === header.kid && algorithm === header.alg)
  if (key === undefined) return { error: 'the token is signed with a key that the cluster does not publish' }
  if (!isSignedBy(parts, key)) return { error: 'the signature of the token is wrong' }
  if (claims.iss !== expected.issuer) return { error: 'the token is of another issuer' }
  const audiences = Array.isArray(claims.aud) ? claims.aud : [claims.aud]
  if (!audiences.includes(expected.audience)) return { error: `the token is not for ${expected.audience}` }
  const seconds = expected.nowMs / 1000
  if (typeof claims.exp !== 'number' || claims.exp + LEEWAY_SECONDS < seconds) return { error: 'the token has expired' }
  if (typeof claims.nbf === 'number' && claims.nbf - LEEWAY_SECONDS > seconds) return { error: 'the token is not valid yet' }
  const kubernetes = Object.hasOwn(claims, 'kubernetes.io') ? claims['kubernetes.io'] : undefined
  const namespace = isJsonObject(kubernetes) ? kubernetes.namespace : undefined
  if (typeof namespace !== 'string' || !NAMESPACE.test(namespace)) return { error: 'the token names no namespace' }
  return { namespace }
}

interface Parts {
  header: JsonObject
  claims: JsonObject
  signed: string
  signature: Buffer
}

function partsOf(token: string): Parts | undefined {
  if (token.length > LONGEST_TOKEN) return undefined
  const [head = '', body = '', signature = '', ...more] = token.split('.')
  const [header, claims] = [segmentOf(head), segmentOf(body)]
  if (more.length > 0 || header === undefined || claims === undefined || !BASE64URL.test(signature)) return undefined
  return { header, claims, signed: `${head}.${body}`, signature: Buffer.from(signature, 'base64url') }
}

function segmentOf(text: string): JsonObject | undefined {
  if (!BASE64URL.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return isJsonObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isSignedBy({ signed, signature }: Parts, { algorithm, key }: PublicKey): boolean {
  if (algorithm === 'RS256') return verify('sha256', Buffer.from(signed), key, signature)
  // Two 32-byte numbers; for anything else OpenSSL throws instead of returning false.
  return signature.length === 64 && verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, signature)
}
