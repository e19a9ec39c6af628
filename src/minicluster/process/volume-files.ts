/**
 * Volumes of files that come from objects, as kubelet keeps them: the files are in a directory named by the time, `..data`
 * points to it, and every name in the volume points through `..data`. Changing them is one rename, so that a reader sees
 * either all of the old files or all of the new ones.
 */
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { VolumeFile } from '../../runtime/seams/volume-driver.ts'

const DATA = '..data'
const FILE_MODE = 0o7777

export async function writeVolumeFiles(directory: string, files: readonly VolumeFile[], timeName: string): Promise<void> {
  for (const file of files) checkPath(file.path)
  await mkdir(directory, { recursive: true })
  const current = await readlink(path.join(directory, DATA)).catch(() => undefined)
  if (current !== undefined && (await isSame(path.join(directory, current), files))) {
    // A crash may have come between the switch and the linking of the names.
    await linkNames(directory, files)
    await removeOthers(directory, current)
    return
  }
  const fresh = await mkdtemp(path.join(directory, `..${timeName}.`))
  await chmod(fresh, 0o755)
  for (const file of files) {
    const target = path.join(fresh, file.path)
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, file.content)
    await chmod(target, file.mode & FILE_MODE)
  }
  const aside = path.join(directory, '..data_tmp')
  await rm(aside, { force: true })
  await symlink(path.basename(fresh), aside)
  await rename(aside, path.join(directory, DATA))
  await linkNames(directory, files)
  await removeOthers(directory, path.basename(fresh))
}

function checkPath(file: string): void {
  const parts = file.split('/')
  if (file.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..') || (parts[0] ?? '').startsWith('..'))
    throw new Error(`${JSON.stringify(file)} is no path inside a volume`)
}

async function isSame(directory: string, files: readonly VolumeFile[]): Promise<boolean> {
  const there = await filesIn(directory)
  if (there === undefined || there.length !== files.length) return false
  for (const file of files) {
    const at = path.join(directory, file.path)
    const stat = await lstat(at).catch(() => undefined)
    if (stat === undefined || !stat.isFile() || (stat.mode & FILE_MODE) !== (file.mode & FILE_MODE)) return false
    const content = await readFile(at).catch(() => undefined)
    if (content === undefined || !content.equals(file.content)) return false
  }
  return true
}

async function filesIn(directory: string): Promise<string[] | undefined> {
  try {
    const entries = await readdir(directory, { withFileTypes: true, recursive: true })
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => entry.name)
  } catch {
    return undefined
  }
}

const firstPart = (file: string): string => file.split('/')[0] ?? ''

async function linkNames(directory: string, files: readonly VolumeFile[]): Promise<void> {
  for (const name of new Set(files.map((file) => firstPart(file.path)))) {
    const at = path.join(directory, name)
    const target = path.join(DATA, name)
    if ((await readlink(at).catch(() => undefined)) === target) continue
    await rm(at, { recursive: true, force: true })
    await symlink(target, at)
  }
}

/** Names whose files are gone, and the directories of earlier versions. */
async function removeOthers(directory: string, current: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name === DATA || name === current) continue
    const at = path.join(directory, name)
    if (name.startsWith('..')) await rm(at, { recursive: true, force: true })
    else if ((await readlink(at).catch(() => undefined))?.startsWith(`${DATA}/`)) {
      // Its target decides: the name stays as long as there is something of that name.
      const isThere = await lstat(path.join(directory, current, name)).then(
        () => true,
        () => false,
      )
      if (!isThere) await rm(at, { force: true })
    }
  }
}
