/** One object in pieces. What fails is given up at the server as well, as far as it listens. */
import { createHash } from 'node:crypto'
import { messageOf } from '../../../base/error-text.ts'
import type { Log } from '../../../base/log.ts'
import { LONGEST_ETAG } from '../../sources/limits.ts'
import type { Ask } from '../../sources/s3/ask.ts'
import { leavesOf } from '../../sources/web/markup.ts'
import { textOf } from '../../sources/web/ranged.ts'
import type { Written } from '../target.ts'
import { assertStored, refusedBy } from './answers.ts'
import { piecesOf } from './pieces.ts'
import { abortUpload } from './uploads.ts'

export interface Uploading {
  ask: Ask
  key: string
  headers: Record<string, string>
  pieceBytes: number
  written: Written
  shown: string
  log: Log
}

const LARGEST_ANSWER = 64 * 1024
const LONGEST_ID = 1024

export async function upload(uploading: Uploading, signal: AbortSignal): Promise<void> {
  const id = await begin(uploading, signal)
  try {
    const etags = await sendPieces(uploading, id, signal)
    await complete(uploading, { id, etags }, signal)
  } catch (error) {
    // Also when it is to end: the next copier need not look for it. Bounded in time by the client.
    await abortUpload(uploading.ask, { key: uploading.key, id }, new AbortController().signal).catch((reason: unknown) =>
      uploading.log.write('debug', 'an upload could not be given up', { reason: messageOf(reason) }),
    )
    throw error
  }
}

async function begin({ ask, key, headers, shown }: Uploading, signal: AbortSignal): Promise<string> {
  const answer = await ask({ method: 'POST', key, query: { uploads: '' }, headers }, signal)
  if (answer.status !== 200) {
    answer.discard()
    throw refusedBy(answer, shown)
  }
  const id = leafOf(await textOf(answer, LARGEST_ANSWER), 'InitiateMultipartUploadResult/UploadId')
  if (id === undefined || id === '' || id.length > LONGEST_ID) throw new Error(`${shown} began an upload and did not say which`)
  return id
}

async function sendPieces({ ask, key, pieceBytes, written, shown }: Uploading, id: string, signal: AbortSignal): Promise<string[]> {
  const { file, from, onBytes } = written
  const etags: string[] = []
  for await (const body of piecesOf(from.read(file, { start: 0, end: file.size }, signal), file.size, pieceBytes)) {
    const digest = createHash('md5').update(body).digest()
    const query = { partNumber: String(etags.length + 1), uploadId: id }
    const answer = await ask({ method: 'PUT', key, query, headers: { 'content-md5': digest.toString('base64') }, body }, signal)
    answer.discard()
    // 404: another copier took it for a leftover.
    if (answer.status === 404) throw new Error('the upload was ended by somebody else')
    if (answer.status !== 200) throw refusedBy(answer, shown)
    assertStored(answer, digest.toString('hex'), file.path)
    const { etag } = answer.headers
    if (etag === undefined || etag.length > LONGEST_ETAG) throw new Error(`${shown} stored a piece and did not say which`)
    etags.push(etag)
    onBytes(body.length)
  }
  return etags
}

async function complete(
  { ask, key, shown }: Uploading,
  { id, etags }: { id: string; etags: string[] },
  signal: AbortSignal,
): Promise<void> {
  const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`).join('')
  const body = Buffer.from(`<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`)
  const headers = { 'content-type': 'application/xml' }
  const answer = await ask({ method: 'POST', key, query: { uploadId: id }, headers, body }, signal)
  if (answer.status !== 200) {
    answer.discard()
    throw answer.status === 404 ? new Error('the upload was ended by somebody else') : refusedBy(answer, shown)
  }
  // It may begin with 200 and end with an error.
  const text = await textOf(answer, LARGEST_ANSWER)
  if (leafOf(text, 'CompleteMultipartUploadResult/ETag') === undefined) throw new Error(`${shown} did not complete an upload`)
}

function leafOf(xml: string, wanted: string): string | undefined {
  for (const { path, text } of leavesOf(xml)) if (path === wanted) return text
  return undefined
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
