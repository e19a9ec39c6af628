/** What a deleted dataset must not leave: objects of the cluster, labels of nodes, files and directories on nodes. */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { Node } from '../../../src/kinds/kubernetes/types.ts'
import { CORE, DATASETS, type DatasetPlan } from './manifests.ts'
import type { MemberApi } from './member-api.ts'

interface Named {
  metadata: { name: string; labels?: Record<string, string> }
}

const LISTS = ['pods', 'services', 'configmaps', 'secrets', 'persistentvolumeclaims'].map((resource) => `${CORE}/${resource}`)

/** Empty when nothing is left. */
export async function leftOf({ name, directories }: DatasetPlan, api: MemberApi, dataDir: string): Promise<string[]> {
  const left: string[] = []
  if ((await api.get(`${DATASETS}/${name}`)) !== undefined) left.push(`Dataset ${name}`)
  for (const list of [...LISTS, '/api/v1/persistentvolumes', '/apis/apps/v1/namespaces/default/daemonsets'])
    for (const { metadata } of await api.list<Named>(list)) if (isOf(metadata.name, name)) left.push(`${list}/${metadata.name}`)
  for (const { metadata } of await api.list<Node>('/api/v1/nodes'))
    for (const label of Object.keys(metadata.labels ?? {}))
      if (label.endsWith(`-default-${name}`)) left.push(`label ${label} of node ${metadata.name}`)
  const nodes = path.join(dataDir, 'members', 'member1', 'nodes')
  for (const node of readdirSync(nodes)) {
    const kinds = ['cache', 'alluxio'].map((kind) => `runtime-mnt/${kind}`)
    for (const parent of [...kinds, ...directories.keys()]) left.push(...entriesFrom(path.join(nodes, node, parent, 'default', name)))
  }
  return left
}

const isOf = (object: string, dataset: string): boolean =>
  object === dataset || object.startsWith(`${dataset}-`) || object.endsWith(`-${dataset}`) || object.includes(`-${dataset}-`)

/** The directory itself, if it is there, and everything in it. */
const entriesFrom = (directory: string): string[] =>
  existsSync(directory)
    ? [directory, ...readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((entry) => path.join(directory, entry))]
    : []
