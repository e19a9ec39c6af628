/**
 * What the master says of files, remembered for a while and for a bounded number. A path belongs to its id for ever; a version
 * that is not the expected one is asked for again before a reader is told that the file has changed.
 */
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { HttpError } from '../http/errors.ts'
import type { MasterLink, WorkerFile } from './options.ts'
import { changed, cleaned } from './source-refusal.ts'

const MOST_FILES = 10_000
/** What was asked for just now is not asked for again. */
const FRESH_MS = 500

interface Known {
  file: WorkerFile | undefined
  askedAt: number
}

export interface FileLookupOptions {
  master: MasterLink
  clock: Clock
  fileMs: number
  signal: AbortSignal
  /** Blocks of other versions are of no use any more. */
  onVersion: (fileId: string, version: string | undefined) => void
}

export class FileLookup {
  readonly #options: FileLookupOptions
  readonly #known = new Map<string, Known>()
  readonly #asked = new Map<string, Promise<Known>>()

  constructor(options: FileLookupOptions) {
    this.#options = options
  }

  /** Throws an HttpError when there is no such file, or it has another version. */
  async version(fileId: string, version: string): Promise<WorkerFile> {
    let known = await this.#lookup(fileId, this.#options.fileMs)
    if (known.file?.entry.version !== version) known = await this.#lookup(fileId, FRESH_MS)
    if (known.file === undefined) throw noFile()
    if (known.file.entry.version !== version) throw changed()
    return known.file
  }

  async path(fileId: string): Promise<string> {
    const { file } = this.#known.get(fileId) ?? (await this.#lookup(fileId, FRESH_MS))
    if (file === undefined) throw noFile()
    return file.entry.path
  }

  forget(fileId: string): void {
    this.#known.delete(fileId)
  }

  async #lookup(fileId: string, notOlderMs: number): Promise<Known> {
    const known = this.#known.get(fileId)
    if (known !== undefined && this.#options.clock.now() - known.askedAt < notOlderMs) return known
    let asked = this.#asked.get(fileId)
    if (asked === undefined) {
      asked = this.#ask(fileId, known).finally(() => this.#asked.delete(fileId))
      this.#asked.set(fileId, asked)
    }
    return await asked
  }

  async #ask(fileId: string, before: Known | undefined): Promise<Known> {
    const { master, clock, signal, onVersion } = this.#options
    let file: WorkerFile | undefined
    try {
      file = await master.file(fileId, signal)
    } catch (error) {
      throw new HttpError(503, 'MasterUnreachable', `the master cannot be asked for the file: ${cleaned(messageOf(error))}`)
    }
    const known = { file, askedAt: clock.now() }
    this.#known.delete(fileId)
    this.#known.set(fileId, known)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_FILES) break
      this.#known.delete(oldest)
    }
    if (before !== undefined && before.file?.entry.version !== file?.entry.version) onVersion(fileId, file?.entry.version)
    return known
  }
}

const noFile = (): HttpError => new HttpError(404, 'NoSuchFile', 'the dataset has no such file')
