/** What the tests of sources share: reading a whole listing, a range, and a directory that is removed afterwards. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Range, Source, SourceFile } from './source.ts'

export const never = (): AbortSignal => new AbortController().signal

export interface WholeListing {
  files: SourceFile[]
  refused: string[]
  refusedCount: number
  pages: number
}

export async function listAll(source: Pick<Source, 'list'>): Promise<WholeListing> {
  const all: WholeListing = { files: [], refused: [], refusedCount: 0, pages: 0 }
  let cursor: string | undefined
  do {
    const page = await source.list(cursor, never())
    all.files.push(...page.files)
    all.refused.push(...(page.refused ?? []))
    all.refusedCount += page.refusedCount ?? page.refused?.length ?? 0
    all.pages++
    cursor = page.cursor
  } while (cursor !== undefined)
  all.files.sort((a, b) => (a.path < b.path ? -1 : 1))
  return all
}

export const namesOf = ({ files }: WholeListing): string[] => files.map(({ path: name }) => name)

export async function readAll(source: Source, file: SourceFile, range: Range = { start: 0, end: file.size }): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of source.read(file, range, never())) parts.push(part)
  return Buffer.concat(parts)
}

export async function inTemporaryDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'sluice-sources-'))
  try {
    await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
