/**
 * A file over HTTP, or a directory by its index page as Apache, nginx and Caddy make it, with everything below. Of an index page
 * only links to direct children count; what a file is (size, version) is asked of the server for each, because pages round
 * sizes. A file whose changes could not be noticed (neither ETag nor Last-Modified) is refused.
 */
import { cleanPath, isCleanSegment } from './clean-path.ts'
import { CONCURRENT_STATS, DEEPEST_PATH, LARGEST_LISTING_ANSWER, MOST_DIRECTORIES } from './limits.ts'
import { createPager, type Found } from './pager.ts'
import { assertRange } from './range.ts'
import { type Range, type Source, type SourceFile, SourceRefused } from './source.ts'
import { shown, type WebAnswer, type WebClient } from './web/client.ts'
import { linksOf } from './web/markup.ts'
import { lengthOf, rangeHeaders, rangeOf, textOf, validatorsOf } from './web/ranged.ts'

export interface HttpOptions {
  mountPoint: URL
  client: WebClient
}

interface Directory {
  relative: string
  url: URL
  depth: number
}

/** What an index page leads to, by names. */
export interface Children {
  files: string[]
  directories: string[]
  refused: string[]
}

/** Servers without HEAD. */
const NO_HEAD = new Set([405, 501])
/** Not for us, or gone since the page was made. */
const LEFT_OUT = new Set([401, 403, 404, 410])

export function createHttpSource({ mountPoint, client }: HttpOptions): Source {
  const place = createPlace(mountPoint, client)

  async function* walk(signalNow: () => AbortSignal): AsyncGenerator<Found, void> {
    const { root, only } = await place.locate(signalNow())
    if (only !== undefined) {
      const file = await statOf({ client, url: root, path: only }, signalNow())
      if (file === undefined) throw new SourceRefused(await place.problemOf(signalNow()))
      yield { file }
      return
    }
    const pending: Directory[] = [{ relative: '', url: root, depth: 1 }]
    // Those that wait to be read count as well: a page of directories, each of which is such a page, must not fill the memory.
    let directories = 1
    const add = (directory: Directory): void => {
      if (++directories > MOST_DIRECTORIES)
        throw new SourceRefused(`more than ${MOST_DIRECTORIES} directories: mount parts of it separately`)
      pending.push(directory)
    }
    for (let directory = pending.pop(); directory !== undefined; directory = pending.pop())
      yield* readDirectory({ client, directory, add, signalNow })
  }

  const pager = createPager(walk)
  return {
    list: pager.list,
    async stat(path, signal) {
      if (cleanPath(path) === undefined) return undefined
      return statOf({ client, url: await place.urlOf(path, signal), path }, signal)
    },
    async *read(file, range, signal) {
      assertRange(file, range)
      if (range.start === range.end) return
      yield* readRange({ client, url: await place.urlOf(file.path, signal), path: file.path }, { file, range, signal })
    },
    async close() {
      await pager.close()
      client.close()
    },
  }
}

/** A directory ends with a slash, or the server says so by a redirect; anything else is a file. Found out once. */
function createPlace(mountPoint: URL, client: WebClient) {
  let known: { root: URL; only?: string } | undefined
  async function locate(signal: AbortSignal): Promise<{ root: URL; only?: string }> {
    if (known !== undefined) return known
    if (mountPoint.pathname.endsWith('/')) {
      known = { root: mountPoint }
      return known
    }
    const answer = await client.request({ url: mountPoint, method: 'HEAD', signal })
    answer.discard()
    if (answer.url.pathname.endsWith('/')) known = { root: answer.url }
    else {
      const only = decoded(mountPoint.pathname.slice(mountPoint.pathname.lastIndexOf('/') + 1))
      if (only === undefined || !isCleanSegment(only)) throw new SourceRefused(`${shown(mountPoint)} has a name that no file can have`)
      known = { root: mountPoint, only }
    }
    return known
  }
  return {
    locate,
    async urlOf(path: string, signal: AbortSignal): Promise<URL> {
      const { root, only } = await locate(signal)
      return only === undefined ? new URL(path.split('/').map(encodeURIComponent).join('/'), root) : root
    },
    /** Of a single file that cannot be used. */
    async problemOf(signal: AbortSignal): Promise<string> {
      const { status, discard } = await client.request({ url: mountPoint, method: 'HEAD', signal })
      discard()
      return LEFT_OUT.has(status)
        ? `${shown(mountPoint)} was answered with status ${status}: check the address, and whether it may be read without signing in`
        : `${shown(mountPoint)} has neither a size nor an ETag or Last-Modified, so changes of it would not be noticed: serve it with these`
    },
  }
}

interface Reading {
  client: WebClient
  directory: Directory
  /** Throws when there are too many. */
  add(directory: Directory): void
  signalNow: () => AbortSignal
}

