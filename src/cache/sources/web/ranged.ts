/**
 * One range of one version of a file over HTTP. The version is asked for (If-Match, If-Unmodified-Since) and compared with what
 * came back, because servers ignore the question: s3rver answers 206 to a wrong If-Match. A server that ignores the range is
 * read from the start, within bounds. Exactly the bytes of the range, or an error.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { LONGEST_ETAG, MOST_SKIPPED } from '../limits.ts'
import { type Range, SourceChanged, type SourceFile, SourceRefused } from '../source.ts'
import type { WebAnswer } from './client.ts'

const STRONG_ETAG = /^"[\x21\x23-\x7e]*"$/
const CONTENT_RANGE = /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16}|\*)$/
const DIGITS = /^\d{1,16}$/
const NS_PER_MS = 1_000_000n

/** What headers say of a file's version; undefined when changes of it could not be noticed. */
export function validatorsOf(headers: IncomingHttpHeaders): { etag?: string; mtimeNs?: string } | undefined {
  const { etag } = headers
  const mtimeNs = timeOf(headers['last-modified'])
  // Weak ones say that two files mean the same, not that their bytes are the same.
  if (etag !== undefined && etag.length <= LONGEST_ETAG && STRONG_ETAG.test(etag))
    return mtimeNs === undefined ? { etag } : { etag, mtimeNs }
  return mtimeNs === undefined ? undefined : { mtimeNs }
}

export function timeOf(date: string | undefined): string | undefined {
  const ms = Date.parse(date ?? '')
  return Number.isNaN(ms) || ms < 0 ? undefined : String(BigInt(ms) * NS_PER_MS)
}

export function lengthOf(headers: IncomingHttpHeaders): number | undefined {
  const length = headers['content-length']
  return length !== undefined && DIGITS.test(length) ? Number(length) : undefined
}

export function rangeHeaders({ etag, mtimeNs }: SourceFile, { start, end }: Range): Record<string, string> {
  const range = { range: `bytes=${start}-${end - 1}` }
  if (etag !== undefined) return { ...range, 'if-match': etag }
  if (mtimeNs === undefined) return range
  return { ...range, 'if-unmodified-since': new Date(Number(BigInt(mtimeNs) / NS_PER_MS)).toUTCString() }
}

/** `range` is not empty. */
export async function* rangeOf(answer: WebAnswer, file: SourceFile, range: Range): AsyncGenerator<Uint8Array, void> {
  try {
    const skipped = bytesBefore(answer, file, range)
    yield* cut(answer.body, { start: skipped, end: skipped + range.end - range.start, path: file.path })
  } finally {
    answer.discard()
  }
}

/** How many bytes of the body come before the range. */
function bytesBefore({ status, headers }: WebAnswer, file: SourceFile, { start, end }: Range): number {
  if (status === 404 || status === 410 || status === 412 || status === 416) throw new SourceChanged(`${file.path} was changed or removed`)
  if (status !== 200 && status !== 206) throw new Error(`${file.path} was answered with status ${status}`)
  assertVersion(headers, file)
  const length = lengthOf(headers)
  if (status === 200) {
    if (length !== undefined && length !== file.size) throw new SourceChanged(`${file.path} has ${length} bytes instead of ${file.size}`)
    if (start > MOST_SKIPPED) throw new SourceRefused('the server ignores ranges: large files cannot be read from it')
    return start
  }
  const [, from, to, size] = CONTENT_RANGE.exec(headers['content-range'] ?? '') ?? []
  if (size !== undefined && size !== '*' && Number(size) !== file.size)
    throw new SourceChanged(`${file.path} has ${size} bytes instead of ${file.size}`)
  const isAsAsked = Number(from) === start && Number(to) === end - 1 && (length === undefined || length === end - start)
  if (!isAsAsked) throw new Error(`${file.path} was answered with another range than bytes ${start} to ${end}`)
  return 0
}

function assertVersion(headers: IncomingHttpHeaders, { path, etag, mtimeNs }: SourceFile): void {
  const isSame = etag === undefined ? timeOf(headers['last-modified']) === mtimeNs : headers.etag === etag
  if (!isSame) throw new SourceChanged(`${path} was changed`)
}

interface Cut extends Range {
  path: string
}

async function* cut(body: AsyncIterable<Uint8Array>, { start, end, path }: Cut): AsyncGenerator<Uint8Array, void> {
  let at = 0
  for await (const part of body) {
    const wanted = part.subarray(Math.max(0, Math.min(part.length, start - at)), Math.max(0, end - at))
    at += part.length
    if (wanted.length > 0) yield wanted
    // At the very end the connection's own end is waited for, so that it can be used again.
    if (at > end) return
  }
  if (at < end) throw new Error(`${path} ended after ${at} of ${end} bytes`)
}

/** A listing's answer as text; more than `most` bytes are refused. */
export async function textOf(answer: WebAnswer, most: number): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of answer.body) {
    bytes += part.length
    if (bytes > most) throw new SourceRefused(`a listing has more than ${most} bytes: mount directories of it separately`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
