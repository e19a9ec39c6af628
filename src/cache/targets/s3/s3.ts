/**
 * A bucket, or what is below a prefix of it. Small files are put, larger ones are uploaded in pieces and completed: others see them
 * whole or not at all. Every piece goes with its MD5, and what the server says it has stored is compared. An object remembers of
 * which version of the source it was made, and when that was changed: its own time is that of the upload.
 */
import { createHash } from 'node:crypto'
import { messageOf } from '../../../base/error-text.ts'
import type { Log } from '../../../base/log.ts'
import { versionOf } from '../../protocol/file.ts'
import { cleanPath } from '../../sources/clean-path.ts'
import { type Ask, createAsk, type S3Options } from '../../sources/s3/ask.ts'
import { objectsOf } from '../../sources/s3/s3.ts'
import type { SourceFile } from '../../sources/source.ts'
import { lengthOf } from '../../sources/web/ranged.ts'
import type { Target, Written } from '../target.ts'
import { assertStored, MD5_ETAG, refusedBy } from './answers.ts'
import { pieceBytesFor, piecesOf } from './pieces.ts'
import { upload } from './upload.ts'
import { abortUpload, leftUploads } from './uploads.ts'

export interface S3TargetOptions extends S3Options {
  shown: string
  log: Log
}

/** Objects that were there at the beginning and are remembered; others are asked for one by one. */
const MOST_KNOWN = 200_000
const LONGEST_KEY_BYTES = 1024
const MADE_OF = 'x-amz-meta-sluice-version'
/** As rclone and others write it: seconds since 1970. */
const MTIME = 'x-amz-meta-mtime'

export function createS3Target(options: S3TargetOptions): Target {
  const { place, client, shown, log } = options
  const ask = createAsk(options)
  const keyOf = (path: string): string => place.prefix + path
  /** Undefined: not all are known. */
  let known: Map<string, { size: number; etag?: string }> | undefined
  let left = new Map<string, string[]>()

  async function listKnown(signal: AbortSignal): Promise<void> {
    const found = new Map<string, { size: number; etag?: string }>()
    for await (const { key, size, etag } of objectsOf(ask, place, () => signal)) {
      if (!key.startsWith(place.prefix)) continue
      found.set(key.slice(place.prefix.length), { size, etag })
      if (found.size > MOST_KNOWN) return
    }
    known = found
  }

  async function removeLeft(path: string, signal: AbortSignal): Promise<void> {
    const ids = left.get(keyOf(path))
    left.delete(keyOf(path))
    for (const id of ids ?? [])
      await abortUpload(ask, { key: keyOf(path), id }, signal).catch((error: unknown) =>
        log.write('warn', 'an upload that was begun and never completed stays', { path, reason: messageOf(error) }),
      )
  }

  return {
    async begin(signal) {
      await listKnown(signal)
      left = await leftUploads(ask, place.prefix, signal).catch((error: unknown) => {
        log.write('warn', 'uploads that were begun and never completed cannot be listed, and stay', { reason: messageOf(error) })
        return new Map<string, string[]>()
      })
    },
    async has(file, signal) {
      const is = await isThere({ ask, key: keyOf(file.path), file, known: known?.get(file.path), isListed: known !== undefined }, signal)
      if (is) await removeLeft(file.path, signal)
      return is
    },
    async write(written, signal) {
      const { path, size } = written.file
      const key = keyOf(path)
      if (Buffer.byteLength(key) > LONGEST_KEY_BYTES) throw new Error(`${path}: its key would be longer than ${LONGEST_KEY_BYTES} bytes`)
      const pieceBytes = pieceBytesFor(size)
      if (pieceBytes === undefined) throw new Error(`${path} has ${size} bytes: more than can be uploaded`)
      await removeLeft(path, signal)
      const headers = headersOf(written.file)
      if (size > pieceBytes) await upload({ ask, key, headers, pieceBytes, written, shown, log }, signal)
      else await put({ ask, key, headers, written, shown }, signal)
      known?.set(path, { size })
    },
    async *paths(signal) {
      for await (const { key, size } of objectsOf(ask, place, () => signal)) {
        const path = key.startsWith(place.prefix) ? cleanPath(key.slice(place.prefix.length)) : undefined
        if (path !== undefined && size >= 0) yield path
      }
    },
    async remove(path, signal) {
      const answer = await ask({ method: 'DELETE', key: keyOf(path) }, signal)
      answer.discard()
      if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404) throw refusedBy(answer, shown)
      known?.delete(path)
    },
    end: async () => client.close(),
  }
}

function headersOf(file: SourceFile): Record<string, string> {
  return {
    [MADE_OF]: versionOf(file),
    ...(file.mtimeNs === undefined ? {} : { [MTIME]: secondsOf(file.mtimeNs) }),
  }
}

/** `1354040105.123456789` */
function secondsOf(ns: string): string {
  const digits = ns.padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`
}

interface Looked {
  ask: Ask
  key: string
  file: SourceFile
  known: { size: number; etag?: string } | undefined
  isListed: boolean
}

async function isThere({ ask, key, file, known, isListed }: Looked, signal: AbortSignal): Promise<boolean> {
  if (isListed && (known === undefined || known.size !== file.size)) return false
  if (known?.etag !== undefined && known.etag === file.etag && MD5_ETAG.test(known.etag)) return true
  const answer = await ask({ method: 'HEAD', key }, signal)
  answer.discard()
  return answer.status === 200 && lengthOf(answer.headers) === file.size && answer.headers[MADE_OF] === versionOf(file)
}

interface Putting {
  ask: Ask
  key: string
  headers: Record<string, string>
  written: Written
  shown: string
}

async function put({ ask, key, headers, written, shown }: Putting, signal: AbortSignal): Promise<void> {
  const { file, from, onBytes } = written
  let body: Uint8Array = Buffer.alloc(0)
  if (file.size > 0)
    for await (const piece of piecesOf(from.read(file, { start: 0, end: file.size }, signal), file.size, file.size)) body = piece
  const digest = createHash('md5').update(body).digest()
  const answer = await ask({ method: 'PUT', key, headers: { ...headers, 'content-md5': digest.toString('base64') }, body }, signal)
  answer.discard()
  if (answer.status !== 200) throw refusedBy(answer, shown)
  assertStored(answer, digest.toString('hex'), file.path)
  onBytes(file.size)
}
