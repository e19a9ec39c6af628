/**
 * TokenRequest, the `token` subresource of a ServiceAccount: a signed token for the account, with given audiences and a given
 * lifetime, optionally bound to a Pod, Secret or Node.
 */
import { type Clock, formatTime } from '../../base/clock.ts'
import { isJsonObject } from '../../base/json.ts'
import type { AdmissionReader } from '../../kinds/admission.ts'
import { type FieldError, invalid } from '../../kube/field-error.ts'
import { goQuote } from '../../kube/go-print.ts'
import { type KubeObject, type ObjectMeta, parseGroupVersion } from '../../kube/meta.ts'
import { badRequestError, conflictError, invalidError, notFoundError } from '../../kube/status.ts'
import type { ReviewContext } from './reviews.ts'
import type { ServiceAccountTokens, TokenOrder } from './service-account-token.ts'

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' }
const MIN_SECONDS = 10 * 60
const MAX_SECONDS = 2 ** 32
const DEFAULT_SECONDS = 60 * 60
/**
 * What kubelets request on behalf of pods. Old clients never reload their token, so a pod's token of exactly this lifetime is
 * valid for a year, and after the hour its use only causes a warning.
 */
const KUBELET_SECONDS = 60 * 60 + 7
const EXTENDED_SECONDS = 365 * 24 * 60 * 60

interface TokenDeps {
  serviceAccounts: ServiceAccountTokens
  read: AdmissionReader
  clock: Clock
  maxTokenSeconds?: number
}

interface TokenSpec {
  audiences: readonly string[]
  expirationSeconds: number
  boundObjectRef: { apiVersion: string; kind: string; name: string; uid: string } | undefined
  /** As it is returned to the client. */
  wireRef: unknown
}

export function requestToken(object: KubeObject, context: ReviewContext, deps: TokenDeps): KubeObject {
  const { name, namespace } = context
  const sent: ObjectMeta = isJsonObject(object.metadata) ? (object.metadata as ObjectMeta) : {}
  checkMetadata(sent, context)
  const account = deps.read.get({ group: '', resource: 'serviceaccounts' }, namespace, name)
  if (account === undefined) throw notFoundError({ group: '', resource: 'serviceaccounts' }, name)
  const uid = account.metadata.uid ?? ''
  if (sent.uid !== undefined && sent.uid !== '' && sent.uid !== uid) {
    const why = `the UID in the token request (${sent.uid}) does not match the UID of the service account (${uid})`
    throw conflictError({ group: KIND.group, resource: KIND.kind }, name, why)
  }
  const spec = readSpec(object.spec, deps.serviceAccounts.audiences)
  const errors = durationErrors(spec.expirationSeconds)
  if (errors.length > 0) throw invalidError(KIND, '', errors)
  const bound = resolveBound(spec, account, deps.read)
  const expirationSeconds = limited(spec.expirationSeconds, context, deps)

  const isExtended =
    bound.pod !== undefined &&
    expirationSeconds === KUBELET_SECONDS &&
    spec.audiences.every((audience) => deps.serviceAccounts.audiences.includes(audience))
  const nowMs = deps.clock.now()
  const token = deps.serviceAccounts.issue({
    account,
    audiences: spec.audiences,
    expirationSeconds: isExtended ? EXTENDED_SECONDS : expirationSeconds,
    warnAfterSeconds: isExtended ? expirationSeconds : 0,
    ...bound,
  })
  return {
    kind: object.kind,
    apiVersion: object.apiVersion,
    metadata: { ...sent, name, namespace, uid, creationTimestamp: formatTime(nowMs) },
    spec: { audiences: [...spec.audiences], expirationSeconds, boundObjectRef: spec.wireRef },
    status: { token, expirationTimestamp: formatTime(nowMs + expirationSeconds * 1000) },
  }
}

