/**
 * A disk for tests. It keeps what an operating system's cache would hold apart from what would survive a power cut, lets a
 * test cut the power or kill the process before any operation, tear and lose what was not synced, fill up, fail a sync,
 * hold operations back and flip bits. From a seed, so that a failure can be run again.
 */
import path from 'node:path'
import type { Random } from '../../base/random.ts'
import type { Disk, DiskFile } from './disk.ts'

type Change = { position: number; bytes: Buffer } | { length: number }

interface Inode {
  /** What readers see. */
  content: Buffer
  /** What is on the platter, and the changes that may or may not be. */
  safe: Buffer
  unsynced: Change[]
}

type Entries = Map<string, Inode>
export type Operation = 'open' | 'create' | 'read' | 'write' | 'truncate' | 'sync' | 'rename' | 'remove' | 'list' | 'syncDirectory'

const SECTOR = 512

export class SimulatedDisk implements Disk {
  #visible: Entries = new Map()
  #safe: Entries = new Map()
  /** Directory states since the last directory sync, oldest first: a power cut leaves any one of them. */
  #unsyncedEntries: Entries[] = []
  /** Operations of a process that is gone never end. */
  #life = 0
  #operations = 0
  #crashAt = Number.POSITIVE_INFINITY
  #onCrash: () => void = () => {}
  #faults: { operation: Operation; code: string; when: (file: string) => boolean }[] = []
  #gate: { promise: Promise<void>; open: () => void } | undefined
  /** Bytes that fit on the disk. */
  capacity = Number.POSITIVE_INFINITY
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  get operations(): number {
    return this.#operations
  }

  /** The process dies before its n-th operation from now; `onCrash` runs at that moment. */
  crashAfter(operations: number, onCrash: () => void): void {
    this.#crashAt = this.#operations + operations
    this.#onCrash = onCrash
  }

  /** kill -9: what was written is still there. */
  killProcess(): void {
    this.#life++
    this.#crashAt = Number.POSITIVE_INFINITY
    this.#faults = []
    this.#gate = undefined
  }

