/**
 * Keys and certificates as files that only their owner can read: the disk behind `ensurePki`. A file is replaced whole
 * (written aside, synced, renamed, directory synced), so a crash leaves the old text or the new one.
 */
import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises'
import path from 'node:path'
import type { KeyDirectory } from '../pki/index.ts'

export async function openKeyDirectory(directory: string): Promise<KeyDirectory> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  // The directory may have existed before, or the umask may have been too permissive.
  await chmod(directory, 0o700)
  return {
    path: directory,
    async read(name) {
      try {
        return await readFile(path.join(directory, name), 'utf8')
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
    async write(name, text) {
      const target = path.join(directory, name)
      const aside = `${target}.new`
      await writeSynced(aside, text)
      await rename(aside, target)
      await syncDirectory(directory)
    },
  }
}

async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  try {
    await handle.chmod(0o600)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const isNotFound = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
