/**
 * Where the bytes of a mount come from. Sources are not trusted: a listing may be endless, a name hostile, a size a lie, an
 * answer slow or of another version than the listing said. An implementation bounds all of it, and what it returns is clean.
 */
import type { Content } from '../protocol/file.ts'

export interface SourceFile extends Content {
  /** Relative to the mount, clean: no empty, `.` or `..` segment, no control character. */
  path: string
}

export interface ListingPage {
  files: readonly SourceFile[]
  /** Where the next page begins; undefined: this was the last. */
  cursor?: string
  /** Names that were left out because no file could be made of them, at most a few, for the report. */
  refused?: readonly string[]
  /** How many were left out on this page. Absent: as many as are named. */
  refusedCount?: number
}

export interface Range {
  start: number
  /** Exclusive. */
  end: number
}

export interface Source {
  list(cursor: string | undefined, signal: AbortSignal): Promise<ListingPage>
  /** Undefined: there is no such file. */
  stat(path: string, signal: AbortSignal): Promise<SourceFile | undefined>
  /**
   * The bytes of a range of one version of a file: exactly `end - start` of them, or an error. Rejects with SourceChanged when
   * the source has another version by now, whether it says so or only what came back shows it.
   */
  read(file: SourceFile, range: Range, signal: AbortSignal): AsyncIterable<Uint8Array>
  /**
   * The whole of one version of a file into a new file of this machine, by the kernel alone: what `read` promises, at the cost of
   * `cp`. Absent where bytes do not come from a file.
   */
  copyTo?(file: SourceFile, destination: string): Promise<void>
  /** Calls back soon after something changed, where that can be known; the inventory then lists again. */
  watch?(onChange: () => void): () => void
  close(): Promise<void>
}

/** The file is not the version that was asked for. */
export class SourceChanged extends Error {
  override readonly name = 'SourceChanged'
}

/** The source cannot be used as it is configured; the message says what to do, and never contains credentials. */
export class SourceRefused extends Error {
  override readonly name = 'SourceRefused'
}
