export interface DiskFile {
  size(): Promise<number>
  /** A new buffer with up to `length` bytes; fewer only where the file ends. */
  read(position: number, length: number): Promise<Buffer>
  /** Writes all bytes or throws, in which case some of them may have been written. */
  write(bytes: Uint8Array, position: number): Promise<void>
  truncate(length: number): Promise<void>
  /** Data and all metadata. */
  sync(): Promise<void>
  /** Data, and the metadata without which it could not be read back. */
  syncData(): Promise<void>
  close(): Promise<void>
}

export interface Disk {
  /** Creates the directory and its parents if absent, and makes their names durable. */
  makeDirectory(path: string): Promise<void>
  /** The names in a directory, sorted. */
  list(directory: string): Promise<string[]>
  /** Opens an existing file; throws ENOENT otherwise. */
  open(path: string, access: 'read' | 'write'): Promise<DiskFile>
  /** Creates a new file that only its owner can read; throws EEXIST if it exists. */
  create(path: string): Promise<DiskFile>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  syncDirectory(path: string): Promise<void>
}

export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Out of space: the one failure of a disk that can pass without intervention. */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}
