/**
 * Service account tokens: issued bound to their ServiceAccount (and optionally to a Pod, Secret or Node), and refused as
 * soon as one of these is gone, has been replaced by another object of the same name, or the token has expired. The
 * long-lived tokens that the token controller keeps in Secrets are recognised as well.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { type Random, uuid } from '../../base/random.ts'
import type { AdmissionReader } from '../../kinds/admission.ts'
import { CREDENTIAL_ID, serviceAccountGroups, serviceAccountName, splitServiceAccountName } from '../../kinds/identity.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { goQuote } from '../../kube/go-print.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { createJwtVerifier, publicJwk, type SigningKey, signJwt } from './jwt.ts'
import { quotedList } from './rules.ts'

export const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local'
const LEGACY_ISSUER = 'kubernetes/serviceaccount'
/** Clocks of issuer and verifier may differ by this much. */
const LEEWAY_MS = 60_000

export interface ServiceAccountTokenDeps {
  /** The first signs; all verify. */
  keys: readonly [SigningKey, ...SigningKey[]]
  issuer?: string
  /** Audiences that mean this API server; default: the issuer. */
  audiences?: readonly string[]
  read: AdmissionReader
  clock: Clock
  random: Random
}

export interface TokenOrder {
  account: KubeObject
  audiences: readonly string[]
  expirationSeconds: number
  /** Seconds after which use only causes a warning; 0 = none. */
  warnAfterSeconds?: number
  pod?: KubeObject
  secret?: KubeObject
  /** Only a name when the pod's node has no object. */
  node?: { name: string; uid?: string }
}

export interface AuthenticatedToken {
  user: UserInfo
  audiences: string[]
}

/** `undefined`: not one of our tokens. `error`: ours, but invalid. */
export type TokenVerdict = AuthenticatedToken | { error: string } | undefined

export interface ServiceAccountTokens {
  readonly issuer: string
  readonly audiences: readonly string[]
  issue(order: TokenOrder): string
  /** A token without expiry, valid as long as it is in this Secret. */
  issueLegacy(account: KubeObject, secret: KubeObject): string
  verify(token: string, audiences?: readonly string[]): TokenVerdict
  /** The documents of `/.well-known/openid-configuration` and `/openid/v1/jwks`. */
  discovery(jwksUri: string): { configuration: JsonObject; keys: JsonObject }
}

export function createServiceAccountTokens(deps: ServiceAccountTokenDeps): ServiceAccountTokens {
  const issuer = deps.issuer ?? DEFAULT_ISSUER
  const audiences = deps.audiences ?? [issuer]
  const verifier = createJwtVerifier(deps.keys)
  return {
    issuer,
    audiences,
    issue: (order) => signJwt(claimsOf(order, issuer, deps), deps.keys[0]),
    issueLegacy: (account, secret) => signJwt(legacyClaims(account, secret), deps.keys[0]),
    verify(token, wanted = audiences) {
      const verdict = verifier.read(token, (from) => from === issuer || from === LEGACY_ISSUER)
      if (verdict === undefined || 'error' in verdict) return verdict
      const { claims } = verdict
      const claimed = audienceClaim(claims.aud)
      const held = claimed.length === 0 ? audiences : claimed
      const shared = held.filter((audience) => wanted.includes(audience))
      if (shared.length === 0)
        return { error: `token audiences ${quotedList(held)} is invalid for the target audiences ${quotedList(wanted)}` }
      const user = claims.iss === LEGACY_ISSUER ? legacyUser(token, claims, deps.read) : boundUser(claims, deps)
      return typeof user === 'string' ? { error: user } : { user, audiences: shared }
    },
    discovery: (jwksUri) => ({
      configuration: {
        issuer,
        jwks_uri: jwksUri,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
      },
      keys: { keys: deps.keys.map(publicJwk) },
    }),
  }
}

function claimsOf(order: TokenOrder, issuer: string, { clock, random }: ServiceAccountTokenDeps): JsonObject {
  const { account } = order
  const nowSeconds = Math.floor(clock.now() / 1000)
  const namespace = account.metadata.namespace ?? ''
  const bound: JsonObject = { namespace }
  if (order.node !== undefined) bound.node = reference(order.node)
  if (order.pod !== undefined) bound.pod = reference(order.pod.metadata)
  if (order.secret !== undefined) bound.secret = reference(order.secret.metadata)
  bound.serviceaccount = reference(account.metadata)
  if (order.warnAfterSeconds !== undefined && order.warnAfterSeconds !== 0) bound.warnafter = nowSeconds + order.warnAfterSeconds
  return {
    aud: [...order.audiences],
    exp: nowSeconds + order.expirationSeconds,
    iat: nowSeconds,
    iss: issuer,
    jti: uuid(random),
    'kubernetes.io': bound,
    nbf: nowSeconds,
    sub: serviceAccountName(namespace, account.metadata.name ?? ''),
  }
}

const reference = ({ name, uid }: { name?: string; uid?: string }): JsonObject => ({ name, ...(uid === undefined ? {} : { uid }) })

function audienceClaim(aud: unknown): string[] {
  if (typeof aud === 'string') return [aud]
  return Array.isArray(aud) ? aud.filter((item): item is string => typeof item === 'string') : []
}

