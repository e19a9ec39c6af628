/** Removes a directory with everything in it, including directories that their owner may not read, which containers can create and overlays always do. */
import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs'
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

/** The same while nothing else may go on. Since Node 24 `rmSync` stops at such a directory even when it is empty. */
export function removeTreeSync(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true })
  } catch {
    openUpSync(directory)
    rmSync(directory, { recursive: true, force: true })
  }
}

function openUpSync(directory: string): void {
  try {
    const found = lstatSync(directory, { throwIfNoEntry: false })
    if (found === undefined || !found.isDirectory()) return
    chmodSync(directory, found.mode | 0o700)
    for (const name of readdirSync(directory)) openUpSync(path.join(directory, name))
  } catch {
    // Of somebody else, or gone meanwhile: removing it says what is wrong.
  }
}
