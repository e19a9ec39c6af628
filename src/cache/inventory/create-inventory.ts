/**
 * Puts an inventory together: the namespace (pure), the log of changes, mounts that are listed in rounds, and the journal. With
 * a journal it answers at once after a restart, with what was known; the first round then brings it up to date.
 */
import { createHmac } from 'node:crypto'
import { messageOf } from '../../base/error-text.ts'
import type { InventoryLine } from '../protocol/file.ts'
import { type ChangeLog, createChangeLog } from './change-log.ts'
import type { Inventory, InventoryMount, InventoryOptions, MountStatus } from './inventory.ts'
import { createJournal, type Journal, loadJournal } from './journal.ts'
import { type JournalHead, type JournalLine, type StoredFile, storedOf } from './journal-lines.ts'
import { createListedMount, type ListedMount } from './listing.ts'
import { isAtOrBelow } from './mount-paths.ts'
import { entryOf, locatedOf, Namespace } from './namespace.ts'
import { createRounds } from './rounds.ts'

const DEFAULT_INTERVAL_MS = 60_000

interface Known {
  namespace: Namespace
  changes: ChangeLog
  /** Names of mounts whose first listing has ended before. */
  listed: ReadonlySet<string>
}

export async function createInventory(options: InventoryOptions): Promise<Inventory> {
  return assemble(options, await remembered(options))
}

/** Revisions begin with the time, so that those of a life that nothing is known of are never given twice. */
async function remembered(options: InventoryOptions): Promise<Known> {
  const first = Math.max(1, Math.floor(options.clock.now()))
  const known = options.journal === undefined ? undefined : await fromJournal(options, options.journal, first)
  return known ?? { namespace: emptyNamespace(options), changes: createChangeLog(first), listed: new Set() }
}

async function fromJournal(options: InventoryOptions, journal: string, first: number): Promise<Known | undefined> {
  const { mounts, key, log } = options
  const namespace = emptyNamespace(options)
  const listed = new Set<string>()
  const isUseful = new Map<string, boolean>()
  const restore = ([path, mount, size, fileId, version, etag, mtimeNs]: StoredFile): void => {
    if (!isUseful.get(mount)) return
    namespace.restore({ path, size, fileId, version, etag: etag ?? undefined, mtimeNs: mtimeNs ?? undefined }, mount)
  }
  try {
    const loaded = await loadJournal(journal, {
      onHead(head) {
        for (const [name, path, identity] of head.mounts) {
          isUseful.set(
            name,
            mounts.some((mount) => isSameMount(mount, { name, path, identity })),
          )
        }
        return head.keyCheck === keyCheckOf(key)
      },
      onLine(line) {
        if ('file' in line) restore(line.file)
        else if ('removed' in line) namespace.restoreRemoved(line.removed)
        else if ('listed' in line) for (const name of line.listed) if (isUseful.get(name)) listed.add(name)
      },
    })
    if (loaded === undefined) return undefined
    const isAsItWas = loaded.isClosed && mounts.length === isUseful.size && [...isUseful.values()].every(Boolean)
    const revision = isAsItWas ? loaded.revision : Math.max(first, loaded.revision + 1)
    return { namespace, changes: createChangeLog(revision), listed }
  } catch (error) {
    log.write('warn', 'the journal of the inventory cannot be read; the sources are listed again', { error: messageOf(error) })
    return undefined
  }
}

function emptyNamespace({ key, mounts }: InventoryOptions): Namespace {
  const namespace = new Namespace(key)
  namespace.setMounts(mounts)
  return namespace
}

