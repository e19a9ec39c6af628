/** One page of ListObjectsV2. Only what has the shape of an object is returned; keys may still be anything. */
import { LONGEST_ETAG } from '../limits.ts'
import { leavesOf } from '../web/markup.ts'
import { timeOf } from '../web/ranged.ts'

export interface S3Object {
  key: string
  size: number
  etag?: string
  mtimeNs?: string
}

export interface ListResult {
  objects: S3Object[]
  /** Undefined: the last page. */
  next?: string
}

const MOST_OBJECTS = 1000

export function parseListResult(xml: string): ListResult {
  const objects: S3Object[] = []
  let fields = new Map<string, string>()
  const page = new Map<string, string>()
  let isListing = false
  for (const { path, text } of leavesOf(xml)) {
    const [root, element = '', field] = path.split('/')
    if (root !== 'ListBucketResult') break
    isListing = true
    if (element === 'Contents' && field !== undefined) fields.set(field, text)
    else if (element === 'Contents') {
      objects.push(objectOf(fields))
      fields = new Map()
      if (objects.length > MOST_OBJECTS) throw new Error(`S3 answered with more than the ${MOST_OBJECTS} keys it was asked for`)
    } else if (field === undefined) page.set(element, text)
  }
  if (!isListing) throw new Error('S3 answered with something else than a listing: check the endpoint')
  if (page.has('EncodingType')) throw new Error('S3 answered with encoded keys, which were not asked for')
  if (page.get('IsTruncated')?.trim() !== 'true') return { objects }
  const next = page.get('NextContinuationToken')
  if (next === undefined || next === '') throw new Error('S3 says that there are more keys, but not where')
  return { objects, next }
}

/** A size that is no number is -1, which nobody takes for a file. */
function objectOf(fields: ReadonlyMap<string, string>): S3Object {
  const size = fields.get('Size')?.trim() ?? ''
  const etag = fields.get('ETag')
  return {
    key: fields.get('Key') ?? '',
    size: /^\d{1,16}$/.test(size) ? Number(size) : -1,
    ...(etag !== undefined && etag !== '' && etag.length <= LONGEST_ETAG && { etag }),
    mtimeNs: timeOf(fields.get('LastModified')),
  }
}
