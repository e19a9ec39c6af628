/**
 * Paths of the dataset's own namespace: absolute and clean, `/` for the root. Pure; what cannot be such a path is refused, never
 * repaired. `isBelow` is how tickets, requests and inventories compare them.
 */
import { cleanPath } from '../sources/clean-path.ts'

/** The path itself; undefined when it is not absolute and clean. One slash at the end is forgiven, as people write it. */
export function datasetPath(text: string): string | undefined {
  if (text === '/' || text === '') return '/'
  if (!text.startsWith('/')) return undefined
  const inner = cleanPath(text.endsWith('/') ? text.slice(1, -1) : text.slice(1))
  return inner === undefined ? undefined : `/${inner}`
}

/** True for the path itself as well. */
export const isBelow = (path: string, subPath: string): boolean =>
  subPath === '/' || path === subPath || (path.startsWith(subPath) && path[subPath.length] === '/')
