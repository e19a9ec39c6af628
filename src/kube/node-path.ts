/**
 * Paths that every node has for itself. On a real cluster each node is a machine of its own, so a hostPath means another
 * directory on each. Process nodes share one machine: below these prefixes each of them keeps a directory of its own, and any
 * other path is the machine's. Pure.
 */

/** Where caches mount what they serve, and where they keep what they hold. */
export const SERVED_PREFIX = '/runtime-mnt'
export const NODE_PATH_PREFIXES = [SERVED_PREFIX, '/var/lib/sluice/cache'] as const

const isBelow = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`)

/** Slashes that mean nothing would make a path look like one of another place. */
const cleaned = (path: string): string =>
  `/${path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')}`

/** Absolute, and it does not climb. */
export const isAbsoluteClean = (path: string): boolean => path.startsWith('/') && !path.split('/').includes('..') && !path.includes('\0')

/** Whether a node keeps an absolute path without `..` in its own directory. */
export const isNodePath = (path: string): boolean => NODE_PATH_PREFIXES.some((prefix) => isBelow(cleaned(path), prefix))

/** Where an absolute path without `..` of a node is on the machine that the node runs on. */
export const pathOnMachine = (path: string, nodeDirectory: string): string => (isNodePath(path) ? `${nodeDirectory}${cleaned(path)}` : path)
