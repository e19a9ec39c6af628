/**
 * A bucket of S3 or of anything that speaks like it, or what is below a prefix of one; a prefix that is an object is a single
 * file. Requests are signed by aws4fetch with credentials read anew when they change; without credentials the bucket is read as
 * a public one. Keys that end with a slash are markers of directories and no files.
 */
import { cleanPath } from '../clean-path.ts'
import { LARGEST_LISTING_ANSWER, MOST_DIRECTORIES } from '../limits.ts'
import { createPager, type Found } from '../pager.ts'
import { assertRange } from '../range.ts'
import { type Source, type SourceFile, SourceRefused } from '../source.ts'
import type { WebAnswer } from '../web/client.ts'
import { lengthOf, rangeHeaders, rangeOf, textOf, validatorsOf } from '../web/ranged.ts'
import { type Ask, createAsk, type S3Options } from './ask.ts'
import { parseListResult, type S3Object } from './list-result.ts'
import type { S3Place } from './settings.ts'

export function createS3Source(options: S3Options): Source {
  const { place, client } = options
  const { prefix } = place
  const ask = createAsk(options)
  const keyOf = (path: string) => (path === singleOf(prefix) && isSingle ? prefix.slice(0, -1) : prefix + path)
  let isSingle = false

  async function* walk(signalNow: () => AbortSignal): AsyncGenerator<Found, void> {
    let hasKeys = false
    for await (const object of objectsOf(ask, place, signalNow)) {
      hasKeys = true
      const found = foundOf(object, prefix)
      if (found !== undefined) yield found
    }
    isSingle = false
    if (hasKeys || prefix === '') return
    const name = singleOf(prefix)
    const file = await headOf(ask, { key: prefix.slice(0, -1), path: name }, signalNow())
    isSingle = file !== undefined
    if (file !== undefined) yield { file }
  }

  const pager = createPager(walk)
  return {
    list: pager.list,
    stat: async (path, signal) => (cleanPath(path) === undefined ? undefined : headOf(ask, { key: keyOf(path), path }, signal)),
    async *read(file, range, signal) {
      assertRange(file, range)
      if (range.start === range.end) return
      yield* rangeOf(await readable(ask, { file, key: keyOf(file.path), headers: rangeHeaders(file, range) }, signal), file, range)
    },
    async close() {
      await pager.close()
      client.close()
    },
  }

  /** A program that did not list (a worker) learns from the answer whether the mount is a single object. */
  async function readable(
    asking: Ask,
    { file, key, headers }: { file: SourceFile; key: string; headers: Record<string, string> },
    signal: AbortSignal,
  ): Promise<WebAnswer> {
    const answer = await asking({ method: 'GET', key, headers }, signal)
    if (answer.status !== 404 || isSingle || prefix === '' || file.path !== singleOf(prefix)) return answer
    answer.discard()
    return asking({ method: 'GET', key: prefix.slice(0, -1), headers }, signal)
  }
}

/** The name that a prefix has as a file. */
const singleOf = (prefix: string): string => prefix.slice(prefix.lastIndexOf('/', prefix.length - 2) + 1, -1)

export async function* objectsOf(ask: Ask, { prefix }: S3Place, signalNow: () => AbortSignal): AsyncGenerator<S3Object, void> {
  let token: string | undefined
  for (let pages = 1; ; pages++) {
    const query = {
      'list-type': '2',
      'max-keys': '1000',
      ...(prefix !== '' && { prefix }),
      ...(token !== undefined && { 'continuation-token': token }),
    }
    const answer = await ask({ method: 'GET', query }, signalNow())
    if (answer.status !== 200) {
      answer.discard()
      throw listingRefused(answer.status)
    }
    const { objects, next } = parseListResult(await textOf(answer, LARGEST_LISTING_ANSWER))
    yield* objects
    if (next === undefined) return
    if (next === token || pages >= MOST_DIRECTORIES) throw new SourceRefused('the listing of the bucket does not end: check the endpoint')
    token = next
  }
}

function foundOf({ key, size, etag, mtimeNs }: S3Object, prefix: string): Found | undefined {
  if (key.endsWith('/') && size <= 0) return undefined
  const path = key.startsWith(prefix) ? key.slice(prefix.length) : undefined
  if (path === undefined || (etag === undefined && mtimeNs === undefined)) return { refused: key }
  return { file: { path, size, etag, mtimeNs } }
}

async function headOf(ask: Ask, { key, path }: { key: string; path: string }, signal: AbortSignal): Promise<SourceFile | undefined> {
  const answer = await ask({ method: 'HEAD', key }, signal)
  answer.discard()
  if (answer.status === 404) return undefined
  if (answer.status !== 200) throw listingRefused(answer.status)
  const size = lengthOf(answer.headers)
  const validators = validatorsOf(answer.headers)
  return size === undefined || validators === undefined ? undefined : { path, size, ...validators }
}

function listingRefused(status: number): Error {
  if (status === 301 || status === 307) return new SourceRefused('the bucket is in another region: set aws.region or the endpoint')
  if (status === 401 || status === 403)
    return new SourceRefused(`S3 refuses access (status ${status}): check the credentials and what they permit`)
  if (status === 404) return new SourceRefused('there is no such bucket: check the mount point and the endpoint')
  return new Error(`S3 answered with status ${status}`)
}
