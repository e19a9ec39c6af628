/**
 * A volume that may be written is made of the sources themselves, where these are directories: each mount appears at its path. A
 * source that is none would need a file system that sends writes on; then nothing is published, and the pod says what to do. Pure.
 */
import type { Dataset, Mount } from '../../kinds/fluid/index.ts'
import { parseMountPoint, pathOfMount } from '../../kinds/fluid/mount-point.ts'
import type { DirectorySource } from '../../runtime/seams/csi-driver.ts'

export interface Directory {
  source: DirectorySource
  /** Below the source; empty: all of it. */
  subPath: string
}

export interface Writable {
  /** What the volume is; undefined: a directory that holds nothing but `mounts`. */
  root: Directory | undefined
  /** At clean relative paths of the volume. */
  mounts: readonly (Directory & { path: string })[]
}

/** Undefined: nothing of it may be written. Throws what hinders it. */
export function writableOf(dataset: Dataset, subPath: string): Writable | undefined {
  const parts = (dataset.spec?.mounts ?? []).flatMap((mount) => {
    const path = pathOfMount(mount)
    const [above, below] = [relative(subPath, path), relative(path, subPath)]
    return above === undefined && below === undefined ? [] : [{ mount, path, above, below }]
  })
  if (parts.length === 0) throw new Error(`no mount of the dataset leads to ${subPath}: check the mounts of the dataset, and its sub path`)
  if (parts.some(({ mount }) => mount.readOnly === true)) {
    if (parts.every(({ mount }) => mount.readOnly === true)) return undefined
    throw new Error(needsFuse('to a part of the mounts', 'the other mounts are readOnly'))
  }
  // The nearest mount around the sub path hides those around it.
  const [around] = parts.filter(({ above }) => above !== undefined).sort((a, b) => b.path.length - a.path.length)
  const inside = parts.flatMap(({ mount, path, below }) =>
    path === around?.path || below === undefined || below === '' ? [] : [{ ...directoryOf(mount, dataset), path: below }],
  )
  if (around === undefined) return { root: undefined, mounts: inside }
  const { source, subPath: own } = directoryOf(around.mount, dataset)
  return { root: { source, subPath: [own, around.above ?? ''].filter((part) => part !== '').join('/') }, mounts: inside }
}

function directoryOf({ mountPoint }: Mount, { metadata: { namespace = '' } }: Dataset): Directory {
  const { value: point, error } = parseMountPoint(mountPoint)
  if (point === undefined) throw new Error(error)
  if (point.kind === 'local') return { source: { hostPath: point.path }, subPath: '' }
  if (point.kind === 'pvc') return { source: { namespace, claim: point.claim }, subPath: point.subPath }
  // Not the address itself: it is more than a pod's status should show.
  const scheme = /^[a-z0-9+.-]+:\/\//i.exec(mountPoint)?.[0] ?? 'this source'
  throw new Error(needsFuse(`to ${scheme}`, 'only local:// and pvc:// sources can be written'))
}

const needsFuse = (what: string, why: string): string =>
  `writing ${what} needs FUSE, which is not there yet: ${why}. To read, set readOnly: true on the pod's persistentVolumeClaim volume, or accessModes: [ReadOnlyMany] on the dataset`

/** A clean path below another, empty when they are the same; undefined: it is not below. */
function relative(path: string, directory: string): string | undefined {
  if (path === directory) return ''
  const prefix = directory === '/' ? '/' : `${directory}/`
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined
}
