/**
 * Cuts a walk over a tree into pages, and bounds it: files, bytes of names, and what is kept of refused names. A source has one
 * walk at a time; a new listing ends the one before, whose cursor is then refused.
 */
import { cleanPath, showName } from './clean-path.ts'
import { FILES_PER_PAGE, MOST_FILES, MOST_NAME_BYTES, REFUSED_NAMES_KEPT } from './limits.ts'
import { type ListingPage, type SourceFile, SourceRefused } from './source.ts'

export type Found = { file: SourceFile } | { refused: string }

/** `signalNow` gives the signal of the page that is being made; it differs from page to page. */
export type Walk = (signalNow: () => AbortSignal) => AsyncGenerator<Found, void>

export interface Pager {
  list(cursor: string | undefined, signal: AbortSignal): Promise<ListingPage>
  close(): Promise<void>
}

export interface PagerBounds {
  perPage: number
  files: number
  nameBytes: number
}

interface Running {
  id: number
  page: number
  found: AsyncGenerator<Found, void>
  files: number
  nameBytes: number
  signal: AbortSignal
}

const BOUNDS: PagerBounds = { perPage: FILES_PER_PAGE, files: MOST_FILES, nameBytes: MOST_NAME_BYTES }

export function createPager(walk: Walk, bounds: PagerBounds = BOUNDS): Pager {
  let running: Running | undefined
  let begun = 0

  async function end(): Promise<void> {
    const ended = running
    running = undefined
    await ended?.found.return()
  }

  async function begin(signal: AbortSignal): Promise<Running> {
    await end()
    begun++
    const state: Running = { id: begun, page: 0, found: walk(() => state.signal), files: 0, nameBytes: 0, signal }
    running = state
    return state
  }

  function resume(cursor: string, signal: AbortSignal): Running {
    if (running === undefined || cursor !== cursorOf(running)) throw new Error('this listing was ended; begin a new one')
    running.signal = signal
    return running
  }

  return {
    async list(cursor, signal) {
      signal.throwIfAborted()
      const state = cursor === undefined ? await begin(signal) : resume(cursor, signal)
      state.page++
      try {
        const { page, isLast } = await nextPage(state, bounds)
        if (isLast) await end()
        return isLast ? page : { ...page, cursor: cursorOf(state) }
      } catch (error) {
        await end()
        throw error
      }
    },
    close: end,
  }
}

const cursorOf = ({ id, page }: Running): string => `${id}.${page}`

async function nextPage(state: Running, bounds: PagerBounds): Promise<{ page: ListingPage; isLast: boolean }> {
  const files: SourceFile[] = []
  const refused: string[] = []
  let refusedCount = 0
  const refuse = (name: string): void => {
    refusedCount++
    if (refused.length < REFUSED_NAMES_KEPT) refused.push(showName(name))
  }
  // Refused names count, too: a page that never ends because nothing on it is good would not be a page.
  while (files.length + refusedCount < bounds.perPage) {
    const next = await state.found.next()
    state.signal.throwIfAborted()
    if (next.done) return { page: { files, refused, refusedCount }, isLast: true }
    count(state, next.value, bounds)
    if ('refused' in next.value) refuse(next.value.refused)
    else if (isUsable(next.value.file)) files.push(next.value.file)
    else refuse(next.value.file.path)
  }
  return { page: { files, refused, refusedCount }, isLast: false }
}

function count(state: Running, found: Found, { files, nameBytes }: PagerBounds): void {
  state.files++
  state.nameBytes += Buffer.byteLength('refused' in found ? found.refused : found.file.path)
  if (state.files > files) throw new SourceRefused(`more than ${files} files: mount directories of it separately`)
  if (state.nameBytes > nameBytes) {
    throw new SourceRefused(`names of more than ${nameBytes} bytes together: mount directories of it separately`)
  }
}

const isUsable = ({ path, size }: SourceFile): boolean => cleanPath(path) !== undefined && Number.isSafeInteger(size) && size >= 0
