/**
 * Where a migration writes. A file appears under its name whole or not at all, whenever the program is killed; what a killed one
 * left behind is removed by the next. Names come from sources that nobody vouches for: nothing is written outside the target.
 */
import type { Source, SourceFile } from '../sources/source.ts'

export interface Written {
  file: SourceFile
  from: Source
  /** Called while bytes are moved. */
  onBytes(bytes: number): void
}

export interface Target {
  /** Removes what killed copiers left. Called once, before anything else. */
  begin(signal: AbortSignal): Promise<void>
  /** What is there is this file, as far as size and version or time tell. */
  has(file: SourceFile, signal: AbortSignal): Promise<boolean>
  /** Rejects with SourceChanged, Clash, TargetRefused, or with what may be different the next time. */
  write(written: Written, signal: AbortSignal): Promise<void>
  /** Paths of all files, as they are now. */
  paths(signal: AbortSignal): AsyncIterable<string>
  remove(path: string, signal: AbortSignal): Promise<void>
  /** Leaves nothing behind but the files. */
  end(): Promise<void>
}

/** Two names that no file system has at the same time. */
export class Clash extends Error {
  override readonly name = 'Clash'
  /** What stands in the way: a file where a directory must be, or something else than a file where the file must be. */
  readonly path: string
  readonly is: 'file' | 'directory' | 'other'

  constructor(path: string, is: Clash['is']) {
    super(is === 'file' ? `${path} is a file there and a directory here` : `${path} is ${is === 'other' ? 'no file' : 'a directory'} there`)
    this.path = path
    this.is = is
  }
}

/** Nothing can be written to the target; the message says what to do, and never contains credentials. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused'
}
