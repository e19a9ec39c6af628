/**
 * Replaces the text of a file that containers have mounted: the same inode, or running programs would keep the old one. In
 * one write, padded with empty lines to the old length and shortened after it, so that a reader sees whole lines: the old
 * ones, the new ones, or, while a long file is being written, some of each.
 */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Writes nothing when the text is the same, or when there is no such file and it is not to be created. */
export async function writeInPlace(file: string, text: string, how: 'create' | 'replace'): Promise<void> {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW | (how === 'create' ? constants.O_CREAT : 0)
  const opened = await open(file, flags, 0o644).catch((error: unknown) => {
    if (how === 'replace' && error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (opened === undefined) return
  try {
    const before = await opened.readFile()
    const next = Buffer.from(text)
    if (before.equals(next)) return
    const padded = next.length < before.length ? Buffer.concat([next, Buffer.alloc(before.length - next.length, '\n')]) : next
    for (let at = 0; at < padded.length; ) at += (await opened.write(padded, at, padded.length - at, at)).bytesWritten
    if (padded.length !== next.length) await opened.truncate(next.length)
  } finally {
    await opened.close()
  }
}
