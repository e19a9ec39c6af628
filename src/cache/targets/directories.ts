/**
 * Directories below a root, opened once and held while they are used: names are looked up in the directory itself, segment by
 * segment, and links are never followed, so whoever changes the tree meanwhile cannot lead a write out of it.
 */
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { procPath } from '../sources/local/inside.ts'
import { Clash } from './target.ts'

const MOST_KEPT = 64
const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

interface Held {
  handle: Promise<FileHandle | undefined>
  users: number
  /** Closed by its last user. */
  isForgotten: boolean
}

export class Directories {
  readonly #root: FileHandle
  readonly #held = new Map<string, Held>()

  constructor(root: FileHandle) {
    this.#root = root
  }

  /**
   * Runs `use` with a path of the directory, which is made if `makes` is set. Undefined: it is not there. Rejects with Clash when
   * a segment is no directory.
   */
  async within<T>(relative: string, makes: boolean, use: (path: string) => Promise<T>): Promise<T | undefined> {
    if (relative === '') return use(procPath(this.#root))
    for (;;) {
      const held = this.#hold(relative, makes)
      try {
        const handle = await held.handle
        if (handle !== undefined) return await use(procPath(handle))
        if (!makes) return undefined
        // Somebody who would not make it looked at the same time.
        this.forget(relative)
      } finally {
        held.users--
        closeIfUnused(held)
        if (this.#held.size > MOST_KEPT) this.#forgetUnused()
      }
    }
  }

  /** It was removed, or may be another one now. */
  forget(relative: string): void {
    const held = this.#held.get(relative)
    if (held === undefined) return
    this.#held.delete(relative)
    held.isForgotten = true
    closeIfUnused(held)
  }

  async close(): Promise<void> {
    for (const relative of [...this.#held.keys()]) this.forget(relative)
    await this.#root.close()
  }

  #hold(relative: string, makes: boolean): Held {
    const known = this.#held.get(relative)
    if (known !== undefined) {
      known.users++
      return known
    }
    const held: Held = { handle: this.#open(relative, makes), users: 1, isForgotten: false }
    this.#held.set(relative, held)
    // What is not there may be made; what failed may be right the next time.
    const forget = (): void => {
      if (this.#held.get(relative) === held) this.forget(relative)
    }
    held.handle.then((handle) => handle === undefined && forget(), forget)
    return held
  }

  #open(relative: string, makes: boolean): Promise<FileHandle | undefined> {
    const cut = relative.lastIndexOf('/')
    return this.within(relative.slice(0, Math.max(0, cut)), makes, async (parent) => {
      const place = `${parent}/${relative.slice(cut + 1)}`
      if (makes) await mkdir(place).catch(ofExisting)
      try {
        return await open(place, FLAGS)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'ENOENT') return undefined
        if (code === 'ENOTDIR' || code === 'ELOOP') throw new Clash(relative, 'file')
        throw error
      }
    })
  }

  #forgetUnused(): void {
    for (const [relative, held] of [...this.#held]) {
      if (this.#held.size <= MOST_KEPT / 2) return
      if (held.users === 0) this.forget(relative)
    }
  }
}

function closeIfUnused(held: Held): void {
  if (!held.isForgotten || held.users > 0) return
  held.handle.then((handle) => handle?.close()).catch(() => undefined)
}

function ofExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
