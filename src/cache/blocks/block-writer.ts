/**
 * Writes one block: room is reserved before, a byte too many is refused, and only `commit` makes it a block. Whatever fails leaves
 * neither file nor reservation behind.
 */
import { type FileHandle, rename } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { messageOf } from '../../base/error-text.ts'
import { type BlockKey, blockName } from '../protocol/block.ts'
import { createFile, removeFile } from './block-files.ts'
import { writeTrailer } from './trailer.ts'

export interface BlockWriter {
  /** One after the other. */
  write(bytes: Uint8Array): Promise<void>
  /** Rejects when the block is not whole, or its CRC-32 is not the expected one; it is then gone. */
  commit(expectedCrc?: number): Promise<void>
  /** Does nothing after the end. Never rejects. */
  abort(): Promise<void>
}

export interface WriterOptions {
  key: BlockKey
  length: number
  file: string
  temporary: string
  onCommit: (crc: number) => void
  /** `isLeft`: the unfinished file cannot be removed. */
  onAbort: (leftover: { isLeft: boolean; reason: string }) => void
}

export async function createBlockWriter(options: WriterOptions): Promise<BlockWriter> {
  const { key, length, file, temporary } = options
  let handle: FileHandle | undefined
  let at = 0
  let crc = 0
  let isOver = false

  async function abort(reason = 'it was given up'): Promise<void> {
    if (isOver) return
    isOver = true
    let isLeft = false
    try {
      await handle?.close()
      await removeFile(temporary)
    } catch (error) {
      isLeft = true
      reason = messageOf(error)
    }
    options.onAbort({ isLeft, reason })
  }
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      if (isOver) throw new Error('the block is written or given up already')
      return await work()
    } catch (error) {
      await abort(messageOf(error))
      throw error
    }
  }
  const writeAll = async (to: FileHandle, bytes: Uint8Array) => {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await to.write(bytes, done, bytes.length - done, at + done)
      done += bytesWritten
    }
    at += bytes.length
  }

  const opened = await guarded(() => createFile(temporary))
  handle = opened
  return {
    write: (bytes) =>
      guarded(async () => {
        if (at + bytes.length > length) throw new Error(`the block has more than its ${length} bytes`)
        crc = crc32(bytes, crc)
        await writeAll(opened, bytes)
      }),
    commit: (expectedCrc) =>
      guarded(async () => {
        if (at !== length) throw new Error(`the block has ${at} of ${length} bytes`)
        if (expectedCrc !== undefined && crc !== expectedCrc) throw new Error('the block has another CRC-32 than was said')
        await writeAll(opened, writeTrailer(blockName(key), { length, crc }))
        await opened.close()
        await rename(temporary, file)
        isOver = true
        options.onCommit(crc)
      }),
    abort: () => abort(),
  }
}
