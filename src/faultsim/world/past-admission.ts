/** Changes an object as the server stores it, without asking the server: what got in before a rule was there. */

import { utf8Of } from '../../base/byte-text.ts'
import { deepClone } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { WorldCluster } from './index.ts'

/** `where` is the name, after `namespace/` where it has one. What does not exist stays so. */
export async function changePastAdmission(
  cluster: WorldCluster,
  { group, plural }: Resource,
  where: string,
  change: (object: KubeObject) => void,
): Promise<void> {
  const key = `${group === '' ? plural : `${plural}.${group}`}/${where.includes('/') ? '' : '/'}${where}`
  const live = cluster.store.get(key)
  if (live === undefined) return
  const object = deepClone(live.object()) as KubeObject
  change(object)
  const generation = (object.metadata.generation ?? 1) + 1
  const textAt = (revision: number): string =>
    JSON.stringify({ ...object, metadata: { ...object.metadata, generation, resourceVersion: String(revision) } })
  await cluster.inside(() =>
    cluster.store.commit({ key, type: 'put', expect: live.revision, encode: (revision) => ({ text: utf8Of(textAt(revision)) }) }),
  )
}