function checkMetadata(sent: ObjectMeta, { name, namespace }: ReviewContext): void {
  if ((sent.namespace ?? '') !== '' && sent.namespace !== namespace)
    throw badRequestError('the namespace of the provided object does not match the namespace sent on the request')
  if ((sent.name ?? '') !== '' && sent.name !== name)
    throw invalidError(KIND, name, [invalid('metadata.name', sent.name, 'must match the service account name if specified')])
}

function readSpec(value: unknown, ownAudiences: readonly string[]): TokenSpec {
  const spec = isJsonObject(value) ? value : {}
  const audiences = Array.isArray(spec.audiences) ? spec.audiences.filter((a): a is string => typeof a === 'string') : []
  const ref = isJsonObject(spec.boundObjectRef) ? spec.boundObjectRef : undefined
  const text = (item: unknown) => (typeof item === 'string' ? item : '')
  return {
    audiences: audiences.length === 0 ? ownAudiences : audiences,
    expirationSeconds: typeof spec.expirationSeconds === 'number' ? spec.expirationSeconds : DEFAULT_SECONDS,
    boundObjectRef:
      ref === undefined ? undefined : { apiVersion: text(ref.apiVersion), kind: text(ref.kind), name: text(ref.name), uid: text(ref.uid) },
    wireRef: ref ?? null,
  }
}

function durationErrors(seconds: number): FieldError[] {
  const field = 'spec.expirationSeconds'
  if (seconds < MIN_SECONDS) return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')]
  if (seconds > MAX_SECONDS) return [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
  return []
}

function limited(seconds: number, context: ReviewContext, deps: TokenDeps): number {
  const max = deps.maxTokenSeconds ?? 0
  if (max <= 0 || seconds <= max) return seconds
  context.warn(`requested expiration of ${seconds} seconds shortened to ${max} seconds`)
  return max
}

type Bound = Pick<TokenOrder, 'pod' | 'secret' | 'node'>

function resolveBound(spec: TokenSpec, account: KubeObject, read: AdmissionReader): Bound {
  const ref = spec.boundObjectRef
  if (ref === undefined) return {}
  const { group, version } = parseGroupVersion(ref.apiVersion)
  const place = group === '' ? PLACES.get(ref.kind) : undefined
  if (place === undefined) throw badRequestError(`cannot bind token to object of type ${group}/${version}, Kind=${ref.kind}`)
  const scope = place.namespaced ? (account.metadata.namespace ?? '') : ''
  const holder = read.get({ group: '', resource: place.resource }, scope, ref.name)
  if (holder === undefined) throw notFoundError({ group: '', resource: place.resource }, ref.name)
  const bound = place.bind(holder, account, read)
  if (ref.uid !== '' && ref.uid !== holder.metadata.uid) {
    const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflictError({ group, resource: ref.kind }, ref.name, why)
  }
  return bound
}

interface Place {
  resource: string
  namespaced: boolean
  bind(holder: KubeObject, account: KubeObject, read: AdmissionReader): Bound
}

const PLACES: ReadonlyMap<string, Place> = new Map<string, Place>([
  ['Pod', { resource: 'pods', namespaced: true, bind: bindPod }],
  ['Secret', { resource: 'secrets', namespaced: true, bind: (secret) => ({ secret }) }],
  [
    'Node',
    { resource: 'nodes', namespaced: false, bind: (node) => ({ node: { name: node.metadata.name ?? '', uid: node.metadata.uid } }) },
  ],
])

function bindPod(pod: KubeObject, account: KubeObject, read: AdmissionReader): Bound {
  const spec = isJsonObject(pod.spec) ? pod.spec : {}
  const name = account.metadata.name ?? ''
  if (spec.serviceAccountName !== name)
    throw badRequestError(`cannot bind token for serviceaccount ${goQuote(name)} to pod running with different serviceaccount name.`)
  if (typeof spec.nodeName !== 'string' || spec.nodeName === '') return { pod }
  const node = read.get({ group: '', resource: 'nodes' }, '', spec.nodeName)
  return { pod, node: { name: spec.nodeName, uid: node?.metadata.uid } }
}
