/** What process nodes keep of a dataset's volumes: its generations, each a directory with all files. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'

export interface OnNode {
  dataDir: string
  member: string
  node: string
  dataset: string
}

/** The directories of the complete generations of a dataset's whole volume on a node. */
export function generations({ dataDir, member, node, dataset }: OnNode): string[] {
  const root = path.join(dataDir, 'members', member, 'nodes', node, 'runtime-mnt/cache/default', dataset, 'cache-fuse/generations')
  if (!existsSync(root)) return []
  return readdirSync(root)
    .flatMap((id) => readdirSync(path.join(root, id)).map((number) => path.join(root, id, number)))
    .sort()
}

/** The same text as long as nothing in it was written. */
export function fingerprint(generation: string): string {
  const lines = readdirSync(generation, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { ino, mtimeMs, ctimeMs, size } = statSync(path.join(generation, name))
    return `${name} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
  })
  return lines.sort().join('\n')
}
