/** For tests of blocks and of the worker: a store in a temporary directory, a clock that is set by hand, and blocks to put in. */
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { BlockKey } from '../protocol/block.ts'
import { type BlockStore, openBlockStore, type StoreOptions } from './store.ts'
import type { Medium, Tier } from './tier.ts'

export const DATASET = { namespace: 'default', name: 'demo' }
export const noLog: Log = { write: () => undefined }

export const keyOf = (file: number, index = 0, version = '1'): BlockKey => ({
  fileId: file.toString(16).padStart(2, '0').repeat(16).slice(0, 32),
  version: version.padStart(16, '0'),
  index,
})

export const bytesOf = (length: number, seed = 1): Buffer => Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 17) & 255))

export function handClock(start = 1_700_000_000_000): Clock & { advance(ms: number): void } {
  let now = start
  return {
    now: () => now,
    after: () => () => undefined,
    advance: (ms) => {
      now += ms
    },
  }
}

export async function inTemporaryDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'sluice-blocks-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

export const tierIn = (directory: string, medium: Medium, quotaBytes: number): Tier => ({
  medium,
  paths: [{ directory: path.join(directory, medium), quotaBytes }],
})

export const aStore = (options: Partial<StoreOptions> & Pick<StoreOptions, 'tiers'>): Promise<BlockStore> =>
  openBlockStore({ dataset: DATASET, clock: handClock(), log: noLog, ...options })

/** False: it was not stored. */
export async function put(store: BlockStore, key: BlockKey, bytes: Uint8Array): Promise<boolean> {
  const writer = await store.begin(key, bytes.length)
  await writer?.write(bytes)
  await writer?.commit()
  return writer !== undefined
}

export async function get(store: BlockStore, key: BlockKey): Promise<Buffer | undefined> {
  const reader = await store.read(key)
  if (reader === undefined) return undefined
  const into = Buffer.alloc(reader.length)
  await reader.read(into, 0, reader.length)
  await reader.close()
  return into
}

/** What really lies below a directory, with unfinished files. */
export async function bytesBelow(directory: string): Promise<number> {
  let total = 0
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const stat = await lstat(path.join(entry.parentPath ?? entry.path, entry.name)).catch(() => undefined)
    total += stat?.size ?? 0
  }
  return total
}
