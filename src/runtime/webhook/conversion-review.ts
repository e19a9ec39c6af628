/** Conversion of our kinds between their versions as a webhook: a ConversionReview in, the converted objects out. */
import { messageOf } from '../../base/error-text.ts'
import { isJsonObject } from '../../base/json.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import { badRequestError } from '../../kube/status.ts'

/** A kind that can be converted. */
export interface ConvertibleKind {
  group: string
  kind: string
  convert(object: KubeObject, toApiVersion: string): KubeObject
}

export interface ConversionReview {
  apiVersion: string
  kind: 'ConversionReview'
  response: { uid: string; convertedObjects: KubeObject[]; result: { status: 'Success' | 'Failure'; message?: string } }
}

export function reviewConversion(body: unknown, kinds: readonly ConvertibleKind[]): ConversionReview {
  const review = isJsonObject(body) ? body : {}
  const request = isJsonObject(review.request) ? review.request : undefined
  if (review.kind !== 'ConversionReview' || request === undefined || typeof request.uid !== 'string')
    throw badRequestError('the body is not a ConversionReview with a request')
  const { uid } = request
  const answer = (response: Omit<ConversionReview['response'], 'uid'>): ConversionReview => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    response: { uid, ...response },
  })
  const wanted = typeof request.desiredAPIVersion === 'string' ? request.desiredAPIVersion : ''
  const objects = Array.isArray(request.objects) ? (request.objects as unknown[]) : []
  try {
    const convertedObjects = objects.map((object) => convertOne(object, wanted, kinds))
    return answer({ convertedObjects, result: { status: 'Success' } })
  } catch (error) {
    return answer({ convertedObjects: [], result: { status: 'Failure', message: messageOf(error) } })
  }
}

function convertOne(value: unknown, wanted: string, kinds: readonly ConvertibleKind[]): KubeObject {
  if (!isJsonObject(value) || typeof value.apiVersion !== 'string' || !isJsonObject(value.metadata))
    throw new Error('an object without apiVersion or metadata cannot be converted')
  const object = value as unknown as KubeObject
  const { group } = parseGroupVersion(object.apiVersion)
  const kind = kinds.find((one) => one.group === group && one.kind === object.kind)
  if (kind === undefined) throw new Error(`${object.kind} of ${group} is not a kind of this server`)
  const converted = kind.convert(object, wanted)
  // A server refuses an answer that changes the object's identity.
  return { ...converted, apiVersion: wanted, kind: object.kind, metadata: { ...converted.metadata, ...identityOf(object) } }
}

const identityOf = ({ metadata: { name, namespace, uid } }: KubeObject): Pick<KubeObject['metadata'], 'name' | 'namespace' | 'uid'> => ({
  ...(name === undefined ? {} : { name }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(uid === undefined ? {} : { uid }),
})
