/** What the tests of the inventory share: a clock that is moved by hand, a source that a test scripts, a log that is kept. */
import type { Clock } from '../../base/clock.ts'
import { seededRandom } from '../../base/random.ts'
import type { Source, SourceFile } from '../sources/source.ts'
import type { Inventory, InventoryMount, InventoryOptions } from './inventory.ts'

export interface HandClock extends Clock {
  advance(ms: number): void
  /** Delays that are waited for. */
  readonly delays: readonly number[]
}

export function handClock(startMs = 1_000_000): HandClock {
  let now = startMs
  let timers: { at: number; callback: () => void }[] = []
  return {
    now: () => now,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    advance(ms) {
      now += ms
      const due = timers.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)
      timers = timers.filter(({ at }) => at > now)
      for (const { callback } of due) callback()
    },
    get delays() {
      return timers.map(({ at }) => at - now)
    },
  }
}

export interface ScriptedSource extends Source {
  files: SourceFile[]
  /** The page (from 0) that fails. */
  failsAtPage?: number
  /** Waited for before each page. */
  gate?: () => Promise<void>
  perPage: number
  listings: number
  isOpen: boolean
  hint(): void
}

export function scriptedSource(files: SourceFile[] = []): ScriptedSource {
  let onHint = () => {}
  const source: ScriptedSource = {
    files,
    perPage: 2,
    listings: 0,
    isOpen: true,
    hint: () => onHint(),
    async list(cursor) {
      const page = Number(cursor ?? 0)
      if (page === 0) source.listings++
      await source.gate?.()
      if (page === source.failsAtPage) throw new Error('the server is down')
      const at = page * source.perPage
      const isLast = at + source.perPage >= source.files.length
      return { files: source.files.slice(at, at + source.perPage), ...(isLast ? {} : { cursor: String(page + 1) }) }
    },
    stat: async (path) => source.files.find((file) => file.path === path),
    read: async function* () {},
    watch(callback) {
      onHint = callback
      return () => {
        onHint = () => {}
      }
    },
    async close() {
      source.isOpen = false
    },
  }
  return source
}

export const mountOf = (name: string, path: string, source: Source, identity = name): InventoryMount => ({
  name,
  path,
  identity,
  open: async () => source,
})

export const fileOf = (path: string, size = 1, etag = 'e'): SourceFile => ({ path, size, etag })

export const KEY = new Uint8Array(32).fill(7)

export const optionsFor = (mounts: readonly InventoryMount[], more: Partial<InventoryOptions> = {}): InventoryOptions => ({
  mounts,
  key: KEY,
  clock: handClock(),
  random: seededRandom(1),
  log: { write: () => {} },
  ...more,
})

export const pathsOf = (inventory: Inventory, subPath = '/'): string[] => [...inventory.snapshot(subPath).entries].map(({ path }) => path)
