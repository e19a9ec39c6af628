/** The machine's file operations: directories of pods, volumes of files, what is at a path. */
import { lstat, mkdir, open, readdir, realpath, rename, stat } from 'node:fs/promises'
import path from 'node:path'
import type { ContainerMachine } from '../kubelet/container-machine.ts'
import { writeInPlace } from './file-in-place.ts'
import { filesBelow } from './files-below.ts'
import { removeTree } from './remove-tree.ts'
import { checkedName, podDirectory } from './run-store.ts'
import { writeVolumeFiles } from './volume-files.ts'

type FileWork = Pick<
  ContainerMachine,
  | 'directory'
  | 'nodeDirectory'
  | 'writeFiles'
  | 'writePodFile'
  | 'kindOf'
  | 'readFile'
  | 'namesIn'
  | 'writeFile'
  | 'removePath'
  | 'makeDirectory'
  | 'makeFile'
  | 'inside'
  | 'filesBelow'
>

export interface MachineFilesOptions {
  /** Of the pods. */
  directory: string
  /** All that Sluice owns. */
  dataDirectory: string
  /** Names the directory of a new state of a volume. */
  nameOfMoment(): string
}

export function machineFiles({ directory, dataDirectory, nameOfMoment }: MachineFilesOptions): FileWork {
  return {
    async directory(podUid, ...parts) {
      const made = path.join(podDirectory(directory, podUid), ...parts.map(checkedName))
      await mkdir(made, { recursive: true, mode: 0o755 })
      return made
    },
    nodeDirectory: (node) => path.join(dataDirectory, 'nodes', checkedName(node)),
    writeFiles: (volume, files) => writeVolumeFiles(volume, files, nameOfMoment()),
    async writePodFile(podUid, { name, text, how }) {
      const parent = path.join(podDirectory(directory, podUid), 'etc')
      const file = path.join(parent, checkedName(name))
      if (how === 'create') await mkdir(parent, { recursive: true, mode: 0o755 })
      await writeInPlace(file, text, how)
      return file
    },
    async kindOf(file) {
      const found = await stat(file).catch(() => undefined)
      if (found === undefined) return undefined
      return found.isDirectory() ? 'directory' : found.isFile() ? 'file' : found.isSocket() ? 'socket' : 'other'
    },
    async readFile(file, limitBytes) {
      const opened = await open(file, 'r').catch(() => undefined)
      if (opened === undefined) return undefined
      try {
        const buffer = Buffer.alloc(Math.min(limitBytes, (await opened.stat()).size))
        const { bytesRead } = await opened.read(buffer, 0, buffer.length, 0)
        return buffer.subarray(0, bytesRead)
      } finally {
        await opened.close()
      }
    },
    async namesIn(at) {
      return (await readdir(at).catch(() => [])).sort()
    },
    writeFile: writeWhole,
    removePath: removeTree,
    inside,
    filesBelow,
    makeDirectory: async (at) => void (await mkdir(at, { recursive: true, mode: 0o755 })),
    async makeFile(at) {
      const file = await open(at, 'a', 0o644)
      await file.close()
    },
  }
}

/** Durable before it is renamed, so that a crash leaves the old file or the new one. */
async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o755 })
  const aside = `${file}.new`
  const opened = await open(aside, 'w', 0o644)
  try {
    await opened.writeFile(text)
    await opened.sync()
  } finally {
    await opened.close()
  }
  await rename(aside, file)
}

/** Step by step, each created in a place known to be inside; links that appear later are caught by the code that mounts. */
async function inside(directory: string, file: string): Promise<string> {
  const top = await realpath(directory)
  let at = top
  for (const part of file.split('/').filter((name) => name !== '' && name !== '.')) {
    if (part === '..') throw new Error(`${JSON.stringify(file)} is no path inside a volume`)
    const next = path.join(at, part)
    const found = await lstat(next).catch(() => undefined)
    if (found === undefined) await mkdir(next, { mode: 0o755 })
    at = found?.isSymbolicLink() ? await realpath(next) : next
    if (at !== top && !at.startsWith(`${top}/`)) throw new Error(`${JSON.stringify(file)} leads out of its volume by a link`)
  }
  return at
}
