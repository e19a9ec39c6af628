/**
 * `backup` and `restore` of a dataset's inventory, in the files that Fluid makes: `metadata-backup-<dataset>-<namespace>.gz` and
 * `<dataset>-<namespace>.yaml` with its figures. Both appear whole or not at all; see docs/design/0017-programs.md.
 */
import { constants, createWriteStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { ConfigError } from '../config/fields.ts'
import { createRequester } from '../http/request.ts'
import { signRequest } from '../http/signed.ts'
import { type BackupTotals, BadBackup, createBackupCheck, readBackup } from '../inventory/backup.ts'
import { bytesText } from '../master/report.ts'
import type { Progress } from '../operations/progress.ts'
import { procPath } from '../sources/local/inside.ts'
import { createLocalSource } from '../sources/local/local.ts'
import { openLocalTarget } from '../targets/local.ts'
import { type Deps, masterAddress, needed, readConfig, readKey } from './deps.ts'
import { type OperationEnd, runOperation } from './operation.ts'

/** In the state of a master: used at its next start, if it knows nothing of its own. */
export const RESTORED = 'restore.gz'

const MOST_BYTES = 8 * 1024 ** 3
const BACKUP_MS = 30 * 60_000
/** Where a Job mounts the volume of a backup. */
const MOUNTED = '/fluid/backup'
/** Of a backup, compressed. */
const LARGEST_BACKUP = 1024 ** 3
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

interface Names {
  dataset: string
  namespace: string
  packed: string
  figures: string
}

export const backup = (deps: Deps): Promise<number> => runOperation(deps, 'backup', (progress) => backupOnce(deps, progress))

export const restore = (deps: Deps): Promise<number> => runOperation(deps, 'restore', (progress) => restoreOnce(deps, progress))

async function backupOnce(deps: Deps, progress: Progress): Promise<OperationEnd> {
  const directory = directoryOf(deps)
  const names = namesOf(deps)
  const own = await mkdtemp(path.join(os.tmpdir(), 'sluice-backup-'))
  try {
    progress.step = 'reading'
    const totals = await pack(deps, path.join(own, names.packed), progress)
    await writeFile(path.join(own, names.figures), figuresText(names, totals))
    progress.step = 'writing'
    // The one with the figures last: where it is, the other is as well.
    await place(own, directory, { files: [names.packed, names.figures], signal: deps.signal })
    return { result: 'complete', figures: { files: totals.files, bytes: totals.bytes } }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/** What the master says is checked as a restore would. */
async function pack(deps: Deps, file: string, progress: Progress): Promise<BackupTotals> {
  const { clock, signal } = deps
  const key = readKey(deps)
  const target = '/v1/backup'
  const check = createBackupCheck({
    onMounts: () => undefined,
    onFile: ({ size }) => {
      progress.filesDone++
      progress.bytesDone += size
    },
  })
  const requester = createRequester()
  const lines = requester.lines({
    ...{ origin: `http://${masterAddress(deps, readConfig(deps).config)}`, target, mostBytes: MOST_BYTES, timeoutMs: BACKUP_MS, signal },
    headers: key === undefined ? {} : { authorization: signRequest(key, { method: 'GET', target }, clock.now()) },
  })
  async function* texts(): AsyncGenerator<string> {
    for await (const line of lines) {
      const text = JSON.stringify(line)
      check.line(text)
      yield `${text}\n`
    }
  }
  try {
    await pipeline(Readable.from(texts()), createGzip(), createWriteStream(file))
  } finally {
    requester.close()
  }
  return check.end()
}

async function place(from: string, directory: string, { files, signal }: { files: readonly string[]; signal: AbortSignal }): Promise<void> {
  const source = createLocalSource({ mountPoint: 'the backup', path: from })
  const target = await openLocalTarget({ shown: 'the directory of the backup', ...withoutLinks(directory), checks: true })
  try {
    await target.begin(signal)
    for (const name of files) {
      const file = await source.stat(name, signal)
      if (file === undefined) throw new Error(`${name} has gone`)
      await target.write({ file, from: source, onBytes: () => undefined }, signal)
    }
  } finally {
    await target.end()
    await source.close()
  }
}

/** What is mounted is ours; what is below it was written by others. */
const withoutLinks = (directory: string): { path: string; below?: string } =>
  directory.startsWith(`${MOUNTED}/`) ? { path: MOUNTED, below: directory.slice(MOUNTED.length + 1) } : { path: directory }

/** As Fluid's own script writes it. */
const figuresText = ({ dataset, namespace }: Names, { files, bytes }: BackupTotals): string =>
  `dataset: ${dataset}\nnamespace: ${namespace}\nufstotal: ${bytesText(bytes)}\nfilenum: ${files}\n`

/** Checks the whole backup, and leaves it where a master looks at its next start. */
async function restoreOnce(deps: Deps, progress: Progress): Promise<OperationEnd> {
  const from = path.join(directoryOf(deps), namesOf(deps).packed)
  const state = deps.env.get('SLUICE_STATE_PATH') ?? '/var/lib/sluice/master'
  progress.step = 'checking'
  await mkdir(state, { recursive: true })
  const temporary = path.join(state, `${RESTORED}.new`)
  await rm(temporary, { force: true })
  try {
    // What was checked is what is used, whoever changes the original meanwhile.
    await copyRegular(from, temporary)
    const totals = await readBackup(temporary, { onMounts: () => undefined, onFile: () => progress.filesDone++ })
    await rename(temporary, path.join(state, RESTORED))
    return { result: 'complete', figures: { files: totals.files, bytes: totals.bytes } }
  } catch (error) {
    await rm(temporary, { force: true })
    if (error instanceof BadBackup) throw new Error(`${from} cannot be restored: ${error.message}`)
    throw error
  }
}

/** Neither a link nor a pipe: others may write where it lies. */
async function copyRegular(from: string, to: string): Promise<void> {
  const handle = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await handle.stat()
    if (!stats.isFile() || stats.size > LARGEST_BACKUP) throw new BadBackup(`it is no regular file of at most ${LARGEST_BACKUP} bytes`)
    await copyFile(procPath(handle), to)
  } finally {
    await handle.close()
  }
}

function directoryOf(deps: Deps): string {
  const directory = needed(deps, 'SLUICE_BACKUP_PATH')
  if (!path.isAbsolute(directory) || directory.split('/').includes('..'))
    throw new ConfigError('SLUICE_BACKUP_PATH must be absolute, without ..')
  return directory.replace(/\/+$/, '') || '/'
}

function namesOf(deps: Deps): Names {
  const [dataset, namespace] = [needed(deps, 'FLUID_DATASET_NAME'), needed(deps, 'FLUID_DATASET_NAMESPACE')]
  if (!NAME.test(dataset) || !NAME.test(namespace))
    throw new ConfigError('FLUID_DATASET_NAME and FLUID_DATASET_NAMESPACE must be names of Kubernetes')
  return { dataset, namespace, packed: `metadata-backup-${dataset}-${namespace}.gz`, figures: `${dataset}-${namespace}.yaml` }
}