/** The user of a bound token, or why it is refused. */
function boundUser(claims: JsonObject, { read, clock }: ServiceAccountTokenDeps): UserInfo | string {
  const nowMs = clock.now()
  const outOfTime = timeProblem(claims, nowMs)
  if (outOfTime !== '') return outOfTime
  const bound = isJsonObject(claims['kubernetes.io']) ? claims['kubernetes.io'] : {}
  const namespace = text(bound.namespace)
  const account = refOf(bound.serviceaccount)
  const live = read.get({ group: '', resource: 'serviceaccounts' }, namespace, account.name)
  if (live === undefined) return `serviceaccounts ${goQuote(account.name)} not found`
  if (live.metadata.uid !== account.uid) return `service account UID (${live.metadata.uid ?? ''}) does not match claim (${account.uid})`
  if (isLongDeleted(live, nowMs)) return `service account ${namespace}/${account.name} has been deleted`

  const holders: [unknown, resource: string, label: string, scope: string][] = [
    [bound.secret, 'secrets', 'secret', namespace],
    [bound.pod, 'pods', 'pod', namespace],
    // The node of a pod-bound token is informational, not a binding.
    [bound.pod === undefined ? bound.node : undefined, 'nodes', 'node', ''],
  ]
  for (const [claim, resource, label, scope] of holders) {
    if (claim === undefined) continue
    const ref = refOf(claim)
    const holder = read.get({ group: '', resource }, scope, ref.name)
    if (holder === undefined) return 'service account token has been invalidated'
    const uid = holder.metadata.uid ?? ''
    if (uid !== ref.uid) return `${label} UID (${uid}) does not match service account ${label} ref claim (${ref.uid})`
    if (isLongDeleted(holder, nowMs)) return 'service account token has been invalidated'
  }
  return userOf({ namespace, ...account }, claims, bound)
}

function timeProblem(claims: JsonObject, nowMs: number): string {
  const at = (claim: unknown) => (typeof claim === 'number' ? claim * 1000 : undefined)
  const [notBefore, expires, issued] = [at(claims.nbf), at(claims.exp), at(claims.iat)]
  if (notBefore !== undefined && nowMs + LEEWAY_MS < notBefore) return 'service account token is not valid yet'
  if (expires !== undefined && nowMs - LEEWAY_MS > expires) return 'service account token has expired'
  if (issued !== undefined && nowMs + LEEWAY_MS < issued) return 'service account token is issued in the future'
  return ''
}

function userOf(account: { namespace: string; name: string; uid: string }, claims: JsonObject, bound: JsonObject): UserInfo {
  const extra: Record<string, string[]> = {}
  if (bound.pod !== undefined) {
    const pod = refOf(bound.pod)
    extra['authentication.kubernetes.io/pod-name'] = [pod.name]
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid]
  }
  if (typeof claims.jti === 'string' && claims.jti !== '') extra[CREDENTIAL_ID] = [`JTI=${claims.jti}`]
  if (bound.node !== undefined) {
    const node = refOf(bound.node)
    extra['authentication.kubernetes.io/node-name'] = [node.name]
    if (node.uid !== '') extra['authentication.kubernetes.io/node-uid'] = [node.uid]
  }
  const { namespace, name, uid } = account
  const user: UserInfo = { name: serviceAccountName(namespace, name), uid, groups: serviceAccountGroups(namespace) }
  if (Object.keys(extra).length > 0) user.extra = extra
  return user
}

const LEGACY = 'kubernetes.io/serviceaccount/'

/** The claims of a token stored in a Secret. */
export function legacyClaims(account: KubeObject, secret: KubeObject): JsonObject {
  const { namespace = '', name = '', uid = '' } = account.metadata
  return {
    iss: LEGACY_ISSUER,
    [`${LEGACY}namespace`]: namespace,
    [`${LEGACY}secret.name`]: secret.metadata.name ?? '',
    [`${LEGACY}service-account.name`]: name,
    [`${LEGACY}service-account.uid`]: uid,
    sub: serviceAccountName(namespace, name),
  }
}

/** The user of a token stored in a Secret: valid as long as the Secret holds exactly this token. */
function legacyUser(token: string, claims: JsonObject, read: AdmissionReader): UserInfo | string {
  const namespace = text(claims[`${LEGACY}namespace`])
  const secretName = text(claims[`${LEGACY}secret.name`])
  const name = text(claims[`${LEGACY}service-account.name`])
  const uid = text(claims[`${LEGACY}service-account.uid`])
  if (text(claims.sub) === '') return 'sub claim is missing'
  if (namespace === '') return 'namespace claim is missing'
  if (secretName === '') return 'secretName claim is missing'
  if (name === '') return 'serviceAccountName claim is missing'
  if (uid === '') return 'serviceAccountUID claim is missing'
  const subject = splitServiceAccountName(text(claims.sub))
  if (subject?.namespace !== namespace || subject.name !== name) return 'sub claim is invalid'

  const secret = read.get({ group: '', resource: 'secrets' }, namespace, secretName)
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return 'Token has been invalidated'
  const stored = Buffer.from(isJsonObject(secret.data) ? text(secret.data.token) : '', 'base64')
  const sent = Buffer.from(token)
  if (stored.length !== sent.length || !timingSafeEqual(stored, sent)) return "Token does not match server's copy"
  const account = read.get({ group: '', resource: 'serviceaccounts' }, namespace, name)
  if (account === undefined) return `serviceaccounts ${goQuote(name)} not found`
  if (account.metadata.deletionTimestamp !== undefined) return `ServiceAccount ${namespace}/${name} has been deleted`
  if (account.metadata.uid !== uid) return `ServiceAccount UID (${account.metadata.uid ?? ''}) does not match claim (${uid})`
  return { name: serviceAccountName(namespace, name), uid, groups: serviceAccountGroups(namespace) }
}

function isLongDeleted(object: KubeObject, nowMs: number): boolean {
  const deleted = object.metadata.deletionTimestamp
  return deleted !== undefined && Date.parse(deleted) < nowMs - LEEWAY_MS
}

function refOf(value: unknown): { name: string; uid: string } {
  return isJsonObject(value) ? { name: text(value.name), uid: text(value.uid) } : { name: '', uid: '' }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
