/**
 * Our admission as a webhook: an AdmissionReview comes in, the same pure functions decide that the embedded server calls in
 * process, and the answer goes out. Unreadable input is refused with a sentence, never a crash.
 */
import { deepClone, isJsonObject, setOwn } from '../../base/json.ts'
import type { Admission, AdmissionContext, AdmissionOperation, AdmissionReader, AdmissionRequest, Right } from '../../kinds/admission.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { badRequestError, invalidError, type Status, StatusError } from '../../kube/status.ts'
import { patchBetween } from './json-difference.ts'

export interface ReviewOptions {
  admission: Admission
  phase: 'mutate' | 'validate'
  read: AdmissionReader
  /** Asks the server. */
  hasRight(user: UserInfo, right: Right): Promise<boolean>
  nowMs: number
  newUid(): string
}

interface ReviewResponse {
  uid: string
  allowed: boolean
  status?: Partial<Status>
  warnings?: string[]
  patchType?: 'JSONPatch'
  patch?: string
}

export interface AdmissionReview {
  apiVersion: string
  kind: 'AdmissionReview'
  response: ReviewResponse
}

export async function reviewAdmission(body: unknown, options: ReviewOptions): Promise<AdmissionReview> {
  const { uid, request, before } = requestOf(body)
  const warnings: string[] = []
  const answer = (response: Omit<ReviewResponse, 'uid'>): AdmissionReview => ({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, ...response, ...(warnings.length === 0 ? {} : { warnings }) },
  })
  try {
    await decide(request, options, contextOf(options, request, warnings))
    if (options.phase === 'validate' || before === undefined || request.object === undefined) return answer({ allowed: true })
    const steps = patchBetween(before, request.object)
    if (steps.length === 0) return answer({ allowed: true })
    return answer({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(steps)).toString('base64') })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const { message, reason, code, details } = error.status
    return answer({ allowed: false, status: { status: 'Failure', message, reason, code, details } })
  }
}

async function decide(request: AdmissionRequest, { admission, phase }: ReviewOptions, context: AdmissionContext): Promise<void> {
  if (phase === 'mutate') {
    await admission.mutate?.(request, context)
    return
  }
  const errors = await admission.validate?.(request, context)
  if (errors !== undefined && errors.length > 0) throw invalidError({ group: request.group, kind: request.kind }, request.name, errors)
}

function contextOf(
  { read, hasRight, nowMs, newUid, admission }: ReviewOptions,
  { user }: AdmissionRequest,
  warnings: string[],
): AdmissionContext {
  return {
    read,
    async authorMay(right) {
      if (admission.asksForRights !== true) throw new Error(`${admission.name} asks for rights, and does not declare it`)
      return hasRight(user, right)
    },
    nowMs,
    newUid,
    warn: (message) => void warnings.push(message.slice(0, 256)),
    adjust() {
      throw new Error(`${admission.name} changes other objects, which a webhook cannot do`)
    },
  }
}

/** `before` is the object as received: the base of the patch. */
function requestOf(body: unknown): { uid: string; request: AdmissionRequest; before: object | undefined } {
  const review = isJsonObject(body) ? body : {}
  const request = isJsonObject(review.request) ? review.request : undefined
  if (review.kind !== 'AdmissionReview' || request === undefined || typeof request.uid !== 'string' || request.uid === '')
    throw badRequestError('the body is not an AdmissionReview with a request')
  const [kind, resource, user] = [textsOf(request.kind), textsOf(request.resource), textsOf(request.userInfo)]
  const object = objectOf(request.object)
  return {
    uid: request.uid,
    before: isJsonObject(request.object) ? request.object : undefined,
    request: {
      operation: text(request.operation) as AdmissionOperation,
      group: kind.group ?? '',
      version: kind.version ?? '',
      kind: kind.kind ?? '',
      resource: resource.resource ?? '',
      subresource: text(request.subResource),
      namespace: text(request.namespace),
      name: text(request.name) || (object?.metadata.name ?? ''),
      object,
      oldObject: objectOf(request.oldObject),
      user: { name: user.username ?? '', uid: user.uid ?? '', groups: groupsOf(request.userInfo), ...extraOf(request.userInfo) },
      dryRun: request.dryRun === true,
      options: isJsonObject(request.options) ? (request.options as Record<string, unknown>) : undefined,
    },
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

function textsOf(value: unknown): Record<string, string | undefined> {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, of]) => typeof of === 'string') as [string, string][])
    : {}
}

function groupsOf(user: unknown): string[] {
  const groups = isJsonObject(user) ? user.groups : undefined
  return Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : []
}

/** Some authorizers narrow by it. */
function extraOf(user: unknown): Pick<UserInfo, 'extra'> {
  const extra = isJsonObject(user) ? user.extra : undefined
  if (!isJsonObject(extra)) return {}
  const read: Record<string, string[]> = {}
  for (const [key, values] of Object.entries(extra))
    if (Array.isArray(values))
      setOwn(
        read,
        key,
        values.filter((value) => typeof value === 'string'),
      )
  return { extra: read }
}

/** A mutable copy, in the shape that every object has. */
function objectOf(value: unknown): KubeObject | undefined {
  if (!isJsonObject(value)) return undefined
  const object = deepClone(value) as unknown as KubeObject
  if (!isJsonObject(object.metadata)) object.metadata = {}
  return object
}
