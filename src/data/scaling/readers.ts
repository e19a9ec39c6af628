/**
 * Who reads a dataset, and on which node: every unfinished pod that is bound to a node and mounts a claim whose volume leads to
 * the dataset. The volume says so itself, so claims of references in other namespaces count without anybody knowing them. Pure.
 */
import { CSI_DRIVER } from '../../kinds/fluid/well-known.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import { objectKey } from '../../kube/object-reference.ts'

export interface DatasetReader {
  namespace: string
  pod: string
  node: string
}

/** `namespace/name` of the dataset whose files a volume shows; undefined of all other volumes. */
export function datasetOfVolume({ spec }: PersistentVolume): string | undefined {
  const { driver, volumeAttributes } = spec?.csi ?? {}
  const attributes = (volumeAttributes ?? {}) as Readonly<Record<string, string>>
  const own = (name: string): string => (Object.hasOwn(attributes, name) ? (attributes[name] ?? '') : '')
  const [namespace, name] = [own('runtime_namespace'), own('runtime_name')]
  return driver !== CSI_DRIVER || namespace === '' || name === '' ? undefined : objectKey(namespace, name)
}

/** Both must name each other: whoever may make a claim can name any volume in it. */
export function isBoundTo({ metadata, spec }: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  const { namespace, name } = volume.spec?.claimRef ?? {}
  return spec?.volumeName === volume.metadata.name && namespace === metadata.namespace && name === metadata.name
}

/** `namespace/name` of the claims that a pod mounts, each once. */
export function claimKeysOf({ metadata, spec }: Pod): string[] {
  const names = (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])
  return [...new Set(names)].map((name) => objectKey(metadata.namespace, name))
}

/** The node on which it reads; undefined of one that has none yet, or has ended. One that is asked to end still reads. */
export function readsOn({ spec, status }: Pod): string | undefined {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined
  return spec?.nodeName === undefined || spec.nodeName === '' ? undefined : spec.nodeName
}

export const readerOf = ({ metadata }: Pod, node: string): DatasetReader => ({
  namespace: metadata.namespace ?? '',
  pod: metadata.name ?? '',
  node,
})

/** In an order of their own, each once. */
export function inOrder(readers: readonly DatasetReader[]): DatasetReader[] {
  const byKey = new Map(readers.map((reader) => [`${reader.namespace}/${reader.pod}`, reader]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, reader]) => reader)
}
