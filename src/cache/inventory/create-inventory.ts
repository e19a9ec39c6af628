/**
 * Puts an inventory together: the namespace (pure), the log of changes, mounts that are listed in rounds, and the journal. With
 * a journal it answers at once after a restart, with what was known; the first round then brings it up to date.
 */
import { createHmac } from 'node:crypto'
import { messageOf } from '../../base/error-text.ts'
import { fileIdOf, type InventoryLine, versionOf } from '../protocol/file.ts'
import { readBackup } from './backup.ts'
import { type ChangeLog, createChangeLog } from './change-log.ts'
import type { Inventory, InventoryMount, InventoryOptions, MountStatus } from './inventory.ts'
import { createJournal, type Journal, loadJournal } from './journal.ts'
import { type JournalLine, type StoredFile, storedOf } from './journal-lines.ts'
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
  /** It comes from a backup, so the sources must be listed whatever is known. */
  isRestored?: boolean
}

export async function createInventory(options: InventoryOptions): Promise<Inventory> {
  return assemble(options, await remembered(options))
}

/** Revisions begin with the time, so that those of a life that nothing is known of are never given twice. */
async function remembered(options: InventoryOptions): Promise<Known> {
  const first = Math.max(1, Math.floor(options.clock.now()))
  const known = options.journal === undefined ? undefined : await fromJournal(options, options.journal, first)
  if (known !== undefined) return known
  const restored = options.backup === undefined ? undefined : await fromBackup(options, options.backup)
  return { namespace: emptyNamespace(options), listed: new Set(), ...restored, changes: createChangeLog(first) }
}

