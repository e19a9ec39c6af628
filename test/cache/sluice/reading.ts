/** What a reader printed, judged: every file has bytes that the source had at some time, and what was always there is there. Pure. */
import { isBelow } from '../../../src/cache/config/paths.ts'
import type { Content, Contents } from '../programs/contents.ts'

export interface Reading {
  problems: string[]
  files: ReadonlyMap<string, Content>
  bytes: number
  passes: number
}

export interface ReadingContext {
  contents: Contents
  /** What the sources had at the beginning. */
  first: readonly string[]
  /** What the dataset shows of them. */
  shows: string
}

const FILE_LINE = /^([0-9a-f]{64}) {2}\.(\/.+)$/
const LAST_LINE = /^passes (\d+)$/

export function judgeReading(log: string, { contents, first, shows }: ReadingContext): Reading {
  const problems: string[] = []
  const files = new Map<string, Content>()
  let passes = 0
  for (const line of log.split('\n').filter((text) => text !== '')) {
    const [, sha256, path] = FILE_LINE.exec(line) ?? []
    const last = LAST_LINE.exec(line)
    if (last !== null) passes = Number(last[1])
    else if (sha256 === undefined || path === undefined) problems.push(`it says: ${line.slice(0, 200)}`)
    else {
      const content = contents.ofBytes(path, sha256)
      if (content === undefined) problems.push(`${path} has bytes that its source never had`)
      else files.set(path, content)
    }
  }
  if (passes === 0) problems.push('it did not come to its end')
  const missing = first.filter((path) => isBelow(path, shows) && contents.isSteady(path) && !files.has(path))
  if (missing.length > 0) problems.push(`${missing.length} files were not there, among them ${missing[0]}`)
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0)
  return { problems, files, bytes, passes }
}

/** Undefined: it is the newest content; else the first difference. */
export function notNewest({ files }: Reading, { contents, shows }: ReadingContext): string | undefined {
  const newest = new Map([...contents.newestBelow('/')].map(([relative, content]) => [`/${relative}`, content]))
  for (const path of files.keys()) if (!newest.has(path)) return `${path} is gone from the source`
  for (const [path, { sha256 }] of newest) {
    if (!isBelow(path, shows)) continue
    const has = files.get(path)
    if (has === undefined) return `${path} is missing`
    if (has.sha256 !== sha256) return `${path} is of an older version`
  }
  return undefined
}
