/**
 * The kinds that ask the server about rights and identities: nothing is stored, the answer is the object with its status.
 * Each review takes the decoded, defaulted object as the server core has it before storing (managedFields included) and
 * throws a StatusError when the review itself is invalid.
 */
import { type Clock, formatTime } from '../../base/clock.ts'
import { deepEqual, isJsonObject, setOwn } from '../../base/json.ts'
import type { AdmissionReader } from '../../kinds/admission.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { type FieldError, invalid } from '../../kube/field-error.ts'
import { type KubeObject, METADATA_FIELDS, type ObjectMeta } from '../../kube/meta.ts'
import { badRequestError, invalidError } from '../../kube/status.ts'
import { accessSpec, attributesOf, evaluationError } from './access-spec.ts'
import type { Attributes } from './attributes.ts'
import type { Authenticator } from './authenticate.ts'
import type { ClusterAuthorizer } from './authorizer.ts'
import type { ServiceAccountTokens } from './service-account-token.ts'
import { requestToken } from './token-request.ts'

export interface ReviewDeps {
  authorizer: ClusterAuthorizer
  authenticator: Authenticator
  /** Absent: tokens cannot be requested. */
  serviceAccounts?: ServiceAccountTokens
  read: AdmissionReader
  clock: Clock
  /** Upper limit for requested lifetimes in seconds; 0 (default): only the limit of 2^32. */
  maxTokenSeconds?: number
}

export interface ReviewContext {
  user: UserInfo
  /** Namespace of the URL, '' for cluster-scoped reviews. */
  namespace: string
  /** Name in the URL: the service account of a TokenRequest, otherwise ''. */
  name: string
  /** A Warning header for the answer. */
  warn(message: string): void
}

export type Review = (object: KubeObject, context: ReviewContext) => KubeObject

const AUTHORIZATION = 'authorization.k8s.io'
const AUTHENTICATION = 'authentication.k8s.io'

/** The reviews by `group/resource` or `group/resource/subresource`. */
export function createReviews(deps: ReviewDeps): ReadonlyMap<string, Review> {
  const reviews = new Map<string, Review>([
    [`${AUTHORIZATION}/subjectaccessreviews`, (object) => reviewAccess(prepared(object, ''), deps)],
    [
      `${AUTHORIZATION}/localsubjectaccessreviews`,
      (object, context) => reviewLocalAccess(prepared(object, context.namespace), context, deps),
    ],
    [`${AUTHORIZATION}/selfsubjectaccessreviews`, (object, context) => reviewOwnAccess(prepared(object, ''), context, deps)],
    [`${AUTHORIZATION}/selfsubjectrulesreviews`, (object, context) => reviewOwnRules(object, context, deps)],
    [`${AUTHENTICATION}/tokenreviews`, (object) => reviewToken(prepared(object, ''), deps)],
    [`${AUTHENTICATION}/selfsubjectreviews`, (object, context) => reviewSelf(object, context, deps)],
  ])
  const { serviceAccounts } = deps
  if (serviceAccounts !== undefined)
    reviews.set('/serviceaccounts/token', (object, context) => requestToken(object, context, { ...deps, serviceAccounts }))
  return reviews
}

/** What the real server clears in the metadata of anything created, and the namespace it is created in. */
function prepared(object: KubeObject, namespace: string): KubeObject {
  const metadata: ObjectMeta = isJsonObject(object.metadata) ? { ...(object.metadata as ObjectMeta) } : {}
  delete metadata.creationTimestamp
  delete metadata.uid
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  const given = metadata.namespace ?? ''
  if (namespace !== '' && given !== '' && given !== namespace)
    throw badRequestError('the namespace of the provided object does not match the namespace sent on the request')
  if (namespace === '') delete metadata.namespace
  else metadata.namespace = namespace
  return { ...object, metadata }
}

function reviewAccess(object: KubeObject, deps: ReviewDeps): KubeObject {
  const spec = accessSpec(object.spec)
  refuse([...spec.errors(true), ...metadataErrors(object, [], 'must be empty')])
  return answer(object, attributesOf(spec, spec.user), deps)
}