/** Of mounts that have the same name and path now. */
async function fromBackup(options: InventoryOptions, backup: string): Promise<Omit<Known, 'changes'> | undefined> {
  const { mounts, key, log } = options
  const namespace = emptyNamespace(options)
  const listed = new Set<string>()
  try {
    const totals = await readBackup(backup, {
      onMounts(known) {
        for (const { name, path } of known) if (mounts.some((mount) => mount.name === name && mount.path === path)) listed.add(name)
      },
      onFile({ path, mount, size, etag, mtimeNs }) {
        if (!listed.has(mount)) return
        namespace.restore({ path, size, etag, mtimeNs, fileId: fileIdOf(key, path), version: versionOf({ size, etag, mtimeNs }) }, mount)
      },
    })
    log.write('info', 'the inventory was restored from a backup', { ...totals })
    return { namespace, listed, isRestored: true }
  } catch (error) {
    log.write('warn', 'the backup of the inventory cannot be used; the sources are listed', { reason: messageOf(error) })
    return undefined
  }
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

interface State extends Omit<Known, 'listed' | 'isRestored'> {
  mounts: readonly ListedMount[]
}

function assemble(options: InventoryOptions, { listed, isRestored = false, ...known }: Known): Inventory {
  const { clock, random, log, syncIntervalMs = DEFAULT_INTERVAL_MS } = options
  const state: State = { ...known, mounts: [] }
  const { namespace, changes } = state
  const listeners = new Set<() => void>()
  const closing: Promise<void>[] = []
  let isClosed = false
  const journal: Journal | undefined =
    options.journal === undefined
      ? undefined
      : createJournal({ file: options.journal, log, snapshot: () => wholeJournal(state, options.key) })

  const openMount = (mount: InventoryMount, isListed: boolean) => createListedMount({ mount, clock, onHint: () => rounds.soon(), isListed })
  const notify = () => {
    for (const listener of [...listeners]) listener()
  }
  function step(paths: readonly string[]): void {
    changes.add(paths)
    journal?.append([...paths.map((path) => lineOf(namespace, path)), { listed: listedNames(state) }, { revision: changes.revision }])
    notify()
  }
  const stepIfChanged = (paths: readonly string[]) => {
    if (paths.length > 0) step(paths)
  }

  async function listOne(mount: ListedMount): Promise<boolean> {
    const { name } = mount.mount
    const wasListed = mount.isListed
    const isFine = await mount.list({
      begin: () => namespace.beginListing(name),
      answered: notify,
      page: (files) => stepIfChanged(namespace.add(name, files)),
      end: () => stepIfChanged(namespace.endListing(name)),
    })
    if (!state.mounts.includes(mount)) return true
    // Completeness is part of what clients are told, so it has a revision of its own.
    if (mount.isListed && !wasListed) step([])
    else notify()
    if (!isFine && !isClosed)
      log.write('warn', 'a mount cannot be listed; what is known of it is kept', { mount: name, reason: mount.status.reason })
    return isFine
  }

  async function listAll(): Promise<boolean> {
    let isFine = true
    for (const mount of state.mounts) if (state.mounts.includes(mount)) isFine = (await listOne(mount)) && isFine
    return isFine
  }

  const rounds = createRounds({ clock, random, intervalMs: syncIntervalMs, run: listAll })
  state.mounts = options.mounts.map((mount) => openMount(mount, listed.has(mount.name)))
  journal?.rewrite()
  if (syncIntervalMs > 0 || isRestored || !isComplete(state)) void rounds.sync()

  return {
    ...answersOf(state),
    // Spread would take their values once and for all.
    get revision() {
      return changes.revision
    },
    get isComplete() {
      return isComplete(state)
    },
    sync: () => rounds.sync(),
    setMounts(next) {
      const old = state.mounts
      const kept = next.map((mount) => old.find((known) => isSameMount(known.mount, mount)))
      if (old.length !== next.length || old.some((mount, i) => mount !== kept[i])) {
        state.mounts = next.map((mount, i) => kept[i] ?? openMount(mount, false))
        for (const gone of old) if (!state.mounts.includes(gone)) closing.push(gone.close())
        const renewed = next.filter((_, i) => kept[i] === undefined).flatMap(({ name }) => namespace.clear(name))
        step([...new Set([...renewed, ...namespace.setMounts(next)])])
        journal?.rewrite()
      }
      void rounds.sync()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      isClosed = true
      listeners.clear()
      await Promise.all([rounds.close(), ...state.mounts.map((mount) => mount.close()), ...closing])
      await journal?.close(changes.revision)
    },
  }
}

type Answers = Pick<Inventory, 'since' | 'snapshot' | 'file' | 'byPath' | 'totals' | 'mounts'>

/** Everything that is answered from memory. */
const answersOf = (state: State): Answers => ({
  since(revision, subPath) {
    const paths = state.changes.since(revision)
    if (paths === undefined) return undefined
    const lines: InventoryLine[] = []
    for (const path of [...paths].filter((changed) => isAtOrBelow(subPath, changed)).sort()) {
      const file = state.namespace.get(path)
      lines.push(file === undefined ? { remove: { path } } : { add: entryOf(file) })
    }
    return [...lines, { revision: state.changes.revision, isComplete: isComplete(state) }]
  },
  snapshot: (subPath) => ({
    revision: state.changes.revision,
    isComplete: isComplete(state),
    entries: entriesOf(state.namespace, subPath),
  }),
  file(fileId) {
    const found = state.namespace.byId(fileId)
    return found && locatedOf(found)
  },
  byPath(path) {
    const found = state.namespace.get(path)
    return found && entryOf(found)
  },
  totals: (subPath) => state.namespace.totals(subPath),
  mounts: () => state.mounts.map((mount) => statusOf(mount, state.namespace)),
})

const isComplete = ({ mounts }: State): boolean => mounts.every((mount) => mount.isListed)

const listedNames = ({ mounts }: State): string[] => mounts.filter(({ isListed }) => isListed).map(({ mount }) => mount.name)

function lineOf(namespace: Namespace, path: string): JournalLine {
  const file = namespace.get(path)
  return file === undefined ? { removed: path } : { file: storedOf(file) }
}

function* wholeJournal(state: State, key: Uint8Array): Generator<JournalLine, void> {
  // First of all, because files that come meanwhile belong to later revisions.
  const { revision } = state.changes
  const listed = listedNames(state)
  const mounts = state.mounts.map(({ mount }) => [mount.name, mount.path, mount.identity] as const)
  yield { head: { format: 1, keyCheck: keyCheckOf(key), mounts } }
  for (const record of state.namespace.records('/')) yield { file: storedOf(record) }
  yield { listed }
  yield { revision }
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
