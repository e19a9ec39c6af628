/**
 * A disk for tests. It keeps what an operating system's cache would hold apart from what would survive a power cut, lets a
 * test cut the power or kill the process before any operation, tear and lose unsynced data, fill up, fail a sync,
 * hold operations back and flip bits. Driven by a seed, so that a failure can be reproduced.
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

type Filter = (operation: Operation, file: string) => boolean
type Step = (operation: Operation, file: string) => Promise<void>

const SECTOR = 512

export class SimulatedDisk {
  #visible: Entries = new Map()
  #safe: Entries = new Map()
  /** Directory states since the last directory sync, oldest first: a power cut leaves any one of them. */
  #unsyncedEntries: Entries[] = []
  /** Operations of a dead process never complete. */
  #life = 0
  #operations = 0
  #crashAt = Number.POSITIVE_INFINITY
  #onCrash: () => void = () => {}
  #faults: { operation: Operation; code: string; when: (file: string) => boolean }[] = []
  #gate: { promise: Promise<void>; open: () => void; isMeant: Filter } | undefined
  /** The capacity of the disk in bytes. */
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

  /** kill -9: what was written is kept. */
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

  /** Such operations wait from now on; by default, writes. */
  hold(isMeant: Filter = (operation) => operation === 'write'): void {
    let open = () => {}
    const promise = new Promise<void>((resolve) => {
      open = resolve
    })
    this.#gate ??= { promise, open, isMeant }
  }

  release(): void {
    const gate = this.#gate
    this.#gate = undefined
    gate?.open()
  }

  names(): string[] {
    return [...this.#visible.keys()].map((file) => path.basename(file)).sort()
  }

  /** The bytes of a file, to inspect or corrupt. */
  peek(file: string): Buffer {
    return this.#inode(file).content
  }

  /** Replaces a file without anyone noticing. */
  spoil(file: string, content: Buffer): void {
    this.#visible.set(file, { content: Buffer.from(content), safe: Buffer.from(content), unsynced: [] })
    this.#safe.set(file, this.#inode(file))
  }

  /** The disk as the current process sees it; once that process is dead, its operations never complete. */
  mount(): Disk {
    const life = this.#life
    const step = (operation: Operation, file: string) => this.#step(operation, file, life)
    return {
      makeDirectory: async () => {},
      list: async (directory) => {
        await step('list', directory)
        const inside = [...this.#visible.keys()].filter((file) => path.dirname(file) === directory)
        return inside.map((file) => path.basename(file)).sort()
      },
      open: async (file) => {
        await step('open', file)
        return this.#handle(file, this.#inode(file), step)
      },
      create: async (file) => {
        await step('create', file)
        if (this.#visible.has(file)) throw fault('EEXIST', file)
        const inode: Inode = { content: Buffer.alloc(0), safe: Buffer.alloc(0), unsynced: [] }
        this.#changeEntries((entries) => entries.set(file, inode))
        return this.#handle(file, inode, step)
      },
      rename: async (from, to) => {
        await step('rename', from)
        const inode = this.#inode(from)
        this.#changeEntries((entries) => entries.set(to, inode).delete(from))
      },
      remove: async (file) => {
        await step('remove', file)
        this.#inode(file)
        this.#changeEntries((entries) => entries.delete(file))
      },
      syncDirectory: async (directory) => {
        await step('syncDirectory', directory)
        this.#safe = new Map(this.#visible)
        this.#unsyncedEntries = []
      },
    }
  }

  #handle(file: string, inode: Inode, step: Step): DiskFile {
    const sync = async () => {
      await step('sync', file)
      inode.safe = Buffer.from(inode.content)
      inode.unsynced = []
    }
    return {
      size: async () => inode.content.length,
      read: async (position, length) => {
        await step('read', file)
        return Buffer.from(inode.content.subarray(position, position + length))
      },
      write: async (bytes, position) => {
        await step('write', file)
        this.#write(file, inode, { bytes, position })
      },
      truncate: async (length) => {
        await step('truncate', file)
        change(inode, { length })
      },
      sync,
      syncData: sync,
      close: async () => {},
    }
  }

  async #step(operation: Operation, file: string, life: number): Promise<void> {
    if (life !== this.#life) await new Promise(() => {})
    if (this.#operations >= this.#crashAt) {
      this.#crashAt = Number.POSITIVE_INFINITY
      this.#onCrash()
    }
    this.#operations++
    await (this.#gate?.isMeant(operation, file) ? this.#gate.promise : Promise.resolve())
    if (life !== this.#life) await new Promise(() => {})
    // A failing write may have written any part of its bytes, so it is handled separately.
    if (operation !== 'write') this.#failIfAsked(operation, file)
  }

  #failIfAsked(operation: Operation, file: string): void {
    const index = this.#faults.findIndex((f) => f.operation === operation && f.when(file))
    const [found] = index < 0 ? [] : this.#faults.splice(index, 1)
    if (found !== undefined) throw fault(found.code, file)
  }

  #write(file: string, inode: Inode, { bytes, position }: { bytes: Uint8Array; position: number }): void {
    const free = Math.max(0, this.capacity - this.#used())
    const grows = Math.max(0, position + bytes.byteLength - inode.content.length)
    const fits = grows <= free ? bytes.byteLength : Math.max(0, bytes.byteLength - (grows - free))
    try {
      this.#failIfAsked('write', file)
    } catch (error) {
      change(inode, { position, bytes: Buffer.from(bytes.subarray(0, Math.round(this.#random.next() * fits * 1.5))) })
      throw error
    }
    change(inode, { position, bytes: Buffer.from(bytes.subarray(0, fits)) })
    if (fits < bytes.byteLength) throw fault('ENOSPC', file)
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

/** A copy of that length; what is added is zeros, as in a file with a hole. */
function resize(content: Buffer, length: number): Buffer {
  const result = Buffer.alloc(length)
  content.copy(result, 0, 0, Math.min(length, content.length))
  return result
}

function fault(code: string, file: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${file}`), { code })
}
