/**
 * What the pods of a cache keep on process nodes for the next of them: the blocks of workers, and the files that clients complete.
 * Where a client mounts a file system of its own, nothing is removed: what is below may be its source. Pure.
 */
import { ALLUXIO_RUNTIMES, CACHE_RUNTIMES, JINDO_RUNTIMES, JUICEFS_RUNTIMES } from '../../kinds/fluid/resources.ts'
import { LABELS } from '../../kinds/fluid/well-known.ts'
import type { Volume, VolumeMount } from '../../kinds/kubernetes/types.ts'
import type { KeptDirectory, NodeData } from '../../runtime/seams/node-data.ts'
import { isTier, SHARED_PATH_VOLUME } from '../engines/cache/volume-names.ts'

export const cacheNodeData: NodeData = {
  owners: [ALLUXIO_RUNTIMES, CACHE_RUNTIMES, JINDO_RUNTIMES, JUICEFS_RUNTIMES],
  of({ metadata: { namespace = '', labels = {} }, spec }) {
    const owner = labels[LABELS.cacheRuntimeName] ?? ''
    if (owner === '' || namespace === '') return []
    const mounts = (spec?.containers ?? []).flatMap(({ volumeMounts = [] }) => volumeMounts)
    const own = `/${namespace}/${owner}`
    return (spec?.volumes ?? []).flatMap((volume): KeptDirectory[] => {
      const path = pathOf(volume, own, mounts)
      return path === undefined ? [] : [{ volume: volume.name ?? '', path, owner }]
    })
  },
}

function pathOf({ name = '', hostPath }: Volume, own: string, mounts: readonly VolumeMount[]): string | undefined {
  const path = hostPath?.path?.replace(/\/+$/, '') ?? ''
  const used = mounts.filter((mount) => mount.name === name)
  const isWritten = used.some(({ readOnly }) => readOnly !== true)
  const isPropagated = used.some(({ mountPropagation = 'None' }) => mountPropagation !== 'None')
  if (path === '' || !isWritten || isPropagated) return undefined
  if (isTier(name)) return `${path}${own}`
  const parent = path.slice(0, path.lastIndexOf('/'))
  return name === SHARED_PATH_VOLUME && parent.endsWith(own) ? parent : undefined
}