function reviewLocalAccess(object: KubeObject, context: ReviewContext, deps: ReviewDeps): KubeObject {
  const spec = accessSpec(object.spec)
  const errors = [...spec.errors(true), ...metadataErrors(object, ['namespace'], 'must be empty except for namespace')]
  const namespace = object.metadata.namespace ?? ''
  const asked = spec.resource?.namespace ?? ''
  if (spec.resource !== undefined && asked !== namespace)
    errors.push(invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'))
  if (spec.path !== undefined) errors.push(invalid('spec.nonResourceAttributes', spec.goPath(), 'disallowed on this kind of request'))
  refuse(errors)
  if (context.namespace === '') throw badRequestError('namespace is required on this type: ')
  return answer(object, attributesOf(spec, spec.user), deps)
}

function reviewOwnAccess(object: KubeObject, context: ReviewContext, deps: ReviewDeps): KubeObject {
  const spec = accessSpec(object.spec)
  refuse([...spec.errors(false), ...metadataErrors(object, [], 'must be empty')])
  return answer(object, attributesOf(spec, context.user), deps)
}

/** The real server leaves the kind out of these errors; so do we. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidError({ group: AUTHORIZATION, kind: '' }, '', errors)
}

function metadataErrors(object: KubeObject, allowed: readonly string[], detail: string): FieldError[] {
  const { managedFields: _managed, ...rest } = object.metadata
  const given = Object.entries(rest).filter(([key, value]) => !allowed.includes(key) && !isEmpty(value))
  return given.length === 0 ? [] : [invalid('metadata', goOrder(object.metadata), detail)]
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === 0 || deepEqual(value, {}) || deepEqual(value, [])

/** Metadata with its keys in the order of the Go struct: the message quotes it as JSON. */
function goOrder(metadata: ObjectMeta): Record<string, unknown> {
  const ordered: Record<string, unknown> = {}
  for (const key of METADATA_FIELDS) if (!isEmpty(metadata[key])) ordered[key] = metadata[key]
  if (metadata.managedFields !== undefined && metadata.managedFields.length > 0) {
    ordered.managedFields = metadata.managedFields.map(({ manager, operation, apiVersion, time, fieldsType, fieldsV1, subresource }) => ({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType,
      fieldsV1,
      subresource,
    }))
  }
  return ordered
}

function answer(object: KubeObject, ask: Attributes, deps: ReviewDeps): KubeObject {
  const { allowed, reason } = deps.authorizer.authorize(ask)
  const problem = evaluationError(object.spec)
  return {
    ...object,
    status: { allowed, ...(reason === '' ? {} : { reason }), ...(problem === '' ? {} : { evaluationError: problem }) },
  }
}

function reviewOwnRules(object: KubeObject, context: ReviewContext, deps: ReviewDeps): KubeObject {
  const namespace = isJsonObject(object.spec) ? object.spec.namespace : undefined
  if (typeof namespace !== 'string' || namespace === '') throw badRequestError('no namespace on request')
  const { rules, incomplete, error } = deps.authorizer.reportRules(context.user, namespace)
  const listed = (name: string, values: readonly string[]) => (values.length === 0 ? {} : { [name]: [...values] })
  return {
    kind: object.kind,
    apiVersion: object.apiVersion,
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules
        .filter((rule) => rule.resources.length > 0)
        .map((rule) => ({
          verbs: [...rule.verbs],
          ...listed('apiGroups', rule.apiGroups),
          ...listed('resources', rule.resources),
          ...listed('resourceNames', rule.resourceNames),
        })),
      nonResourceRules: rules
        .filter((rule) => rule.nonResourceURLs.length > 0)
        .map((rule) => ({ verbs: [...rule.verbs], ...listed('nonResourceURLs', rule.nonResourceURLs) })),
      incomplete,
      ...(error === '' ? {} : { evaluationError: error }),
    },
  }
}

function reviewToken(object: KubeObject, { authenticator }: ReviewDeps): KubeObject {
  const spec = isJsonObject(object.spec) ? object.spec : {}
  if (typeof spec.token !== 'string' || spec.token === '') throw badRequestError('token is required for TokenReview in authentication')
  const wanted = Array.isArray(spec.audiences) ? spec.audiences.filter((a): a is string => typeof a === 'string') : []
  const verdict = authenticator.authenticateToken(spec.token, wanted.length === 0 ? authenticator.audiences : wanted)
  if ('error' in verdict) return { ...object, status: { user: {}, error: verdict.error } }
  const audiences = verdict.audiences.length === 0 ? {} : { audiences: verdict.audiences }
  return { ...object, status: { authenticated: true, user: wireUser(verdict.user), ...audiences } }
}

function reviewSelf(object: KubeObject, { user }: ReviewContext, { clock }: ReviewDeps): KubeObject {
  return {
    kind: object.kind,
    apiVersion: object.apiVersion,
    metadata: { creationTimestamp: formatTime(clock.now()) },
    status: { userInfo: wireUser(user) },
  }
}

function wireUser(user: UserInfo): Record<string, unknown> {
  const wire: Record<string, unknown> = {}
  if (user.name !== '') wire.username = user.name
  if (user.uid !== undefined && user.uid !== '') wire.uid = user.uid
  if (user.groups.length > 0) wire.groups = [...user.groups]
  const extra = Object.entries(user.extra ?? {})
  if (extra.length > 0) {
    const copy: Record<string, string[]> = {}
    for (const [key, values] of extra) setOwn(copy, key, [...values])
    wire.extra = copy
  }
  return wire
}
