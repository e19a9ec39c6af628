/** An inventory that tests write by hand. */
import { isBelow } from '../config/paths.ts'
import type { Inventory, MountStatus } from '../inventory/inventory.ts'
import { type FileEntry, fileIdOf, type InventoryLine, versionOf } from '../protocol/file.ts'

export interface FakeInventory extends Inventory {
  put(path: string, size: number, etag?: string): FileEntry
  remove(path: string): void
  setComplete(isComplete: boolean): void
  setMountStatus(mounts: readonly MountStatus[]): void
  syncs(): number
}

export function fakeInventory(key: Uint8Array, revision = 100): FakeInventory {
  const files = new Map<string, FileEntry>()
  const log: { revision: number; line: InventoryLine; path: string }[] = []
  const listeners = new Set<() => void>()
  const first = revision
  let at = revision
  let isComplete = true
  let mounts: readonly MountStatus[] = []
  let syncs = 0
  const notify = () => {
    for (const listener of [...listeners]) listener()
  }
  const change = (path: string, line: InventoryLine) => {
    log.push({ revision: ++at, line, path })
    notify()
  }
  const below = (subPath: string) =>
    [...files.values()].filter(({ path }) => isBelow(path, subPath)).sort((a, b) => (a.path < b.path ? -1 : 1))
  return {
    get revision() {
      return at
    },
    get isComplete() {
      return isComplete
    },
    since(since, subPath) {
      if (since < first || since > at) return undefined
      const lines = log.filter((entry) => entry.revision > since && isBelow(entry.path, subPath)).map(({ line }) => line)
      return [...lines, { revision: at, isComplete }]
    },
    snapshot: (subPath) => ({ revision: at, isComplete, entries: below(subPath) }),
    file(fileId) {
      const entry = [...files.values()].find((file) => file.fileId === fileId)
      return entry && { mount: 'm', source: { path: entry.path.slice(1), size: entry.size }, entry }
    },
    byPath: (path) => files.get(path),
    totals: (subPath = '/') => ({ files: below(subPath).length, bytes: below(subPath).reduce((sum, { size }) => sum + size, 0) }),
    mounts: () => mounts,
    async sync() {
      syncs++
    },
    setMounts: () => undefined,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => undefined,
    put(path, size, etag = `${path} ${size}`) {
      const entry = { path, fileId: fileIdOf(key, path), size, version: versionOf({ size, etag }), mtimeMs: 1_700_000_000_000 + size }
      files.set(path, entry)
      change(path, { add: entry })
      return entry
    },
    remove(path) {
      files.delete(path)
      change(path, { remove: { path } })
    },
    setComplete(value) {
      isComplete = value
      notify()
    },
    setMountStatus(value) {
      mounts = value
      notify()
    },
    syncs: () => syncs,
  }
}

export const mountStatus = (path: string, state: MountStatus['state'], reason?: string): MountStatus => ({
  name: path,
  path,
  state,
  reason,
  files: 0,
  bytes: 0,
  refused: 0,
  refusedNames: [],
})