async function* readDirectory({ client, directory, add, signalNow }: Reading): AsyncGenerator<Found, void> {
  const { relative, url, depth } = directory
  const pathOf = (name: string) => (relative === '' ? name : `${relative}/${name}`)
  const html = await indexPage(client, directory, signalNow())
  if (html === undefined) return yield { refused: relative }
  const { files, directories, refused } = childrenOf(html, url)
  for (const name of refused) yield { refused: pathOf(name) }
  for (const name of directories) {
    if (depth >= DEEPEST_PATH) yield { refused: pathOf(name) }
    else add({ relative: pathOf(name), url: new URL(`${encodeURIComponent(name)}/`, url), depth: depth + 1 })
  }
  for (let i = 0; i < files.length; i += CONCURRENT_STATS) {
    const some = files.slice(i, i + CONCURRENT_STATS)
    const asked = some.map((name) => statOf({ client, url: new URL(encodeURIComponent(name), url), path: pathOf(name) }, signalNow()))
    for (const [j, file] of (await Promise.all(asked)).entries()) yield file === undefined ? { refused: pathOf(some[j] ?? '') } : { file }
  }
}

/** Undefined: a directory below the root that cannot be read. */
async function indexPage(client: WebClient, { relative, url }: Directory, signal: AbortSignal): Promise<string | undefined> {
  const answer = await client.request({ url, method: 'GET', signal })
  try {
    if (answer.url.pathname !== url.pathname)
      throw new SourceRefused(`${shown(url)} redirects elsewhere: mount ${shown(answer.url)} instead`)
    if (answer.status !== 200) {
      if (relative !== '' && LEFT_OUT.has(answer.status)) return undefined
      throw new Error(`${shown(url)} was answered with status ${answer.status}: check the address`)
    }
    if (!/^text\/html\b/i.test(answer.headers['content-type'] ?? '')) {
      throw new SourceRefused(`${shown(url)} has no index page: switch directory listings on, or mount a file`)
    }
    return await textOf(answer, LARGEST_LISTING_ANSWER)
  } finally {
    answer.discard()
  }
}

/** Direct children of the page's directory; links to anything else are not meant for us. */
export function childrenOf(html: string, page: URL): Children {
  const children: Children = { files: [], directories: [], refused: [] }
  const seen = new Set<string>()
  for (const link of linksOf(html)) {
    if (!URL.canParse(link, page.href)) continue
    const url = new URL(link, page)
    // Sorting links (`?C=N;O=D`) lead to the page itself.
    if (url.origin !== page.origin || url.search !== '' || !url.pathname.startsWith(page.pathname)) continue
    const rest = url.pathname.slice(page.pathname.length)
    const isDirectory = rest.endsWith('/')
    const raw = isDirectory ? rest.slice(0, -1) : rest
    if (raw === '' || raw.includes('/') || seen.has(raw)) continue
    seen.add(raw)
    const name = decoded(raw)
    if (name === undefined || !isCleanSegment(name)) children.refused.push(name ?? raw)
    else (isDirectory ? children.directories : children.files).push(name)
  }
  return children
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name)
  } catch {
    return undefined
  }
}

interface Target {
  client: WebClient
  url: URL
  path: string
}

/** Undefined: not there, not for us, or nothing that a version can be told of. */
async function statOf({ client, url, path }: Target, signal: AbortSignal): Promise<SourceFile | undefined> {
  let answer = await client.request({ url, method: 'HEAD', signal })
  answer.discard()
  if (NO_HEAD.has(answer.status)) {
    answer = await client.request({ url, method: 'GET', headers: { range: 'bytes=0-0' }, signal })
    answer.discard()
  }
  const { status, headers } = answer
  if (LEFT_OUT.has(status) || answer.url.pathname.endsWith('/')) return undefined
  if (status !== 200 && status !== 206 && status !== 416) throw new Error(`${shown(url)} was answered with status ${status}`)
  const size = sizeOf(answer)
  const validators = validatorsOf(headers)
  return size === undefined || validators === undefined ? undefined : { path, size, ...validators }
}

function sizeOf({ status, headers }: WebAnswer): number | undefined {
  if (status === 200) return lengthOf(headers)
  const [, total] = /^bytes [\d*-]+\/(\d{1,16})$/.exec(headers['content-range'] ?? '') ?? []
  return total === undefined ? undefined : Number(total)
}

interface RangedRead {
  file: SourceFile
  range: Range
  signal: AbortSignal
}

async function* readRange({ client, url }: Target, { file, range, signal }: RangedRead): AsyncGenerator<Uint8Array, void> {
  const answer = await client.request({ url, method: 'GET', headers: rangeHeaders(file, range), signal })
  yield* rangeOf(answer, file, range)
}