function assemble(options: InventoryOptions, { namespace, changes, listed }: Known): Inventory {
  const { key, clock, random, log, syncIntervalMs = DEFAULT_INTERVAL_MS } = options
  const listeners = new Set<() => void>()
  const closing: Promise<void>[] = []
  let mounts: ListedMount[] = []
  let isClosed = false

  const openMount = (mount: InventoryMount, isListed: boolean) => createListedMount({ mount, clock, onHint: () => rounds.soon(), isListed })
  const isComplete = () => mounts.every((mount) => mount.isListed)
  const tell = () => {
    for (const listener of [...listeners]) listener()
  }
  const listedNames = () => mounts.filter(({ isListed }) => isListed).map(({ mount }) => mount.name)

  function* wholeJournal(): Generator<JournalLine, void> {
    // First of all, because files that come meanwhile belong to later revisions.
    const { revision } = changes
    const head: JournalHead = {
      format: 1,
      keyCheck: keyCheckOf(key),
      mounts: mounts.map(({ mount }) => [mount.name, mount.path, mount.identity]),
    }
    const names = listedNames()
    yield { head }
    for (const record of namespace.records('/')) yield { file: storedOf(record) }
    yield { listed: names }
    yield { revision }
  }
  const journal: Journal | undefined =
    options.journal === undefined ? undefined : createJournal({ file: options.journal, log, snapshot: wholeJournal })

  function record(paths: readonly string[], isAlways = false): void {
    if (paths.length === 0 && !isAlways) return
    changes.add(paths)
    const lines = paths.map((path): JournalLine => {
      const file = namespace.get(path)
      return file === undefined ? { removed: path } : { file: storedOf(file) }
    })
    journal?.append([...lines, { listed: listedNames() }, { revision: changes.revision }])
    tell()
  }

  async function listOne(listedMount: ListedMount): Promise<boolean> {
    const { name } = listedMount.mount
    const wasListed = listedMount.isListed
    const isFine = await listedMount.list({
      begin: () => namespace.beginListing(name),
      page: (files) => record(namespace.add(name, files)),
      end: () => record(namespace.endListing(name)),
    })
    // Completeness is part of what clients are told, so it has a revision of its own.
    if (listedMount.isListed && !wasListed && mounts.includes(listedMount)) record([], true)
    else tell()
    if (!isFine && mounts.includes(listedMount) && !isClosed) {
      log.write('warn', 'a mount cannot be listed; what is known of it is kept', { mount: name, reason: listedMount.status.reason })
    }
    return isFine
  }

  const rounds = createRounds({
    clock,
    random,
    intervalMs: syncIntervalMs,
    async run() {
      let isFine = true
      for (const mount of mounts) if (mounts.includes(mount)) isFine = (await listOne(mount)) && isFine
      return isFine
    },
  })

  function setMounts(next: readonly InventoryMount[]): void {
    const old = mounts
    const kept = next.map((mount) => old.find(({ mount: known }) => isSameMount(known, mount)))
    mounts = next.map((mount, i) => kept[i] ?? openMount(mount, false))
    for (const gone of old.filter((mount) => !mounts.includes(mount))) closing.push(gone.close())
    const renewed = next.filter((_, i) => kept[i] === undefined).flatMap(({ name }) => namespace.clear(name))
    const paths = [...renewed, ...namespace.setMounts(next)]
    if (paths.length > 0 || old.length !== next.length || kept.includes(undefined)) record([...new Set(paths)], true)
    journal?.rewrite()
    void rounds.sync()
  }

  mounts = options.mounts.map((mount) => openMount(mount, listed.has(mount.name)))
  journal?.rewrite()
  if (syncIntervalMs > 0 || !isComplete()) void rounds.sync()

  return {
    get revision() {
      return changes.revision
    },
    get isComplete() {
      return isComplete()
    },
    since(revision, subPath) {
      const paths = changes.since(revision)
      if (paths === undefined) return undefined
      const lines: InventoryLine[] = []
      for (const path of [...paths].filter((changed) => isAtOrBelow(subPath, changed)).sort()) {
        const file = namespace.get(path)
        lines.push(file === undefined ? { remove: { path } } : { add: entryOf(file) })
      }
      return [...lines, { revision: changes.revision, isComplete: isComplete() }]
    },
    snapshot: (subPath) => ({ revision: changes.revision, isComplete: isComplete(), entries: entriesOf(namespace, subPath) }),
    file(fileId) {
      const found = namespace.byId(fileId)
      return found && locatedOf(found)
    },
    byPath(path) {
      const found = namespace.get(path)
      return found && entryOf(found)
    },
    totals: (subPath) => namespace.totals(subPath),
    mounts: () => mounts.map((mount) => statusOf(mount, namespace)),
    sync: () => rounds.sync(),
    setMounts,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      isClosed = true
      listeners.clear()
      await Promise.all([rounds.close(), ...mounts.map((mount) => mount.close()), ...closing])
      await journal?.close(changes.revision)
    },
  }
}

function* entriesOf(namespace: Namespace, subPath: string) {
  for (const record of namespace.records(subPath)) yield entryOf(record)
}

function statusOf({ mount, status }: ListedMount, namespace: Namespace): MountStatus {
  const { files = 0, bytes = 0 } = namespace.slot(mount.name) ?? {}
  return { name: mount.name, path: mount.path, ...status, files, bytes }
}

type Identity = Pick<InventoryMount, 'name' | 'path' | 'identity'>

const isSameMount = (a: Identity, b: Identity): boolean => a.name === b.name && a.path === b.path && a.identity === b.identity

const keyCheckOf = (key: Uint8Array): string => createHmac('sha256', key).update('inventory journal').digest('hex').slice(0, 16)