  /** What was not synced is lost, kept or torn, sector by sector. */
  cutPower(): void {
    this.killProcess()
    const states = [this.#safe, ...this.#unsyncedEntries]
    const entries = states[Math.floor(this.#random.next() * states.length)] as Entries
    const inodes = new Set([...entries.values(), ...this.#safe.values(), ...this.#visible.values()])
    for (const inode of inodes) {
      for (const change of inode.unsynced) inode.safe = this.#applyPartly(inode.safe, change)
      inode.content = Buffer.from(inode.safe)
      inode.unsynced = []
    }
    this.#visible = new Map(entries)
    this.#safe = new Map(entries)
    this.#unsyncedEntries = []
  }

  /** The next such operation fails with this code. */
  failNext(operation: Operation, code: string, when: (file: string) => boolean = () => true): void {
    this.#faults.push({ operation, code, when })
  }

  /** Writes wait from now on. */
  hold(): void {
    let open = () => {}
    const promise = new Promise<void>((resolve) => {
      open = resolve
    })
    this.#gate ??= { promise, open }
  }

  release(): void {
    const gate = this.#gate
    this.#gate = undefined
    gate?.open()
  }

  names(): string[] {
    return [...this.#visible.keys()].map((file) => path.basename(file)).sort()
  }

  /** The bytes of a file, to be looked at or spoiled. */
  peek(file: string): Buffer {
    return this.#inode(file).content
  }

  /** Replaces a file behind everybody's back. */
  spoil(file: string, content: Buffer): void {
    this.#visible.set(file, { content: Buffer.from(content), safe: Buffer.from(content), unsynced: [] })
    this.#safe.set(file, this.#inode(file))
  }

  async makeDirectory(): Promise<void> {}

  async list(directory: string): Promise<string[]> {
    await this.#step('list', directory)
    return [...this.#visible.keys()]
      .filter((file) => path.dirname(file) === directory)
      .map((file) => path.basename(file))
      .sort()
  }

  async open(file: string): Promise<DiskFile> {
    await this.#step('open', file)
    return this.#handle(file, this.#inode(file))
  }

  async create(file: string): Promise<DiskFile> {
    await this.#step('create', file)
    if (this.#visible.has(file)) throw fault('EEXIST', file)
    const inode: Inode = { content: Buffer.alloc(0), safe: Buffer.alloc(0), unsynced: [] }
    this.#changeEntries((entries) => entries.set(file, inode))
    return this.#handle(file, inode)
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#step('rename', from)
    const inode = this.#inode(from)
    this.#changeEntries((entries) => entries.set(to, inode).delete(from))
  }

  async remove(file: string): Promise<void> {
    await this.#step('remove', file)
    this.#inode(file)
    this.#changeEntries((entries) => entries.delete(file))
  }

  async syncDirectory(directory: string): Promise<void> {
    await this.#step('syncDirectory', directory)
    this.#safe = new Map(this.#visible)
    this.#unsyncedEntries = []
  }

  #handle(file: string, inode: Inode): DiskFile {
    const sync = async () => {
      await this.#step('sync', file)
      inode.safe = Buffer.from(inode.content)
      inode.unsynced = []
    }
    return {
      size: async () => inode.content.length,
      read: async (position, length) => {
        await this.#step('read', file)
        return Buffer.from(inode.content.subarray(position, position + length))
      },
      write: async (bytes, position) => {
        await this.#step('write', file)
        const room = Math.max(0, this.capacity - this.#used())
        const grows = Math.max(0, position + bytes.byteLength - inode.content.length)
        const fits = grows <= room ? bytes.byteLength : Math.max(0, bytes.byteLength - (grows - room))
        change(inode, { position, bytes: Buffer.from(bytes.subarray(0, fits)) })
        if (fits < bytes.byteLength) throw fault('ENOSPC', file)
      },
      truncate: async (length) => {
        await this.#step('truncate', file)
        change(inode, { length })
      },
      sync,
      syncData: sync,
      close: async () => {},
    }
  }

  async #step(operation: Operation, file: string): Promise<void> {
    const life = this.#life
    if (this.#operations >= this.#crashAt) {
      this.#crashAt = Number.POSITIVE_INFINITY
      this.#onCrash()
    }
    this.#operations++
    if (operation === 'write') await this.#gate?.promise
    else await Promise.resolve()
    if (life !== this.#life) await new Promise(() => {})
    const index = this.#faults.findIndex((f) => f.operation === operation && f.when(file))
    const [found] = index < 0 ? [] : this.#faults.splice(index, 1)
    if (found !== undefined) throw fault(found.code, file)
  }

  #changeEntries(edit: (entries: Entries) => void): void {
    this.#visible = new Map(this.#visible)
    edit(this.#visible)
    this.#unsyncedEntries.push(this.#visible)
  }

  #inode(file: string): Inode {
    const inode = this.#visible.get(file)
    if (inode === undefined) throw fault('ENOENT', file)
    return inode
  }

  #used(): number {
    return [...this.#visible.values()].reduce((sum, inode) => sum + inode.content.length, 0)
  }

  #applyPartly(content: Buffer, change: Change): Buffer {
    if ('length' in change) return this.#random.next() < 0.5 ? content : resize(content, change.length)
    let result = content
    for (let start = 0; start < change.bytes.length; start += SECTOR) {
      if (this.#random.next() < 0.4) continue
      result = overwrite(result, change.bytes.subarray(start, start + SECTOR), change.position + start)
    }
    return result
  }
}

function change(inode: Inode, what: Change): void {
  inode.content = 'length' in what ? resize(inode.content, what.length) : overwrite(inode.content, what.bytes, what.position)
  inode.unsynced.push(what)
}

function overwrite(content: Buffer, bytes: Buffer, position: number): Buffer {
  const result = resize(content, Math.max(content.length, position + bytes.length))
  bytes.copy(result, position)
  return result
}

/** A copy of that length; what it grows by is zeros, as in a file with a hole. */
function resize(content: Buffer, length: number): Buffer {
  const result = Buffer.alloc(length)
  content.copy(result, 0, 0, Math.min(length, content.length))
  return result
}

function fault(code: string, file: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${file}`), { code })
}
