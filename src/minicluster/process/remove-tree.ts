/** Removes a directory with everything in it, including directories that their owner may not read, which containers can create and overlays always do. */
import { chmod, lstat, readdir, rm } from 'node:fs/promises'
import path from 'node:path'

export async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true })
  } catch {
    await openUp(directory)
    await rm(directory, { recursive: true, force: true })
  }
}

async function openUp(directory: string): Promise<void> {
  const found = await lstat(directory).catch(() => undefined)
  if (found === undefined || !found.isDirectory()) return
  await chmod(directory, found.mode | 0o700).catch(() => undefined)
  for (const name of await readdir(directory).catch(() => [])) await openUp(path.join(directory, name))
}
