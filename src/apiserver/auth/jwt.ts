/**
 * Compact signed JWTs with ES256 keys, and nothing more of JOSE: other algorithms, detached or encrypted forms are refused,
 * so a token cannot choose how it is verified. A verified signature is remembered (bounded), because clients send the same
 * token with every request.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { deepFreeze, isJsonObject, type JsonObject } from '../../base/json.ts'

export interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** Longer ones are refused without parsing: headers are bounded, but tokens also arrive in TokenReviews. */
const MAX_TOKEN_LENGTH = 64 * 1024
const REMEMBERED = 4096

/** A P-256 private key in PEM. The id is derived from the public key, so it survives restarts. */
export function readSigningKey(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem)
  if (privateKey.asymmetricKeyType !== 'ec' || privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new TypeError('the key that signs service account tokens must be an EC key on curve P-256')
  const publicKey = createPublicKey(privateKey)
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, privateKey, publicKey }
}

export function signJwt(claims: JsonObject, key: SigningKey): string {
  const head = Buffer.from(JSON.stringify({ alg: 'ES256', kid: key.id })).toString('base64url')
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
  const signed = `${head}.${body}`
  return `${signed}.${sign('sha256', Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

interface UnverifiedJwt {
  header: JsonObject
  claims: JsonObject
  signed: string
  signature: Buffer
}

/** The parts of a compact JWT, not yet verified; undefined when it is none. */
function parseJwt(token: string): UnverifiedJwt | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined
  const parts = token.split('.')
  const [head, body, signature] = parts
  if (parts.length !== 3 || head === undefined || body === undefined || signature === undefined) return undefined
  const header = parseSegment(head)
  const claims = parseSegment(body)
  if (header === undefined || claims === undefined) return undefined
  return { header, claims, signed: `${head}.${body}`, signature: Buffer.from(signature, 'base64url') }
}

const BASE64URL = /^[A-Za-z0-9_-]+$/

function parseSegment(segment: string): JsonObject | undefined {
  if (!BASE64URL.test(segment)) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString('utf8'))
    return isJsonObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Claims with a valid signature, or the real server's message about what is wrong. */
export type JwtVerdict = { claims: JsonObject } | { error: string }

export interface JwtVerifier {
  /** undefined when the token is no JWT, or is from an issuer that `isOurs` does not recognise. */
  read(token: string, isOurs: (issuer: unknown) => boolean): JwtVerdict | undefined
}

export function createJwtVerifier(keys: readonly SigningKey[]): JwtVerifier {
  const good = new Map<string, JsonObject>()
  return {
    read(token, isOurs) {
      const known = good.get(token)
      if (known !== undefined) return { claims: known }
      const jwt = parseJwt(token)
      if (jwt === undefined || !isOurs(jwt.claims.iss)) return undefined
      const problem = signatureProblem(jwt, keys)
      if (problem !== '') return { error: problem }
      const oldest = good.size < REMEMBERED ? undefined : good.keys().next().value
      if (oldest !== undefined) good.delete(oldest)
      good.set(token, deepFreeze(jwt.claims))
      return { claims: jwt.claims }
    },
  }
}

function signatureProblem(jwt: UnverifiedJwt, keys: readonly SigningKey[]): string {
  const kid = jwt.header.kid
  const candidates = typeof kid === 'string' && kid !== '' ? keys.filter((key) => key.id === kid) : keys
  if (candidates.length === 0) return 'invalid signature, no keys found'
  const isGood = jwt.header.alg === 'ES256' && candidates.some((key) => isSignedBy(jwt, key))
  return isGood ? '' : 'go-jose/go-jose: error in cryptographic primitive'
}

function isSignedBy(jwt: UnverifiedJwt, key: SigningKey): boolean {
  // A P-256 signature in this form is two 32-byte numbers; for anything else OpenSSL throws instead of returning false.
  if (jwt.signature.length !== 64) return false
  return verify('sha256', Buffer.from(jwt.signed), { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, jwt.signature)
}

/** The public half as a JSON Web Key, for `/openid/v1/jwks`. */
export function publicJwk(key: SigningKey): JsonObject {
  const { crv, x, y } = key.publicKey.export({ format: 'jwk' })
  return { use: 'sig', kty: 'EC', kid: key.id, crv, alg: 'ES256', x, y }
}
