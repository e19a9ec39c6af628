/** The part of the machine that is about files: directories of pods, volumes of files, what is at a path. */
import { chmod, lstat, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { ContainerMachine } from '../kubelet/container-machine.ts'
import { checkedName, podDirectory } from './run-store.ts'
import { writeVolumeFiles } from './volume-files.ts'

type FileWork = Pick<ContainerMachine, 'directory' | 'writeFiles' | 'kindOf' | 'makeDirectory' | 'makeFile'>

/** `nameOfMoment` names the directory of a new state of a volume. */
export function machineFiles(directory: string, nameOfMoment: () => string): FileWork {
  return {
    async directory(podUid, ...parts) {
      const made = path.join(podDirectory(directory, podUid), ...parts.map(checkedName))
      await mkdir(made, { recursive: true, mode: 0o755 })
      return made
    },
    writeFiles: (volume, files) => writeVolumeFiles(volume, files, nameOfMoment()),
    async kindOf(file) {
      const found = await stat(file).catch(() => undefined)
      if (found === undefined) return undefined
      return found.isDirectory() ? 'directory' : found.isFile() ? 'file' : found.isSocket() ? 'socket' : 'other'
    },
    makeDirectory: async (at) => void (await mkdir(at, { recursive: true, mode: 0o755 })),
    async makeFile(at) {
      const file = await open(at, 'a', 0o644)
      await file.close()
    },
  }
}

/** Also directories that their owner may not read, which a container may have made and an overlay always does. */
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
