/**
 * What the pods of a cache keep on process nodes for the next of them: the blocks of workers, and the files that clients complete.
 * Where a client mounts a file system of its own, nothing is removed: what is below may be its source. Pure.
 */
import { ALLUXIO_RUNTIMES, CACHE_RUNTIMES, JINDO_RUNTIMES, JUICEFS_RUNTIMES } from '../../kinds/fluid/resources.ts'
import { LABELS, RUNTIME_TYPES } from '../../kinds/fluid/well-known.ts'
import type { Volume, VolumeMount } from '../../kinds/kubernetes/types.ts'
import type { ObjectMeta } from '../../kube/meta.ts'
import type { KeptDirectory, NodeData } from '../../runtime/seams/node-data.ts'
import { isTier, SHARED_PATH_VOLUME } from '../engines/cache/volume-names.ts'
import { mountInfo } from '../volume/desired.ts'

/** As `mountInfo` calls the directory of a client, for every engine. */
const clientDirectories = (metadata: ObjectMeta): string[] => Object.values(RUNTIME_TYPES).map((type) => mountInfo(type, metadata).path)

export const cacheNodeData: NodeData = {
  owners: [ALLUXIO_RUNTIMES, CACHE_RUNTIMES, JINDO_RUNTIMES, JUICEFS_RUNTIMES],
  of({ metadata: { namespace = '', labels = {} }, spec }) {
    const owner = labels[LABELS.cacheRuntimeName] ?? ''
    if (owner === '' || namespace === '') return []
    const mounts = (spec?.containers ?? []).flatMap(({ volumeMounts = [] }) => volumeMounts)
    return (spec?.volumes ?? []).flatMap((volume): KeptDirectory[] => {
      const path = pathOf(volume, { namespace, name: owner }, mounts)
      return path === undefined ? [] : [{ volume: volume.name ?? '', path, owner }]
    })
  },
}

/** Anybody may write a pod with such labels and volumes: only what is below what it sees, and only directories of its own name. */
function pathOf({ name = '', hostPath }: Volume, owner: { namespace: string; name: string }, mounts: readonly VolumeMount[]) {
  const path = hostPath?.path?.replace(/\/+$/, '') ?? ''
  const used = mounts.filter((mount) => mount.name === name)
  const isWritten = used.some(({ readOnly, subPath, subPathExpr }) => readOnly !== true && (subPath ?? subPathExpr ?? '') === '')
  const isPropagated = used.some(({ mountPropagation = 'None' }) => mountPropagation !== 'None')
  if (path === '' || !isWritten || isPropagated) return undefined
  if (isTier(name)) return `${path}/${owner.namespace}/${owner.name}`
  return name === SHARED_PATH_VOLUME && clientDirectories(owner).includes(path) ? path.slice(0, path.lastIndexOf('/')) : undefined
}
