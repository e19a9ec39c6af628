/** Uploads that were begun and never completed: they take room that nobody sees. */
import { LARGEST_LISTING_ANSWER } from '../../sources/limits.ts'
import type { Ask } from '../../sources/s3/ask.ts'
import { leavesOf } from '../../sources/web/markup.ts'
import { textOf } from '../../sources/web/ranged.ts'

/** A thousand each. */
const MOST_PAGES = 100

/** Ids by key. Only what is written again is given up: uploads of other programs to other keys are none of ours. */
export async function leftUploads(ask: Ask, prefix: string, signal: AbortSignal): Promise<Map<string, string[]>> {
  const left = new Map<string, string[]>()
  let marker: Record<string, string> = {}
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const answer = await ask({ method: 'GET', query: { uploads: '', ...(prefix === '' ? {} : { prefix }), ...marker } }, signal)
    if (answer.status !== 200) {
      answer.discard()
      throw new Error(`the bucket answered with status ${answer.status}`)
    }
    const { uploads, next } = parseUploads(await textOf(answer, LARGEST_LISTING_ANSWER))
    for (const { key, id } of uploads) left.set(key, [...(left.get(key) ?? []), id])
    if (next === undefined || next['key-marker'] === marker['key-marker']) return left
    marker = next
  }
  return left
}

function parseUploads(xml: string): { uploads: { key: string; id: string }[]; next?: Record<string, string> } {
  const uploads: { key: string; id: string }[] = []
  let fields = new Map<string, string>()
  const page = new Map<string, string>()
  for (const { path, text } of leavesOf(xml)) {
    const [root, element = '', field] = path.split('/')
    if (root !== 'ListMultipartUploadsResult') throw new Error('the bucket answered with something else than a list of uploads')
    if (element === 'Upload' && field !== undefined) fields.set(field, text)
    else if (element === 'Upload') {
      uploads.push({ key: fields.get('Key') ?? '', id: fields.get('UploadId') ?? '' })
      fields = new Map()
    } else if (field === undefined) page.set(element, text)
  }
  const [key, id] = [page.get('NextKeyMarker'), page.get('NextUploadIdMarker')]
  if (page.get('IsTruncated')?.trim() !== 'true' || key === undefined) return { uploads }
  return { uploads, next: { 'key-marker': key, ...(id === undefined ? {} : { 'upload-id-marker': id }) } }
}

export async function abortUpload(ask: Ask, { key, id }: { key: string; id: string }, signal: AbortSignal): Promise<void> {
  const answer = await ask({ method: 'DELETE', key, query: { uploadId: id } }, signal)
  answer.discard()
  if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404)
    throw new Error(`the bucket answered with status ${answer.status}`)
}
