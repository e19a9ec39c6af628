/**
 * One mount while the inventory uses it: its source, opened when first needed, its status, and one listing of it, which is
 * bounded in time and can be ended at any moment. A failure is kept as the mount's reason; it never gets further than that.
 */
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { REFUSED_NAMES_KEPT } from '../sources/limits.ts'
import type { ListingPage, Source, SourceFile } from '../sources/source.ts'
import type { InventoryMount, MountStatus } from './inventory.ts'

export type ListingStatus = Pick<MountStatus, 'state' | 'reason' | 'listedAtMs' | 'refused' | 'refusedNames'>

export interface ListedMount {
  readonly mount: InventoryMount
  readonly status: ListingStatus
  /** Its first listing has ended. */
  isListed: boolean
  /** True: it ended. Never rejects. */
  list(sink: ListingSink): Promise<boolean>
  close(): Promise<void>
}

export interface ListingSink {
  begin(): void
  /** The source has answered: called before the first page. */
  answered(): void
  page(files: readonly SourceFile[]): void
  /** Called for a listing that was read to its end, and not for any other. */
  end(): void
}

export interface ListedMountOptions {
  mount: InventoryMount
  clock: Clock
  /** Something changed in the source. */
  onHint: () => void
  isListed?: boolean
}

/** A listing that takes longer would never be of one moment, and holds up those of other mounts. */
const LONGEST_LISTING_MS = 3_600_000

export function createListedMount({ mount, clock, onHint, isListed = false }: ListedMountOptions): ListedMount {
  const closing = new AbortController()
  let opened: Promise<Source> | undefined
  let stopWatching: (() => void) | undefined
  let listing: Promise<unknown> = Promise.resolve()
  const status: ListingStatus = { state: isListed ? 'listed' : 'waiting', refused: 0, refusedNames: [] }

  async function source(): Promise<Source> {
    opened ??= mount.open()
    try {
      const ready = await opened
      stopWatching ??= ready.watch?.(onHint)
      return ready
    } catch (error) {
      opened = undefined
      throw error
    }
  }

  async function readPages(signal: AbortSignal, sink: ListingSink): Promise<void> {
    const from = await source()
    signal.throwIfAborted()
    const refused = { count: 0, names: [] as string[] }
    sink.begin()
    let cursor: string | undefined
    do {
      const page: ListingPage = await from.list(cursor, signal)
      signal.throwIfAborted()
      if (status.state !== 'listing') {
        status.state = 'listing'
        sink.answered()
      }
      refused.count += page.refusedCount ?? page.refused?.length ?? 0
      refused.names.push(...(page.refused ?? []).slice(0, REFUSED_NAMES_KEPT - refused.names.length))
      sink.page(page.files)
      cursor = page.cursor
    } while (cursor !== undefined)
    sink.end()
    status.refused = refused.count
    status.refusedNames = refused.names
  }

  async function list(sink: ListingSink): Promise<boolean> {
    const ending = new AbortController()
    const onClose = () => ending.abort(closing.signal.reason)
    closing.signal.addEventListener('abort', onClose)
    const cancel = clock.after(LONGEST_LISTING_MS, () =>
      ending.abort(new Error('the listing took more than an hour: mount directories of it separately')),
    )
    const beganAtMs = clock.now()
    // A mount that was never listed, or failed, is in use only when its source has answered.
    status.state = ready.isListed && status.reason === undefined ? 'listing' : 'waiting'
    try {
      closing.signal.throwIfAborted()
      await readPages(ending.signal, sink)
      ready.isListed = true
      Object.assign(status, { state: 'listed', listedAtMs: beganAtMs, reason: undefined })
      return true
    } catch (error) {
      const reason = messageOf(ending.signal.aborted ? ending.signal.reason : error)
      Object.assign(status, { state: 'failed', reason })
      return false
    } finally {
      cancel()
      closing.signal.removeEventListener('abort', onClose)
    }
  }

  const ready: ListedMount = {
    mount,
    status,
    isListed,
    list(sink) {
      const result = list(sink)
      listing = result
      return result
    },
    async close() {
      closing.abort(new Error('the mount is not used any more'))
      stopWatching?.()
      await listing
      await opened?.then((open) => open.close()).catch(() => undefined)
    },
  }
  return ready
}
