/**
 * Judges a complete generation: exactly the files that its record names, each of them whole and of exactly the version that the
 * record says. Yields between files, because it reads a lot.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { absoluteOf, type Content, type Contents, sha256Of } from './contents.ts'

export interface GenerationPlace {
  subPath: string
  directory: string
  record: string
}

export interface Verdict {
  problems: string[]
  files: ReadonlyMap<string, Content>
  bytes: number
}

export async function judgeGeneration({ subPath, directory, record }: GenerationPlace, contents: Contents): Promise<Verdict> {
  const { versions, isReady } = readRecord(record)
  const problems: string[] = isReady ? [] : [`${directory} is said to be ready, but its record does not say so`]
  const files = new Map<string, Content>()
  let bytes = 0
  const found = new Set(filesBelow(directory, ''))
  for (const relative of found) if (!versions.has(relative)) problems.push(`${directory}/${relative} is not in its record`)
  for (const [relative, version] of versions) {
    if (!found.has(relative)) {
      problems.push(`${directory}/${relative} is missing`)
      continue
    }
    const content = contentOf(contents, { subPath, relative, version })
    if (content === undefined) {
      problems.push(`${directory}/${relative} is of version ${version}, which never was`)
      continue
    }
    const read = readFileSync(path.join(directory, relative))
    if (sha256Of(read) !== content.sha256)
      problems.push(`${directory}/${relative} (${read.length} bytes) is not its version ${version} (${content.size} bytes)`)
    files.set(relative, content)
    bytes += read.length
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { problems, files, bytes }
}

/** Undefined: the volume has what it should; else the first difference. */
export function differenceOf(files: ReadonlyMap<string, Content>, newest: ReadonlyMap<string, Content>): string | undefined {
  for (const relative of files.keys()) if (!newest.has(relative)) return `${relative} is gone from the source`
  for (const [relative, { version }] of newest) {
    const has = files.get(relative)
    if (has === undefined) return `${relative} is missing`
    if (has.version !== version) return `${relative} is of an older version`
  }
  return undefined
}

function contentOf(contents: Contents, { subPath, relative, version }: { subPath: string; relative: string; version: string }) {
  const isFile = subPath.endsWith(`/${relative}`) && contents.ofVersion(subPath, version) !== undefined
  return contents.ofVersion(absoluteOf(subPath, relative, isFile), version)
}

function readRecord(file: string): { versions: Map<string, string>; isReady: boolean } {
  const versions = new Map<string, string>()
  let isReady = false
  for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const parsed = JSON.parse(line) as { path?: string; version?: string; gone?: boolean; ready?: boolean }
    if (parsed.ready === true) isReady = true
    if (parsed.path === undefined) continue
    if (parsed.gone === true) versions.delete(parsed.path)
    else versions.set(parsed.path, parsed.version ?? '')
  }
  return { versions, isReady }
}

/** Whatever is no directory. */
function filesBelow(root: string, below: string): string[] {
  return readdirSync(path.join(root, below)).flatMap((name) => {
    const relative = below === '' ? name : `${below}/${name}`
    return lstatSync(path.join(root, relative)).isDirectory() ? filesBelow(root, relative) : [relative]
  })
}
