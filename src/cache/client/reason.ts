/** Why files are not complete yet, for people who wait for them. Pure. */
import { messageOf } from '../../base/error-text.ts'
import { FileChanged } from './block-fetcher.ts'

export function reasonOf(error: unknown): string {
  if (error instanceof FileChanged) return 'a file changed at its source: waiting for the new list'
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ENOSPC' ? "the node's disk is full: make room there" : messageOf(error)
}
