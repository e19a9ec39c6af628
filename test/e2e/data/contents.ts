/** Files with random bytes, and the checksums that whoever reads them must find. */
import { createHash, randomFillSync } from 'node:crypto'
import path from 'node:path'
import type { Desk } from './desk.ts'

const FOLDERS = 20
const LARGE_FILES = 8

/** Checksums by relative path. */
export type Sums = Map<string, string>

export const sumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export const randomBytes = (size: number): Buffer => randomFillSync(Buffer.allocUnsafe(size))

/** So many files with so many bytes: half of these in a few large ones. */
export function fillDirectory(desk: Desk, directory: string, { files, bytes }: { files: number; bytes: number }): Sums {
  const small = Math.floor(bytes / 2 / (files - LARGE_FILES))
  const large = Math.floor((bytes - small * (files - LARGE_FILES)) / LARGE_FILES)
  for (let i = 0; i < FOLDERS; i++) desk.directory(path.relative(desk.person.home, path.join(directory, `folder-${i}`)))
  const sums: Sums = new Map()
  for (let i = 0; i < files; i++) {
    const content = randomBytes(i < LARGE_FILES ? large : small)
    const relative = `folder-${i % FOLDERS}/file-${i}`
    desk.write(path.join(directory, relative), content)
    sums.set(relative, sumOf(content))
  }
  return sums
}

/** Prints the checksum of every file. */
export const SUM_ALL = 'find . -type f -print0 | xargs -0 -r sha256sum'

/** The same, and then again and again, until it is ended: it fails as soon as anything is another. */
export const SUM_FOR_EVER = [
  `sums() { ${SUM_ALL} | sort; }`,
  'first=$(sums)',
  'echo "$first"',
  'echo all',
  'while sleep 0.5; do [ "$(sums)" = "$first" ] || { echo different; exit 1; }; echo same; done',
].join('\n')

/** What it printed. */
export function sumsIn(log: string): Sums {
  const lines = log.split('\n').filter((line) => /^[0-9a-f]{64} /.test(line))
  return new Map(
    lines.map((line) => {
      const [, sum = '', file = ''] = /^([0-9a-f]{64}) {2}\.\/(.*)$/.exec(line) ?? []
      return [file, sum]
    }),
  )
}

/** The first few differences. */
export function differences(found: Sums, expected: Sums): string[] {
  const names = new Set([...found.keys(), ...expected.keys()])
  return [...names]
    .filter((name) => found.get(name) !== expected.get(name))
    .slice(0, 5)
    .map((name) => `${name}: ${found.get(name) ?? 'missing'} instead of ${expected.get(name) ?? 'nothing'}`)
}
