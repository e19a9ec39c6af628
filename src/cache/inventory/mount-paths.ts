/**
 * Where mounts lie in a dataset, and which of two shows a path: the one mounted deeper; of two at the same path the one that
 * comes first. A directory that leads to a mount is a directory, whatever another mount has there.
 */
import { cleanPath } from '../sources/clean-path.ts'

export interface Placed {
  name: string
  /** Absolute and clean, `/` for the root. */
  path: string
}

/** Absolute and clean; undefined when it cannot be made so. Slashes at the end are left out. */
export function cleanMountPath(path: string): string | undefined {
  const bare = path.replace(/\/+$/, '')
  if (bare === '') return path === '' ? undefined : '/'
  return bare.startsWith('/') && cleanPath(bare.slice(1)) !== undefined ? bare : undefined
}

export const joined = (mountPath: string, relative: string): string => (mountPath === '/' ? `/${relative}` : `${mountPath}/${relative}`)

export const relativeTo = (mountPath: string, path: string): string => path.slice(mountPath === '/' ? 1 : mountPath.length + 1)

/** At or below. */
export const isAtOrBelow = (directory: string, path: string): boolean =>
  directory === '/' || path === directory || path.startsWith(`${directory}/`)

/** The other mounts that may hide something of this one: usually none. */
export const hiddenBy = (mounts: readonly Placed[], index: number): readonly Placed[] =>
  mounts.filter((other, i) => {
    const own = mounts[index]
    if (own === undefined || i === index) return false
    return other.path === own.path ? i < index : isAtOrBelow(own.path, other.path)
  })

export const isHidden = (path: string, others: readonly Placed[]): boolean =>
  others.some((other) => isAtOrBelow(other.path, path) || isAtOrBelow(path, other.path))
