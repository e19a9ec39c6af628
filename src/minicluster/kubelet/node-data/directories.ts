/** What a pod keeps on its node, as far as that can be removed later. Pure. */
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { isAbsoluteClean, isNodePath } from '../../../kube/node-path.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import type { NodeData } from '../../../runtime/seams/node-data.ts'

export interface Directory {
  volume: string
  path: string
  owner: ObjectRef
}

export const directoriesOf = (pod: Pod, nodeData: readonly NodeData[]): Directory[] =>
  nodeData.flatMap((data) =>
    data.of(pod).flatMap(({ volume, path, owner }) => {
      const isOfNode = isAbsoluteClean(path) && isNodePath(path)
      return isOfNode ? [{ volume, path, owner: { namespace: pod.metadata.namespace ?? '', name: owner } }] : []
    }),
  )
