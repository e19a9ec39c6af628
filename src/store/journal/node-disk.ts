/** The real disk, over node:fs. Files are 0600 and directories 0700, because the store holds Secrets. */
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Disk, DiskFile } from './disk.ts'

export const nodeDisk: Disk = {
  async makeDirectory(directory) {
    const first = await mkdir(directory, { recursive: true, mode: 0o700 })
    if (first === undefined) return
    for (let made = path.resolve(directory); ; made = path.dirname(made)) {
      await syncDirectory(path.dirname(made))
      if (made === path.resolve(first) || made === path.dirname(made)) return
    }
  },
  list: async (directory) => (await readdir(directory)).sort(),
  open: async (file, access) => diskFile(await open(file, access === 'read' ? 'r' : 'r+')),
  create: async (file) => diskFile(await open(file, 'wx+', 0o600)),
  rename,
  remove: (file) => rm(file),
  syncDirectory,
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function diskFile(handle: FileHandle): DiskFile {
  return {
    size: async () => (await handle.stat()).size,
    async read(position, length) {
      const buffer = Buffer.allocUnsafeSlow(length)
      let done = 0
      while (done < length) {
        const { bytesRead } = await handle.read(buffer, done, length - done, position + done)
        if (bytesRead === 0) break
        done += bytesRead
      }
      return buffer.subarray(0, done)
    },
    async write(bytes, position) {
      let done = 0
      while (done < bytes.byteLength) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done, position + done)
        done += bytesWritten
      }
    },
    truncate: (length) => handle.truncate(length),
    sync: () => handle.sync(),
    syncData: () => handle.datasync(),
    close: () => handle.close(),
  }
}
