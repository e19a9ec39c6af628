/** What process nodes keep of a dataset's volumes: its generations, each a directory with all files. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'

export interface OnNode {
  dataDir: string
  member: string
  node: string
  namespace?: string
  dataset: string
}

/** The directories of the complete generations of a dataset's whole volume on a node. */
export function generations({ dataDir, member, node, namespace = 'default', dataset }: OnNode): string[] {
  const root = path.join(dataDir, 'members', member, 'nodes', node, 'runtime-mnt/cache', namespace, dataset, 'cache-fuse/generations')
  if (!existsSync(root)) return []
  return readdirSync(root)
    .flatMap((id) => readdirSync(path.join(root, id)).map((number) => path.join(root, id, number)))
    .sort()
}

/** All that nodes have of a dataset, in whichever namespace: what is on them for any other has another name. */
export function directoriesOf({ dataDir, member, name }: { dataDir: string; member: string; name: string }): string[] {
  const nodes = path.join(dataDir, 'members', member, 'nodes')
  return readdirSync(nodes, { recursive: true, encoding: 'utf8' }).filter((file) => path.basename(file) === name)
}

/** The same text as long as nothing in it was written. */
export function fingerprint(generation: string): string {
  const lines = readdirSync(generation, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { ino, mtimeMs, ctimeMs, size } = statSync(path.join(generation, name))
    return `${name} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
  })
  return lines.sort().join('\n')
}
