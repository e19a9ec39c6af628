/** What the tests of migrations share: trees on disk, a migration between two places, and a source that a test writes by hand. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { Progress } from '../operations/progress.ts'
import { createLocalSource } from '../sources/local/local.ts'
import { type Source, SourceChanged, type SourceFile } from '../sources/source.ts'
import { openLocalTarget } from '../targets/local.ts'
import type { Target } from '../targets/target.ts'
import { keptLog, realClock } from '../testing.ts'
import { migrate } from './migrate.ts'
import type { MigrateResult } from './tally.ts'

export type Files = Readonly<Record<string, string | Buffer>>

export function writeTree(root: string, files: Files): void {
  mkdirSync(root, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    writeFileSync(path.join(root, name), content)
  }
}

/** Content of every file, by path; hidden names as well. */
export function readTree(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.filter((name) => statSync(path.join(root, name)).isFile()).map((name) => [name, readFileSync(path.join(root, name), 'latin1')]),
  )
}

export interface Migration {
  source: Source
  target: Target
  parallelism?: number
  removesOthers?: boolean
  signal?: AbortSignal
  clock?: Clock
  progress?: Progress
}

export const run = ({ clock = realClock, ...migration }: Migration): Promise<MigrateResult> =>
  migrate({
    ...{ parallelism: 3, removesOthers: false, signal: new AbortController().signal, progress: new Progress('migrate', clock) },
    ...{ log: keptLog(), clock },
    ...migration,
  })

export const localSource = (directory: string): Source => createLocalSource({ mountPoint: 'local:///from', path: directory })
export const localTarget = (directory: string, checks = false): Promise<Target> =>
  openLocalTarget({ shown: 'local:///to', path: directory, checks })

export async function runFrom(from: string, target: Target, more: Partial<Migration> = {}): Promise<MigrateResult> {
  const source = localSource(from)
  try {
    return await run({ source, target, ...more })
  } finally {
    await source.close()
  }
}

export const runBetween = async (from: string, to: string, more: Partial<Migration> = {}): Promise<MigrateResult> =>
  runFrom(from, await localTarget(to), more)

export interface ScriptedFile {
  content: string
  /** What the listing says; absent: the truth. */
  size?: number
  mtimeNs?: string
}

/** Also with names that no file system has at the same time. Counts what is read of each. */
export function scriptedSource(files: Record<string, ScriptedFile>): Source & { reads: Map<string, number> } {
  const reads = new Map<string, number>()
  const fileOf = (name: string, { content, size, mtimeNs = '1700000000123456000' }: ScriptedFile): SourceFile => ({
    path: name,
    size: size ?? content.length,
    mtimeNs,
  })
  return {
    reads,
    list: async () => ({ files: Object.entries(files).map(([name, file]) => fileOf(name, file)) }),
    async stat(name) {
      const file = Object.hasOwn(files, name) ? files[name] : undefined
      return file && fileOf(name, file)
    },
    async *read(file) {
      const found = files[file.path]
      if (found === undefined) throw new SourceChanged(`${file.path} is gone`)
      reads.set(file.path, (reads.get(file.path) ?? 0) + 1)
      if (found.content.length > 0) yield Buffer.from(found.content)
    },
    close: async () => undefined,
  }
}
