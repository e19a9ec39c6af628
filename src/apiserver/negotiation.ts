/**
 * Which form an answer takes: JSON or YAML, whole objects, a Table, or metadata only. Answers in protobuf are not
 * offered; a client that accepts nothing else gets 406, all others get JSON.
 */
import { failure, type StatusError } from '../kube/status.ts'

export type ResponseShape = 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'

export interface Negotiated {
  format: 'json' | 'yaml'
  shape: ResponseShape
  /** Version of meta.k8s.io for a Table or partial metadata. */
  metaVersion: string
}

interface AcceptClause {
  type: string
  params: Record<string, string>
  quality: number
}

const OFFERED = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
const STREAMS = ', application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'

/** What the endpoint can turn its answer into. */
export interface Offers {
  /** Resources can become Tables and partial metadata; discovery cannot. */
  transforms: boolean
  /** Lists and watches advertise their stream types in a 406. */
  streams: boolean
  /** The parser reached the endpoint's producer check (the messages of a 406 differ between single objects and lists). */
  strictWords: boolean
}

export function parseAccept(header: string): AcceptClause[] {
  const clauses: AcceptClause[] = []
  for (const part of header.split(',')) {
    const [type = '', ...rest] = part.split(';').map((piece) => piece.trim())
    if (type === '') continue
    const params: Record<string, string> = {}
    for (const param of rest) {
      const equals = param.indexOf('=')
      if (equals > 0) params[param.slice(0, equals).toLowerCase()] = param.slice(equals + 1)
    }
    const quality = params.q === undefined ? 1 : Number(params.q)
    delete params.q
    clauses.push({ type, params, quality: Number.isFinite(quality) ? quality : 1 })
  }
  // Equal qualities keep the client's order: Array.prototype.sort is stable.
  return clauses.sort((a, b) => b.quality - a.quality)
}

export function negotiate(header: string | undefined, offers: Offers): Negotiated {
  if (header === undefined || header.trim() === '') return { format: 'json', shape: 'object', metaVersion: 'v1' }
  const clauses = parseAccept(header)
  let sawKnownType = false
  for (const clause of clauses) {
    const format = formatOf(clause.type)
    if (format === undefined) continue
    sawKnownType = true
    if (format === 'protobuf') continue
    const transformed = shapeOf(clause.params, offers)
    if (transformed !== undefined) return { format, ...transformed }
  }
  throw notAcceptable(sawKnownType, offers)
}

/** Failures are sent in the client's preferred format where we support it. */
export function errorFormat(header: string | undefined): 'json' | 'yaml' {
  for (const clause of parseAccept(header ?? '')) {
    const format = formatOf(clause.type)
    if (format === 'json' || format === 'yaml') return format
  }
  return 'json'
}

/** Watches are streams of JSON; nothing else can be framed. */
export function negotiateWatch(header: string | undefined, offers: Offers): Negotiated {
  const negotiated = negotiate(header, offers)
  if (negotiated.format === 'json') return negotiated
  throw failure(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  )
}

function formatOf(type: string): 'json' | 'yaml' | 'protobuf' | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/json;stream=watch') return 'json'
  if (type === 'application/yaml') return 'yaml'
  if (type === 'application/vnd.kubernetes.protobuf') return 'protobuf'
  return undefined
}

function shapeOf(params: Record<string, string>, offers: Offers): { shape: ResponseShape; metaVersion: string } | undefined {
  const as = params.as
  if (as === undefined) return { shape: 'object', metaVersion: 'v1' }
  if (!offers.transforms || params.g !== 'meta.k8s.io' || (params.v !== 'v1' && params.v !== 'v1beta1')) return undefined
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined
  return { shape: as, metaVersion: params.v }
}

function notAcceptable(sawKnownType: boolean, offers: Offers): StatusError {
  if (sawKnownType || !offers.strictWords) return failure(406, 'NotAcceptable', `only the following media types are accepted: ${OFFERED}`)
  return failure(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${OFFERED}${offers.streams ? STREAMS : ''}`, {})
}
