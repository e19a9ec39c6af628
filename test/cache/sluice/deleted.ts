/** What a deleted dataset must not leave: objects of the cluster, labels of nodes, files of its readers on nodes. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { Node } from '../../../src/kinds/kubernetes/types.ts'
import { CORE, DATASETS, type DatasetPlan } from './manifests.ts'
import type { MemberApi } from './member-api.ts'

interface Named {
  metadata: { name: string; labels?: Record<string, string> }
}

const LISTS = ['pods', 'services', 'configmaps', 'secrets', 'persistentvolumeclaims'].map((resource) => `${CORE}/${resource}`)

/** Empty when nothing is left. */
export async function leftOf({ name }: DatasetPlan, api: MemberApi, dataDir: string): Promise<string[]> {
  const left: string[] = []
  if ((await api.get(`${DATASETS}/${name}`)) !== undefined) left.push(`Dataset ${name}`)
  for (const list of [...LISTS, '/api/v1/persistentvolumes', '/apis/apps/v1/namespaces/default/daemonsets'])
    for (const { metadata } of await api.list<Named>(list)) if (isOf(metadata.name, name)) left.push(`${list}/${metadata.name}`)
  for (const { metadata } of await api.list<Node>('/api/v1/nodes'))
    for (const label of Object.keys(metadata.labels ?? {}))
      if (label.endsWith(`-default-${name}`)) left.push(`label ${label} of node ${metadata.name}`)
  const nodes = path.join(dataDir, 'members', 'member1', 'nodes')
  for (const node of readdirSync(nodes)) {
    // Workers are killed here and come back on other nodes: blocks stay where one has been, because nobody there removes them.
    for (const kind of ['cache', 'alluxio']) left.push(...filesBelow(path.join(nodes, node, 'runtime-mnt', kind, 'default', name)))
  }
  return left
}

const isOf = (object: string, dataset: string): boolean =>
  object === dataset || object.startsWith(`${dataset}-`) || object.endsWith(`-${dataset}`) || object.includes(`-${dataset}-`)

function filesBelow(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const found = path.join(directory, entry.name)
      return entry.isDirectory() ? filesBelow(found) : [found]
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
